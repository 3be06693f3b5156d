import OpenCoreData
import Synchronization

/// The worker contexts in which runs read and write what they know, a few at a time: each has a queue of its own, and all wait for the same store.
/// A thousand polls at once would have hundreds of threads that do nothing else.
///
/// Whoever comes first is served first. A cancelled task waits for its turn like any other: what a run has found is recorded although it is
/// stopped, and no turn lasts longer than its block.
final class Workers: Sendable {
    /// As many as read at the same time, with one that writes. More only wait for them.
    static let most = 4

    private struct State {
        var used = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let document: UIManagedDocument
    private let state = Mutex(State())

    init(_ document: UIManagedDocument) {
        self.document = document
    }

    /// How many are in use, and how many tasks wait for one.
    var counts: (used: Int, waiting: Int) { state.withLock { ($0.used, $0.waiting.count) } }

    /// Runs `body` in a worker context as `withWorker` does, when it is this task's turn. The block cannot wait for another turn: it is not
    /// asynchronous.
    func run<T: Sendable>(_ body: @escaping @Sendable (NSManagedObjectContext) throws -> T) async throws -> T {
        await take()
        defer { give() }
        return try await document.withWorker(body)
    }

    private func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.used < Self.most else {
                    state.waiting.append(continuation)
                    return false
                }
                state.used += 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    /// Passes the turn on to the one that has waited longest.
    private func give() {
        let next = state.withLock { state in
            guard state.waiting.isEmpty else { return Optional(state.waiting.removeFirst()) }
            state.used -= 1
            return nil
        }
        next?.resume()
    }
}
