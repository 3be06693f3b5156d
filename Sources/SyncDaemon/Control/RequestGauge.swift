import Synchronization

/// Counts the requests that are being answered, so that a stop can let them finish.
final class RequestGauge: Sendable {
    private struct State {
        var count = 0
        var waiters: [AsyncStream<Void>.Continuation] = []
    }

    private let state = Mutex(State())

    func enter() { state.withLock { $0.count += 1 } }

    func leave() {
        let waiters = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [AsyncStream<Void>.Continuation]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.finish() }
    }

    /// Returns when nothing is being answered, or when the time is up.
    func waitUntilIdle(atMost limit: Duration) async {
        let (idle, input) = AsyncStream<Void>.makeStream()
        let isIdle = state.withLock { state in
            if state.count > 0 { state.waiters.append(input) }
            return state.count == 0
        }
        if isIdle { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in idle {} }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }
}
