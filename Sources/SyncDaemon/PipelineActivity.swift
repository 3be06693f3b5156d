/// Whether the pipeline moves: what the watchdog asks of it. Taken at one moment, without waiting for anybody.
public struct PipelineActivity: Sendable, Hashable {
    /// How long ago the scheduler should have acted; zero if it is on time or nothing is due.
    public var overdue: Duration
    /// The name of a resource that is enabled and has neither a due time nor a run; `nil`: there is none.
    public var forgotten: String?
    /// The name of the operation that is furthest beyond its time limit, and by how much; `nil` if none is beyond.
    public var lateOperation: String?
    public var lateBy: Duration
    /// Grows with everything that is finished: an attempt, a page, a save.
    public var progress: UInt64
    /// Whether anything is under way.
    public var isBusy: Bool

    public init(
        overdue: Duration = .zero, forgotten: String? = nil, lateOperation: String? = nil, lateBy: Duration = .zero, progress: UInt64 = 0,
        isBusy: Bool = false
    ) {
        self.overdue = overdue
        self.forgotten = forgotten
        self.lateOperation = lateOperation
        self.lateBy = lateBy
        self.progress = progress
        self.isBusy = isBusy
    }
}
