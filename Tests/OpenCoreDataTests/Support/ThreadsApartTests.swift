import Foundation
import Glibc
import TestTraits
import Testing

@Suite struct ThreadsApartTests {
    // As many processes as there are threads, each until somebody on those threads has a turn after it has begun.
    @Test(.longProcess, .timeLimit(.minutes(60))) func whoWaitsForProcessesLeavesTheOthersTheirThreads() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pipes-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let pipes = (0..<ProcessInfo.processInfo.activeProcessorCount).map { "\(folder)/\($0)" }
        for pipe in pipes { #expect(mkfifo(pipe + "-begun", 0o600) == 0 && mkfifo(pipe, 0o600) == 0) }
        await withTaskGroup { group in
            for pipe in pipes { group.addTask { await process(thatReads: pipe) } }
            group.addTask(executorPreference: globalConcurrentExecutor) {
                await withCheckedContinuation { continuation in
                    Thread.detachNewThread {
                        for pipe in pipes { close(open(pipe + "-begun", O_RDONLY)) }
                        continuation.resume()
                    }
                }
                for pipe in pipes { close(open(pipe, O_WRONLY)) }
            }
        }
    }

    /// A process that tells that it has begun, and ends when its pipe was opened for writing.
    private func process(thatReads pipe: String) async {
        await #expect(processExitsWith: .success) { [pipe = pipe as String] in
            close(open(pipe + "-begun", O_WRONLY))
            exit(open(pipe, O_RDONLY) < 0 ? EXIT_FAILURE : EXIT_SUCCESS)
        }
    }
}
