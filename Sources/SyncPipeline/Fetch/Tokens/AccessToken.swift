import Secrets
import Synchronization

/// A token that was fetched, and how long it is sent.
struct AccessToken: Sendable {
    let value: Secret
    /// Which one of its holder's, counted from 1: two with one number are the same.
    let number: Int
    /// From then on it is not sent any more, some time before it ends; nil: until it is refused.
    let usableUntil: SyncInstant?
    /// The other secrets that took part in fetching it: a server may echo them, too.
    let related: [Secret]

    func isUsable(at instant: SyncInstant) -> Bool { usableUntil.map { instant < $0 } ?? true }
}

/// What is fetched once for all who wait for it. Who waits may give up; the flight goes on, since a token that is asked for is issued, and one that
/// takes another's place must be received.
final class TokenFlight: Sendable {
    /// Hears that an attempt failed, and how long the wait is before the next one.
    struct Listener: Sendable {
        let hear: @Sendable (FetchError, Duration) -> Void
    }

    private struct State {
        var result: Result<AccessToken, any Error>?
        var waiters: [Int: CheckedContinuation<AccessToken, any Error>] = [:]
        /// Who gave up before beginning to wait.
        var cancelled: Set<Int> = []
        var listeners: [Int: Listener] = [:]
        var count = 0
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private let state = Mutex(State())

    /// Begins.
    func begin(_ body: @escaping @Sendable () async throws -> AccessToken) {
        let task = Task {
            let result: Result<AccessToken, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            let waiters = state.withLock { state in
                state.result = result
                state.listeners = [:]
                defer { state.waiters = [:] }
                return Array(state.waiters.values)
            }
            for waiter in waiters { waiter.resume(with: result) }
        }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    /// What comes of it.
    /// - Throws: what the fetch throws; `CancellationError` as soon as the waiting task is cancelled.
    func value(_ listener: Listener) async throws -> AccessToken {
        let id = state.withLock { state in
            state.count += 1
            if state.result == nil { state.listeners[state.count] = listener }
            return state.count
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<AccessToken, any Error>? = state.withLock { state in
                    if let result = state.result { return result }
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    state.waiters[id] = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> CheckedContinuation<AccessToken, any Error>? in
                state.listeners[id] = nil
                if let waiter = state.waiters.removeValue(forKey: id) { return waiter }
                state.cancelled.insert(id)
                return nil
            }
            waiter?.resume(throwing: CancellationError())
        }
    }

    /// Tells all who wait.
    func tell(_ error: FetchError, _ delay: Duration) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.hear(error, delay) }
    }

    /// Ends it as soon as possible.
    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    /// Returns when it is over.
    func ended() async {
        if let task = state.withLock({ $0.task }) { await task.value }
    }
}
