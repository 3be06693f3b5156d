import Foundation
import Testing

/// Runs a test on threads apart, so that the few threads on which all other tests wait for something stay free.
public struct ThreadsApart: TestTrait, TestScoping {
    fileprivate let executor: any TaskExecutor

    public func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void) async throws {
        try await withTaskExecutorPreference(executor) { try await function() }
    }
}

extension Trait where Self == ThreadsApart {
    /// For a test that computes for seconds. All of them share two threads.
    public static var longComputation: Self { Self(executor: FewThreads.shared) }

    /// For a test whose process apart (`#expect(processExitsWith:)`) lives for seconds. The library waits for such a process in a blocking read: two of them
    /// at once would hold both of the threads that two cores give to all tests, and whoever drives a daemon meanwhile would not hear from it.
    public static var longProcess: Self { Self(executor: ManyThreads.shared) }
}

/// Runs jobs on two threads, first come, first served.
private final class FewThreads: TaskExecutor {
    static let shared = FewThreads()

    private let queue = OperationQueue()

    private init() {
        // What one of them waits for, the other has the time of.
        queue.maxConcurrentOperationCount = 2
        // Of a pool of its own: where one thread computes, the pool that all others share gets no more than a few for those that wait.
        queue.qualityOfService = .background
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.addOperation { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Runs each job on a thread of its own.
private final class ManyThreads: TaskExecutor {
    static let shared = ManyThreads()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
