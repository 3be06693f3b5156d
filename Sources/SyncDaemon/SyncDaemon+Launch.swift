import Foundation
import Glibc
import SyncControl
import Systemd

extension SyncDaemon {
    /// The version of this build.
    public static var version: String { CisternVersion.current }

    /// The environment with the service's directories in it, also where no service manager has set them.
    public static func directories(in environment: [String: String]) -> [String: String] {
        let directories = ServiceDirectories.current(environment: environment)
        var environment = environment
        environment["STATE_DIRECTORY"] = directories.state
        environment["RUNTIME_DIRECTORY"] = directories.runtime
        return environment
    }

    /// Everything a process has to take from its surroundings before its second thread starts.
    public struct Launch: Sendable {
        private let configuration: String
        private let environment: [String: String]
        private let notify: Notify
        private let watchdogTimeout: Duration?
        private let sockets: [Int32]
        private let journal: Journal
        private let failure: StartFailure?
        private let maxBlock: Duration?

        /// Takes the service manager's variables out of the environment, so that no child speaks in our name.
        /// - Parameter maxBlock: how long the main context may hold the main queue without a word in the journal; `nil`: as long as it likes.
        public init(configuration: String, environment: [String: String], maxBlock: Duration? = nil) {
            self.configuration = configuration
            self.maxBlock = maxBlock
            self.environment = environment
            // What the daemon makes is for its user, and for its group to read.
            umask(0o027)
            notify = Notify.takingEnvironment(environment)
            watchdogTimeout = Watchdog.takeTimeout(from: environment)
            journal = Journal(identifier: SyncDaemon.identifier, environment: environment)
            do {
                sockets = try ListenDescriptors.take(from: environment)["control"]
                failure = nil
            } catch {
                sockets = []
                failure = StartFailure(.osError, "a socket that the service manager announced is not open: \(error); restart cisternd.socket")
            }
        }

        /// Runs the daemon to its end.
        public func run(_ signals: Signals) async -> ExitStatus {
            let daemon = SyncDaemon(
                options: Options(
                    configuration: configuration, environment: environment, version: SyncDaemon.version, notify: notify,
                    watchdogTimeout: watchdogTimeout, controlSocket: sockets.first, journal: journal,
                    signals: signals, maxBlock: maxBlock),
                parts: ManagedParts(environment: environment, notify: notify))
            if let failure { return daemon.end(failure) }
            return await daemon.run()
        }
    }
}
