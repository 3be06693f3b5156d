import Foundation
import NIOHTTP1
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

@Suite struct FetchOperationTests {
    private let clock = ManualClock()

    private func operation(_ transport: StubTransport, clock: ManualClock? = nil) throws -> FetchOperation {
        let settings = try Fixture.settings("https://a.example/items")
        let environment = FetchEnvironment(settings: settings, transport: transport, clock: clock ?? self.clock)
        return FetchOperation(PageFetch(PageRequest(address: settings.first), environment: environment))
    }

    private var page: StubTransport {
        StubTransport(.response(status: 200, headers: ["Content-Type": "application/json"], body: [0x5B, 0x5D]))
    }

    /// Adds the operation to the queue and waits for its end.
    private func finish(_ operation: Operation, on queue: OperationQueue) async {
        await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume() }
            queue.addOperation(operation)
        }
    }

    @Test func anOperationEndsWithItsOutcome() async throws {
        let operation = try operation(page)
        #expect(operation.isAsynchronous)
        #expect(operation.outcome == nil)
        await finish(operation, on: OperationQueue())
        guard case .page = operation.outcome else { throw Unexpected() }
        #expect(operation.isFinished)
        #expect(!operation.isExecuting)
    }

    // Trap 1
    @Test func waitingFetchesHoldNoThread() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 200
        let silent = try (0..<100).map { _ in try operation(StubTransport(.silence)) }
        for operation in silent { queue.addOperation(operation) }
        await clock.sleepers(atLeast: 100)
        // All hundred are under way, and there is still room for one that works.
        let quick = try operation(page, clock: ManualClock())
        await finish(quick, on: queue)
        guard case .page = quick.outcome else { throw Unexpected() }
        let all = Task {
            await withTaskGroup(of: Void.self) { group in
                for operation in silent {
                    group.addTask { await Self.end(of: operation) }
                }
            }
        }
        queue.cancelAllOperations()
        await all.value
        for operation in silent { guard case .cancelled = operation.outcome else { throw Unexpected() } }
    }

    private static func end(of operation: FetchOperation) async {
        await withCheckedContinuation { continuation in
            let once = Mutex(false)
            let resume: @Sendable () -> Void = {
                let first = once.withLock { done in
                    defer { done = true }
                    return !done
                }
                if first { continuation.resume() }
            }
            operation.completionBlock = resume
            if operation.isFinished { resume() }
        }
    }

    @Test func cancelledBeforeItStartsItAsksNobody() async throws {
        let transport = page
        let operation = try operation(transport)
        operation.cancel()
        await finish(operation, on: OperationQueue())
        guard case .cancelled = operation.outcome else { throw Unexpected() }
        #expect(transport.requests.isEmpty)
    }

    @Test func cancelledWhileItRunsItEnds() async throws {
        let operation = try operation(StubTransport(.silence))
        async let end: Void = finish(operation, on: OperationQueue())
        await clock.sleepers(atLeast: 1)
        #expect(operation.isExecuting)
        operation.cancel()
        await end
        guard case .cancelled = operation.outcome else { throw Unexpected() }
    }

    // Trap 2
    @Test func aFinishedOperationHasNoDependencies() async throws {
        let queue = OperationQueue()
        let first = try operation(page)
        let second = try operation(page)
        second.addDependency(first)
        queue.addOperation(first)
        await finish(second, on: queue)
        #expect(first.isFinished)
        #expect(second.dependencies.isEmpty)
    }

    @Test func cancellingAtAnyMomentEndsEveryOperation() async throws {
        let queue = OperationQueue()
        for round in 0..<300 {
            let operation = try operation(page)
            async let end: Void = finish(operation, on: queue)
            for _ in 0..<(round % 30) { await Task.yield() }
            operation.cancel()
            await end
            #expect(operation.outcome != nil)
        }
    }
}
