import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// What conflicts tell: who has which values, in memory and in the file.
@Suite struct ConflictSnapshotTests {
    /// Two stacks on one file. An item (a 1, b 1) that `mine` has read.
    private struct Files {
        let here: SQLiteStack
        let there: NSManagedObjectContext
        private let store: SQLiteStore
        let item: NSManagedObject

        init() throws {
            here = try SQLiteStack()
            store = try here.fixture.second()
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: here.coordinator.managedObjectModel)
            coordinator.add(store)
            there = NSManagedObjectContext(.privateQueueConcurrencyType)
            there.persistentStoreCoordinator = coordinator
            item = try here.root.performAndWait { [here] () throws in
                let item = here.root.make("Item", ["key": "k", "a": 1, "b": 1])
                try here.root.save()
                return item
            }
        }

        /// Another process, as far as this stack can tell.
        func elsewhere(_ edit: (NSManagedObject) -> Void) throws {
            try there.performAndWait { () throws in
                edit(try #require(try there.all("Item").first))
                try there.save()
            }
        }

        /// Another context of the same coordinator.
        func beside(_ edit: (NSManagedObject) -> Void) throws {
            let other = NSManagedObjectContext(.privateQueueConcurrencyType)
            other.persistentStoreCoordinator = here.coordinator
            try other.performAndWait { () throws in
                edit(try other.existingObject(with: item.objectID))
                try other.save()
            }
        }

        /// Changes my item and fails to save it.
        func conflict() throws -> NSMergeConflict {
            let error = here.root.performAndWait {
                item.setValue(5, forKey: "b")
                return #expect(throws: NSError.self) { try here.root.save() }
            }
            #expect(error?.code == 133020)
            let list = try #require(error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])
            #expect(list.map(\.sourceObjectID) == [item.objectID])
            return list[0]
        }

        func close() throws { try store.close() }
    }

    // P2, P3
    @Test func againstTheCoordinatorThereAreCachedValuesOnly() throws {
        let files = try Files()
        try files.beside { $0.setValue(10, forKey: "a") }
        let conflict = try files.conflict()
        #expect(conflict.objectSnapshot?["a"] as? Int == 1 && conflict.objectSnapshot?["b"] as? Int == 1)
        #expect(conflict.cachedSnapshot?["a"] as? Int == 10 && conflict.persistedSnapshot == nil)
        #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
        try files.close()
    }

    // P2, P3
    @Test func againstTheFileThereAreCachedAndPersistedValues() throws {
        let files = try Files()
        try files.elsewhere { $0.setValue(10, forKey: "a") }
        let conflict = try files.conflict()
        #expect(conflict.objectSnapshot?["a"] as? Int == 1)
        #expect(conflict.cachedSnapshot?["a"] as? Int == 1 && conflict.persistedSnapshot?["a"] as? Int == 10)
        #expect(conflict.persistedSnapshot?["b"] as? Int == 1 && conflict.newVersionNumber == 2)
        try files.close()
    }

    // P1, P2
    @Test func aRefreshAfterTheConflictShowsWhatIsInTheFileAndTheSaveSucceeds() throws {
        let files = try Files()
        try files.elsewhere { $0.setValue(10, forKey: "a") }
        _ = try files.conflict()
        // Now the coordinator knows it.
        #expect(try files.conflict().persistedSnapshot == nil)
        try files.here.root.performAndWait { () throws in
            files.here.root.refresh(files.item, mergeChanges: true)
            #expect(["a", "b"].map { files.item.value(forKey: $0) as? Int } == [10, 5])
            try files.here.root.save()
        }
        try files.close()
    }

    // P2, P3
    @Test func whereBothAreNewerAllThreeDiffer() throws {
        let files = try Files()
        try files.beside { $0.setValue(10, forKey: "a") }
        try files.elsewhere { $0.setValue(20, forKey: "a") }
        let conflict = try files.conflict()
        #expect([conflict.objectSnapshot, conflict.cachedSnapshot, conflict.persistedSnapshot].map { $0?["a"] as? Int } == [1, 10, 20])
        #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 3)
        try files.close()
    }

    // P2, P3
    @Test(arguments: [false, true])
    func aDeletedRowHasNoValuesWhereItIsKnownToBeGone(_ isElsewhere: Bool) throws {
        let files = try Files()
        if isElsewhere {
            try files.elsewhere { $0.managedObjectContext?.delete($0) }
        } else {
            try files.beside { $0.managedObjectContext?.delete($0) }
        }
        let conflict = try files.conflict()
        #expect(conflict.objectSnapshot?["a"] as? Int == 1 && conflict.persistedSnapshot == nil && conflict.newVersionNumber == 0)
        #expect((conflict.cachedSnapshot?["a"] as? Int) == (isElsewhere ? 1 : nil))
        try files.close()
    }

    // P2, P5, P6
    @Test(arguments: [(NSMergePolicy.mergeByPropertyStoreTrump, [20, 5]), (.mergeByPropertyObjectTrump, [7, 5]), (.rollback, [20, 1])])
    func policiesGoByWhatIsInTheFile(_ policy: NSMergePolicy, _ expected: [Int]) throws {
        let files = try Files()
        try files.beside { $0.setValue(10, forKey: "a") }
        try files.elsewhere { $0.setValue(20, forKey: "a") }
        try files.here.root.performAndWait { () throws in
            files.here.root.mergePolicy = policy
            files.item.setValue(7, forKey: "a")
            files.item.setValue(5, forKey: "b")
            try files.here.root.save()
            #expect(["a", "b"].map { files.item.value(forKey: $0) as? Int } == expected)
        }
        try files.close()
    }

