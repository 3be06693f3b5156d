public import Foundation

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
