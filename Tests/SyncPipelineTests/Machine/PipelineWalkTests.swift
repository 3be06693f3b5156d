import Foundation
import Testing

@testable import SyncPipeline

/// The joint between schedule, reload, pause, stop and the ends of runs: random inputs in random order.
@Suite struct PipelineWalkTests {
    /// So many walks; `CISTERN_WALKS` makes it more.
    private static let count = ProcessInfo.processInfo.environment["CISTERN_WALKS"].flatMap(Int.init) ?? 1000
    private static let parts = 8

    @Test(arguments: 0..<parts) func theInvariantsHoldAfterEveryStepOfRandomWalks(part: Int) {
        for seed in stride(from: part, to: Self.count, by: Self.parts) {
            var walk = PipelineWalk(seed: seed)
            walk.walk(steps: 16)
            if let failure = walk.failure {
                Issue.record("seed \(seed): \(failure)")
                return
            }
        }
    }
}
