import ArgumentParser
import Foundation
import SyncControl

/// The tool: one verb a file, each ends with one of the statuses of `ControlExitCode`.
struct Cisternctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cisternctl",
        abstract: "Steers cisternd, and looks at what it keeps.",
        discussion: """
            Exit status: 0 done; 64 bad command line; 65 bad input; 69 cisternd or the remote side cannot be reached; 75 not current, or not \
            now; 76 bad answers; 77 not permitted; 78 configuration refused.
            """,
        version: CisternVersion.current,
        subcommands: [
            StatusVerb.self, SyncVerb.self, ReloadVerb.self, PauseVerb.self, ResumeVerb.self, AcceptDeletesVerb.self, QuarantineVerb.self,
            CheckVerb.self, TryVerb.self, QueryVerb.self, VerifyVerb.self, ConfigVerb.self, VersionVerb.self,
        ])

    /// Runs one command line to its end.
    static func run(arguments: [String], surroundings: Surroundings) async -> ControlExitCode {
        do {
            var command = try parseAsRoot(verbFirst(arguments))
            if let verb = command as? any Verb { return try await verb.run(in: surroundings) }
            if command is Self || command is QuarantineVerb || command is ConfigVerb {
                // Half a command is the help, and no success.
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
    /// What is said before the verb is said to the verb: `cisternctl --socket PATH reload --wait`.
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
        // Behind `--` nothing is an option any more.
        let end = rest.firstIndex(of: "--") ?? rest.endIndex
        return Array(rest[..<end]) + leading + Array(rest[end...])
    }
}

/// A verb of the tool.
protocol Verb: ParsableCommand {
    func run(in surroundings: Surroundings) async throws -> ControlExitCode
}

/// What every verb can be told.
struct CommonOptions: ParsableArguments {
    @Option(help: "The control socket (default: $RUNTIME_DIRECTORY/control.sock, else /run/cistern/control.sock).")
    var socket: String?

    @Option(help: "The configuration file (default: /etc/cistern/cisternd.toml).")
    var config: String?

    @Flag(help: "Print JSON.")
    var json = false
}
