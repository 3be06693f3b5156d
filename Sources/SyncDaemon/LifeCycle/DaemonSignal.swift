import Glibc

/// The signals the daemon answers.
public enum DaemonSignal: Sendable, Hashable, CaseIterable {
    /// SIGTERM: stop.
    case terminate
    /// SIGINT: stop, from a terminal.
    case interrupt
    /// SIGHUP: read the configuration again.
    case hangUp
    /// SIGUSR1: poll everything now, within the limits.
    case pollNow
    /// SIGUSR2: write the status to the journal.
    case dumpStatus

    public var number: Int32 {
        switch self {
        case .terminate: SIGTERM
        case .interrupt: SIGINT
        case .hangUp: SIGHUP
        case .pollNow: SIGUSR1
        case .dumpStatus: SIGUSR2
        }
    }

    public var name: String {
        switch self {
        case .terminate: "SIGTERM"
        case .interrupt: "SIGINT"
        case .hangUp: "SIGHUP"
        case .pollNow: "SIGUSR1"
        case .dumpStatus: "SIGUSR2"
        }
    }
}
