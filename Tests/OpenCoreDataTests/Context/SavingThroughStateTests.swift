import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// What saving through all levels leaves in each of them.
@Suite struct SavingThroughStateTests {
    private let stack = TestStack()
    private let main: NSManagedObjectContext
    private let worker: NSManagedObjectContext
    private var root: NSManagedObjectContext { stack.root }

    init() {
        main = stack.child(of: stack.root, name: "main")
        worker = stack.child(of: main, name: "worker")
    }

    private func holdingAll(_ body: () throws -> Void) throws {
        try holding(worker, main, root, do: body)
    }

    private func a(_ object: NSManagedObject) -> Int? { object.value(forKey: "a") as? Int }

    // MARK: Objects that are checked

    private static let conflict = CocoaError.Code.managedObjectMerge.rawValue

    /// The code of what saving through the levels of the worker and its parents throws.
    private func failure() -> Int? {
        do {
            try worker.saveToStore()
            return nil
        } catch { return (error as NSError).code }
    }

    @Test func whatWasToBeCheckedStillIsAfterASaveThatFailed() throws {
        try holdingAll {
            let item = main.make("Item", ["key": "k", "a": 1])
            try main.saveToStore()
            worker.detectConflicts(for: worker.object(with: item.objectID))
            worker.make("Item", ["key": "decided"])
            item.setValue(2, forKey: "a")
            main.processPendingChanges()
            worker.parentConflictPolicy = .mergeByPropertyObjectTrump
            stack.failSaves(with: [CocoaError(.fileWriteOutOfSpace)])
            #expect(failure() == CocoaError.Code.fileWriteOutOfSpace.rawValue)
            worker.parentConflictPolicy = nil
            #expect(failure() == Self.conflict)
        }
    }

    @Test func aCheckedObjectThatIsGoneFromTheStoreIsMissedOnTheWay() throws {
        try holdingAll {
            let item = root.make("Item", ["key": "k", "a": 1])
            try root.save()
            worker.detectConflicts(for: worker.object(with: item.objectID))
            worker.make("Item", ["key": "decided"])
            var changes = ChangeSet()
            changes.set(item.objectID, PendingRow(kind: .deleted, row: nil))
            _ = try stack.store.save(changes)
            stack.coordinator.rowCache.removeAll()
            #expect(failure() == Self.conflict)
        }
    }

    @Test func whatWasCheckedIsNotCheckedAgain() throws {
        try holdingAll {
            let item = root.make("Item", ["key": "k", "a": 1])
            try root.save()
            worker.detectConflicts(for: worker.object(with: item.objectID))
            worker.make("Item", ["key": "decided"])
            try worker.saveToStore()
            item.setValue(2, forKey: "a")
            try root.save()
            worker.make("Item", ["key": "later"])
            try worker.saveToStore()
            #expect(stack.store.rowCount == 3)
        }
    }

    @Test func aLevelThatHandedNothingOnHasNothingChecked() throws {
        try holdingAll {
            let item = root.make("Item", ["key": "k", "a": 1])
            try root.save()
            worker.detectConflicts(for: worker.object(with: item.objectID))
            main.make("Item", ["key": "other"])
            try worker.saveToStore()
            item.setValue(2, forKey: "a")
            try root.save()
            worker.make("Item", ["key": "decided"])
            #expect(failure() == Self.conflict)
        }
    }

    @Test func whereAPolicyDropsAllNothingWasCheckedInTheStore() throws {
        try holdingAll {
            let watched = root.make("Item", ["key": "watched", "a": 1])
            let item = root.make("Item", ["key": "k", "a": 1])
            try root.save()
            root.detectConflicts(for: watched)
            worker.object(with: item.objectID).setValue(2, forKey: "a")
            try stack.overwrite(item.objectID, ["a": .int64(9)])
            root.mergePolicy = .rollback
            try worker.saveToStore()
            #expect(try stack.stored("Item", "a").count == 2 && !worker.hasChanges)
            root.mergePolicy = .error
            try stack.overwrite(watched.objectID, ["a": .int64(8)])
            worker.make("Item", ["key": "later"])
            #expect(failure() == Self.conflict)
        }
    }

    // MARK: Objects that are others

