import Foundation
import OpenCoreDataTestSupport
import Synchronization
import Testing

@testable import OpenCoreData

/// What a merge leaves objects, unsaved changes and what is told of them as.
@Suite struct MergedStateTests {
    private let stack = TestStack()
    private let mine: NSManagedObjectContext
    private let id: NSManagedObjectID
    private var theirs: NSManagedObjectContext { stack.root }

    /// An item (a 1, b 1) is stored.
    init() throws {
        mine = stack.independent()
        let root = stack.root
        id = try root.performAndWait {
            let item = root.make("Item", ["key": "k", "a": 1, "b": 1])
            try root.save()
            return item.objectID
        }
    }

    private func values(_ object: NSManagedObject) -> [Int?] {
        ["a", "b"].map { object.value(forKey: $0) as? Int }
    }

    /// A notification of a save to the same stores.
    private func didSave(_ key: String, _ ids: NSManagedObjectID...) -> Notification {
        Notification(name: .NSManagedObjectContextDidSave, object: theirs, userInfo: [key: ids])
    }

    private func save(_ edit: (NSManagedObjectContext) throws -> Void) throws -> Notification {
        let recorder = NotificationRecorder(theirs, .NSManagedObjectContextDidSave)
        try edit(theirs)
        try theirs.save()
        return try #require(recorder.notifications.last)
    }

    private func holdingBoth(_ body: () throws -> Void) throws { try holding(mine, theirs, do: body) }

    // MARK: Which contexts, and what is forgotten

    @Test func onesOwnSaveIsNoNews() throws {
        try holdingBoth {
            let saved = try save { $0.make("Item", ["key": "new"]) }
            let recorder = NotificationRecorder(
                theirs, .NSManagedObjectContextObjectsDidChange,
                .NSManagedObjectContextDidMergeChangesObjectIDs)
            theirs.mergeChanges(fromContextDidSave: saved)
            #expect(recorder.count == 0)
        }
    }

