/// What a watchdog asks. Every value is taken without waiting for anybody.
public struct PipelineLiveness: Sendable, Hashable {
    /// How far the earliest due time lies in the past.
    public let schedulerOverdue: Duration
    /// A resource that is enabled and has neither a due time nor a run: a mistake of the pipeline's own.
    public let forgotten: ResourceScope?
    /// The longest that a run has gone on beyond its own `max_run_time`; negative while none has.
    public let longestOverrun: Duration?
    /// Moves whenever anything does.
    public let progress: Int
    /// Whether anything is under way that waits neither for a server's time nor for the disk.
    public let isBusy: Bool

    public init(
        schedulerOverdue: Duration = .zero, forgotten: ResourceScope? = nil, longestOverrun: Duration? = nil, progress: Int = 0, isBusy: Bool = false
    ) {
        self.schedulerOverdue = schedulerOverdue
        self.forgotten = forgotten
        self.longestOverrun = longestOverrun
        self.progress = progress
        self.isBusy = isBusy
    }
}
