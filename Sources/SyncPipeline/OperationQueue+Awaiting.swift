import Foundation

extension OperationQueue {
    /// Runs a fetch on this queue and gives its outcome. A cancelled task cancels it.
    func run(_ operation: FetchOperation) async -> FetchOutcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                operation.whenFinished { continuation.resume(returning: $0) }
                addOperation(operation)
            }
        } onCancel: {
            operation.cancel()
        }
    }

    /// Parses a page on this queue. A cancelled task cancels it. Throws what parsing or saving the page threw.
    func run(_ operation: ParseOperation) async throws -> ParsedPage {
        await finish(operation)
        guard let result = operation.result else { throw SyncError.cancelled }
        return try result.get()
    }

    private func finish(_ operation: Operation) async {
        let box = OperationBox(operation: operation)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                box.operation.completionBlock = { continuation.resume() }
                addOperation(box.operation)
            }
        } onCancel: {
            box.operation.cancel()
        }
        operation.completionBlock = nil
    }
}

// Operations may be cancelled and waited for from any thread; Foundation does not say so to the compiler.
private struct OperationBox: @unchecked Sendable {
    let operation: Operation
}
