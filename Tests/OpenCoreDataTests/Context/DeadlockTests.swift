import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

/// Contexts that wait for each other in a circle stop the program at once, and it says who held what and waited for whom.
@Suite(.timeLimit(.minutes(60))) struct DeadlockTests {
    /// Each context holds its queue and then waits for the next one's, the last for the first's. Returns only if nothing stops it.
    private static func waitInACircle(_ contexts: [NSManagedObjectContext]) {
        let held = DispatchSemaphore(value: 0), goOn = DispatchSemaphore(value: 0), done = DispatchSemaphore(value: 0)
        for (index, context) in contexts.enumerated() {
            let next = contexts[(index + 1) % contexts.count]
            context.perform {
                held.signal()
                goOn.wait()
                next.performAndWait {}
                done.signal()
            }
        }
        for _ in contexts { held.wait() }
        for _ in contexts { goOn.signal() }
        for _ in contexts { done.wait() }
    }

    /// A worker that waits for the main queue, and the main queue that waits for the worker, one of them first.
    @MainActor private static func waitAcrossTheMainQueue(mainFirst: Bool) {
        let stack = TestStack()
        let main = stack.child(of: stack.root, .mainQueueConcurrencyType, name: "main")
        let worker = stack.child(of: main, name: "worker")
        let started = DispatchSemaphore(value: 0), mainWaits = DispatchSemaphore(value: 0)
        worker.perform {
            started.signal()
            if mainFirst { mainWaits.wait() }
            main.performAndWait {}
        }
        started.wait()
        main.performAndWait {
            if mainFirst { mainWaits.signal() }
            worker.performAndWait {}
        }
        exit(0)
    }

    /// Two documents whose workers wait for each other's main contexts' children.
    private static func waitAcrossTwoDocuments() {
        let clock = ManualDocumentClock()
        let documents = [TestDocument(clock: clock), TestDocument(clock: clock)]
        let workers = documents.enumerated().map { index, document in
            let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
            worker.parent = document.managedObjectContext
            worker.name = "worker of document \(index)"
            return worker
        }
        waitInACircle(workers)
    }

    /// Whether every one of these waits is told, in the headline and then with its stack.
    private func says(_ result: ExitTest.Result?, _ waits: [(String, String)]) -> Bool {
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        return lastWords(result).contains("OpenCoreData: deadlock: ")
            && waits.allSatisfy { first, second in
                let words = "NSManagedObjectContext \(first) waits for NSManagedObjectContext \(second)"
                return lastWords(result).contains(words) && text.contains("\(words), here:\n    ")
            }
    }

    // GB26
    @Test func twoContextsThatWaitForEachOtherAreBothNamed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            let first = stack.independent(), second = stack.independent()
            (first.name, second.name) = ("first", "second")
            Self.waitInACircle([first, second])
        }
        #expect(says(result, [("first", "second"), ("second", "first")]), "\(lastWords(result))")
    }

    // GB26
    @Test func aParentThatWaitsForItsGrandchildIsStoppedWithAllThreeNamed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            let middle = stack.child(of: stack.root, name: "middle"), worker = stack.child(of: middle, name: "worker")
            Self.waitInACircle([worker, middle, stack.root])
        }
        #expect(says(result, [("worker", "middle"), ("middle", "root"), ("root", "worker")]), "\(lastWords(result))")
    }

    // GB26
    @Test func aWorkerThatWaitsForTheMainQueueThatWaitsForItIsStopped() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            await Self.waitAcrossTheMainQueue(mainFirst: false)
        }
        #expect(says(result, [("main", "worker"), ("worker", "main")]), "\(lastWords(result))")
    }

    // GB26
    @Test func theMainQueueThatWaitsForAWorkerThatWaitsForItIsStopped() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            await Self.waitAcrossTheMainQueue(mainFirst: true)
        }
        #expect(says(result, [("main", "worker"), ("worker", "main")]), "\(lastWords(result))")
    }

    // GB26, GB27
    @Test func theWorkersOfTwoDocumentsThatWaitForEachOtherAreStopped() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { Self.waitAcrossTwoDocuments() }
        let names = ["worker of document 0", "worker of document 1"]
        #expect(says(result, [(names[0], names[1]), (names[1], names[0])]), "\(lastWords(result))")
    }

    // C5, GB25, GB41
    @Test func whoeverHoldsAQueueEntersItAgainAtOnce() {
        let stack = TestStack()
        let middle = stack.child(of: stack.root, name: "middle"), worker = stack.child(of: middle, name: "worker")
        var order: [String] = []
        worker.performAndWait {
            middle.performAndWait {
                worker.performAndWait {
                    stack.root.performAndWait {
                        middle.performAndWait { worker.performAndWait { order.append("innermost") } }
                    }
                }
            }
            order.append("outermost")
        }
        #expect(order == ["innermost", "outermost"])
    }

    // GB26: what is no circle is not taken for one, however many wait at a time.
    @Test func waitsForParentsAreNeverStopped() {
        let clock = ManualDocumentClock()
        let documents = [TestDocument(clock: clock), TestDocument(clock: clock)]
        let turns = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 4) { number in
            let main = documents[number % 2].managedObjectContext
            for turn in 0..<100 {
                let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
                worker.parent = main
                worker.performAndWait {
                    // For the root, from which no wait leads back.
                    if turn % 3 == 0 { main.parent?.performAndWait {} }
                    let other = NSManagedObjectContext(.privateQueueConcurrencyType)
                    other.parent = worker
                    other.performAndWait { worker.performAndWait { turns.withLock { $0 += 1 } } }
                }
            }
        }
        #expect(turns.withLock { $0 } == 400)
    }
}