    @Test(arguments: [true, false]) func parentsAreMergedBeforeTheirChildren(parentFirst: Bool) throws {
        let child = stack.child(of: mine)
        try holding(child, mine, theirs) {
            mine.object(with: id).setValue(5, forKey: "a")
            mine.processPendingChanges()
            let here = child.object(with: id)
            #expect(values(here) == [5, 1])
            try stack.overwrite(id, ["b": .int64(9)])
            let contexts = parentFirst ? [mine, child] : [child, mine]
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectsKey: [id]], into: contexts)
            #expect(values(here) == [5, 9])
        }
    }

    @Test func nothingThatWasReadBeforeIsReliedOnWhereAllIsInvalid() throws {
        try holdingBoth {
            let here = try mine.existingObject(with: id)
            try stack.overwrite(id, ["a": .int64(7)])
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSInvalidatedAllObjectsKey: [NSManagedObjectID]()], into: [mine])
            #expect(values(here) == [7, 1])
            let other = stack.independent()
            #expect(other.performAndWait { values(other.object(with: id)) } == [7, 1])
        }
    }

    @Test func whatOthersDeletedIsNotReadFromMemoryAnyMore() throws {
        try holdingBoth {
            var changes = ChangeSet()
            changes.set(id, PendingRow(kind: .deleted, row: nil))
            _ = try stack.store.save(changes)
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSDeletedObjectsKey: [id]], into: [mine])
            #expect(throws: NSError.self) { try mine.existingObject(with: id) }
        }
    }

    @Test func aContextWithoutStoresMergesWhatConcernsItNot() throws {
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.performAndWait {
            context.mergeChanges(fromContextDidSave: didSave(NSUpdatedObjectsKey, id))
            #expect(context.registeredObjects.isEmpty)
        }
    }

    @Test func rowsThatObserversGotNoObjectsForAreMergedToo() throws {
        let child = stack.child(of: theirs)
        theirs.materializesNotificationObjects = false
        try holding(child, mine, theirs) {
            let here = try mine.existingObject(with: id)
            child.object(with: id).setValue(3, forKey: "a")
            try child.save()
            mine.mergeChanges(fromContextDidSave: try save { _ in })
            #expect(values(here) == [3, 1])
        }
    }

    // MARK: What is told

    @Test func pushesThatWaitAreReadBefore() throws {
        let child = stack.child(of: mine)
        let mine = mine
        let id = id
        let here = try mine.performAndWait { try mine.existingObject(with: id) }
        let other = didSave(NSUpdatedObjectsKey, theirs.performAndWait { theirs.make("Item").objectID })
        let push = {
            try child.performAndWait {
                child.object(with: id).setValue(2, forKey: "a")
                try child.save()
            }
        }
        let recorder = NotificationRecorder(mine, .NSManagedObjectContextObjectsDidChange)
        try afterPushing(into: mine, push) {
            mine.mergeChanges(fromContextDidSave: other)
            #expect(
                here.isUpdated && recorder.count == 1 && recorder.objects(NSUpdatedObjectsKey) == [here])
        }
    }

    @Test func listenersHearOfObjectsThatHaveNoInstanceHere() throws {
        try holdingBoth {
            let listener = ListenerByID()
            listener.follow(mine)
            mine.mergeChanges(fromContextDidSave: didSave(NSUpdatedObjectsKey, id))
            #expect(listener.heard.map(\.updated) == [[id]])
        }
    }

    @Test func whatIsTheSameAsBeforeIsNotRefreshed() throws {
        try holdingBoth {
            let here = try mine.existingObject(with: id)
            let recorder = NotificationRecorder(mine, .NSManagedObjectContextObjectsDidChange)
            mine.mergeChanges(fromContextDidSave: didSave(NSUpdatedObjectsKey, id))
            #expect(recorder.count == 0)
            here.setValue(5, forKey: "a")
            mine.mergeChanges(fromContextDidSave: didSave(NSUpdatedObjectsKey, id))
            #expect(
                recorder.count == 1 && recorder.objects(NSUpdatedObjectsKey) == [here]
                    && recorder.objects(NSRefreshedObjectsKey).isEmpty)
        }
    }

    @Test func anObjectWithChangesThatGetsOtherValuesIsRefreshed() throws {
        try holdingBoth {
            let here = try mine.existingObject(with: id)
            here.setValue(5, forKey: "a")
            let recorder = NotificationRecorder(mine, .NSManagedObjectContextObjectsDidChange)
            mine.mergeChanges(
                fromContextDidSave: try save { $0.object(with: id).setValue(4, forKey: "b") })
            #expect(values(here) == [5, 4] && recorder.objects(NSRefreshedObjectsKey) == [here])
        }
    }

    @Test func whatWasDeletedByAMergeLeavesNothingToSave() throws {
        try holdingBoth {
            let here = try mine.existingObject(with: id)
            mine.mergeChanges(fromContextDidSave: didSave(NSDeletedObjectsKey, id))
            #expect(here.isDeleted && mine.deletedObjects.isEmpty && !mine.hasChanges)
        }
    }

    @Test func whatWasDeletedByAMergeIsNotRefreshedByAnother() throws {
        try holdingBoth {
            let here = try mine.existingObject(with: id)
            mine.mergeChanges(fromContextDidSave: didSave(NSDeletedObjectsKey, id))
            let recorder = NotificationRecorder(mine, .NSManagedObjectContextObjectsDidChange)
            mine.mergeChanges(fromContextDidSave: didSave(NSUpdatedObjectsKey, id))
            #expect(here.isDeleted && recorder.count == 0)
        }
    }

    @Test func anInsertionOfWhatIsKnownAlreadyIsAnUpdate() throws {
        try holdingBoth {
            var new: NSManagedObject?
            let inserted = try save { new = $0.make("Item", ["key": "new", "a": 1]) }
            let here = try mine.existingObject(with: try #require(new).objectID)
            _ = try save { _ in new?.setValue(2, forKey: "a") }
            let recorder = NotificationRecorder(mine, .NSManagedObjectContextObjectsDidChange)
            mine.mergeChanges(fromContextDidSave: inserted)
            #expect(
                values(here) == [2, 0] && recorder.objects(NSRefreshedObjectsKey) == [here]
                    && recorder.objects(NSInsertedObjectsKey).isEmpty)
        }
    }

    @Test func whatAChildHasChangedMeanwhileIsNotToldAsNew() throws {
        let child = stack.child(of: mine)
        try holding(child, mine, theirs) {
            child.object(with: id).setValue(2, forKey: "a")
            try child.save()
            let recorder = NotificationRecorder(mine, .NSManagedObjectContextObjectsDidChange)
            mine.mergeChanges(fromContextDidSave: didSave(NSInsertedObjectsKey, id))
            #expect(recorder.objects(NSInsertedObjectsKey).isEmpty)
        }
    }

    // MARK: Deletions

    @Test func aDeletionIsMovedOntoWhatOthersChanged() throws {
        try holdingBoth {
            let here = try mine.existingObject(with: id)
            mine.delete(here)
            let recorder = NotificationRecorder(mine, .NSManagedObjectContextObjectsDidChange)
            mine.mergeChanges(
                fromContextDidSave: try save { $0.object(with: id).setValue(4, forKey: "b") })
            #expect(
                here.isDeleted && recorder.objects(NSRefreshedObjectsKey) == [here]
                    && recorder.objects(NSDeletedObjectsKey) == [here])
            mine.rollback()
            #expect(values(here) == [1, 4])
            mine.delete(here)
            try mine.save()
            #expect(stack.store.rowCount == 0)
        }
    }

    @Test(arguments: [false, true]) func whatBothDeletedLeavesWithTheNextSave(writesSomething: Bool) throws {
        try holdingBoth {
            let here = try mine.existingObject(with: id)
            mine.delete(here)
            mine.mergeChanges(fromContextDidSave: try save { $0.delete($0.object(with: id)) })
            #expect(here.managedObjectContext === mine)
            if writesSomething { mine.make("Item", ["key": "other"]) }
            try mine.save()
            #expect(here.managedObjectContext == nil && mine.registeredObjects.isEmpty)
        }
    }

    // MARK: Values that no store knows, and rows that can't be read

    @Test func transientValuesStay() throws {
        try holdingBoth {
            let person = try #require(theirs.make("Person", ["name": "Ada"]) as? Person)
            try theirs.save()
            let here = try #require(try mine.existingObject(with: person.objectID) as? Person)
            here.note = "noted"
            try mine.save()
            theirs.refreshAllObjects()
            for isChanged in [false, true] {
                if isChanged { here.nick = "A" }
                mine.mergeChanges(fromContextDidSave: try save { _ in person.age += 1 })
                #expect(
                    !here.isFault && here.note == "noted" && here.age == person.age
                        && here.isUpdated == isChanged)
            }
            #expect(here.nick == "A")
        }
    }

    @Test func transientValuesOfAnotherEntityAreNotCarriedOver() throws {
        let model = stack.coordinator.managedObjectModel
        func row(_ entity: String) throws -> RowSnapshot {
            RowSnapshot.defaults(try #require(model.entitiesByName[entity]).layout)
        }
        let person = try row("Person")
        let item = try row("Item")
        let older = try row("Person").copy()
        older.update(try #require(older.layout.slot(of: "note")), to: .string("noted"))
        #expect(
            person.carryingTransients(of: item) === person && item.carryingTransients(of: person) === item
        )
        #expect(
            person.carryingTransients(of: nil) === person
                && person.carryingTransients(of: older)["note"] == .string("noted"))
    }

    @Test func changesOfAnotherEntityAreLeftAsTheyAre() throws {
        let model = stack.coordinator.managedObjectModel
        func row(_ entity: String) throws -> RowSnapshot {
            RowSnapshot.defaults(try #require(model.entitiesByName[entity]).layout)
        }
        let person = try row("Person")
        let engineer = try row("Engineer")
        let changed = SlotSet([1])
        for kind in [ChangeKind.updated, .deleted] {
            let base = kind == .updated ? engineer : person
            let moved = PendingRow(kind: kind, row: person, changed: changed, base: person).moved(
                onto: base)
            #expect(
                moved.kind == kind && moved.row === person && moved.base === base
                    && moved.changed == changed)
        }
    }

    @Test func rowsThatCannotBeReadAreReadWhenTheyAreAskedFor() throws {
        let recorder = DiagnosticRecorder()
        let name = "merging \(UUID())"
        mine.name = name
        try holdingBoth {
            let here = try mine.existingObject(with: id)
            try stack.overwrite(id, ["a": .int64(7)])
            let isBroken = Mutex(true)
            stack.store.observe { request in
                if case .rows = request, isBroken.withLock({ $0 }) { throw CocoaError(.fileReadUnknown) }
            }
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectsKey: [id]], into: [mine])
            #expect(here.isFault && recorder.about(name).map(\.kind) == [.storeReadFailed])
            isBroken.withLock { $0 = false }
            #expect(values(here) == [7, 1])
        }
        recorder.cancel()
    }
}
