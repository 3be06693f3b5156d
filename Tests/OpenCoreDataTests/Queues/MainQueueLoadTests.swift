import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

/// The budget is one for the whole process: other tests may break it meanwhile, so each looks for its own context.
@Suite(.serialized, .timeLimit(.minutes(60))) struct MainQueueLoadTests {
    private let recorder = DiagnosticRecorder()

    /// What is told of a main-queue context of this name that runs a block which was handed in here.
    private func told(of name: String, budget: Duration?) async -> [ContextDiagnostic] {
        MainQueueLoad.budget = budget
        defer { MainQueueLoad.budget = nil }
        let stack = TestStack()
        let main = stack.child(of: stack.root, .mainQueueConcurrencyType, name: name)
        await withCheckedContinuation { done in main.perform { done.resume() } }
        // Blocks of the main queue end in the order in which they came.
        main.performAndWait {}
        MainQueueLoad.reports.sync {}
        return recorder.all.filter { $0.kind == .mainQueueHeld && $0.subject?.hasSuffix(name) == true }
    }

    // GB29
    @Test func aBlockThatHoldsTheMainQueueTooLongIsToldWithWhoHandedItIn() async throws {
        let diagnostic = try #require(await told(of: "watched", budget: .zero).first)
        #expect(diagnostic.seconds ?? 0 > 0)
        #expect(diagnostic.message.contains("NSManagedObjectContext watched held the main queue for "))
        #expect(diagnostic.stack.contains { $0.contains("MainQueueLoadTests") }, "\(diagnostic.stack)")
    }

    // GB29
    @Test func aBlockWithinTheBudgetIsNotTold() async {
        #expect(await told(of: "quick", budget: .seconds(3600)).isEmpty)
    }

    // GB29
    @Test func aBudgetThatIsLongerThanAnyClockRunsIsNone() async {
        #expect(await told(of: "patient", budget: .seconds(Int64.max)).isEmpty)
        MainQueueLoad.budget = .seconds(Int64.max)
        #expect(MainQueueLoad.budget ?? .zero > .seconds(1 << 33))
        MainQueueLoad.budget = .seconds(-1)
        #expect(MainQueueLoad.budget == .nanoseconds(1))
        MainQueueLoad.budget = nil
    }

    // GB29
    @Test func itIsToldOffTheMainQueue() async {
        // Whatever thread serves the main queue, it is the queue's own.
        let mark = DispatchSpecificKey<Bool>(), places = Mutex<Set<Bool>>([])
        DispatchQueue.main.setSpecific(key: mark, value: true)
        defer { DispatchQueue.main.setSpecific(key: mark, value: nil) }
        let observation = ContextDiagnostic.observe { diagnostic in
            if diagnostic.kind == .mainQueueHeld { places.withLock { _ = $0.insert(DispatchQueue.getSpecific(key: mark) == true) } }
        }
        #expect(!(await told(of: "elsewhere", budget: .zero).isEmpty))
        observation.cancel()
        #expect(places.withLock { $0 } == [false])
    }

    // GB29
    @Test func withoutABudgetNothingIsTold() async {
        #expect(await told(of: "free", budget: nil).isEmpty)
    }
}
