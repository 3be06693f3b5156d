import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Contexts kept in step by what others saved.
@Suite struct MergingTests {
    /// Two contexts on one coordinator; `theirs` saves, `mine` merges. An item (a 1, b 1, c 1) is stored.
    private struct Pair {
        let stack = TestStack()
        let mine: NSManagedObjectContext
        let theirs: NSManagedObjectContext
        let id: NSManagedObjectID

        init() throws {
            mine = stack.independent()
            theirs = stack.root
            id = try theirs.performAndWait { [theirs] in
                let item = theirs.make("Item", ["key": "k", "a": 1, "b": 1, "c": 1])
                try theirs.save()
                return item.objectID
            }
        }

        /// Saves in `theirs` and merges the notification into `mine`, whose queue the caller holds, from a block on theirs.
        func merge(_ edit: @escaping (NSManagedObjectContext) throws -> Void) throws {
            let notification = try theirs.performAndWait { () throws -> Notification in
                let recorder = NotificationRecorder(theirs, .NSManagedObjectContextDidSave)
                try edit(theirs)
                try theirs.save()
                return try #require(recorder.notifications.last)
            }
            mine.mergeChanges(fromContextDidSave: notification)
        }
    }

    // M1, M2, M5, M6, T10
    @Test func updatedObjectsInUseAreRefreshedInsertedOnesBecomeFaultsAndDeletedOnesGo() throws {
        let pair = try Pair()
        try pair.mine.performAndWait { () throws in
            let item = pair.mine.object(with: pair.id)
            #expect(item.value(forKey: "a") as? Int == 1)
            let doomed = try #require(try pair.mine.all("Item").first)
            #expect(doomed === item)
            let recorder = NotificationRecorder(pair.mine, .NSManagedObjectContextObjectsDidChange)
            try pair.merge { context in
                context.object(with: pair.id).setValue(5, forKey: "a")
                context.make("Item", ["key": "new"])
            }
            #expect(item.value(forKey: "a") as? Int == 5)
            let added = try #require(recorder.objects(NSInsertedObjectsKey).first)
            #expect(recorder.count == 1 && added.isFault && !added.isInserted)
            #expect(pair.mine.registeredObject(for: added.objectID) === added)
            #expect(recorder.objects(NSRefreshedObjectsKey) == [item] && recorder.objects(NSUpdatedObjectsKey).isEmpty)
            #expect(!pair.mine.hasChanges)
            #expect(added.value(forKey: "key") as? String == "new")

            try pair.merge { context in context.delete(context.object(with: pair.id)) }
            #expect(recorder.objects(NSDeletedObjectsKey) == [item])
            #expect(!pair.mine.hasChanges)
        }
    }

    // M2, T10
    @Test func updatedObjectsThatAreUnknownOrFaultsCauseNoNotification() throws {
        let pair = try Pair()
        try pair.mine.performAndWait { () throws in
            let recorder = NotificationRecorder(pair.mine, .NSManagedObjectContextObjectsDidChange)
            try pair.merge { $0.object(with: pair.id).setValue(2, forKey: "a") }
            #expect(pair.mine.registeredObject(for: pair.id) == nil)
            let fault = try #require(try pair.mine.all("Item").first)
            #expect(fault.isFault)
            try pair.merge { $0.object(with: pair.id).setValue(3, forKey: "a") }
            #expect(recorder.count == 0 && fault.isFault)
            #expect(fault.value(forKey: "a") as? Int == 3)
        }
    }

    // M3
    @Test func aDeletedObjectThatIsStillReferencedKeepsItsValues() throws {
        let pair = try Pair()
        try pair.mine.performAndWait { () throws in
            let item = pair.mine.object(with: pair.id)
            #expect(item.value(forKey: "a") as? Int == 1)
            try pair.merge { $0.delete($0.object(with: pair.id)) }
            #expect(item.isDeleted && !item.isFault && item.value(forKey: "a") as? Int == 1)
            #expect(pair.mine.registeredObject(for: pair.id) === item)
            #expect(try pair.mine.all("Item").isEmpty)
            pair.mine.rollback()
            #expect(try pair.mine.all("Item").isEmpty)
            pair.mine.make("Item", ["key": "other"])
            try pair.mine.save()
            #expect(try pair.mine.names("Item", "key") == ["other"])
        }
    }

