import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Saving to a store of one's own.
@Suite struct IncrementalSavingTests {
    // S8
    @Test func aSaveThatTheStoreRefusesLeavesEverythingAsItWas() throws {
        let stack = try IncrementalStack()
        try stack.save(("Item", ["key": "a"]))
        try stack.root.performAndWait { () throws in
            let old = try #require(try stack.root.all("Item").first)
            old.setValue("changed", forKey: "key")
            let new = stack.root.make("Item", ["key": "b"])
            _ = stack.store.calls()
            stack.store.failSaves(POSIXError(.ENOSPC))
            #expect(throws: POSIXError(.ENOSPC)) { try stack.root.save() }
            #expect(new.isInserted && new.objectID.isTemporaryID && old.isUpdated && stack.root.hasChanges)
            let other = stack.independent()
            #expect(try other.performAndWait { try other.names("Item", "key") } == ["a"])
            #expect(stack.store.calls().filter { $0.hasPrefix("obtain") } == ["obtain 1"])
            try stack.root.save()
            #expect(!stack.store.calls().contains { $0.hasPrefix("obtain") })
            #expect(!new.objectID.isTemporaryID && new.objectID.uriRepresentation().lastPathComponent == "p2")
        }
        try stack.reopen()
        #expect(try stack.root.performAndWait { try stack.root.names("Item", "key") } == ["b", "changed"])
    }

    // S8
    @Test func aConflictOfTwoContextsIsFoundByTheVersionsOfNodes() throws {
        let stack = try IncrementalStack()
        try stack.save(("Item", ["key": "a", "a": 1, "b": 1]))
        let other = stack.independent()
        try stack.root.performAndWait { () throws in
            let mine = try #require(try stack.root.all("Item").first)
            mine.setValue(2, forKey: "a")
            try other.performAndWait { () throws in
                try other.all("Item").first?.setValue(3, forKey: "b")
                try other.save()
            }
            let error = #expect(throws: NSError.self) { try stack.root.save() }
            #expect(error?.code == 133020)
            stack.root.mergePolicy = .mergeByPropertyObjectTrump
            try stack.root.save()
            #expect(mine.value(forKey: "a") as? Int == 2 && mine.value(forKey: "b") as? Int == 3)
        }
        try stack.reopen()
        try stack.root.performAndWait { () throws in
            let item = try #require(try stack.root.all("Item").first)
            #expect(item.value(forKey: "a") as? Int == 2 && item.value(forKey: "b") as? Int == 3)
        }
    }

    // S8
    @Test func whatOthersChangedInTheStoreIsAConflictToo() throws {
        let stack = try IncrementalStack()
        try stack.save(("Item", ["key": "a"]), ("Item", ["key": "b"]))
        try stack.root.performAndWait { () throws in
            let items = try stack.root.all("Item", sort: "key")
            items[0].setValue(2, forKey: "a")
            items[1].setValue(2, forKey: "a")
            stack.store.change("Item", "1", "key", to: "elsewhere")
            stack.store.remove("Item", "2")
            let error = #expect(throws: NSError.self) { try stack.root.save() }
            let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
            #expect(error?.code == 133020 && conflicts?.count == 2)
            stack.root.mergePolicy = .mergeByPropertyStoreTrump
            try stack.root.save()
            #expect(items[0].value(forKey: "key") as? String == "elsewhere")
            #expect(try stack.root.names("Item", "key") == ["elsewhere"])
        }
    }

    // S8
    @Test func anObjectThatWasOnlyReadIsLockedOnRequest() throws {
        let stack = try IncrementalStack()
        try stack.save(("Item", ["key": "a"]))
        try stack.root.performAndWait { () throws in
            let item = try #require(try stack.root.all("Item").first)
            stack.root.detectConflicts(for: item)
            stack.root.make("Item", ["key": "b"])
            _ = stack.store.calls()
            try stack.root.save()
            #expect(stack.store.calls().contains("save +1 ~0 -0 locked 1"))
            stack.root.detectConflicts(for: item)
            stack.root.make("Item", ["key": "c"])
            stack.store.change("Item", "1", "key", to: "elsewhere")
            let error = #expect(throws: NSError.self) { try stack.root.save() }
            #expect(error?.code == 133020)
        }
    }

