import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

@Suite struct ConcurrencyTests {
    // C1
    @Test func typesHaveApplesRawValues() {
        #expect(NSManagedObjectContext.ConcurrencyType.confinementConcurrencyType.rawValue == 0)
        #expect(NSManagedObjectContext.ConcurrencyType.privateQueueConcurrencyType.rawValue == 1)
        #expect(NSManagedObjectContext.ConcurrencyType.mainQueueConcurrencyType.rawValue == 2)
        #expect(NSManagedObjectContext(.mainQueueConcurrencyType).concurrencyType == .mainQueueConcurrencyType)
        #expect(NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType).concurrencyType == .privateQueueConcurrencyType)
    }

    // C2
    @Test func blocksRunOneAtATimeInTheOrderTheyCame() async {
        let stack = TestStack()
        let seen = Mutex<[Int]>([])
        for number in 0..<200 { stack.root.enqueue { seen.withLock { $0.append(number) } } }
        await stack.root.perform {}
        #expect(seen.withLock { $0 } == Array(0..<200))
    }

    // C2
    @Test func performReturnsBeforeItsBlockRuns() async {
        let stack = TestStack()
        let seen = Mutex<[String]>([])
        stack.root.performAndWait {
            stack.root.enqueue { seen.withLock { $0.append("block") } }
            seen.withLock { $0.append("returned") }
        }
        await stack.root.perform {}
        #expect(seen.withLock { $0 } == ["returned", "block"])
    }

    // C3
    @Test func performProcessesPendingChangesAtItsEnd() async {
        let stack = TestStack()
        let recorder = NotificationRecorder(stack.root, .NSManagedObjectContextObjectsDidChange)
        let root = stack.root
        await root.perform { _ = root.make("Item") }
        #expect(recorder.count == 1)
    }

    // C3
    @Test func performAndWaitDoesNotProcessPendingChanges() {
        let stack = TestStack()
        let recorder = NotificationRecorder(stack.root, .NSManagedObjectContextObjectsDidChange)
        stack.root.performAndWait { _ = stack.root.make("Item") }
        #expect(recorder.count == 0)
        stack.root.performAndWait { stack.root.processPendingChanges() }
        #expect(recorder.count == 1)
    }

    // C4, T5
    @MainActor @Test func performAndWaitRunsOnTheCallingThread() throws {
        let stack = TestStack()
        let recorder = NotificationRecorder(stack.root, .NSManagedObjectContextDidSave)
        let thread = pthread_self()
        try stack.root.performAndWait { () throws in
            #expect(pthread_self() == thread)
            stack.root.make("Item")
            try stack.root.save()
        }
        #expect(recorder.threads == [thread])
    }

    // C5, GB25, GB41
    @Test func performAndWaitIsReentrantThroughTheParent() {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        let depth = child.performAndWait {
            stack.root.performAndWait {
                child.performAndWait {
                    stack.root.performAndWait { 4 }
                }
            }
        }
        #expect(depth == 4)
    }

    // C5, GB25, GB27
    @Test func performAndWaitIsReentrantThroughTheMainQueueFromAnotherThread() {
        let stack = TestStack()
        let main = stack.child(of: stack.root, .mainQueueConcurrencyType, name: "main")
        let worker = stack.child(of: main, name: "worker")
        let name = worker.performAndWait {
            main.performAndWait {
                worker.performAndWait { () -> String? in
                    worker.make("Person", ["name": "Ada"])
                    return main.performAndWait { stack.root.performAndWait { stack.root.name } }
                }
            }
        }
        #expect(name == "root")
    }

    // GB25
    @MainActor @Test func aParentBlockedInItsChildCanStillBeReadByIt() throws {
        let stack = TestStack()
        let main = stack.child(of: stack.root, .mainQueueConcurrencyType, name: "main")
        let worker = stack.child(of: main)
        let id = main.make("Person", ["name": "Ada"]).objectID
        let name = worker.performAndWait { worker.object(with: id).value(forKey: "name") as? String }
        #expect(name == "Ada")
    }

