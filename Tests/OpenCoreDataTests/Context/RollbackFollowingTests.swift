import Foundation
import OpenCoreDataTestSupport
import Synchronization
import Testing

@testable import OpenCoreData

/// What a context makes of it when its parent threw away what it had pushed.
@Suite struct RollbackFollowingTests {
    private let stack = TestStack()
    private let main: NSManagedObjectContext
    private var root: NSManagedObjectContext { stack.root }

    init() { main = stack.child(of: stack.root, name: "main") }

    /// Throws the parent's changes away.
    private func rollBackAndFollow() {
        let lost = root.unsavedChanges
        root.rollback()
        main.follow(rollback: lost)
    }

    private func holdingAll(_ body: () throws -> Void) throws { try holding(main, root, do: body) }

    @Test func whatWasJustMadeIsUnsavedToo() throws {
        try holdingAll {
            let item = root.make("Item", ["key": "k"])
            #expect(root.unsavedChanges[item.objectID]?.kind == .inserted)
        }
    }

    @Test func newObjectsAreGoneAndOthersShowWhatTheParentHas() throws {
        try holdingAll {
            let item = main.make("Item", ["key": "k", "a": 1])
            try main.saveToStore()
            item.setValue(2, forKey: "a")
            let new = main.make("Item", ["key": "new"])
            try main.save()
            let recorder = NotificationRecorder(main, .NSManagedObjectContextObjectsDidChange)
            rollBackAndFollow()
            #expect(new.managedObjectContext == nil && main.registeredObject(for: new.objectID) == nil)
            #expect(item.isFault && item.value(forKey: "a") as? Int == 1 && !main.hasChanges)
            #expect(
                recorder.count == 1 && recorder.objects(NSRefreshedObjectsKey) == [item]
                    && recorder.objects(NSDeletedObjectsKey) == [new])
        }
    }

    @Test func editsOfAnObjectThatIsGoneGoToo() throws {
        try holdingAll {
            let skill = main.make("Skill")
            let list = main.make("Playlist")
            let track = main.make("Track")
            try main.saveToStore()
            let gone = (
                main.make("Person", ["name": "published"]), main.make("Person", ["name": "unpublished"]),
                main.make("Playlist")
            )
            try main.save()
            gone.0.setValue("later", forKey: "name")
            gone.0.setValue(Set([skill]), forKey: "skills")
            gone.2.setValue([track], forKey: "tracks")
            track.setValue(nil, forKey: "playlist")
            main.processPendingChanges()
            list.setValue("edited", forKey: "title")
            gone.1.setValue("later", forKey: "name")
            rollBackAndFollow()
            #expect(main.insertedObjects.isEmpty && main.updatedObjects.contains(list))
            #expect(
                main.unsavedChanges[gone.0.objectID] == nil && main.unsavedChanges[gone.1.objectID] == nil)
            let owners = main.unsavedChanges.relationshipOwners
            #expect(!owners.contains(gone.0.objectID) && !owners.contains(gone.2.objectID))
            try main.saveToStore()
            #expect(try stack.stored("Playlist", "title") == ["edited"])
            #expect(try stack.stored("Person", "name").isEmpty)
        }
    }

    @Test func nobodyKeepsAnObjectThatIsGone() throws {
        try holdingAll {
            let watch = WeakReferences()
            var new: NSManagedObject? = main.make("Item")
            watch.add(try #require(new))
            try main.save()
            new?.setValue(1, forKey: "a")
            new = nil
            rollBackAndFollow()
            #expect(watch.living == 0)
        }
    }

    @Test func ownEditsStayOnTopOfWhatTheParentHas() throws {
        try holdingAll {
            let item = main.make("Item", ["key": "k", "a": 1, "b": 1])
            try main.saveToStore()
            item.setValue(2, forKey: "a")
            try main.save()
            item.setValue(3, forKey: "b")
            let recorder = NotificationRecorder(main, .NSManagedObjectContextObjectsDidChange)
            rollBackAndFollow()
            #expect(item.isUpdated && ["a", "b"].map { item.value(forKey: $0) as? Int } == [1, 3])
            #expect(recorder.objects(NSRefreshedObjectsKey) == [item])
            try main.saveToStore()
            #expect(try ["a", "b"].flatMap { try stack.stored("Item", $0) } == [1, 3])
        }
    }

    @Test func whatIsDeletedHereStaysDeletedAndIsNotRefreshed() throws {
        try holdingAll {
            let item = main.make("Item", ["key": "k", "a": 1])
            try main.saveToStore()
            item.setValue(2, forKey: "a")
            try main.save()
            main.delete(item)
            main.processPendingChanges()
            let recorder = NotificationRecorder(main, .NSManagedObjectContextObjectsDidChange)
            rollBackAndFollow()
            #expect(item.isDeleted && main.hasChanges && recorder.count == 0)
            try main.saveToStore()
            #expect(stack.store.rowCount == 0)
        }
    }

    @Test func loadedMembersAreReadAgain() throws {
        try holdingAll {
            let department = main.make("Department", ["name": "Looms"])
            try main.saveToStore()
            // A row that names the department, whose own does not change by it.
            let id = main.makeID(
                for: try #require(stack.coordinator.managedObjectModel.entitiesByName["Person"]))
            let row = RowSnapshot.defaults(id.layout).copy()
            let slot = try #require(id.layout.slot(of: "department"))
            row.update(slot, to: .objectID(department.objectID))
            main.insertRow(id, row, set: SlotSet([slot]))
            try main.save()
            #expect(
                department.objectIDs(forRelationshipNamed: "employees") == [id] && !department.isFault)
            rollBackAndFollow()
            #expect(
                department.objectIDs(forRelationshipNamed: "employees").isEmpty && !department.isFault)
        }
    }

    @Test func listenersHearOfObjectsThatHaveNoInstanceHere() throws {
        let worker = stack.child(of: main, name: "worker")
        let listener = ListenerByID()
        try holding(worker, main, root) {
            let id = try #require(Optional(worker.make("Item", ["key": "k"]).objectID))
            try worker.save()
            try main.save()
            listener.follow(main)
            rollBackAndFollow()
            #expect(listener.heard.count == 1 && listener.heard.last?.refreshed == [id])
        }
    }

    @Test func whatCouldBeUndoneIsForgotten() throws {
        try holdingAll {
            let manager = UndoManager()
            main.undoManager = manager
            main.make("Item", ["key": "k"])
            main.processPendingChanges()
            try main.save()
            #expect(manager.canUndo)
            rollBackAndFollow()
            #expect(!manager.canUndo)
        }
    }

    @Test func pushesThatWaitAreReadBefore() throws {
        let worker = stack.child(of: main, name: "worker")
        let item = try main.performAndWait { [main] in
            let item = main.make("Item", ["key": "k", "a": 1])
            try main.saveToStore()
            item.setValue(2, forKey: "a")
            try main.save()
            return item
        }
        let push = {
            try worker.performAndWait {
                worker.object(with: item.objectID).setValue(5, forKey: "b")
                try worker.save()
            }
        }
        try afterPushing(into: main, push) { [main, root] in
            root.performAndWait {
                let lost = root.unsavedChanges
                root.rollback()
                main.follow(rollback: lost)
            }
            #expect(item.isUpdated && ["a", "b"].map { item.value(forKey: $0) as? Int } == [1, 5])
        }
    }

    /// Writes down which pushes are forgotten.
    private final class Recorder: PushRecorder {
        let forgotten = Mutex<[Set<NSManagedObjectID>?]>([])

        func inTurn<T>(_ body: () throws -> T) rethrows -> T { try body() }
        func unrecorded(_ ids: Set<NSManagedObjectID>) -> Set<NSManagedObjectID> { [] }
        func write(_ changes: ChangeSet, needing rows: [NSManagedObjectID: RowSnapshot]) throws
            -> UInt64
        { 1 }
        func willCommit(_ turn: PushTurn) {}
        func didCommit(through entry: UInt64) {}
        func turned(_ turn: PushTurn) {}
        func forget(_ entries: ClosedRange<UInt64>, only ids: Set<NSManagedObjectID>?) {
            forgotten.withLock { $0.append(ids) }
        }
    }

    @Test func pushesOfObjectsThatAreGoneDoNotComeBackAfterACrash() throws {
        let worker = stack.child(of: main, name: "worker")
        let recorder = Recorder()
        try holding(worker, main, root) {
            let kept = main.make("Item", ["key": "kept"])
            try main.saveToStore()
            let gone = main.make("Item", ["key": "gone"])
            kept.setValue(1, forKey: "a")
            try main.save()
            main.recordPushes(with: recorder)
            worker.object(with: gone.objectID).setValue(2, forKey: "a")
            worker.object(with: kept.objectID).setValue(2, forKey: "a")
            try worker.save()
            rollBackAndFollow()
            #expect(recorder.forgotten.withLock { $0 } == [[gone.objectID]])
            main.recordPushes(with: nil)
        }
    }
}
