import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Adding stores of one's own.
@Suite struct IncrementalOpeningTests {
    // Has no state of its own.
    private final class Told: NSIncrementalStore, @unchecked Sendable {
        override func loadMetadata() throws {
            if let error = options?["error"] as? NSError { throw error }
            metadata = options?["metadata"] as? [String: Any] ?? [:]
        }
    }

    private func add(_ options: [AnyHashable: Any], at url: URL?, type: String = "Told") throws -> NSPersistentStore {
        NSPersistentStoreCoordinator.registerStoreClass(Told.self, forStoreType: "Told")
        return try NSPersistentStoreCoordinator(managedObjectModel: Company.model())
            .addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
    }

    private func code(_ options: [AnyHashable: Any], at url: URL?) -> Int? {
        #expect(throws: NSError.self) { try add(options, at: url) }?.code
    }

    private func withFile<T>(_ content: String, _ body: (URL) throws -> T) throws -> T {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("told-\(UUID().uuidString)")
        try Data(content.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try body(file)
    }

    // S8
    @Test func aFileThatIsEmptyOrMissingIsANewStore() throws {
        let stack = try IncrementalStack()
        #expect(UUID(uuidString: stack.store.identifier) != nil && stack.store.type == JSONFileStore.storeType)
        try withFile("") { file in
            let store = try IncrementalStack.add(to: NSPersistentStoreCoordinator(managedObjectModel: Company.model()), file)
            #expect(UUID(uuidString: store.identifier) != nil)
            #expect(UUID(uuidString: try add([:], at: file).identifier) != nil)
        }
        #expect(UUID(uuidString: try add([:], at: nil).identifier) != nil)
    }

    // S8
    @Test func aStoreIsKnownByTheNameThatItsMetadataSays() throws {
        let store = try add(["metadata": [NSStoreUUIDKey: "my library", NSStoreTypeKey: "Told"]], at: nil)
        #expect(store.identifier == "my library" && store.type == "Told")
        #expect(store.metadata[NSStoreUUIDKey] as? String == "my library")
        #expect((store.metadata[NSStoreModelVersionHashesKey] as? [String: Data])?.count == Company.model().entities.count)
    }

    // S4
    @Test func aStoreOfAnotherTypeOrModelIsRefused() throws {
        try withFile("x") { file in
            #expect(code(["metadata": [NSStoreUUIDKey: "u", NSStoreTypeKey: "Another"]], at: file) == 134010)
            let hashes = ["Item": Data([1, 2, 3])]
            let metadata: [String: Any] = [NSStoreUUIDKey: "u", NSStoreTypeKey: "Told", NSStoreModelVersionHashesKey: hashes]
            #expect(code(["metadata": metadata], at: file) == 134100)
            #expect(throws: Never.self) { try add(["metadata": metadata, NSIgnorePersistentStoreVersioningOption: true], at: file) }
        }
    }

    // S4
    @Test func aStoreThatDoesNotSayItsUUIDIsRefused() throws {
        try withFile("x") { file in #expect(code(["metadata": [NSStoreTypeKey: "Told"]], at: file) == 134080) }
    }

    // S4
    @Test func whatAStoreThrowsWhenItIsOpenedIsThrown() throws {
        #expect(code(["error": NSError(domain: CocoaError.errorDomain, code: 134090)], at: nil) == 134090)
        let error = #expect(throws: NSError.self) { try add(["error": NSError(domain: "mine", code: 7)], at: nil) }
        #expect(error?.code == 134080 && (error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.domain == "mine")
    }

    // S8
    @Test func storeTypesAreRegisteredAndTakenBack() {
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes[NSSQLiteStoreType] != nil)
        NSPersistentStoreCoordinator.registerStoreClass(Told.self, type: NSPersistentStore.StoreType(rawValue: "Transient"))
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes["Transient"] != nil)
        #expect(throws: Never.self) { try add([:], at: nil, type: "Transient") }
        NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "Transient")
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes["Transient"] == nil)
        let error = #expect(throws: NSError.self) { try add([:], at: nil, type: "Transient") }
        #expect(error?.code == 134000)
    }

    // S8
    @Test func anIncrementalStoreCanBeDescribed() throws {
        _ = JSONFileStore.isRegistered
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("described-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let container = NSPersistentContainer(name: "Company", managedObjectModel: Company.model())
        let description = NSPersistentStoreDescription(url: file)
        description.type = JSONFileStore.storeType
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            context.make("Item", ["key": "a"])
            try context.save()
        }
        #expect(try String(contentsOf: file, encoding: .utf8).contains("records"))
    }

    // What changes is the superclass's.
    private final class JSONDocument: UIManagedDocument, @unchecked Sendable {
        override func persistentStoreType(forFileType fileType: String) -> String { JSONFileStore.storeType }
    }

    // S8
    @Test func aDocumentMayHaveAnIncrementalStoreButNoPushJournalAboveIt() throws {
        _ = JSONFileStore.isRegistered
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("json-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let document = JSONDocument(fileURL: url, model: Company.model(), autosavePolicy: AutosavePolicy(), clock: ManualDocumentClock())
        document.pushJournaling = .written
        let error = #expect(throws: NSError.self) { try document.openStore(creating: true) }
        #expect(error?.code == 134080 && error?.localizedDescription.contains("pushJournaling") == true)
        document.pushJournaling = .off
        try document.openStore(creating: true)
    }

    // S8
    @Test func aStoreForReadingOnlyTakesNoSave() throws {
        let stack = try IncrementalStack()
        try stack.save(("Item", ["key": "a"]))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        _ = try IncrementalStack.add(to: coordinator, stack.file, [NSReadOnlyPersistentStoreOption: true])
        let context = IncrementalStack.context(coordinator)
        let error = try context.performAndWait { () throws in
            try context.all("Item").first?.setValue("b", forKey: "key")
            return #expect(throws: NSError.self) { try context.save() }
        }
        #expect(error?.code == 134030)
    }

    // S8
    @Test func aStoreHearsThatItIsAddedAndRemoved() throws {
        // As its property says.
        final class Listening: NSIncrementalStore, @unchecked Sendable {
            // Used on the test's thread only.
            nonisolated(unsafe) var heard: [String] = []
            override func didAdd(to coordinator: NSPersistentStoreCoordinator) { heard.append("added") }
            override func willRemove(from coordinator: NSPersistentStoreCoordinator?) { heard.append("removed") }
        }
        NSPersistentStoreCoordinator.registerStoreClass(Listening.self, forStoreType: "Listening")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        let store = try #require(try coordinator.addPersistentStore(ofType: "Listening", configurationName: nil, at: nil) as? Listening)
        try coordinator.remove(store)
        #expect(store.heard == ["added", "removed"])
    }

    // E2
    @Test func aClassThatIsNoIncrementalStoreCannotBeRegistered() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            NSPersistentStoreCoordinator.registerStoreClass(NSManagedObject.self, forStoreType: "Wrong")
        }.trap(says: "not a subclass of NSIncrementalStore")
    }

    // S7
    @Test func aClassRegisteredUnderAWrongTypeIsRefused() throws {
        NSPersistentStoreCoordinator.registerStoreClass(JSONFileStore.self, forStoreType: "NoJSON")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("wrong-type-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model()), file = folder.appendingPathComponent("store.json")
        let error = #expect(throws: NSError.self) { try coordinator.addPersistentStore(ofType: "NoJSON", configurationName: nil, at: file) }
        #expect(error?.code == NSPersistentStoreTypeMismatchError && coordinator.persistentStores.isEmpty)
    }

    // E2
    @Test func theLibrarysOwnStoreTypesCannotBeReplaced() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            NSPersistentStoreCoordinator.registerStoreClass(JSONFileStore.self, forStoreType: NSSQLiteStoreType)
        }.trap(says: "the library's own")
    }

    // E2
    @Test func aStoreThatOverridesTooLittleSaysWhatIsMissing() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            NSPersistentStoreCoordinator.registerStoreClass(NSIncrementalStore.self, forStoreType: "Bare")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
            try coordinator.addPersistentStore(ofType: "Bare", configurationName: nil, at: nil)
            let context = IncrementalStack.context(coordinator)
            try context.performAndWait { () throws in
                context.make("Badge")
                try context.save()
            }
        }.trap(says: "must override obtainPermanentIDs(for:)")
    }
}
