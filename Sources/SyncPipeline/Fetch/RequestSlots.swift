import Synchronization

/// Limits how many requests are under way at once, first come, first served. A fetch that waits for its next attempt holds no slot.
public final class RequestSlots: Sendable {
    private struct State {
        var free: Int
        var waiting: [(id: Int, continuation: CheckedContinuation<Bool, Never>)] = []
        var cancelled: Set<Int> = []
        var nextID = 0
    }

    private let state: Mutex<State>

    /// So many slots.
    /// - Precondition: there is at least one.
    public init(_ count: Int) {
        precondition(count > 0, "there must be at least one request slot")
        state = Mutex(State(free: count))
    }

    /// Runs `body` in a slot.
    /// - Throws: `CancellationError` if the task is cancelled while it waits, and what `body` throws.
    func run<Value>(_ body: () async throws -> Value) async throws -> Value {
        guard await take() else { throw CancellationError() }
        defer { give() }
        return try await body()
    }

    private func take() async -> Bool {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let taken = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((id, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                guard let index = state.waiting.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil as CheckedContinuation<Bool, Never>?
                }
                return state.waiting.remove(at: index).continuation
            }
            waiting?.resume(returning: false)
        }
        state.withLock { _ = $0.cancelled.remove(id) }
        return taken
    }

    private func give() {
        let next = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil as CheckedContinuation<Bool, Never>?
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
