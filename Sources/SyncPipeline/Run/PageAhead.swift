import Foundation

/// A page that is fetched while the one before it is parsed.
struct PageAhead: Sendable {
    let request: PageRequest
    private let task: Task<FetchOutcome, Never>

    init(_ request: PageRequest, fetch: FetchOperation, on queue: OperationQueue) {
        self.request = request
        task = Task { await queue.run(fetch) }
    }

    /// What came of it. A cancelled task cancels it.
    var outcome: FetchOutcome {
        get async {
            await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }

    /// Nobody wants it any more. Returns when nothing of it is under way.
    func giveUp() async {
        task.cancel()
        _ = await task.value
    }
}