    // M4
    @Test func unsavedEditsOfAnObjectThatOthersDeletedAreNotLostByTheMerge() throws {
        let pair = try Pair()
        try pair.mine.performAndWait { () throws in
            let item = pair.mine.object(with: pair.id)
            item.setValue(7, forKey: "b")
            try pair.merge { $0.delete($0.object(with: pair.id)) }
            #expect(item.isUpdated && item.value(forKey: "b") as? Int == 7)
            #expect(throws: NSError.self) { try pair.mine.save() }
            pair.mine.mergePolicy = .mergeByPropertyObjectTrump
            try pair.mine.save()
            #expect(try pair.stack.stored("Item", "b") == [7])
        }
    }

    // M4
    @Test func whatBothDeletedIsNothingToSave() throws {
        let pair = try Pair()
        try pair.mine.performAndWait { () throws in
            pair.mine.delete(pair.mine.object(with: pair.id))
            try pair.merge { $0.delete($0.object(with: pair.id)) }
            #expect(!pair.mine.hasChanges)
            try pair.mine.save()
        }
    }

    // M7
    @Test func remoteChangesReachSeveralContextsNestedOnesIncluded() throws {
        let pair = try Pair()
        let child = pair.stack.child(of: pair.mine)
        try holding(child, pair.mine) { () throws in
            let inMine = pair.mine.object(with: pair.id), inChild = child.object(with: pair.id)
            #expect(inMine.value(forKey: "a") as? Int == 1 && inChild.value(forKey: "a") as? Int == 1)
            // Another process wrote: past every context, and past the row cache.
            let row = try #require(try pair.stack.store.rows(for: [pair.id])[pair.id])
            var changes = ChangeSet()
            let copy = row.copy()
            try copy.update(#require(row.layout.slot(of: "a")), to: .int64(9))
            changes.set(pair.id, PendingRow(kind: .updated, row: copy, changed: SlotSet(0..<copy.count), base: row))
            let saved = try pair.stack.store.save(changes)
            copy.stamp(version: try #require(saved.versions.first?.1))

            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectsKey: [pair.id.uriRepresentation()]], into: [child, pair.mine])
            #expect(inMine.value(forKey: "a") as? Int == 9 && inChild.value(forKey: "a") as? Int == 9)
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: [pair.id]], into: [child, pair.mine])
            #expect(inMine.isDeleted && inChild.isDeleted && !child.hasChanges && !pair.mine.hasChanges)
        }
    }

    // M11
    @Test func mergingOnesOwnSaveDoesNothing() throws {
        let pair = try Pair()
        try pair.mine.performAndWait { () throws in
            let recorder = NotificationRecorder(pair.mine, .NSManagedObjectContextDidSave)
            let item = pair.mine.object(with: pair.id)
            item.setValue(4, forKey: "a")
            try pair.mine.save()
            item.setValue(5, forKey: "a")
            pair.mine.mergeChanges(fromContextDidSave: try #require(recorder.notifications.last))
            #expect(item.value(forKey: "a") as? Int == 5 && item.isUpdated)
        }
    }

    // T11
    @Test func afterAMergeItsIDsArePosted() throws {
        let pair = try Pair()
        try pair.mine.performAndWait { () throws in
            let recorder = NotificationRecorder(pair.mine, .NSManagedObjectContextDidMergeChangesObjectIDs)
            var added: NSManagedObjectID?
            try pair.merge { context in
                context.object(with: pair.id).setValue(5, forKey: "a")
                added = context.make("Item", ["key": "new"]).objectID
            }
            #expect(recorder.count == 1)
            #expect(recorder.ids(.updatedObjectIDs) == [pair.id])
            #expect(recorder.ids(.insertedObjectIDs) == [try #require(added)])
        }
    }

    // N13, M9
    @Test func aContextThatFollowsItsCoordinatorShowsWhatOthersSaved() throws {
        let pair = try Pair()
        pair.mine.automaticallyMergesChangesFromParent = true
        let item = pair.mine.performAndWait {
            let item = pair.mine.object(with: pair.id)
            _ = item.value(forKey: "a")
            return item
        }
        try pair.theirs.performAndWait { () throws in
            pair.theirs.object(with: pair.id).setValue(8, forKey: "a")
            try pair.theirs.save()
        }
        // The merge was queued before this block.
        #expect(pair.mine.performAndWait { item.value(forKey: "a") as? Int } == 8)
        pair.mine.automaticallyMergesChangesFromParent = false
        try pair.theirs.performAndWait { () throws in
            pair.theirs.object(with: pair.id).setValue(9, forKey: "a")
            try pair.theirs.save()
        }
        #expect(pair.mine.performAndWait { item.value(forKey: "a") as? Int } == 8)
    }

    // N13, GB10
    @Test func aChildThatFollowsItsParentShowsWhatTheParentSavedAndWhatOthersPushed() throws {
        let pair = try Pair()
        let child = pair.stack.child(of: pair.mine, name: "follower"), sibling = pair.stack.child(of: pair.mine, name: "sibling")
        child.automaticallyMergesChangesFromParent = true
        func shown() -> Int? { child.performAndWait { child.object(with: pair.id).value(forKey: "a") as? Int } }
        let kept = child.performAndWait { child.object(with: pair.id) }
        #expect(shown() == 1)
        try pair.mine.performAndWait { () throws in
            pair.mine.object(with: pair.id).setValue(2, forKey: "a")
            try pair.mine.save()
        }
        #expect(shown() == 2)
        try sibling.performAndWait { () throws in
            sibling.object(with: pair.id).setValue(3, forKey: "a")
            try sibling.save()
        }
        #expect(shown() == 3)
        #expect(child.performAndWait { !kept.hasChanges && !child.hasChanges })
    }

    // N13
    @Test func whatAFollowingContextMergesGoesOnToThoseThatFollowIt() throws {
        let pair = try Pair()
        let child = pair.stack.child(of: pair.mine)
        pair.mine.automaticallyMergesChangesFromParent = true
        child.automaticallyMergesChangesFromParent = true
        let item = child.performAndWait {
            let item = child.object(with: pair.id)
            _ = item.value(forKey: "a")
            return item
        }
        try pair.theirs.performAndWait { () throws in
            pair.theirs.object(with: pair.id).setValue(8, forKey: "a")
            try pair.theirs.save()
        }
        pair.mine.performAndWait {}
        #expect(child.performAndWait { item.value(forKey: "a") as? Int } == 8)
    }

    // M4, P1: merging before saving is how contexts on one coordinator are kept in step, whatever the policy.
    @Test(arguments: [NSMergePolicy.error, .rollback, .overwrite, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump])
    func afterAMergeNoPolicyHasAnythingToDecide(_ policy: NSMergePolicy) throws {
        let pair = try Pair()
        pair.mine.mergePolicy = policy
        try pair.mine.performAndWait { () throws in
            let item = pair.mine.object(with: pair.id)
            item.setValue(7, forKey: "b")
            try pair.merge { $0.object(with: pair.id).setValue(5, forKey: "b") }
            try pair.mine.save()
            #expect(try pair.stack.stored("Item", "b") == [7])
        }
    }

    // M6
    @Test func pushedRowsWithoutAnInstanceAreMovedOntoTheMergedValuesToo() throws {
        let pair = try Pair()
        let child = pair.stack.child(of: pair.mine)
        pair.mine.materializesNotificationObjects = false
        try holding(child, pair.mine) { () throws in
            child.object(with: pair.id).setValue(7, forKey: "b")
            try child.save()
            #expect(pair.mine.registeredObjects.isEmpty)
            try pair.merge { $0.object(with: pair.id).setValue(5, forKey: "a") }
            try pair.mine.save()
            #expect(try ["a", "b", "c"].flatMap { try pair.stack.stored("Item", $0) } == [5, 7, 1])
        }
    }
}