    // S8
    @Test func aContextThatMergesShowsWhatAnotherSaved() throws {
        let stack = try IncrementalStack()
        try stack.save(("Item", ["key": "a"]))
        let other = stack.independent()
        let id = try stack.root.performAndWait { try #require(try stack.root.all("Item").first?.objectID) }
        let item = try other.performAndWait { try other.existingObject(with: id) }
        let saves = NotificationRecorder(stack.root, .NSManagedObjectContextDidSave)
        try stack.root.performAndWait { () throws in
            try stack.root.all("Item").first?.setValue("b", forKey: "key")
            try stack.root.save()
        }
        let notification = try #require(saves.notifications.last)
        other.performAndWait {
            #expect(item.value(forKey: "key") as? String == "a")
            other.mergeChanges(fromContextDidSave: notification)
            #expect(item.value(forKey: "key") as? String == "b")
        }
    }

    // S8
    @Test func uniqueKeysAreLookedUpInTheStore() throws {
        let stack = try IncrementalStack()
        try stack.save(("Item", ["key": "a", "a": 1, "b": 1]))
        try stack.root.performAndWait { () throws in
            stack.root.make("Item", ["key": "a", "a": 5])
            let error = #expect(throws: NSError.self) { try stack.root.save() }
            #expect(error?.code == 133021)
            stack.root.mergePolicy = .mergeByPropertyObjectTrump
            try stack.root.save()
            let items = try stack.root.all("Item")
            #expect(items.count == 1 && items.first?.value(forKey: "a") as? Int == 5)
            stack.root.make("Item", ["key": "n"])
            stack.root.make("Item", ["key": "n"])
            stack.root.mergePolicy = .error
            let twins = #expect(throws: NSError.self) { try stack.root.save() }
            #expect(twins?.code == 133021)
        }
    }

    // S8
    @Test func metadataIsSavedByARequestWithoutObjects() throws {
        let stack = try IncrementalStack()
        try stack.save(("Item", ["key": "a"]))
        var metadata = stack.coordinator.metadata(for: stack.store)
        metadata["note"] = "hello"
        metadata[NSStoreUUIDKey] = "another"
        stack.coordinator.setMetadata(metadata, for: stack.store)
        try stack.root.performAndWait { () throws in
            stack.store.failSaves(POSIXError(.EIO))
            #expect(throws: POSIXError(.EIO)) { try stack.root.save() }
            _ = stack.store.calls()
            try stack.root.save()
            #expect(stack.store.calls() == ["save metadata"])
            stack.root.make("Item", ["key": "b"])
            metadata["note"] = "again"
            stack.coordinator.setMetadata(metadata, for: stack.store)
            try stack.root.save()
            #expect(stack.store.calls().filter { $0.hasPrefix("save") } == ["save metadata", "save +1 ~0 -0 locked 0"])
        }
        let identifier = stack.store.identifier
        try stack.reopen()
        #expect(stack.store.metadata["note"] as? String == "again" && stack.store.identifier == identifier)
    }

    // T16
    @Test func anEmptySaveReachesNoIncrementalStore() throws {
        let stack = try IncrementalStack()
        try stack.root.performAndWait { () throws in try stack.root.save() }
        #expect(stack.store.calls().isEmpty)
    }

    // S8
    @Test func permanentIDsAreAskedForOnceAndBeforeTheSaveIfWanted() throws {
        let stack = try IncrementalStack()
        let child = stack.child()
        try child.performAndWait { () throws in
            let item = child.make("Item", ["key": "a"]), other = child.make("Item", ["key": "b"])
            try child.obtainPermanentIDs(for: [item, other])
            #expect(stack.store.calls() == ["obtain 2"])
            #expect(item.objectID.uriRepresentation().lastPathComponent == "p1" && !other.objectID.isTemporaryID)
            #expect(try child.all("Item").count == 2)
            try child.save()
        }
        try stack.root.performAndWait { () throws in try stack.root.save() }
        #expect(stack.store.calls().allSatisfy { !$0.hasPrefix("obtain") })
        try stack.reopen()
        #expect(try stack.root.performAndWait { try stack.root.names("Item", "key") } == ["a", "b"])
    }

    // S8
    @Test func idsThatDoNotFitAreRefusedAndNothingIsSaved() throws {
        let stack = try IncrementalStack()
        try stack.save(("Item", ["key": "a"]))
        func refusal(_ body: @escaping @Sendable (JSONFileStore, [NSManagedObject]) throws -> [NSManagedObjectID]) -> String {
            stack.store.obtain(body)
            return stack.root.performAndWait {
                stack.root.make("Item", ["key": "b"])
                stack.root.make("Item", ["key": "c"])
                defer { stack.root.rollback() }
                let error = #expect(throws: NSError.self) { try stack.root.save() }
                #expect(error?.code == 134070)
                return error?.localizedDescription ?? ""
            }
        }
        #expect(refusal { _, _ in [] }.contains("0 IDs for 2 objects"))
        let same = refusal { store, objects in objects.map { store.newObjectID(for: $0.entity, referenceObject: "1") } }
        #expect(same.contains("already stands for another object"))
        #expect(
            refusal { store, objects in
                objects.indices.reversed().map { store.newObjectID(for: objects[$0].entity, referenceObject: "n\($0)") }.reversed()
            }.contains("not in the order"))
        #expect(try stack.root.performAndWait { try stack.root.names("Item", "key") } == ["a"])
        // The references that were refused are free again.
        stack.store.obtain { store, objects in objects.enumerated().map { store.newObjectID(for: $1.entity, referenceObject: "n\($0)") } }
        try stack.root.performAndWait { () throws in
            let ids = [stack.root.make("Item", ["key": "b"]), stack.root.make("Item", ["key": "c"])].map(\.objectID)
            try stack.root.save()
            #expect(ids.map { $0.uriRepresentation().lastPathComponent } == ["pn0", "pn1"])
        }
    }

