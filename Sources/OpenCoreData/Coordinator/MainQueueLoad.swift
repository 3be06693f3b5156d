import Synchronization

/// How long contexts have held the main queue: in all, and at a time. In nanoseconds.
public enum MainQueueLoad {
    /// A block that held the main queue for longer than is good for who waits for it.
    public struct Excess: Sendable {
        /// The context that the block was for.
        public let context: String
        public let duration: Duration
        /// Who handed the block in. Nil where this can't be found out.
        public let origin: CallStack?
    }

    private struct Watch: Sendable {
        let budget: UInt64
        let report: @Sendable (Excess) -> Void
    }

    private static let sum = Atomic<UInt64>(0)
    private static let peak = Atomic<UInt64>(0)
    private static let blocks = Atomic<UInt64>(0)
    private static let watch = Mutex<Watch?>(nil)
    private static let isWatching = Atomic<Bool>(false)

    public static var total: UInt64 { sum.load(ordering: .relaxed) }
    public static var longest: UInt64 { peak.load(ordering: .relaxed) }
    public static var count: UInt64 { blocks.load(ordering: .relaxed) }

    /// Reports every block of a main-queue context that holds the queue for longer than `budget`, with the place that it came from, when it has
    /// ended. The report is made on the main queue: be short. Nil ends the watch. While it lasts, handing in a block costs some microseconds
    /// more.
    public static func watch(budget: Duration?, _ report: @escaping @Sendable (Excess) -> Void = { _ in }) {
        let made = budget.map { budget in
            Watch(budget: UInt64(max(0, budget / .nanoseconds(1))), report: report)
        }
        watch.withLock { $0 = made }
        isWatching.store(made != nil, ordering: .releasing)
    }

    /// Where the caller is, while somebody wants to know.
    static func origin() -> CallStack? { isWatching.load(ordering: .acquiring) ? .here() : nil }

    static func add(_ nanoseconds: UInt64, context: String, origin: CallStack?) {
        sum.add(nanoseconds, ordering: .relaxed)
        blocks.add(1, ordering: .relaxed)
        peak.max(nanoseconds, ordering: .relaxed)
        guard isWatching.load(ordering: .acquiring), let watch = watch.withLock({ $0 }), nanoseconds > watch.budget else { return }
        watch.report(Excess(context: context, duration: .nanoseconds(nanoseconds), origin: origin ?? .here()))
    }
}
