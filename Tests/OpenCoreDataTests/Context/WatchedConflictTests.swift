import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

/// `detectConflicts(for:)` in a child: what a decision was made from must still hold in the parent when the decision is pushed.
@Suite struct WatchedConflictTests {
    fileprivate enum Push: CaseIterable {
        case save, saveToStore

        func callAsFunction(_ context: NSManagedObjectContext) throws {
            switch self {
            case .save: try context.save()
            case .saveToStore: try context.saveToStore()
            }
        }
    }

    /// An item (a 1) that the child has read, watches and does not change; it makes another one.
    private func watched(
        _ policy: NSMergePolicy? = nil, _ body: (TestStack, NSManagedObjectContext, NSManagedObject, NSManagedObject) throws -> Void
    ) throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        child.parentConflictPolicy = policy
        try holding(stack.root, child) { () throws in
            let item = stack.root.make("Item", ["key": "k", "a": 1])
            try stack.root.save()
            let own = child.object(with: item.objectID)
            child.detectConflicts(for: own)
            child.make("Item", ["key": "made of it"])
            try body(stack, child, own, item)
        }
    }

    // P9, GB11
    @Test(arguments: Push.allCases)
    fileprivate func aWatchedObjectThatTheParentChangedRefusesTheChildsSave(_ push: Push) throws {
        try watched { (stack, child, own, item) throws in
            item.setValue(2, forKey: "a")
            stack.root.processPendingChanges()
            for _ in 0..<2 {
                let error = #expect(throws: NSError.self) { try push(child) }
                #expect(error?.code == 133020)
                let list = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
                #expect(list?.map(\.sourceObjectID) == [own.objectID])
                #expect(list?.first?.objectSnapshot?["a"] as? Int == 1 && list?.first?.cachedSnapshot?["a"] as? Int == 2)
                #expect(child.hasChanges && !own.hasChanges && stack.root.insertedObjects.isEmpty)
            }
            // Read again, it is as it was read.
            child.refresh(own, mergeChanges: true)
            child.detectConflicts(for: own)
            try push(child)
            #expect(try stack.root.all("Item").count == 2)
            // What was to be checked has been: nothing is left for the next save.
            item.setValue(3, forKey: "a")
            stack.root.processPendingChanges()
            child.make("Item", ["key": "another"])
            try push(child)
        }
    }

    // P9, GB11
    @Test(arguments: Push.allCases)
    fileprivate func aWatchedObjectThatIsUnchangedOrWasSavedAsItIsLetsItPass(_ push: Push) throws {
        try watched { (stack, child, _, item) throws in
            item.setValue(2, forKey: "a")
            item.setValue(1, forKey: "a")
            try stack.root.save()
            try push(child)
            #expect(!child.hasChanges)
        }
    }

    // P9, GB11
    @Test(arguments: [false, true])
    func aWatchedObjectThatIsGoneIsAConflictPendingOrCommitted(_ isCommitted: Bool) throws {
        try watched { (stack, child, own, item) throws in
            stack.root.delete(item)
            stack.root.processPendingChanges()
            if isCommitted {
                try stack.root.save()
                stack.coordinator.rowCache.removeAll()
            }
            let error = #expect(throws: NSError.self) { try child.save() }
            let list = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
            #expect(list?.map(\.sourceObjectID) == [own.objectID] && list?.first?.newVersionNumber == 0)
            #expect(list?.first?.cachedSnapshot == nil)
        }
    }

    // P9, GB11
    @Test func whatAnotherCoordinatorsContextCommittedIsSeen() throws {
        try watched { (stack, child, own, item) throws in
            let other = stack.independent()
            try other.performAndWait { () throws in
                other.object(with: item.objectID).setValue(2, forKey: "a")
                try other.save()
            }
            #expect(#expect(throws: NSError.self) { try child.save() }?.code == 133020)
            #expect(!own.hasChanges)
        }
    }

    /// Another process, as far as contexts can tell.
    private static func change(_ id: NSManagedObjectID, in store: InMemoryStore) throws {
        let row = try #require(try store.rows(for: [id])[id]), copy = row.copy()
        copy.update(try #require(row.layout.slot(of: "a")), to: .int64(9))
        var changes = ChangeSet()
        changes.set(id, PendingRow(kind: .updated, row: copy, changed: SlotSet(0..<copy.count), base: row))
        _ = try store.save(changes)
    }

    // P9
    @Test func towardsAStoreItIsCheckedByTheSaveItselfSoThatNobodyComesBetween() throws {
        let stack = TestStack(), isFirst = Atomic(true)
        try stack.root.performAndWait { () throws in
            let item = stack.root.make("Item", ["key": "k", "a": 1])
            try stack.root.save()
            stack.root.detectConflicts(for: item)
            stack.root.make("Item", ["key": "made of it"])
            let id = item.objectID
            stack.store.observe { [unowned store = stack.store] request in
                guard case .save = request, isFirst.exchange(false, ordering: .relaxed) else { return }
                try Self.change(id, in: store)
            }
            let error = #expect(throws: NSError.self) { try stack.root.save() }
            let list = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
            #expect(error?.code == 133020 && list?.map(\.sourceObjectID) == [id] && stack.store.rowCount == 1)
        }
    }

    // P9
    @Test(arguments: [false, true])
    func aWatchedObjectOfAnotherStoreThanTheChangesIsCheckedBeforeAnythingIsWritten(_ isReadOnly: Bool) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        let entities = coordinator.managedObjectModel.entities
        let options: [AnyHashable: Any] = isReadOnly ? [NSReadOnlyPersistentStoreOption: true] : [:]
        let items = InMemoryStore(entities: entities.filter { $0.name == "Item" }, options: options)
        let others = InMemoryStore(entities: entities.filter { $0.name != "Item" })
        for store in [items, others] { coordinator.add(store) }
        #expect(items.isReadOnly == isReadOnly)
        // What the file of a store that is read only brings along.
        var stored = ChangeSet()
        let entity = try #require(coordinator.managedObjectModel.entitiesByName["Item"])
        let id = NSManagedObjectID(entity: entity, key: 1, store: items.identity, isTemporary: false)
        stored.set(id, PendingRow(kind: .inserted, row: RowSnapshot.make(entity.layout)))
        _ = try items.save(stored)
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { () throws in
            let item = try context.existingObject(with: id)
            context.detectConflicts(for: item)
            context.make("Person")
            try Self.change(id, in: items)
            #expect(#expect(throws: NSError.self) { try context.save() }?.code == 133020)
            #expect(others.rowCount == 0)
            coordinator.rowCache.removeAll()
            context.refresh(item, mergeChanges: false)
            context.detectConflicts(for: item)
            try context.save()
            #expect(others.rowCount == 1)
        }
    }

    // P9, GB17
    @Test(arguments: Push.allCases)
    fileprivate func aSaveThatHandsNothingOnLeavesItToBeChecked(_ push: Push) throws {
        let hooked = Company.entity("Hooked", HookedObject.self), item = Company.entity("Item")
        hooked.properties = [Company.attribute("name", .string), Company.attribute("stamp", .string)]
        item.properties = [Company.attribute("a", .integer64, default: 0)]
        let stack = TestStack(NSManagedObjectModel(entities: [hooked, item]))
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let item = stack.root.make("Item")
            try stack.root.save()
            stack.root.detectConflicts(for: item)
            try Self.change(item.objectID, in: stack.store)
            // Nothing is left of the only change when it comes to saving it.
            let brief = try #require(stack.root.make("Hooked") as? HookedObject)
            brief.onWillSave = { if !$0.isDeleted { $0.managedObjectContext?.delete($0) } }
            try push(push == .save ? stack.root : child)
            #expect(stack.store.rowCount == 1)
            stack.root.make("Item")
            #expect(#expect(throws: NSError.self) { try stack.root.save() }?.code == 133020)
        }
    }

    // P9, GB11, GB17
    @Test func aChildThatHandsNothingOnDoesNotHoldUpTheSaveOfItsParent() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let item = stack.root.make("Item", ["key": "k", "a": 1])
            try stack.root.save()
            child.detectConflicts(for: child.object(with: item.objectID))
            item.setValue(2, forKey: "a")
            try child.saveToStore()
            #expect(try stack.stored("Item", "a") == [2])
            child.make("Item", ["key": "made of it"])
            #expect(#expect(throws: NSError.self) { try child.saveToStore() }?.code == 133020)
        }
    }

    // GB11
    @Test func thePolicyTowardsTheParentSettlesIt() throws {
        try watched(.mergeByPropertyStoreTrump) { (stack, child, own, item) throws in
            item.setValue(2, forKey: "a")
            stack.root.processPendingChanges()
            try child.save()
            #expect(own.value(forKey: "a") as? Int == 2 && !own.hasChanges && !child.hasChanges)
            #expect(stack.root.insertedObjects.count == 1)
        }
    }

    // GB11, N6
    @Test func transientValuesThatNoStoreKeepsAreNoConflict() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let person = stack.root.make("Person", ["note": "only in memory"])
            stack.root.processPendingChanges()
            let own = child.object(with: person.objectID)
            #expect(own.value(forKey: "note") as? String == "only in memory")
            child.detectConflicts(for: own)
            try stack.root.save()
            child.make("Item")
            try child.save()
            #expect(!child.hasChanges)
        }
    }

    // P9, N25: what the child changed as well is settled as a change: the root's policy says what becomes of it.
    @Test func whatIsWatchedAndChangedAndWasThrownAwayIsSettledAsAChange() throws {
        let stack = TestStack(), main = stack.child(of: stack.root, name: "main"), child = stack.child(of: main)
        stack.root.mergePolicy = .overwrite
        try holding(stack.root, main, child) { () throws in
            let item = main.make("Item", ["key": "k", "a": 1])
            main.processPendingChanges()
            let own = child.object(with: item.objectID)
            #expect(own.value(forKey: "a") as? Int == 1)
            child.detectConflicts(for: own)
            own.setValue(2, forKey: "a")
            main.rollback()
            try child.save()
            #expect(try main.all("Item").map { $0.value(forKey: "a") as? Int } == [2])
        }
    }
}
