import Foundation
import Testing

@testable import SyncPipeline

@Suite(.serialized) struct ArrivalOrderTests {
    @Test func rowsDoNotDependOnTheOrderInWhichPagesArrive() async throws {
        for seed in 0..<120 {
            if let failure = try await ArrivalRun.failure(seed: seed) { Issue.record("\(failure)") }
        }
    }

    @Test func oneSourceAfterTheOtherComesToWhatItsPagesSay() async throws {
        for seed in 0..<15 {
            if let failure = try await ArrivalRun.failure(seed: seed, .sequential) { Issue.record("\(failure)") }
        }
    }
}

/// The same, with many more seeds: `make stress`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "runs under make stress"))
struct ArrivalOrderStress {
    private static let parts = 4

    @Test(arguments: 0..<parts) func rowsOfManyImportsDoNotDependOnTheOrderInWhichPagesArrive(_ part: Int) async throws {
        for seed in stride(from: 1000 + part, to: 11_000, by: Self.parts) {
            if let failure = try await ArrivalRun.failure(seed: seed) {
                Issue.record("\(failure)")
                return
            }
        }
    }

    @Test(arguments: 0..<parts) func rowsDoNotDependOnWhatThreadsDo(_ part: Int) async throws {
        for seed in stride(from: 20_000 + part, to: 22_000, by: Self.parts) {
            if let failure = try await ArrivalRun.failure(seed: seed, .free) {
                Issue.record("\(failure)")
                return
            }
        }
    }
}