    // S8
    @Test func theReferenceOfAnObjectThatWasNeverSavedMayBeGivenToAnother() throws {
        let stack = try IncrementalStack()
        try stack.root.performAndWait { () throws in
            stack.store.give("alice")
            stack.store.failSaves(CocoaError(.fileWriteUnknown))
            stack.root.make("Item", ["key": "a"])
            #expect(throws: (any Error).self) { try stack.root.save() }
            stack.root.rollback()
            stack.store.give("alice")
            let again = stack.root.make("Item", ["key": "a"])
            try stack.root.save()
            #expect(again.objectID.uriRepresentation().lastPathComponent == "palice")
        }
    }

    // S8
    @Test func idsThatAreMadeWhileTheStoreReadsAreNotThoseOfTheNewObjects() throws {
        let stack = try IncrementalStack()
        try stack.save(("Playlist", ["title": "a"]))
        try stack.reopen()
        stack.store.obtain { store, objects in
            // Finds an object that this process does not know yet.
            _ = try objects.first?.managedObjectContext?.fetch(NSFetchRequest<NSManagedObject>(entityName: "Playlist"))
            return objects.map { store.newObjectID(for: $0.entity, referenceObject: "new") }
        }
        try stack.root.performAndWait { () throws in
            let list = stack.root.make("Playlist", ["title": "b"])
            try stack.root.save()
            #expect(list.objectID.uriRepresentation().lastPathComponent == "pnew")
            #expect(try stack.root.all("Playlist", sort: "title").map { $0.value(forKey: "title") as? String } == ["a", "b"])
        }
    }

    // S8
    @Test func theReferenceOfADeletedObjectMayBeGivenToAnother() throws {
        let stack = try IncrementalStack()
        try stack.root.performAndWait { () throws in
            stack.store.give("alice")
            let first = stack.root.make("Item", ["key": "a"])
            let id = first.objectID
            try stack.root.save()
            stack.root.delete(first)
            try stack.root.save()
            stack.store.give("alice")
            let second = stack.root.make("Item", ["key": "b"])
            try stack.root.save()
            #expect(second.objectID != id && second.objectID.uriRepresentation() == id.uriRepresentation())
            #expect(throws: (any Error).self) { try stack.root.existingObject(with: id) }
            #expect(try stack.root.all("Item").map(\.objectID) == [second.objectID])
        }
    }

    // S8
    @Test func aReferenceThatNamedNothingMayBeGivenToANewObject() throws {
        let stack = try IncrementalStack()
        try stack.root.performAndWait { () throws in
            let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Item"])
            let early = stack.store.newObjectID(for: entity, referenceObject: "alice")
            #expect(throws: (any Error).self) { try stack.root.existingObject(with: early) }
            stack.store.give("alice")
            let item = stack.root.make("Item", ["key": "a"])
            try stack.root.save()
            #expect(stack.store.newObjectID(for: entity, referenceObject: "alice") == item.objectID)
            #expect(try stack.root.all("Item").map(\.objectID) == [item.objectID])
        }
    }

    // S8
    @Test func undoAfterASaveWritesADeletedObjectUnderItsReference() throws {
        let stack = try IncrementalStack()
        try stack.save(("Item", ["key": "a"]))
        try stack.root.performAndWait { () throws in
            stack.root.undoManager = UndoManager()
            let item = try #require(try stack.root.all("Item").first)
            let uri = item.objectID.uriRepresentation()
            stack.root.delete(item)
            try stack.root.save()
            stack.root.undoManager?.undo()
            try stack.root.save()
            #expect(try stack.root.all("Item").map { $0.objectID.uriRepresentation() } == [uri])
        }
        #expect(!stack.store.calls().contains { $0.hasPrefix("obtain") })
    }

    // S8
    @Test func whatWasInsertedBeforeTheStoreWasThereIsSavedToIt() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model()), context = IncrementalStack.context(coordinator)
        let item = context.performAndWait { context.make("Item", ["key": "a"]) }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("incremental-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let store = try IncrementalStack.add(to: coordinator, file)
        try context.performAndWait { () throws in
            try context.save()
            #expect(store.referenceObject(for: item.objectID) as? String == "1")
        }
    }
}
