import CoreData
import Foundation
import Testing

final class Boat: NSManagedObject {}

/// What programs write by name.
@Suite struct NamesTests {
    /// Boats, which have a class of their own: in one model at a time, for a class has one entity.
    private static func harbour(hasClass: Bool = true) -> NSManagedObjectModel {
        let boat = NSEntityDescription(), name = NSAttributeDescription()
        boat.name = "Boat"
        if hasClass { boat.managedObjectClassName = NSStringFromClass(Boat.self) }
        name.name = "name"
        name.attributeType = .stringAttributeType
        boat.properties = [name]
        let model = NSManagedObjectModel()
        model.entities = [boat]
        return model
    }

    @Test func aMergePolicyIsSetByItsConstant() throws {
        let context = try Stack().root
        context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        #expect(context.mergePolicy as AnyObject === NSMergePolicy.mergeByPropertyObjectTrump)
        context.mergePolicy = NSMergeByPropertyStoreTrumpMergePolicy
        #expect(context.mergePolicy as AnyObject === NSMergePolicy.mergeByPropertyStoreTrump)
        context.mergePolicy = NSOverwriteMergePolicy
        #expect(context.mergePolicy as AnyObject === NSMergePolicy.overwrite)
        context.mergePolicy = NSRollbackMergePolicy
        #expect(context.mergePolicy as AnyObject === NSMergePolicy.rollback)
        context.mergePolicy = NSErrorMergePolicy
        #expect(context.mergePolicy as AnyObject === NSMergePolicy.error)
    }

    @Test func aContextIsMadeByTheShortNameOfItsKind() {
        #expect(NSManagedObjectContext(.privateQueue).concurrencyType == .privateQueueConcurrencyType)
        #expect(NSManagedObjectContext(.mainQueue).concurrencyType == .mainQueueConcurrencyType)
    }

    @Test func idsAreMergedUnderTheirKeys() throws {
        try Stack.inFile { stack in
            let id = try stack.saved("Person", ["name": "Ada"]).id, other = stack.beside()
            let reader = stack.beside()
            let seen = try reader.performAndWait { () throws in
                let ada = try reader.existingObject(with: id)
                #expect(ada.string("name") == "Ada")
                return ada
            }
            try other.performAndWait { () throws in
                try other.existingObject(with: id).setValue("Ida", forKey: "name")
                try other.save()
            }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectIDsKey: [id]], into: [reader])
            reader.performAndWait { #expect(seen.string("name") == "Ida") }
            let keys = [NSInsertedObjectIDsKey, NSDeletedObjectIDsKey, NSRefreshedObjectIDsKey, NSInvalidatedObjectIDsKey]
            #expect(Set(keys).count == 4)
        }
    }

    @Test func aClassKnowsItsEntity() throws {
        let stack = try Stack(Self.harbour())
        #expect(Boat.entity().name == "Boat")
        try stack.root.performAndWait { () throws in
            let boat = Boat(entity: Boat.entity(), insertInto: stack.root)
            boat.setValue("Fram", forKey: "name")
            try stack.root.save()
        }
    }

    #if !canImport(ObjectiveC)
        @Test func aDocumentOfAProgramsOwnClassNeedsNoInitialiser() async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("harbour-\(UUID().uuidString)")
            let document = HarbourDocument(fileURL: folder, model: Self.harbour(hasClass: false))
            defer { try? FileManager.default.removeItem(at: folder) }
            #expect(await document.save(to: folder, for: .forCreating))
            #expect(FileManager.default.fileExists(atPath: folder.appendingPathComponent("StoreContent/harbour").path))
            try await document.close()
        }
    #endif

    @Test func metadataIsReadAndSetInAFileThatIsNotOpen() throws {
        try Stack.withFile { file in
            let stack = try Stack(at: file), store = try #require(stack.coordinator.persistentStores.first)
            let uuid = store.identifier
            try stack.close()
            var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: file, options: nil)
            #expect(metadata[NSStoreUUIDKey] as? String == uuid && metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
            metadata["port"] = "Bergen"
            try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: NSSQLiteStoreType, at: file, options: nil)
            let later = try Stack(at: file)
            let again = try #require(later.coordinator.persistentStores.first)
            #expect(later.coordinator.metadata(for: again)["port"] as? String == "Bergen" && again.identifier == uuid)
            try later.close()
        }
    }

    @Test func aFileThatIsNotThereHasNoMetadata() throws {
        try Stack.withFile { file in
            #expect(throws: CocoaError.self) {
                try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: file, options: nil)
            }
        }
    }
}

#if !canImport(ObjectiveC)
    // It has no state of its own.
    private final class HarbourDocument: UIManagedDocument, @unchecked Sendable {
        override class var persistentStoreName: String { "harbour" }
    }
#endif
