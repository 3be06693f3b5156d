import Foundation
import Glibc
import SyncConfiguration
import SyncControl

/// What a verb finds around it: the environment, the files, and where to write. Tests bring their own.
struct Surroundings: Sendable {
    static let defaultConfiguration = "/etc/cistern/cisternd.toml"
    static let defaultSocket = "/run/cistern/control.sock"

    var environment: [String: String]
    var console: Console
    var files: any ConfigurationFiles
    /// Whether a file is there.
    var exists: @Sendable (String) -> Bool
    var now: @Sendable () -> Date

    /// The real ones.
    static var current: Surroundings {
        let environment = ProcessInfo.processInfo.environment
        return Surroundings(
            environment: environment, console: .standard(environment: environment), files: DiskConfigurationFiles(),
            exists: { access($0, F_OK) == 0 }, now: { Date() })
    }

    func reader(_ options: CommonOptions) -> ConfigurationReader {
        ConfigurationReader(path: options.config ?? Self.defaultConfiguration, environment: environment, files: files)
    }

    /// Reads the configuration for a verb that cannot do without.
    /// - Parameter isTold: which of the warnings that the daemon gives at its start are told here, too.
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

    /// Asks the daemon, and closes the connection whatever comes of it.
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
