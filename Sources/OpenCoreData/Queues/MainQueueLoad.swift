import Dispatch
import Foundation
import Synchronization

/// How long contexts have held the main queue: in all, and at a time. In nanoseconds.
public enum MainQueueLoad {
    private static let sum = Atomic<UInt64>(0)
    private static let peak = Atomic<UInt64>(0)
    private static let blocks = Atomic<UInt64>(0)
    /// In nanoseconds; 0 if nobody set one.
    private static let limit = Atomic<UInt64>(0)

    /// Nanoseconds that blocks of main-queue contexts have taken since the process began. A block within another counts once.
    public static var total: UInt64 { sum.load(ordering: .relaxed) }
    /// Nanoseconds that the longest single block took.
    public static var longest: UInt64 { peak.load(ordering: .relaxed) }
    /// How many blocks `total` is the sum of.
    public static var count: UInt64 { blocks.load(ordering: .relaxed) }

    /// How long a block of a main-queue context may hold the queue. One that holds it for longer is told to those who observe
    /// ``ContextDiagnostic``, as ``ContextDiagnostic/Kind/mainQueueHeld``, on a queue of the library's after it has ended, with the stack of who handed
    /// it in. Nil, as at first: no limit. With one, handing in a block costs some microseconds more.
    public static var budget: Duration? {
        get {
            let nanoseconds = limit.load(ordering: .relaxed)
            return nanoseconds == 0 ? nil : .nanoseconds(nanoseconds)
        }
        set { limit.store(newValue.map { UInt64(min(max(1, $0 / .nanoseconds(1)), 0x1p63)) } ?? 0, ordering: .relaxed) }
    }

    /// Tells what was too long. To put a stack into words takes longer than many a block, and the main queue was held for long enough.
    package static let reports = DispatchQueue(label: "OpenCoreData main queue load", qos: .utility)

    /// Where the caller is, if that may have to be told.
    static func origin() -> CallStack? {
        limit.load(ordering: .relaxed) != 0 && ContextDiagnostic.isObserved ? .here() : nil
    }

    /// A block has ended.
    /// - Parameter origin: where it was handed in; nil if that is where it ran.
    static func add(_ nanoseconds: UInt64, context: ContextQueue, origin: CallStack?) {
        sum.add(nanoseconds, ordering: .relaxed)
        blocks.add(1, ordering: .relaxed)
        peak.max(nanoseconds, ordering: .relaxed)
        let budget = limit.load(ordering: .relaxed)
        guard budget != 0, nanoseconds > budget, ContextDiagnostic.isObserved else { return }
        let label = context.label, place = origin ?? .here()
        reports.async { report(nanoseconds, over: budget, label, place) }
    }

    private static func report(_ nanoseconds: UInt64, over budget: UInt64, _ label: String, _ place: CallStack) {
        let milliseconds = (Double(nanoseconds) / 1e6).formatted(.number.precision(.fractionLength(1)))
        ContextDiagnostic.report(
            ContextDiagnostic(
                .mainQueueHeld,
                "\(label) held the main queue for \(milliseconds) ms; the budget is \(Double(budget) / 1e6) ms. Whoever handed in the block "
                    + "should do this in a private-queue context, or in smaller steps.",
                subject: label, seconds: Double(nanoseconds) / 1e9, stack: place.frames))
    }
}

/// Finds out, once, whether anybody serves the main queue: in a program without a run loop and without `dispatchMain()` blocks of a main-queue
/// context wait for ever, and nothing else would say so.
package final class MainQueueProbe: Sendable {
    /// The process's own: it looks when the first block for the main queue has waited for ten seconds.
    static let shared = MainQueueProbe(seconds: 10) { seconds, block in
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + seconds, execute: block)
    }

    package typealias Timer = @Sendable (_ seconds: Double, _ block: @escaping @Sendable () -> Void) -> Void

    private let seconds: Double
    private let timer: Timer
    private let isWatching = Atomic(false)
    private let wasServed = Atomic(false)

    package init(seconds: Double, timer: @escaping Timer) {
        self.seconds = seconds
        self.timer = timer
    }

    /// Called with each use of the main queue; only the first one does anything.
    package func watch() {
        guard !isWatching.load(ordering: .relaxed), !isWatching.exchange(true, ordering: .relaxed) else { return }
        DispatchQueue.main.async { self.wasServed.store(true, ordering: .relaxed) }
        timer(seconds) {
            if self.wasServed.load(ordering: .relaxed) { return }
            ContextDiagnostic.report(
                ContextDiagnostic(
                    .mainQueueNotDrained,
                    "Blocks for the main queue have waited for \(self.seconds) s and none has run: main-queue contexts neither run what they are "
                        + "given nor post what changed in them. Keep the main thread out of long calls, and end main with dispatchMain() or "
                        + "RunLoop.main.run(); or use private-queue contexts only.",
                    subject: "main", seconds: self.seconds))
        }
    }
}
