import Secrets
import Synchronization

/// A token that was fetched, and how long it is sent.
struct AccessToken: Sendable {
    let value: Secret
    /// Which one of its holder's, counted from 1: two with one number are the same.
    let number: Int
    /// When it came.
    let fetchedAt: SyncInstant
    /// From then on it is not sent any more, some time before it ends; nil: until it is refused.
    let usableUntil: SyncInstant?
    /// The other secrets that took part in fetching it: a server may echo them, too.
    let related: [Secret]

    func isUsable(at instant: SyncInstant) -> Bool { usableUntil.map { instant < $0 } ?? true }
}

/// What is fetched once for all who wait for it. Who waits may give up; the flight goes on, since a token that is asked for is issued, and one that
/// takes another's place must be received.
final class TokenFlight: Sendable {
    /// Hears of each attempt, and of each wait for the next one.
    struct Listener: Sendable {
        let hear: @Sendable (FetchEvent) -> Void
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
        /// A refresh token is on its way to the service, and what takes its place may be on its way back.
        var isHeld = false
        /// It is to end as soon as nothing is lost by it.
        var isStopping = false
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

    /// Somebody hears of it from now on. Returns the number to ask for the value with.
    func join(_ listener: Listener) -> Int {
        state.withLock { state in
            state.count += 1
            if state.result == nil { state.listeners[state.count] = listener }
            return state.count
        }
    }

    /// What comes of it.
    /// - Parameter id: what ``join(_:)`` has returned.
    /// - Throws: what the fetch throws; `CancellationError` as soon as the waiting task is cancelled.
    func value(_ id: Int) async throws -> AccessToken {
        try await withTaskCancellationHandler {
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
    func tell(_ event: FetchEvent) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.hear(event) }
    }

    /// From now on something is lost if it ends before its time.
    /// - Throws: `CancellationError`, if it is to end: then nothing may be sent.
    func hold() throws {
        try state.withLock { state in
            if state.isStopping || state.isCancelled { throw CancellationError() }
            state.isHeld = true
        }
    }

    /// Nothing is lost any more.
    func release() {
        let task = state.withLock { state -> Task<Void, Never>? in
            state.isHeld = false
            return state.isStopping ? state.task : nil
        }
        task?.cancel()
    }

    /// Ends it as soon as nothing is lost by it: at once, if no refresh token was sent.
    func stop() {
        let isHeld = state.withLock { state in
            state.isStopping = true
            return state.isHeld
        }
        if !isHeld { cancel() }
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

/// The flights that a pipeline has begun.
final class TokenFlights: Sendable {
    private struct State {
        var open: [ObjectIdentifier: TokenFlight] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    /// One begins. False: none may any more.
    func enter(_ flight: TokenFlight) -> Bool {
        state.withLock { state in
            if !state.isClosed { state.open[ObjectIdentifier(flight)] = flight }
            return !state.isClosed
        }
    }

    /// One has ended.
    func leave(_ flight: TokenFlight) { state.withLock { $0.open[ObjectIdentifier(flight)] = nil } }

    /// No other one begins. Returns those that are under way.
    func close() -> [TokenFlight] {
        state.withLock { state in
            state.isClosed = true
            return Array(state.open.values)
        }
    }
}