    // P2, P9
    @Test func aWatchedObjectThatIsNewerInTheFileRefusesTheSave() throws {
        let files = try Files(), root = files.here.root
        try files.elsewhere { $0.setValue(10, forKey: "a") }
        try root.performAndWait { () throws in
            root.detectConflicts(for: files.item)
            root.make("Item", ["key": "made of it"])
            let error = #expect(throws: NSError.self) { try root.save() }
            let list = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
            #expect(error?.code == 133020 && list?.map(\.sourceObjectID) == [files.item.objectID])
            #expect(list?.first?.persistedSnapshot?["a"] as? Int == 10 && list?.first?.objectSnapshot?["a"] as? Int == 1)
            root.refresh(files.item, mergeChanges: false)
            root.detectConflicts(for: files.item)
            try root.save()
            #expect(try root.all("Item").count == 2)
        }
        try files.close()
    }

    private func constraintConflicts(_ error: NSError?) -> [NSConstraintConflict] {
        #expect(error?.code == 133021)
        return error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict] ?? []
    }

    // P11
    @Test func anObjectThatMeetsAKeyOfTheStoreIsAConflictWithThatRow() throws {
        let stack = try SQLiteStack()
        try stack.root.performAndWait { () throws in
            let first = stack.root.make("Item", ["key": "k", "a": 1])
            let second = stack.root.make("Item", ["key": "l", "a": 2])
            try stack.root.save()
            let third = stack.root.make("Item", ["key": "k", "a": 3])
            second.setValue("k", forKey: "key")
            stack.root.delete(third)
            let list = constraintConflicts(#expect(throws: NSError.self) { try stack.root.save() })
            #expect(list.count == 1 && list[0].constraint == ["key"] && list[0].constraintValues["key"] as? String == "k")
            #expect(list[0].databaseObject === first && list[0].databaseSnapshot?["a"] as? Int == 1)
            #expect(list[0].conflictingObjects == [second])
            // The values as they were read.
            #expect(list[0].conflictingSnapshots.map { $0["key"] as? String } == ["l"])
            #expect(list[0].conflictingSnapshots.map { $0["a"] as? Int } == [2])
        }
    }

    // P11
    @Test(arguments: [false, true])
    func severalObjectsOfASaveWithOneKeyAreOneConflictWithoutADatabaseObject(_ inFile: Bool) throws {
        let context: NSManagedObjectContext, keeper: AnyObject
        if inFile {
            let stack = try SQLiteStack()
            (context, keeper) = (stack.root, stack)
        } else {
            let stack = TestStack()
            (context, keeper) = (stack.root, stack)
        }
        context.performAndWait {
            let twins = (1...3).map { context.make("Item", ["key": "k", "a": $0]) }
            context.make("Item", ["key": "other"])
            let list = constraintConflicts(#expect(throws: NSError.self) { try context.save() })
            #expect(list.count == 1 && list[0].databaseObject == nil && list[0].databaseSnapshot == nil)
            #expect(Set(list[0].conflictingObjects) == Set(twins))
            #expect(list[0].conflictingSnapshots.compactMap { $0["a"] as? Int }.sorted() == [1, 2, 3])
        }
        withExtendedLifetime(keeper) {}
    }

    // P11, P13
    @Test func severalNewObjectsWithAKeyOfTheStoreBecomeThatRow() throws {
        let stack = try SQLiteStack()
        stack.root.mergePolicy = .mergeByPropertyObjectTrump
        try stack.root.performAndWait { () throws in
            let stored = stack.root.make("Department", ["code": "k", "name": "Looms"])
            try stack.root.save()
            let people = (1...2).map { number in
                let twin = stack.root.make("Department", ["code": "k", "name": "Looms \(number)"])
                return stack.root.make("Person", ["department": twin])
            }
            try stack.root.save()
            #expect(try stack.root.all("Department").map(\.objectID) == [stored.objectID])
            #expect(try stack.fixture.stored(stored.objectID)?["name"] == .string("Looms 1"))
            stack.root.refreshAllObjects()
            #expect(stored.value(forKey: "name") as? String == "Looms 1")
            #expect(people.map { ($0.value(forKey: "department") as? NSManagedObject)?.objectID } == [stored.objectID, stored.objectID])
        }
    }

    // P11, GB15
    @Test func aPushedDuplicateHasTheValuesOfBoth() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        holding(stack.root, child) {
            let first = stack.root.make("Item", ["key": "k", "a": 1])
            stack.root.processPendingChanges()
            child.make("Item", ["key": "k", "a": 2])
            let list = constraintConflicts(#expect(throws: NSError.self) { try child.save() })
            #expect(list.map(\.databaseObjectID) == [first.objectID] && list.first?.databaseSnapshot?["a"] as? Int == 1)
            #expect(list.first?.conflictingSnapshots.map { $0["a"] as? Int } == [2])
        }
    }
}
