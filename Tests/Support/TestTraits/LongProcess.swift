import Foundation
import Testing

/// Runs a test whose process apart (`#expect(processExitsWith:)`) lives for seconds on threads of its own.
///
/// The library waits for such a process in a blocking read. Two of them at once would hold both of the threads that two cores give to all other tests,
/// until one of the processes has ended: whoever drives a daemon meanwhile would not hear from it.
public struct LongProcess: TestTrait, TestScoping {
    public func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void) async throws {
        try await withTaskExecutorPreference(ManyThreads.shared) { try await function() }
    }
}

extension Trait where Self == LongProcess {
    public static var longProcess: Self { Self() }
}

/// Runs each job on a thread of its own.
private final class ManyThreads: TaskExecutor {
    static let shared = ManyThreads()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
