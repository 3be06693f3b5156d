import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// `shouldRefreshRefetchedObjects`, and what a fetch leaves alone without it.
@Suite struct RefetchTests {
    /// Changes the items' `a` and `b` in the file, past the coordinator.
    private func change(_ stack: SQLiteStack, a: Int, b: Int) throws {
        let outside = NSPersistentStoreCoordinator(managedObjectModel: stack.fixture.model)
        let store = try stack.fixture.second()
        outside.add(store)
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = outside
        try context.performAndWait { () throws in
            for item in try context.all("Item") {
                item.setValue(a, forKey: "a")
                item.setValue(b, forKey: "b")
            }
            try context.save()
        }
        try store.close()
    }

    private func request(refreshing: Bool, batch: Int = 0) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.shouldRefreshRefetchedObjects = refreshing
        request.fetchBatchSize = batch
        return request
    }

    // L16, GB14, N15
    @Test(arguments: [0, 2]) func refetchedObjectsTakeTheNewValuesUnderTheirOwnChanges(batch: Int) throws {
        let stack = try SQLiteStack()
        try stack.makeItems(3)
        let root = stack.root
        try root.performAndWait { () throws in
            let items = try root.all("Item", sort: "key")
            let before = items.map { $0.value(forKey: "a") as? Int }
            #expect(before == [0, 1, 2])
            items[1].setValue(77, forKey: "a")
            try change(stack, a: 50, b: 60)

            _ = try root.fetch(request(refreshing: false, batch: batch))
            #expect(items.map { $0.value(forKey: "a") as? Int } == [0, 77, 2])

            let recorder = NotificationRecorder(root, .NSManagedObjectContextObjectsDidChange)
            _ = try root.fetch(request(refreshing: true, batch: batch))
            #expect(items.map { $0.value(forKey: "a") as? Int } == [50, 77, 50])
            #expect(items.map { $0.value(forKey: "b") as? Int } == [60, 60, 60])
            #expect(items[1].changedValues() as? [String: Int] == ["a": 77])
            #expect(!items[0].hasChanges && items[1].isUpdated)
            root.processPendingChanges()
            #expect(recorder.objects(NSRefreshedObjectsKey) == Set(items))
            // The refreshed base is what the next save starts from: no conflict.
            try root.save()
            #expect(try stack.fixture.shell.rows("SELECT ZA, ZB FROM ZITEM ORDER BY Z_PK") == [["50", "60"], ["77", "60"], ["50", "60"]])
        }
    }

    // L16
    @Test func nothingIsRefreshedThatDidNotChange() throws {
        let stack = try SQLiteStack()
        try stack.makeItems(3)
        try stack.root.performAndWait { () throws in
            let items = try stack.root.all("Item")
            for item in items { _ = item.value(forKey: "a") }
            let recorder = NotificationRecorder(stack.root, .NSManagedObjectContextObjectsDidChange)
            _ = try stack.root.fetch(request(refreshing: true))
            stack.root.processPendingChanges()
            #expect(recorder.count == 0)
            #expect(items.allSatisfy { !$0.isFault })
        }
    }

    // L16, N12
    @Test func inAChildTheyTakeTheParentsUnsavedValues() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try stack.root.performAndWait { () throws in
            let item = stack.root.make("Item", ["a": 1, "b": 1])
            try stack.root.save()
            try child.performAndWait { () throws in
                let mine = child.object(with: item.objectID)
                mine.setValue(5, forKey: "b")
                item.setValue(2, forKey: "a")
                item.setValue(3, forKey: "b")
                stack.root.processPendingChanges()
                _ = try child.fetch(request(refreshing: false))
                #expect(mine.value(forKey: "a") as? Int == 1)
                _ = try child.fetch(request(refreshing: true))
                #expect(mine.value(forKey: "a") as? Int == 2 && mine.value(forKey: "b") as? Int == 5)
            }
        }
    }
}
