/// What a watchdog asks. Every value is taken without waiting for anybody.
public struct PipelineLiveness: Sendable {
    /// How far the earliest due time lies in the past.
    public let schedulerOverdue: Duration
    /// The longest that a run has gone on beyond its own `max_run_time`; negative while none has.
    public let longestOverrun: Duration?
    /// Moves whenever anything does.
    public let progress: Int
    public let isBusy: Bool
}
