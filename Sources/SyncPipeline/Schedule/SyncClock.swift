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

    /// Calls `body` once, on no particular thread, when `deadline` has come: never from within this call.
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

/// A point on a clock that only runs forwards: what time-outs, waits and due times are measured against.
///
/// The origin is arbitrary and differs from process to process; an instant is therefore never stored. What has to survive a
/// restart is stored as wall time and converted once, at start.
public struct SyncInstant: InstantProtocol, Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Time since the clock's origin.
    public let sinceOrigin: Duration

    /// An instant that lies `sinceOrigin` after the clock's origin.
    public init(sinceOrigin: Duration) {
        self.sinceOrigin = sinceOrigin
    }

    /// The instant that lies `duration` later (or earlier, if negative).
    public func advanced(by duration: Duration) -> SyncInstant {
        SyncInstant(sinceOrigin: sinceOrigin + duration)
    }

    /// How far `other` lies after this instant; negative if it lies before.
    public func duration(to other: SyncInstant) -> Duration {
        other.sinceOrigin - sinceOrigin
    }

    /// Which of two instants comes first.
    public static func < (left: SyncInstant, right: SyncInstant) -> Bool {
        left.sinceOrigin < right.sinceOrigin
    }

    /// The time since the origin, for messages.
    public var description: String { "\(sinceOrigin)" }
}

/// The machine's clocks: the wall clock, and the clock that runs on through a suspension of the machine.
public struct SystemClock: SyncClock {
    /// Instants count from the first use of the clock in this process.
    private static let origin = ContinuousClock.now

    /// A clock. All values of this type share one origin.
    public init() {}

    /// The wall time of the machine.
    public var wallTime: Date { Date() }

    /// Time since this clock was first used, including time the machine was suspended.
    public var instant: SyncInstant {
        SyncInstant(sinceOrigin: Self.origin.duration(to: .now))
    }

    /// Suspends the task until `deadline`.
    /// - Throws: `CancellationError` if the task is cancelled first.
    public func sleep(until deadline: SyncInstant) async throws {
        let end = Self.origin.advanced(by: deadline.sinceOrigin)
        if let sleepers = Sleepers.shared { try await sleepers.sleep(until: end) } else { try await ContinuousClock().sleep(until: end) }
    }

    /// Calls `body` at `deadline`. Until then there is no task.
    public func call(at deadline: SyncInstant, _ body: @escaping @Sendable () -> Void) -> ScheduledCall {
        guard let sleepers = Sleepers.shared else { return sleepingCall(at: deadline, body) }
        return sleepers.call(at: Self.origin.advanced(by: deadline.sinceOrigin), body)
    }
}
