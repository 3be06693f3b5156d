import Synchronization

/// Lets pieces of asynchronous work run one after the other, in the order in which they came.
final class SerialTurns: Sendable {
    private let last = Mutex<Task<Void, Never>?>(nil)

    /// Runs `body` when all that came before has ended.
    func run<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
        let task = last.withLock { last in
            let previous = last
            let task = Task {
                await previous?.value
                return try await body()
            }
            last = Task { _ = await task.result }
            return task
        }
        return try await task.value
    }
}
