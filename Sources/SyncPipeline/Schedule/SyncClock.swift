public import Foundation

/// The pipeline's only source of time.
///
/// There are two times and they are not exchangeable. *Wall time* is what servers speak and what is stored; it may jump in both
/// directions. *Instants* only run forwards and decide every time-out, wait and due time. `SystemClock` is the real one; tests drive
/// a clock by hand.
public protocol SyncClock: Sendable {
    /// The wall time. May jump.
    var wallTime: Date { get }

    /// The current instant. Never runs backwards.
    var instant: SyncInstant { get }

    /// Suspends the task until `deadline`, or returns at once if it has passed.
    /// - Throws: `CancellationError` if the task is cancelled first.
    func sleep(until deadline: SyncInstant) async throws
}

extension SyncClock {
    /// Suspends the task for `duration`.
    /// - Throws: `CancellationError` if the task is cancelled first.
    public func sleep(for duration: Duration) async throws {
        try await sleep(until: instant.advanced(by: duration))
    }
}
