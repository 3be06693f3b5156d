import Foundation
import Testing

/// Runs a test that computes for seconds on a thread apart, so that the few threads on which all other tests wait for something stay free.
///
/// All long computations share that thread and go one after the other.
public struct LongComputation: TestTrait, TestScoping {
    public func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void) async throws {
        try await withTaskExecutorPreference(OneThread.shared) { try await function() }
    }
}

extension Trait where Self == LongComputation {
    public static var longComputation: Self { Self() }
}

/// Runs jobs on one thread, first come, first served.
private final class OneThread: TaskExecutor {
    static let shared = OneThread()

    private let queue = OperationQueue()

    private init() { queue.maxConcurrentOperationCount = 1 }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.addOperation { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
