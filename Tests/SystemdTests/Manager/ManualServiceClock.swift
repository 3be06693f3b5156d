import Dispatch
import Synchronization
import Systemd

/// A clock that stands still until a test turns it. `advance` returns when everything that fell due has run.
final class ManualServiceClock: ServiceClock {
    private struct Timer: Sendable {
        let due: Duration
        let order: Int
        let queue: DispatchQueue
        let work: @Sendable () -> Void
    }

    private struct State {
        var now = Duration.seconds(1_000)
        var timers: [Timer] = []
        var count = 0
    }

    private let state = Mutex(State())

    var now: Duration { state.withLock { $0.now } }

    /// How long until the next timer, for each that is set.
    var pending: [Duration] { state.withLock { state in state.timers.map { $0.due - state.now }.sorted() } }

    func schedule(after delay: Duration, on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.count += 1
            state.timers.append(Timer(due: state.now + delay, order: state.count, queue: queue, work: work))
        }
    }

    func advance(by time: Duration) {
        let end = now + time
        while let timer = nextTimer(until: end) {
            timer.queue.sync(execute: timer.work)
        }
        state.withLock { $0.now = end }
    }

    private func nextTimer(until end: Duration) -> Timer? {
        state.withLock { state in
            let first = state.timers.filter { $0.due <= end }.min { ($0.due, $0.order) < ($1.due, $1.order) }
            guard let first else { return nil }
            state.timers.removeAll { $0.order == first.order }
            state.now = max(state.now, first.due)
            return first
        }
    }
}
