/// `[daemon]`: the process as a whole.
public struct DaemonConfiguration: Sendable, Hashable {
    /// The first poll after a start.
    public enum Start: String, Sendable, Hashable, CaseIterable {
        /// Resources that are due are spread over ``DaemonConfiguration/staggerWindow``.
        case stagger
        /// Resources that are due are polled at once.
        case now
        /// Nothing is polled before its next regular time.
        case wait
    }

    /// What SIGUSR1 does.
    public enum PollSignal: String, Sendable, Hashable, CaseIterable {
        /// Every resource that may be polled becomes due; all limits still hold.
        case dueNow = "due-now"
    }

    /// What SIGUSR2 does.
    public enum DumpSignal: String, Sendable, Hashable, CaseIterable {
        /// The whole status is written to the journal.
        case dumpStatus = "dump-status"
    }

    /// The name in the status line, in journal fields and in the `User-Agent`.
    public var name = "cisternd"
    /// A mail address or URL added to the `User-Agent`; empty for none.
    public var contact = ""
    public var start = Start.stagger
    public var staggerWindow = TimeSpan.seconds(30)
    /// Whether a restart never polls sooner than the stored next time.
    public var restartGuard = true
    public var onSIGUSR1 = PollSignal.dueNow
    public var onSIGUSR2 = DumpSignal.dumpStatus
    /// How long an open page may take to finish after a request to stop.
    public var shutdownGrace = TimeSpan.seconds(20)
    public var maxParallelRequests = 8
    public var maxParallelParses = 2
    /// Always 1 with SQLite, which has one writer.
    public var maxParallelWrites = 1

    /// The built-in values.
    public init() {}
}
