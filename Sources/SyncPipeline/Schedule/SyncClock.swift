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

    /// Calls `body` once, in a task of its own, when `deadline` has come. Never before this returns.
    func call(at deadline: SyncInstant, _ body: @escaping @Sendable () -> Void) -> ScheduledCall
}

/// A call that a clock makes at its time, and not at all if it is cancelled before.
public struct ScheduledCall: Sendable {
    private let giveUp: @Sendable () -> Void

    /// A call that `cancel` takes back.
    public init(cancel: @escaping @Sendable () -> Void) {
        giveUp = cancel
    }

    /// Takes it back; nothing if it has been made, or is just being made.
    public func cancel() { giveUp() }
}

extension SyncClock {
    /// Suspends the task for `duration`.
    /// - Throws: `CancellationError` if the task is cancelled first.
    public func sleep(for duration: Duration) async throws {
        try await sleep(until: instant.advanced(by: duration))
    }

    /// Calls `body` out of a task that sleeps until then.
    public func call(at deadline: SyncInstant, _ body: @escaping @Sendable () -> Void) -> ScheduledCall { sleepingCall(at: deadline, body) }

    func sleepingCall(at deadline: SyncInstant, _ body: @escaping @Sendable () -> Void) -> ScheduledCall {
        let task = Task {
            do { try await sleep(until: deadline) } catch { return }
            body()
        }
        return ScheduledCall { task.cancel() }
    }
}
