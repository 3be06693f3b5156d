import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// When a store's metadata reaches its file.
@Suite struct MetadataSavingTests {
    private func set(_ city: String, _ coordinator: NSPersistentStoreCoordinator, _ store: NSPersistentStore) {
        var metadata = coordinator.metadata(for: store)
        metadata["city"] = city
        coordinator.setMetadata(metadata, for: store)
    }

    private func stored(_ fixture: StoreFixture) throws -> String? { try storedMetadata(at: fixture.file)["city"] as? String }

    // S5, T16
    @Test func changedMetadataIsWrittenByASaveThatChangesNoObject() throws {
        let stack = try SQLiteStack()
        set("Bern", stack.coordinator, stack.fixture.store)
        #expect(stack.coordinator.metadata(for: stack.fixture.store)["city"] as? String == "Bern")
        #expect(try stored(stack.fixture) == nil)
        try stack.root.performAndWait { () throws in
            let recorder = NotificationRecorder(
                stack.root, .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave, .NSManagedObjectContextObjectsDidChange,
                .NSManagedObjectContextDidSaveObjectIDs)
            #expect(!stack.root.hasChanges)
            try stack.root.save()
            #expect(recorder.count == 0)
        }
        #expect(try stored(stack.fixture) == "Bern")
        #expect(!stack.fixture.store.hasUnsavedMetadata)
        // Once written, an empty save reaches no file again.
        let before = stack.fixture.store.statements.current
        try stack.root.performAndWait { try stack.root.save() }
        #expect((stack.fixture.store.statements.current - before).transactions == 0)
    }

    // S5
    @Test func aChildsSaveLeavesItToTheRootAndSavingThroughWritesIt() throws {
        let stack = try SQLiteStack()
        let child = stack.child(of: stack.root)
        try child.performAndWait { () throws in
            set("Bern", stack.coordinator, stack.fixture.store)
            try child.save()
            child.make("Item")
            try child.save()
            #expect(try stored(stack.fixture) == nil)
            try child.saveToStore()
            #expect(try stored(stack.fixture) == "Bern")
            set("Basel", stack.coordinator, stack.fixture.store)
            try child.saveToStore()
            #expect(try stored(stack.fixture) == "Basel")
        }
    }

    /// Two stores in files, items in the first and all else in the second, and a context on them.
    private func withTwoStores(
        _ body: (_ context: NSManagedObjectContext, _ stores: [NSPersistentStore], _ files: [URL]) throws -> Void
    ) throws {
        let model = Company.model()
        model.setEntities(model.entities.filter { $0.name == "Item" }, forConfigurationName: "first")
        model.setEntities(model.entities.filter { $0.name != "Item" }, forConfigurationName: "second")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("metadata-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let files = ["first", "second"].map { folder.appendingPathComponent("\($0).sqlite") }
        let stores = try zip(["first", "second"], files).map { name, file in
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: name, at: file)
        }
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try body(context, stores, files) }
        for store in stores { try coordinator.remove(store) }
    }

    // S5
    @Test func aSaveIntoOneStoreWritesTheMetadataOfAllOfThem() throws {
        try withTwoStores { context, stores, files in
            context.make("Item")
            set("Bern", try #require(context.persistentStoreCoordinator), stores[1])
            try context.save()
            #expect(try storedMetadata(at: files[1])["city"] as? String == "Bern")
        }
    }

    // S5
    @Test func whereTheMetadataOfAnotherStoreCannotBeWrittenNoObjectIsSaved() throws {
        try withTwoStores { context, stores, files in
            let items = SQLiteShell(file: files[0]), other = SQLiteShell(file: files[1])
            _ = try other.rows("CREATE TRIGGER no BEFORE UPDATE ON Z_METADATA BEGIN SELECT RAISE(ABORT, 'no'); END")
            let item = context.make("Item", ["key": "k"])
            set("Bern", try #require(context.persistentStoreCoordinator), stores[1])
            #expect(throws: NSError.self) { try context.save() }
            #expect(item.isInserted && context.hasChanges)
            #expect(try items.column("SELECT COUNT(*) FROM ZITEM") == ["0"])
            _ = try other.rows("DROP TRIGGER no")
            try context.save()
            #expect(try items.column("SELECT ZKEY FROM ZITEM") == ["k"])
            #expect(try storedMetadata(at: files[1])["city"] as? String == "Bern")
        }
    }

    // T16
    @Test(.timeLimit(.minutes(60))) func aSaveOfNothingDoesNotWaitForTheCoordinator() throws {
        let stack = TestStack()
        try whileBusy(stack.coordinator) { try stack.root.performAndWait { try stack.root.save() } }
    }

    // S5
    @Test func aSaveThatFailsWritesNoMetadata() throws {
        let stack = try SQLiteStack()
        try stack.root.performAndWait { () throws in
            stack.root.make("Item", ["key": "k"])
            try stack.root.save()
            set("Bern", stack.coordinator, stack.fixture.store)
            stack.root.make("Item", ["key": "k"])
            #expect(throws: NSError.self) { try stack.root.save() }
            #expect(try stored(stack.fixture) == nil && stack.fixture.store.hasUnsavedMetadata)
            stack.root.rollback()
            try stack.root.save()
            #expect(try stored(stack.fixture) == "Bern")
        }
    }

    // S5, S10
    @Test func aStoreInMemoryKeepsItsMetadata() throws {
        let stack = TestStack()
        set("Bern", stack.coordinator, stack.store)
        let metadata = stack.coordinator.metadata(for: stack.store)
        #expect(metadata["city"] as? String == "Bern" && metadata[NSStoreTypeKey] as? String == NSInMemoryStoreType)
        #expect(metadata[NSStoreUUIDKey] as? String == stack.store.identifier)
    }
}
