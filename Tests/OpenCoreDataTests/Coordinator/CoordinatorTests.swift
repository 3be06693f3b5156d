import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

@Suite struct CoordinatorTests {
    // S2
    @Test func manyContextsShareOneCoordinator() async throws {
        let stack = TestStack()
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                let context = stack.independent()
                group.addTask {
                    for number in 0..<25 {
                        await context.perform {
                            context.make("Item", ["key": "\(writer)-\(number)"])
                            #expect(throws: Never.self) { try context.save() }
                        }
                    }
                }
            }
        }
        #expect(stack.store.rowCount == 100)
        #expect(try stack.root.performAndWait { try stack.root.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) } == 100)
    }

    // S4
    @Test func anUnknownStoreTypeIsRefused() {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        let error = #expect(throws: NSError.self) {
            try coordinator.addPersistentStore(ofType: "Granite", configurationName: nil, at: URL(fileURLWithPath: "/tmp/x"))
        }
        #expect(error?.code == 134000)
    }

    // S12
    @Test func allRowsOfASaveReachTheStoreInOneRequest() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            for number in 0..<50 { stack.root.make("Item", ["key": "\(number)"]) }
            stack.root.make("Person")
            #expect(try stack.requests { try stack.root.save() }.map(\.kind) == ["save"])
        }
    }

    // Used on the test's thread only.
    private final class Seen: @unchecked Sendable { var keys: [String] = [] }

    @Test func keysOfObjectsMadeWithoutAStoreDifferFromProcessToProcess() {
        #expect(KeyedLater().first >= 1 << 62)
    }

    private struct KeyedLater {
        let first: Int64

        init() {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
            let context = NSManagedObjectContext(.privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            first = context.performAndWait { context.make("Item").objectID.key }
        }
    }

    @Test func theRowCacheKeepsNoRowThatWasReadBeforeItsDeletion() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let item = stack.root.make("Item", ["key": "k"])
            try stack.root.save()
            let late = try stack.store.rows(for: [item.objectID]).map { FetchedRow(id: $0.key, row: $0.value) }
            stack.root.delete(item)
            try stack.root.save()
            stack.coordinator.rowCache.add(late)
            #expect(stack.coordinator.rowCache[item.objectID] == nil)
        }
    }

    @Test func whoLocksKeepsOthersOutWhoLock() {
        let coordinator: any Locking & Sendable = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        coordinator.lock()
        #expect(coordinator.tryLock())
        coordinator.unlock()
        let isFree = Mutex(true), done = DispatchSemaphore(value: 0)
        Thread {
            isFree.withLock { $0 = coordinator.tryLock() }
            done.signal()
        }.start()
        done.wait()
        #expect(!isFree.withLock { $0 })
        coordinator.unlock()
    }
}

/// Reaches the lock past its deprecation.
private protocol Locking: NSLocking {
    func tryLock() -> Bool
}

extension NSPersistentStoreCoordinator: Locking {}
