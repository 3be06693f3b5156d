import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct MainQueueLoadTests {
    /// What was reported, and a way to wait for it.
    private final class Reports: Sendable {
        private let list = Mutex<[MainQueueLoad.Excess]>([])

        func add(_ excess: MainQueueLoad.Excess) { list.withLock { $0.append(excess) } }
        func of(_ context: String) -> [MainQueueLoad.Excess] { list.withLock { $0.filter { $0.context.hasSuffix(context) } } }
    }

    // GB29
    @Test func aBlockThatHoldsTheMainQueueTooLongIsReportedWithWhoHandedItIn() async throws {
        let reports = Reports()
        MainQueueLoad.watch(budget: .zero) { reports.add($0) }
        defer { MainQueueLoad.watch(budget: nil) }
        let stack = TestStack()
        let main = stack.child(of: stack.root, .mainQueueConcurrencyType, name: "watched")
        await withCheckedContinuation { done in
            main.perform { done.resume() }
        }
        main.performAndWait {}
        // Blocks of the main queue end in the order they came in, and the first has ended when the second begins.
        let first = try #require(reports.of("watched").first)
        #expect(first.duration > .zero)
        #expect(first.origin?.frames.contains { $0.contains("aBlockThatHoldsTheMainQueueTooLong") } == true, "\(first.origin?.description ?? "")")
    }

    // GB29
    @Test func aBlockWithinTheBudgetIsNotReported() {
        let reports = Reports()
        MainQueueLoad.watch(budget: .seconds(3600)) { reports.add($0) }
        defer { MainQueueLoad.watch(budget: nil) }
        let stack = TestStack()
        let main = stack.child(of: stack.root, .mainQueueConcurrencyType, name: "quick")
        main.performAndWait {}
        #expect(reports.of("quick").isEmpty)
    }

    // GB29
    @Test func nothingIsReportedAfterTheWatch() {
        let reports = Reports()
        MainQueueLoad.watch(budget: .zero) { reports.add($0) }
        MainQueueLoad.watch(budget: nil)
        let stack = TestStack()
        let main = stack.child(of: stack.root, .mainQueueConcurrencyType, name: "later")
        main.performAndWait {}
        #expect(reports.of("later").isEmpty)
    }
}
