import Foundation
import SyncPipeline
import Synchronization

/// A clock on which nobody waits: whoever sleeps moves it to the end of the sleep, and what is due by then is called.
///
/// Time limits are calls and not sleeps: they run out only where waits have taken that long. So it is for one thing at a time; what sleeps beside
/// another thing takes its time away.
final class TestClock: SyncClock {
    private struct Call {
        let deadline: SyncInstant
        let body: @Sendable () -> Void
    }

    private struct State {
        var wallTime: Date
        var instant = SyncInstant(sinceOrigin: .zero)
        var calls: [Int: Call] = [:]
        var count = 0
    }

    private let state: Mutex<State>

    init(_ wallTime: Date) {
        state = Mutex(State(wallTime: wallTime))
    }

    var wallTime: Date { state.withLock { $0.wallTime } }
    var instant: SyncInstant { state.withLock { $0.instant } }

    /// Moves both times forward.
    func advance(by duration: Duration) {
        guard duration > .zero else { return }
        let due = state.withLock { state in
            state.instant = state.instant.advanced(by: duration)
            let (seconds, attoseconds) = duration.components
            state.wallTime.addTimeInterval(Double(seconds) + Double(attoseconds) / 1e18)
            let due = state.calls.filter { $0.value.deadline <= state.instant }
            for number in due.keys { state.calls[number] = nil }
            return due.values.sorted { $0.deadline < $1.deadline }
        }
        for call in due { Task { call.body() } }
    }

    /// Moves both times forward to a wall time, and a little beyond, so that what is due then is due whatever was rounded.
    func advance(to date: Date) {
        let rest = date.timeIntervalSince(wallTime)
        if rest > 0 { advance(by: .seconds(rest) + .milliseconds(1)) }
    }

    func sleep(until deadline: SyncInstant) async throws {
        try Task.checkCancellation()
        // A little beyond: whoever waits for a wall time would wait again for what was rounded, and here nothing passes by itself.
        advance(by: max(instant.duration(to: deadline), .zero) + .milliseconds(1))
        await Task.yield()
    }

    func call(at deadline: SyncInstant, _ body: @escaping @Sendable () -> Void) -> ScheduledCall {
        let number = state.withLock { state -> Int? in
            guard deadline > state.instant else { return nil }
            state.count += 1
            state.calls[state.count] = Call(deadline: deadline, body: body)
            return state.count
        }
        guard let number else {
            let task = Task { if !Task.isCancelled { body() } }
            return ScheduledCall { task.cancel() }
        }
        return ScheduledCall { [weak self] in self?.takeOut(number) }
    }

    private func takeOut(_ number: Int) {
        state.withLock { $0.calls[number] = nil }
    }
}
