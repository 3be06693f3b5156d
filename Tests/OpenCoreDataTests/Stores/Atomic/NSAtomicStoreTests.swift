import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// An atomic store of one's own.
@Suite struct NSAtomicStoreTests {
    private func world() throws -> AtomicWorld {
        _ = ListFileStore.isRegistered
        return try AtomicWorld(ListFileStore.storeType, StoreModels.relations())
    }

    private func store(_ context: NSManagedObjectContext) throws -> ListFileStore { try #require(try context.onlyStore as? ListFileStore) }

    // S7
    @Test func aSaveAsksForReferencesThenForNodesThenWritesThem() throws {
        let world = try world(), context = try world.open(), store = try store(context)
        #expect(world.files == [] && store.calls() == [] && store.type == ListFileStore.storeType)
        try context.saving { context in
            let author = context.make("Author", ["name": "Ada"])
            context.make("Book", ["title": "b", "author": author])
        }
        #expect(
            store.calls() == ["reference of Author", "reference of Book", "node of Author", "node of Book", "update Author", "update Book", "save"])
        try context.saving { context in
            try context.all("Author").first?.setValue("Ida", forKey: "name")
            context.delete(try #require(try context.all("Book").first))
        }
        #expect(store.calls() == ["remove 1", "update Author", "save"])
        #expect(store.cacheNodes().count == 1 && store.cacheNodes().first?.value(forKey: "name") as? String == "Ida")
        let again = try world.open()
        try again.performAndWait { () throws in
            let author = try #require(try again.all("Author").first)
            #expect(author.value(forKey: "name") as? String == "Ida" && (author.value(forKey: "books") as? NSOrderedSet)?.count == 0)
            #expect(author.objectID.uriRepresentation().absoluteString == "x-coredata://\(store.identifier ?? "?")/Author/pn1")
            #expect(again.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: author.objectID.uriRepresentation()) == author.objectID)
            #expect(try again.count("Book") == 0)
        }
    }

    // S7
    @Test func aSaveThatTheStoreRefusesLeavesNodesRowsAndFileAsTheyWere() throws {
        struct Refusal: Error, Equatable {}
        let world = try world(), context = try world.open(), store = try store(context)
        try context.saving { $0.make("Author", ["name": "Ada"]) }
        let before = try world.text
        store.fail(Refusal())
        try context.performAndWait { () throws in
            let ada = try #require(try context.all("Author").first)
            ada.setValue("Ida", forKey: "name")
            let new = context.make("Author", ["name": "Bea", "friends": Set([ada])])
            #expect(throws: Refusal.self) { try context.save() }
            #expect(new.objectID.isTemporaryID && context.hasChanges)
            #expect(store.cacheNodes().map { $0.value(forKey: "name") as? String } == ["Ada"])
            let friends = store.cacheNodes().first?.value(forKey: "friends") as? Set<NSAtomicStoreCacheNode>
            #expect(friends?.isEmpty != false)
        }
        #expect(try world.text == before && world.open().count("Author") == 1)
        store.fail(nil)
        try context.performAndWait { () throws in try context.save() }
        let again = try world.open()
        try again.performAndWait { () throws in
            let names = try again.all("Author").map { ($0.value(forKey: "friends") as? Set<NSManagedObject>)?.count }
            #expect(names == [1, 1])
        }
    }

    // S7
    @Test func aReferenceThatIsTakenIsRefused() throws {
        let world = try world(), context = try world.open(), store = try store(context)
        try context.saving { $0.make("Author", ["name": "Ada"]) }
        store.giveNext("n1")
        let refused = told { try context.saving { $0.make("Author", ["name": "Bea"]) } }
        #expect(refused.code == 134070 && refused.sentence.contains("n1 for a new object of Author, which stands for another one"), "\(refused)")
        #expect(store.cacheNodes().count == 1)
        try context.performAndWait { () throws in try context.save() }
        #expect(try world.open().count("Author") == 2)
    }

    // S7
    @Test func conflictsAndConstraintsAreTheLibrarys() throws {
        _ = ListFileStore.isRegistered
        let city = StoreModels.entity("City", [StoreModels.attribute("code", .string), StoreModels.attribute("name", .string)])
        city.uniquenessConstraints = [["code"]]
        let world = try AtomicWorld(ListFileStore.storeType, NSManagedObjectModel(entities: [city])), first = try world.open()
        let second = NSManagedObjectContext(.privateQueueConcurrencyType)
        second.persistentStoreCoordinator = first.persistentStoreCoordinator
        try first.saving { $0.make("City", ["code": "a"]) }
        let calls = try store(first)
        _ = calls.calls()
        #expect(told { try second.saving { $0.make("City", ["code": "a"]) } }.code == CocoaError.Code.managedObjectConstraintMerge.rawValue)
        second.performAndWait { second.rollback() }
        try second.performAndWait { () throws in
            try second.all("City").first?.setValue("mine", forKey: "name")
            try first.saving { try $0.all("City").first?.setValue("theirs", forKey: "name") }
            _ = calls.calls()
            #expect(told { try second.save() }.code == CocoaError.Code.managedObjectMerge.rawValue)
            #expect(!calls.calls().contains("save"))
            second.mergePolicy = .overwrite
            try second.save()
        }
        let again = try world.open()
        try again.performAndWait { () throws in #expect(try again.all("City").map { $0.value(forKey: "name") as? String } == ["mine"]) }
    }

    // S7
    @Test func whatCannotBeDoneIsRefusedInASentence() throws {
        let world = try world(), context = try world.open()
        let batch = told { _ = try context.performAndWait { () throws in try context.execute(batchDelete("Author")) } }
        #expect(batch.code == 134091 && batch.sentence.contains("know no batch requests"))
        try context.saving { $0.make("Author", ["name": "Ada"]) }
        let other = NSManagedObjectModel(entities: [StoreModels.entity("Author", [StoreModels.attribute("name", .date)])])
        #expect(told { _ = try world.open(other) }.code == 134100)
        let readOnly = try world.open(options: [NSReadOnlyPersistentStoreOption: true])
        try readOnly.performAndWait { () throws in
            try readOnly.all("Author").first?.setValue("Bea", forKey: "name")
            #expect(told { try readOnly.save() }.code != 0)
        }
        try Data("{".utf8).write(to: world.file)
        #expect(told { _ = try world.open() }.code != 0)
    }

    // S5, S7
    @Test func metadataAreWrittenWithTheNextSave() throws {
        let world = try world(), context = try world.open(), store = try store(context)
        try context.saving { $0.make("Author", ["name": "Ada"]) }
        var metadata = store.metadata ?? [:]
        metadata["word"] = "kept"
        context.persistentStoreCoordinator?.setMetadata(metadata, for: store)
        _ = store.calls()
        try context.performAndWait { () throws in try context.save() }
        #expect(store.calls() == ["save"])
        let again = try world.open().onlyStore
        #expect(again.metadata["word"] as? String == "kept" && again.identifier == store.identifier)
        #expect(again.metadata[NSStoreModelVersionHashesKey] != nil)
    }
}