    @Test func aNewObjectIsTheOneThatAHigherLevelHas() throws {
        root.mergePolicy = .mergeByPropertyObjectTrump
        try holdingAll {
            let first = main.make("Item", ["key": "k", "a": 1])
            main.processPendingChanges()
            let second = worker.make("Item", ["key": "k", "b": 2])
            try worker.saveToStore()
            #expect(second.objectID == first.objectID && stack.store.rowCount == 1)
            #expect(
                a(second) == 1 && second.value(forKey: "b") as? Int == 2
                    && first.value(forKey: "b") as? Int == 2)
        }
    }

    @Test func aNewObjectIsTheOneThatTheStoreHas() throws {
        root.mergePolicy = .mergeByPropertyObjectTrump
        try holdingAll {
            let stored = root.make("Item", ["key": "k", "a": 1])
            try root.save()
            root.reset()
            stack.coordinator.rowCache.removeAll()
            let new = worker.make("Item", ["key": "k", "b": 2])
            try worker.saveToStore()
            #expect(new.objectID == stored.objectID && stack.store.rowCount == 1)
            new.setValue(3, forKey: "c")
            try worker.saveToStore()
            #expect(try ["a", "b", "c"].flatMap { try stack.stored("Item", $0) } == [1, 2, 3])
        }
    }

    // MARK: Nothing of objects

    @Test func metadataIsWrittenWhereTheLevelsCancelEachOtherOut() throws {
        let stack = try SQLiteStack()
        let main = stack.child(of: stack.root)
        let worker = stack.child(of: main)
        let store = stack.fixture.store
        try holding(worker, main, stack.root) {
            let item = main.make("Item", ["key": "k"])
            main.processPendingChanges()
            worker.delete(worker.object(with: item.objectID))
            var metadata = stack.coordinator.metadata(for: store)
            metadata["city"] = "Bern"
            stack.coordinator.setMetadata(metadata, for: store)
            try worker.saveToStore()
            #expect(try storedMetadata(at: stack.fixture.file)["city"] as? String == "Bern")
        }
    }

    @Test func whatIsUndoneAfterItIsUnsaved() throws {
        try holdingAll {
            let person = root.make("Person")
            let skill = root.make("Skill")
            try root.save()
            let key = RelationshipKey(
                owner: person.objectID, toMany: try #require(person.toManyNumber("skills")))
            for context in [worker, main, root] {
                context.undoManager = UndoManager()
                context.refreshAllObjects()
                let here = context.object(with: person.objectID)
                here.mutableSetValue(forKey: "skills").add(context.object(with: skill.objectID))
                try context.saveToStore()
                #expect(try stack.store.relatedIDs(key) == [skill.objectID])
                context.undo()
                #expect(here.isUpdated && here.objectIDs(forRelationshipNamed: "skills").isEmpty)
                try context.saveToStore()
                #expect(try stack.store.relatedIDs(key).isEmpty)
                context.undoManager = nil
            }
        }
    }

    @Test func whatWasNewInAParentAndIsDeletedIsSavedAsDeleted() throws {
        try holdingAll {
            let item = main.make("Item", ["key": "k"])
            main.processPendingChanges()
            let here = worker.object(with: item.objectID)
            worker.delete(here)
            let recorder = NotificationRecorder(worker, .NSManagedObjectContextDidSave)
            try worker.saveToStore()
            #expect(
                recorder.count == 1 && recorder.objects(NSDeletedObjectsKey) == [here]
                    && here.managedObjectContext == nil)
            #expect(worker.registeredObjects.isEmpty && stack.store.rowCount == 0)
        }
    }

    @Test func objectsThatOnlyUsersKeepShowWhatWasSaved() throws {
        try holdingAll {
            let item = root.make("Item", ["key": "k", "a": 1])
            try root.save()
            let levels = try [worker, main].map { try $0.existingObject(with: item.objectID) } + [item]
            levels[0].setValue(2, forKey: "a")
            try worker.saveToStore()
            for level in levels { #expect(a(level) == 2 && !level.hasChanges) }
        }
    }

    @Test func eachLevelTellsWhatItHandedOn() throws {
        try holdingAll {
            let contexts = [worker, main, root]
            let made = contexts.map { $0.make("Item").objectID }
            let changes = contexts.map {
                NotificationRecorder($0, .NSManagedObjectContextObjectsDidChange)
            }
            let saves = contexts.map { NotificationRecorder($0, .NSManagedObjectContextDidSaveObjectIDs) }
            try worker.saveToStore()
            for level in 0..<3 {
                #expect(saves[level].ids(.insertedObjectIDs) == Set(made[0...level]))
                // The last: what came in, after what was made here.
                let told = Set(changes[level].objects(NSInsertedObjectsKey).map(\.objectID))
                #expect(told == Set(made[..<max(level, 1)]))
            }
        }
    }

    @Test func theRootTellsOfTheStoredObjectThatANewOneTurnedOutToBe() throws {
        root.mergePolicy = .mergeByPropertyObjectTrump
        try holdingAll {
            let stored = root.make("Item", ["key": "k", "a": 1])
            try root.save()
            worker.make("Item", ["key": "k", "b": 2])
            let recorder = NotificationRecorder(root, .NSManagedObjectContextDidSaveObjectIDs)
            try worker.saveToStore()
            #expect(
                recorder.ids(.updatedObjectIDs) == [stored.objectID]
                    && recorder.ids(.insertedObjectIDs).isEmpty)
        }
    }

    // MARK: What each level is told

    @Test func parentsAreToldOfWhatCameInBeforeItIsSaved() throws {
        try holdingAll {
            let item = root.make("Item", ["key": "k", "a": 1])
            try root.save()
            let recorders = [worker, main, root].map {
                NotificationRecorder(
                    $0, .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave)
            }
            worker.object(with: item.objectID).setValue(2, forKey: "a")
            try worker.saveToStore()
            for recorder in recorders {
                #expect(recorder.names == ["ObjectsDidChange", "DidSave"])
                for notification in recorder.notifications {
                    let updated = notification.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? []
                    #expect(updated.map(\.objectID) == [item.objectID])
                }
            }
        }
    }

    @Test func eachLevelSaysOfItsOwnChangesWhatBecameOfThem() throws {
        try holdingAll {
            let changed = root.make("Item", ["key": "c", "a": 1])
            let deleted = root.make("Item", ["key": "d"])
            let person = root.make("Person")
            let skill = root.make("Skill")
            let list = root.make("Playlist")
            let track = root.make("Track")
            try root.save()
            let recorder = NotificationRecorder(worker, .NSManagedObjectContextDidSave)
            worker.object(with: changed.objectID).setValue(2, forKey: "a")
            worker.delete(worker.object(with: deleted.objectID))
            worker.object(with: person.objectID).mutableSetValue(forKey: "skills").add(
                worker.object(with: skill.objectID))
            worker.object(with: list.objectID).setValue(
                [worker.object(with: track.objectID)], forKey: "tracks")
            try worker.saveToStore()
            let saved = try #require(
                recorder.notifications.last?.userInfo?[ChangeSet.notificationKey] as? ChangeSet)
            let change = try #require(saved[changed.objectID])
            let slot = try #require(changed.objectID.layout.slot(of: "a"))
            #expect(
                change.changed == SlotSet([slot]) && change.base?["a"] == .int64(1)
                    && change.row?["a"] == .int64(2))
            #expect(saved[deleted.objectID]?.kind == .deleted)
            #expect(
                saved.pairs.all.keys.contains { $0.owner == person.objectID }
                    && saved.orders.keys.contains { $0.owner == list.objectID })
        }
    }

    @Test func whatAPolicyDecidedIsToldAtEveryLevel() throws {
        let stack = TestStack(SnapshotWitness.model())
        let main = stack.child(of: stack.root)
        let worker = stack.child(of: main)
        stack.root.mergePolicy = .mergeByPropertyStoreTrump
        try holding(worker, main, stack.root) {
            let made = try #require(stack.root.make("Witness", ["name": "one"]) as? SnapshotWitness)
            try stack.root.save()
            let levels =
                try [worker, main].map {
                    try #require(try $0.existingObject(with: made.objectID) as? SnapshotWitness)
                } + [made]
            let listener = ListenerByID()
            listener.follow(worker)
            levels[0].number = 2
            levels[0].name = "mine"
            try stack.overwrite(made.objectID, ["name": .string("theirs")])
            try worker.saveToStore()
            for level in levels {
                #expect(
                    level.name == "theirs" && level.number == 2 && level.snapshots.last == .mergePolicy
                        && !level.hasChanges)
            }
            #expect(listener.heard.contains { $0.refreshed == [made.objectID] })
        }
    }
}
