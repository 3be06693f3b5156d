import Synchronization
import Testing

@testable import SyncPipeline

@Suite struct SerialTurnsTests {
    private struct Refused: Error {}

    private final class Steps: Sendable {
        private let numbers = Mutex<[Int]>([])
        var all: [Int] { numbers.withLock { $0 } }
        func add(_ number: Int) { numbers.withLock { $0.append(number) } }
    }

    @Test func noPieceOfWorkBeginsBeforeTheOneBeforeItHasEnded() async throws {
        let turns = SerialTurns()
        let steps = Steps()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    try await turns.run {
                        steps.add(number)
                        for _ in 0..<10 { await Task.yield() }
                        steps.add(number)
                    }
                }
            }
            try await group.waitForAll()
        }
        let all = steps.all
        #expect(stride(from: 0, to: all.count, by: 2).allSatisfy { all[$0] == all[$0 + 1] })
    }

    @Test func oneThatThrowsHoldsNobodyUp() async throws {
        let turns = SerialTurns()
        await #expect(throws: Refused.self) { try await turns.run { throw Refused() } }
        #expect(try await turns.run { 1 } == 1)
    }
}
