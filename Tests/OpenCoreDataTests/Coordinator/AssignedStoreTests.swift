import Foundation
import GRDB
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Several stores of one entity: where a new object goes.
@Suite struct AssignedStoreTests {
    private final class Files {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("assigned-\(UUID().uuidString)")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        var stores: [NSPersistentStore] = []

        init(_ names: [String]) throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for name in names { try add(name) }
        }

        func add(_ name: String, readOnly: Bool = false) throws {
            let url = folder.appendingPathComponent(name)
            let options = readOnly ? [NSReadOnlyPersistentStoreOption: true] : nil
            stores.append(
                name.isEmpty
                    ? try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
                    : try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options))
        }

        deinit {
            for store in coordinator.persistentStores { try? coordinator.remove(store) }
            try? FileManager.default.removeItem(at: folder)
        }

        func context() -> NSManagedObjectContext {
            let context = NSManagedObjectContext(.privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return context
        }

        func stored(_ number: Int) throws -> [Int] {
            let context = context()
            return try context.performAndWait { () throws in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.affectedStores = [stores[number]]
                return try context.fetch(request).compactMap { $0.value(forKey: "a") as? Int }.sorted()
            }
        }
    }

    // S9
    @Test(arguments: [["one", "two"], ["one", ""], ["", "two"]]) func aNewObjectGoesToTheStoreThatItIsAssignedTo(_ names: [String]) throws {
        let files = try Files(names), context = files.context()
        for round in 0..<3 {
            try context.performAndWait { () throws in
                for number in 0..<700 {
                    let item = context.make("Item", ["a": round * 700 + number])
                    if number % 2 == 1 { context.assign(item, to: files.stores[1]) }
                    if number % 4 == 3 {
                        // Minds change until it is saved.
                        context.assign(item, to: files.stores[0])
                        context.assign(item, to: files.stores[1])
                    }
                }
                try context.save()
                context.reset()
            }
        }
        #expect(try files.stored(0) == (0..<2100).filter { $0 % 2 == 0 } && files.stored(1) == (0..<2100).filter { $0 % 2 == 1 })
    }

    // S9
    @Test func aChildAssignsAndItsRelationshipsComeAlong() throws {
        let files = try Files(["one", "two"]), root = files.context()
        let child = NSManagedObjectContext(.privateQueueConcurrencyType)
        child.parent = root
        let ids = try child.performAndWait { () throws in
            let looms = child.make("Department", ["name": "Looms"]), ada = child.make("Person", ["name": "Ada"])
            ada.setValue(looms, forKey: "department")
            for object in [looms, ada] { child.assign(object, to: files.stores[1]) }
            try child.save()
            return [looms.objectID, ada.objectID]
        }
        try root.performAndWait { () throws in
            try root.save()
            root.reset()
            #expect(ids.allSatisfy { !$0.isTemporaryID && $0.persistentStore === files.stores[1] })
            #expect(root.object(with: ids[1]).value(forKeyPath: "department.name") as? String == "Looms")
        }
    }

    // S9
    @Test func whereAnObjectCannotGoItIsSaidAndItGoesWhereItWent() async {
        await #expect(processExitsWith: .success) {
            let told = Recorded()
            CoreDataMisuse.handle { told.add($0.message) }
            let files = try Files(["one"]), other = try Files(["else"]), context = files.context()
            try context.performAndWait { () throws in
                let early = context.make("Item", ["a": 1])
                try files.add("two")
                let configured = NSEntityDescription.entity(forEntityName: "Item", in: context)
                #expect(configured != nil)
                context.assign(early, to: other.stores[0])
                let saved = context.make("Item", ["a": 2])
                try context.save()
                context.assign(saved, to: files.stores[1])
                files.stores[1].isReadOnly = true
                context.assign(context.make("Item", ["a": 3]), to: files.stores[1])
                context.assign("nothing", to: files.stores[1])
                try context.save()
            }
            #expect(try files.stored(0) == [1, 2, 3] && files.stored(1).isEmpty)
            let wanted = ["is not of the coordinator", "it is not new here", "is only read", "different context"]
            let said = told.all
            #expect(said.count == wanted.count && zip(said, wanted).allSatisfy { $0.contains($1) }, "\(said)")
        }
    }

    @Test func aStoreMayBeClosedForWritingAndOpenedAgain() throws {
        let files = try Files(["one"]), context = files.context()
        try context.performAndWait { () throws in
            files.stores[0].isReadOnly = true
            context.make("Item", ["a": 1])
            #expect(throws: (any Error).self) { try context.save() }
            files.stores[0].isReadOnly = false
            try context.save()
        }
        #expect(try files.stored(0) == [1])
        #expect(!files.coordinator.setURL(URL(fileURLWithPath: "/elsewhere"), for: files.stores[0]))
        try files.add("")
        #expect(files.coordinator.setURL(URL(fileURLWithPath: "/elsewhere"), for: files.stores[1]))
        #expect(files.coordinator.persistentStore(for: URL(fileURLWithPath: "/elsewhere")) === files.stores[1])
    }

    @Test func anObjectIsFoundByItsURIAsText() throws {
        let files = try Files(["one"]), context = files.context()
        try context.performAndWait { () throws in
            let item = context.make("Item")
            try context.save()
            #expect(files.coordinator.managedObjectID(for: item.objectID.uriRepresentation().absoluteString) == item.objectID)
            #expect(files.coordinator.managedObjectID(for: "") == nil && files.coordinator.managedObjectID(for: "x-coredata://nobody/Item/p1") == nil)
            #expect((item.objectID.copy(with: nil) as? NSManagedObjectID) === item.objectID)
        }
    }

    @Test func aStoreThatIsDescribedIsAddedAndWaitedFor() async throws {
        let files = try Files([]), description = NSPersistentStoreDescription(url: files.folder.appendingPathComponent("one"))
        #expect(try await files.coordinator.addPersistentStore(with: description) === description)
        #expect(files.coordinator.persistentStores.count == 1)
        description.setOption(NSString("complete"), forKey: NSPersistentStoreFileProtectionKey)
        let error = await #expect(throws: (any Error).self) { try await files.coordinator.addPersistentStore(with: description) } as NSError?
        #expect(error?.code == 134080 && error?.localizedDescription.contains(NSPersistentStoreFileProtectionKey) == true)
        for type in [NSBinaryStoreType, NSXMLStoreType] {
            let other = NSPersistentStoreDescription(url: files.folder.appendingPathComponent(type))
            other.type = type
            other.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
            let error = await #expect(throws: (any Error).self) { try await files.coordinator.addPersistentStore(with: other) } as NSError?
            #expect(error?.code == 134080 && error?.localizedDescription.contains(NSPersistentHistoryTrackingKey) == true)
        }
    }

    @Test func metadataIsReadWithoutSayingTheType() throws {
        let files = try Files(["one"]), uuid = files.stores[0].identifier
        try files.coordinator.addPersistentStore(ofType: NSXMLStoreType, configurationName: nil, at: files.folder.appendingPathComponent("xml"))
        let url = files.folder.appendingPathComponent("one")
        #expect(try NSPersistentStore.metadataForPersistentStore(with: url)[NSStoreUUIDKey] as? String == uuid)
        let xml = try NSPersistentStore.metadataForPersistentStore(with: files.folder.appendingPathComponent("xml"))
        #expect(xml[NSStoreTypeKey] as? String == NSXMLStoreType)
        try NSPersistentStore.setMetadata(["port": "Bergen"], forPersistentStoreAt: url)
        #expect(try NSPersistentStore.metadataForPersistentStore(with: url)["port"] as? String == "Bergen")
        #expect(ObjectIdentifier(NSPersistentStore.migrationManagerClass()) == ObjectIdentifier(NSMigrationManager.self))
    }

    // S9
    @Test(arguments: [["one", "two"], ["one", ""], ["", "two"]]) func aPairOfObjectsInTwoStoresIsRefusedAndNotForgotten(_ names: [String]) throws {
        let files = try Files(names), context = files.context()
        try context.performAndWait { () throws in
            let ada = context.make("Person", ["name": "Ada"]), weaving = context.make("Skill", ["name": "Weaving"])
            context.assign(weaving, to: files.stores[1])
            ada.setValue(Set([weaving]), forKey: "skills")
            let error = #expect(throws: (any Error).self) { try context.save() } as NSError?
            #expect(error?.code == CocoaError.Code.managedObjectExternalRelationship.rawValue, "\(error as Any)")
            #expect((ada.value(forKey: "skills") as? Set<NSManagedObject>)?.count == 1)
        }
    }

    // S9
    @Test(arguments: ["one", ""]) func aStoreThatIsClosedForWritingGetsNoNewObjectsAndSavesNothing(_ name: String) throws {
        let files = try Files([name, "other"]), context = files.context()
        try context.performAndWait { () throws in
            let first = context.make("Item", ["a": 1])
            try context.save()
            #expect(first.objectID.persistentStore === files.stores[0])
            files.stores[0].isReadOnly = true
            let second = context.make("Item", ["a": 2])
            try context.save()
            #expect(second.objectID.persistentStore === files.stores[1])
            first.setValue(3, forKey: "a")
            #expect(throws: (any Error).self) { try context.save() }
        }
        #expect(try files.stored(0) == [1])
    }

    // S9
    @Test func keysInStockOfAStoreThatIsClosedForWritingAreNotGivenOutForAnother() throws {
        let files = try Files(["one"]), context = files.context(), other = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        let full = try other.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: files.folder.appendingPathComponent("two"))
        let before = NSManagedObjectContext(.privateQueueConcurrencyType)
        before.persistentStoreCoordinator = other
        try before.performAndWait { () throws in
            for number in 0..<5 { before.make("Item", ["a": number]) }
            try before.save()
        }
        try other.remove(full)
        try context.performAndWait { () throws in
            context.make("Item", ["a": 100])
            try context.save()
            try files.add("two")
            files.stores[0].isReadOnly = true
            for number in 5..<8 { context.make("Item", ["a": number]) }
            try context.save()
        }
        #expect(try files.stored(0) == [100])
        #expect(try files.stored(1) == Array(0..<8))
    }

    @Test func whatSomebodyUsesAndAFolderAreNotDestroyedByForce() throws {
        let files = try Files([]), other = try Files(["used"]), folder = files.folder.appendingPathComponent("folder")
        let used = other.folder.appendingPathComponent("used"), force = [NSPersistentStoreForceDestroyOption: true] as [String: Any]
        try FileManager.default.createDirectory(at: folder.appendingPathComponent("within"), withIntermediateDirectories: true)
        #expect(throws: (any Error).self) { try files.coordinator.destroyPersistentStore(at: folder, ofType: NSSQLiteStoreType, options: force) }
        #expect(FileManager.default.fileExists(atPath: folder.appendingPathComponent("within").path))
        let queue = try DatabaseQueue(path: used.path)
        try queue.inDatabase { database in
            try database.inTransaction(.immediate) {
                let options = force.merging([NSPersistentStoreTimeoutOption: 0.1] as [String: Any]) { $1 }
                #expect(throws: (any Error).self) {
                    try files.coordinator.destroyPersistentStore(at: used, ofType: NSSQLiteStoreType, options: options)
                }
                return .rollback
            }
        }
        try queue.close()
        #expect(FileManager.default.fileExists(atPath: used.path))
    }

    @Test func whatIsNoStoreIsDestroyedOnlyByForce() throws {
        let files = try Files([]), url = files.folder.appendingPathComponent("note")
        try Data("a note of somebody, which is long enough to be no header".utf8).write(to: url)
        #expect(throws: (any Error).self) { try files.coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType) }
        #expect(FileManager.default.fileExists(atPath: url.path))
        try files.coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: [NSPersistentStoreForceDestroyOption: true])
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }
}

// Used on one queue after the other.
private final class Recorded: @unchecked Sendable {
    private(set) var all: [String] = []
    func add(_ text: String) { all.append(text) }
}
