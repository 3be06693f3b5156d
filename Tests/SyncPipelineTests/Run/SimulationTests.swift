import Foundation
import Glibc
import TestTraits
import Testing

@testable import SyncPipeline

/// The whole pipeline under servers that lie, reloads, pauses, stops, kills, a locked file, a full disk and a slow one: after every step the promises
/// hold. In a process of its own, whose main queue nobody else keeps busy: the document's main context lives there.
@Suite struct SimulationTests {
    /// So many lives; `CISTERN_LIVES` makes it more, `CISTERN_SEED` has one run alone.
    private static var count: Int { ProcessInfo.processInfo.environment["CISTERN_LIVES"].flatMap(Int.init) ?? 300 }

    @Test(.longProcess, .timeLimit(.minutes(60))) func thePromisesHoldAfterEveryStepOfRandomLives() async {
        await #expect(processExitsWith: .success) { try await live(0..<SimulationTests.count) }
    }
}

/// The same, with many more seeds: `make stress`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "runs under make stress"))
struct SimulationStress {
    @Test(.longProcess) func thePromisesHoldInAHundredThousandLives() async {
        await #expect(processExitsWith: .success) { try await live(1_000_000..<1_100_000) }
    }
}

/// Lives these lives, several at a time, and records what is wrong with the first that goes wrong: in the process that is the test, it ends with it.
private func live(_ seeds: Range<Int>) async throws {
    // Lives ask again and again whether everything rests: what others wait for comes first.
    _ = nice(10)
    let wanted = ProcessInfo.processInfo.environment["CISTERN_SEED"].flatMap(Int.init).map { $0..<$0 + 1 } ?? seeds, parts = 4
    try await withThrowingTaskGroup(of: String?.self) { group in
        for part in 0..<min(parts, wanted.count) {
            group.addTask {
                for seed in stride(from: wanted.lowerBound + part, to: wanted.upperBound, by: parts) {
                    do {
                        if let failure = try await Simulation.failure(seed: seed) { return failure }
                    } catch {
                        return "seed \(seed): \(error)"
                    }
                }
                return nil
            }
        }
        for try await failure in group {
            guard let failure else { continue }
            Issue.record("\(failure)")
            exit(EXIT_FAILURE)
        }
    }
}
