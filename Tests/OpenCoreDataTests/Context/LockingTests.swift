import Dispatch
import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

/// The label of the queue that the caller runs on; the Swift interface of Dispatch on Linux leaves it out.
@_silgen_name("dispatch_queue_get_label")
private func currentQueueLabel(_ queue: OpaquePointer?) -> UnsafePointer<CChar>

/// Names, user info, and holding a queue by hand.
@Suite struct LockingTests {
    // C11
    @Test func theNameLabelsTheQueueAlsoWhenItIsUsedAlready() {
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.name = "early"
        let order = Mutex<[Int]>([])
        #expect(Self.labels(of: context).contains("early"))
        for number in 0..<50 {
            context.enqueue { order.withLock { $0.append(number) } }
            if number == 25 { context.name = "late" }
        }
        #expect(Self.labels(of: context).contains("late"))
        #expect(order.withLock { $0 } == Array(0..<50))
        context.name = nil
        #expect(!Self.labels(of: context).contains("late"))
    }

    private static func labels(of context: NSManagedObjectContext) -> String {
        let done = DispatchSemaphore(value: 0), label = Mutex("")
        context.enqueue {
            label.withLock { $0 = String(cString: currentQueueLabel(nil)) }
            done.signal()
        }
        done.wait()
        return label.withLock { $0 }
    }

    // C12
    @Test func userInfoIsADictionaryOfEachContext() {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        stack.root.userInfo["colour"] = "red"
        stack.root.userInfo.setObject(7, forKey: "number" as NSString)
        #expect(stack.root.userInfo["colour"] as? String == "red" && stack.root.userInfo.count == 2)
        #expect(child.userInfo.count == 0)
        stack.root.transactionAuthor = "importer"
        #expect(stack.root.transactionAuthor == "importer" && child.transactionAuthor == nil)
    }

    // N30
    @Test func aChildHasNoQueryGeneration() throws {
        let stack = TestStack()
        #expect(stack.child(of: stack.root).queryGenerationToken == nil && stack.root.queryGenerationToken == nil)
        try stack.root.performAndWait { () throws in
            try stack.root.setQueryGenerationFrom(nil)
            #expect(stack.root.queryGenerationToken == nil)
            try stack.root.setQueryGenerationFrom(.current)
        }
        #expect(stack.child(of: stack.root).queryGenerationToken == nil && stack.root.queryGenerationToken == .current)
    }

    // E2, N30
    @Test func settingAQueryGenerationInAChildStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            try stack.child(of: stack.root).setQueryGenerationFrom(nil)
        }.trap(says: "a query generation is set in the root context")
    }

    // C17
    @available(*, deprecated, message: "Tests what is deprecated")
    @Test func lockingHoldsTheQueueUntilItIsUnlocked() {
        let stack = TestStack()
        let context = stack.root
        context.lock()
        // The thread that holds it may use it; blocks of others wait.
        let person = context.make("Person", ["name": "Ada"])
        let ran = Mutex(false), done = DispatchSemaphore(value: 0)
        context.enqueue {
            ran.withLock { $0 = true }
            done.signal()
        }
        #expect(context.performAndWait { person.value(forKey: "name") as? String } == "Ada")
        context.lock()
        context.unlock()
        #expect(context.hasChanges && !ran.withLock { $0 })
        context.unlock()
        done.wait()
        #expect(ran.withLock { $0 })
        // Nobody waits for it any more.
        context.performAndWait {}
        #expect(context.tryLock())
        context.unlock()
    }

    // C17
    @available(*, deprecated, message: "Tests what is deprecated")
    @Test func tryLockDoesNotWait() {
        let stack = TestStack()
        let context = stack.root
        let inside = DispatchSemaphore(value: 0), goOn = DispatchSemaphore(value: 0)
        context.enqueue {
            inside.signal()
            goOn.wait()
        }
        inside.wait()
        #expect(!context.tryLock())
        goOn.signal()
        context.performAndWait {
            #expect(context.tryLock())
            context.unlock()
        }
    }
}