    // C6
    @Test func performAndWaitReturnsTheBlocksValueAndThrowsItsError() {
        struct Refused: Error, Equatable { let code: Int }
        let stack = TestStack()
        #expect(stack.root.performAndWait { 42 } == 42)
        #expect(throws: Refused(code: 7)) {
            try stack.root.performAndWait { () throws -> Int in throw Refused(code: 7) }
        }
        #expect(stack.root.performAndWait { "usable afterwards" } == "usable afterwards")
    }

    // C7
    @Test func asynchronousPerformGivesAValueAndThrows() async throws {
        struct Refused: Error {}
        let stack = TestStack()
        let value = try await stack.root.perform { () throws -> Int in 5 }
        #expect(value == 5)
        await #expect(throws: Refused.self) { try await stack.root.perform { () throws -> Int in throw Refused() } }
    }

    // C7
    @Test func anEnqueuedBlockComesAfterWhatIsQueuedAlready() async {
        let stack = TestStack()
        let root = stack.root
        let seen = Mutex<[Int]>([])
        root.enqueue { seen.withLock { $0.append(1) } }
        await root.perform(schedule: .enqueued) { seen.withLock { $0.append(2) } }
        #expect(seen.withLock { $0 } == [1, 2])
    }

    // C7
    @MainActor @Test func anImmediateBlockRunsAtOnceOnItsOwnQueue() async {
        let stack = TestStack(root: .mainQueueConcurrencyType)
        let root = stack.root
        let seen = Mutex<[String]>([])
        root.enqueue { seen.withLock { $0.append("queued before") } }
        await root.perform { seen.withLock { $0.append("immediate") } }
        await root.perform(schedule: .enqueued) { seen.withLock { $0.append("enqueued") } }
        #expect(seen.withLock { $0 } == ["immediate", "queued before", "enqueued"])
    }

    // C8
    @Test func theCoordinatorHasTheSameFamily() async {
        let stack = TestStack()
        #expect(stack.coordinator.performAndWait { stack.coordinator.performAndWait { 3 } } == 3)
        let ran = await withCheckedContinuation { continuation in stack.coordinator.perform { continuation.resume(returning: true) } }
        #expect(ran)
    }

    // C8
    @Test func theCoordinatorsBlocksGiveValuesAndThrow() async throws {
        let stack = TestStack()
        #expect(await stack.coordinator.perform { stack.coordinator.persistentStores.count } == 1)
        await #expect(throws: CocoaError.self) { try await stack.coordinator.perform { throw CocoaError(.coreData) } }
        #expect(throws: CocoaError.self) { try stack.coordinator.performAndWait { throw CocoaError(.coreData) } }
    }

    // 0.9, GB39: where no run loop serves the main queue its blocks run on any thread.
    @Test func theMainQueueIsKnownByTheQueueAndNotByTheThread() async {
        let main = ContextQueue(kind: .main, label: "main"), other = ContextQueue(kind: .privateQueue, label: "other")
        await MainActor.run {
            #expect(main.isCurrent && !Thread.isMainThread)
            // Also where another queue's block runs on it.
            other.sync { #expect(main.isCurrent) }
        }
        other.sync { #expect(!main.isCurrent && other.isCurrent) }
    }

    // C9
    @MainActor @Test func aMainQueueContextIsUsedDirectlyOnTheMainQueue() throws {
        let stack = TestStack(root: .mainQueueConcurrencyType)
        stack.root.make("Person", ["name": "Ada"])
        try stack.root.save()
        #expect(try stack.root.names("Person") == ["Ada"])
    }

    // C9
    @Test func settersOfAContextMayBeCalledFromAnyThread() async {
        let stack = TestStack()
        stack.root.name = "renamed"
        stack.root.mergePolicy = .overwrite
        stack.root.userInfo["a"] = 1
        let name = await stack.root.perform { stack.root.name }
        #expect(name == "renamed")
    }

    // C14
    @Test func eachPrivateContextHasAQueueOfItsOwn() async {
        let stack = TestStack()
        let first = stack.independent(), second = stack.independent()
        // The first waits inside its block for the second's: it could not if they shared a queue.
        let met = first.performAndWait { second.performAndWait { true } }
        #expect(met)
    }

    // C15
    @Test func identitiesCoordinatorsAndContextsAreSendable() {
        func requireSendable<T: Sendable>(_: T.Type) -> Bool { true }
        #expect(requireSendable(NSManagedObjectID.self))
        #expect(requireSendable(NSPersistentStoreCoordinator.self))
        #expect(requireSendable(NSManagedObjectContext.self))
    }
}
