import ArgumentParser
import Foundation
import Glibc
import SyncConfiguration
import SyncControl

/// The tool: one verb per file; each ends with one of the statuses of `ControlExitCode`.
struct Cisternctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cisternctl",
        abstract: "Controls cisternd and shows what it keeps.",
        discussion: """
            Exit status: 0 done; 64 bad command line; 65 bad input; 69 cisternd or the remote side cannot be reached; 75 not current, or not \
            now; 76 bad answers; 77 not permitted; 78 configuration refused.
            """,
        version: CisternVersion.current,
        subcommands: [
            StatusVerb.self, SyncVerb.self, ReplayVerb.self, ReloadVerb.self, PauseVerb.self, ResumeVerb.self, AcceptDeletesVerb.self,
            ResetVerb.self,
            QuarantineVerb.self,
            CheckVerb.self, PlanVerb.self, TestVerb.self, TryVerb.self, InferVerb.self, QueryVerb.self, VerifyVerb.self, ConfigVerb.self,
            BackupVerb.self, RestoreVerb.self, ModelVerb.self,
            ImportVerb.self, VersionVerb.self,
        ])

    /// Runs one command line to its end.
    static func run(arguments: [String], surroundings: Surroundings) async -> ControlExitCode {
        do {
            var command = try parseAsRoot(verbFirst(arguments))
            if let verb = command as? any Verb { return try await verb.run(in: surroundings) }
            if command is Self || command is QuarantineVerb || command is ConfigVerb || command is ModelVerb || command is ImportVerb
                || command is BackupVerb
            {
                // An incomplete command prints the help, and is not a success.
                surroundings.console.block(helpMessage(for: type(of: command)))
                return .usage
            }
            // What is left is `help` itself.
            try command.run()
            return .success
        } catch let error as ControlError {
            surroundings.console.error(error)
            return error.code
        } catch {
            // Help and version are no errors; a bad command line is 64.
            let code = exitCode(for: error)
            let text = fullMessage(for: error)
            if code == .success { surroundings.console.block(text) } else { surroundings.console.errorBlock(text) }
            return ControlExitCode(rawValue: code.rawValue) ?? .failure
        }
    }
}

extension Cisternctl {
    /// Options before the verb apply to the verb: `cisternctl --socket PATH reload --wait`.
    static func verbFirst(_ arguments: [String]) -> [String] {
        var leading: [String] = []
        var rest = arguments[...]
        while let first = rest.first {
            if ["--socket", "--config"].contains(first), rest.count > 1 {
                leading += rest.prefix(2)
                rest = rest.dropFirst(2)
            } else if first == "--json" || first.hasPrefix("--socket=") || first.hasPrefix("--config=") {
                leading.append(first)
                rest = rest.dropFirst()
            } else {
                break
            }
        }
        // After `--` nothing is an option.
        let end = rest.firstIndex(of: "--") ?? rest.endIndex
        return Array(rest[..<end]) + leading + Array(rest[end...])
    }
}

/// A verb of the tool.
protocol Verb: ParsableCommand {
    func run(in surroundings: Surroundings) async throws -> ControlExitCode
}

/// The options of every verb.
struct CommonOptions: ParsableArguments {
    @Option(help: "The control socket (default: $RUNTIME_DIRECTORY/control.sock, else /run/cistern/control.sock).")
    var socket: String?

    @Option(help: "The configuration file (default: /etc/cistern/cisternd.toml).")
    var config: String?

    @Flag(help: "Print JSON.")
    var json = false
}

/// A verb's surroundings: the environment, the files, and where to write. Tests supply their own.
struct Surroundings: Sendable {
    static let defaultConfiguration = "/etc/cistern/cisternd.toml"
    static let defaultSocket = "/run/cistern/control.sock"

    var environment: [String: String]
    var console: Console
    var files: any ConfigurationFiles
    /// Whether a file is there.
    var exists: @Sendable (String) -> Bool
    var now: @Sendable () -> Date
    /// The first bytes of a file that is no configuration, so many of them at most.
    var content: @Sendable (_ path: String, _ most: Int) throws -> [UInt8] = { path, most in
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? file.close() }
        return Array(try file.read(upToCount: most) ?? Data())
    }

    /// The real ones.
    static var current: Surroundings {
        let environment = ProcessInfo.processInfo.environment
        return Surroundings(
            environment: environment, console: .standard(environment: environment), files: DiskConfigurationFiles(),
            exists: { access($0, F_OK) == 0 }, now: { Date() })
    }

    /// - Parameter path: of another configuration than the one that the options name.
    func reader(_ options: CommonOptions, at path: String? = nil) -> ConfigurationReader {
        ConfigurationReader(path: path ?? options.config ?? Self.defaultConfiguration, environment: environment, files: files)
    }

    /// Reads the configuration for a verb that needs it.
    /// - Parameter isTold: which of the warnings that the daemon gives at its start are shown here, too.
    /// - Throws: `ControlError` with status 78.
    func configuration(
        _ options: CommonOptions, telling isTold: (ConfigurationProblem) -> Bool = { _ in false }
    ) throws(ControlError) -> CisternConfiguration {
        let reading = reader(options).read()
        for warning in reading.warnings where isTold(warning) { console.error("\(warning)") }
        guard let configuration = reading.configuration else {
            throw ControlError(
                "the configuration cannot be used", advice: "correct it: cisternctl check", code: .configuration,
                problems: reading.errors.map(\.description))
        }
        return configuration
    }

    /// The socket: as given, as a given configuration says, as the service manager says, or where the packaged service has it.
    func socket(_ options: CommonOptions) -> String {
        if let socket = options.socket { return socket }
        if options.config != nil, let socket = reader(options).read().configuration?.control.socket { return socket }
        if let directory = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first { return "\(directory)/control.sock" }
        if !exists(Self.defaultSocket), let directory = environment["XDG_RUNTIME_DIR"], directory.hasPrefix("/") {
            let socket = "\(directory)/cistern/control.sock"
            if exists(socket) { return socket }
        }
        return Self.defaultSocket
    }

    /// Sends a request to the daemon, and closes the connection whatever happens.
    func withClient<Answer: Sendable>(
        _ options: CommonOptions, _ body: (ControlClient) async throws -> Answer
    ) async throws -> Answer {
        let client = ControlClient(socket: socket(options))
        do {
            let answer = try await body(client)
            await client.shutdown()
            return answer
        } catch {
            await client.shutdown()
            throw error
        }
    }
}
