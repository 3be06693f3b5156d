public import Foundation
public import SyncPipeline
import Synchronization

/// A clock that stands still until a test moves it.
///
/// Sleepers wake in the order of their deadlines when the clock passes them. To move the clock only once the code under test has
/// gone to sleep, wait for the sleeper first: `await clock.sleepers(atLeast: 1)`.
public final class ManualClock: SyncClock {
    private struct Sleeper {
        let deadline: SyncInstant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var wallTime: Date
        var instant = SyncInstant(sinceOrigin: .zero)
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var nextSleeper = 0
        var watchers: [(test: @Sendable ([SyncInstant]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []

        mutating func satisfiedWatchers() -> [CheckedContinuation<Void, Never>] {
            let deadlines = sleepers.values.map(\.deadline).sorted()
            let satisfied = watchers.filter { $0.test(deadlines) }.map(\.continuation)
            watchers.removeAll { $0.test(deadlines) }
            return satisfied
        }
    }

    private let state: Mutex<State>

    /// A clock that shows `wallTime`; 2025-01-01 unless said otherwise.
    public init(wallTime: Date = Date(timeIntervalSince1970: 1_735_689_600)) {
        state = Mutex(State(wallTime: wallTime))
    }

    /// The wall time the clock shows.
    public var wallTime: Date { state.withLock { $0.wallTime } }

    /// The instant the clock shows.
    public var instant: SyncInstant { state.withLock { $0.instant } }

    /// Deadlines of the tasks that sleep on this clock, earliest first.
    public var deadlines: [SyncInstant] { state.withLock { $0.sleepers.values.map(\.deadline).sorted() } }

    /// Moves both times forward and wakes whoever is due.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.wallTime = state.wallTime.advanced(by: duration)
            state.instant = state.instant.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.instant }.sorted { $0.value.deadline < $1.value.deadline }
            for (id, _) in due { state.sleepers[id] = nil }
            return due.map(\.value.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Moves the clock to the earliest deadline anyone sleeps for; does nothing if nobody sleeps.
    public func advanceToNextDeadline() {
        guard let next = deadlines.first else { return }
        advance(by: max(instant.duration(to: next), .zero))
    }

    /// Changes the wall time alone, as an administrator or a time daemon does. Nobody wakes.
    public func setWallTime(_ time: Date) {
        state.withLock { $0.wallTime = time }
    }

    /// Waits until at least `count` tasks sleep on this clock.
    public func sleepers(atLeast count: Int) async {
        await deadlines(satisfy: { $0.count >= count })
    }

    /// Waits until the deadlines of the sleeping tasks, earliest first, satisfy `test`.
    public func deadlines(satisfy test: @escaping @Sendable ([SyncInstant]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state in
                state.watchers.append((test, continuation))
                return state.satisfiedWatchers()
            }
            for continuation in ready { continuation.resume() }
        }
    }

    /// Suspends the task until the clock is moved to `deadline` or past it.
    /// - Throws: `CancellationError` if the task is cancelled first.
    public func sleep(until deadline: SyncInstant) async throws {
        let id = state.withLock { state in
            state.nextSleeper += 1
            return state.nextSleeper
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (outcome, ready): (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return (.failure(CancellationError()), []) }
                    if deadline <= state.instant { return (.success(()), []) }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    return (nil, state.satisfiedWatchers())
                }
                if let outcome { continuation.resume(with: outcome) }
                for watcher in ready { watcher.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                if let sleeper = state.sleepers.removeValue(forKey: id) { return Optional(sleeper) }
                state.cancelled.insert(id)
                return nil
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
        state.withLock { _ = $0.cancelled.remove(id) }
    }
}
