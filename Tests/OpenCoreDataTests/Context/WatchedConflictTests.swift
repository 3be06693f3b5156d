import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
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
    @Test func whatAnotherCoordinatorsContextCommittedBelowIsSeen() throws {
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
}
