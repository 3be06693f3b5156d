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

    /// The name in the status line, in journal fields and in the `User-Agent`.
    public var name = "cisternd"
    /// A mail address or URL added to the `User-Agent`; empty for none.
    public var contact = ""
    public var start = Start.stagger
    public var staggerWindow = TimeSpan.seconds(30)
    /// Whether a restart never polls sooner than the stored next time.
    public var restartGuard = true
    /// How long an open page may take to finish after a request to stop.
    public var shutdownGrace = TimeSpan.seconds(20)
    public var maxParallelRequests = 8
    public var maxParallelParses = 2

    /// The built-in values.
    public init() {}
}
