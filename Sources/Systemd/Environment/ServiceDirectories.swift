import Foundation
import Glibc

/// The directories that belong to the service.
///
/// The manager makes them and names them in the environment. Outside of it the system's places stand in for root, and those of
/// the XDG base directories for everyone else. Nothing is created here.
public struct ServiceDirectories: Sendable, Equatable {
    /// For what must survive: the store. `$STATE_DIRECTORY`
    public let state: String
    /// For what must not: the control socket. `$RUNTIME_DIRECTORY`
    public let runtime: String
    /// `$CONFIGURATION_DIRECTORY`
    public let configuration: String
    /// nil if the manager passed no credentials. `$CREDENTIALS_DIRECTORY`
    public let credentials: String?

    /// Takes the paths as they are: neither looked up nor created.
    public init(state: String, runtime: String, configuration: String, credentials: String? = nil) {
        self.state = state
        self.runtime = runtime
        self.configuration = configuration
        self.credentials = credentials
    }

    /// - Parameters:
    ///   - name: of the directory below the system's or the user's places.
    ///   - user: whose; 0 is the system.
    public static func current(
        name: String = "cistern", environment: [String: String] = ProcessInfo.processInfo.environment, user: uid_t = geteuid(),
        home: String = NSHomeDirectory()
    ) -> ServiceDirectories {
        // Several `StateDirectory=` arrive joined by colons; the first is ours.
        func given(_ variable: String) -> String? {
            environment[variable]?.split(separator: ":").first.map(String.init)
        }
        // The XDG rules: what is not an absolute path counts as not set.
        func base(_ variable: String, _ fallback: String) -> String {
            environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? fallback
        }
        let isSystem = user == 0
        let state =
            given("STATE_DIRECTORY")
            ?? (isSystem ? "/var/lib/\(name)" : base("XDG_STATE_HOME", "\(home)/.local/state") + "/\(name)")
        return ServiceDirectories(
            state: state,
            runtime: given("RUNTIME_DIRECTORY")
                ?? (isSystem ? "/run/\(name)" : base("XDG_RUNTIME_DIR", state + "/run") + "/\(name)"),
            configuration: given("CONFIGURATION_DIRECTORY")
                ?? (isSystem ? "/etc/\(name)" : base("XDG_CONFIG_HOME", "\(home)/.config") + "/\(name)"),
            credentials: environment["CREDENTIALS_DIRECTORY"].flatMap { $0.isEmpty ? nil : $0 })
    }
}
