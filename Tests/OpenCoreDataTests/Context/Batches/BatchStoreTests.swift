import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Which stores answer batch requests, and what becomes of one that several have to.
@Suite struct BatchStoreTests {
    // B6
    @Test func aStoreThatKnowsNoneSaysSo() throws {
        let stack = try IncrementalStack(), context = IncrementalStack.context(try #require(stack.store.persistentStoreCoordinator))
        context.performAndWait {
            #expect(errorCode { try context.execute(NSBatchInsertRequest(entityName: "Item", objects: [["key": "a"]])) } == 134_091)
            #expect(errorCode { try context.execute(batchUpdate("Item", nil, ["key": "a"])) } == 134_091)
            #expect(errorCode { try context.execute(batchDelete("Item")) } == 134_091)
        }
    }

    /// Knows batch deletes.
    // Has no state of its own.
    private final class Deleting: NSIncrementalStore, @unchecked Sendable {
        override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
            guard let request = request as? NSBatchDeleteRequest, request.requestType == .batchDeleteRequestType,
                let entity = context?.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Item"]
            else { return try super.execute(request, with: context) }
            return request.resultType == .resultTypeCount ? 3 : [newObjectID(for: entity, referenceObject: "x")]
        }
    }

    // B6, S8
    @Test func aStoreOfOnesOwnIsHandedTheRequest() throws {
        NSPersistentStoreCoordinator.registerStoreClass(Deleting.self, forStoreType: "Deleting")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        try coordinator.addPersistentStore(ofType: "Deleting", configurationName: nil, at: nil)
        let context = IncrementalStack.context(coordinator), request = batchDelete("Item")
        try context.performAndWait { () throws in
            request.resultType = .resultTypeCount
            #expect((try context.execute(request) as? NSBatchDeleteResult)?.result as? Int == 3)
            request.resultType = .resultTypeObjectIDs
            let ids = (try context.execute(request) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID]
            #expect(ids?.first?.uriRepresentation().absoluteString.hasSuffix("/Item/px") == true)
            #expect(errorCode { try context.execute(batchUpdate("Item", nil, ["key": "a"])) } == 134_091)
        }
    }

    // GB24
    @Test(arguments: BatchWorld.Kind.allCases) func aChildExecutesThemToo(_ kind: BatchWorld.Kind) throws {
        let world = try BatchWorld(kind)
        let middle = NSManagedObjectContext(.privateQueueConcurrencyType), child = NSManagedObjectContext(.privateQueueConcurrencyType)
        middle.parent = world.context
        child.parent = middle
        try child.performAndWait { () throws in
            try child.execute(NSBatchInsertRequest(entityName: "Shop", objects: [["name": "a", "number": 1]]))
            try child.execute(batchUpdate("Shop", nil, ["stars": 2]))
            #expect(try child.all("Shop", "stars == 2").count == 1)
        }
        #expect(try world.dump().values.map { $0["stars"] } == ["2"])
    }

    // F14, S9
    @Test func theyGoToTheStoresThatAreNamedAllOrNothing() throws {
        let world = try BatchWorld(.file), second = try BatchWorld(.file)
        let url = try #require(second.store.url)
        try second.coordinator.remove(second.store)
        let other = try world.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        func count() throws -> [Int] {
            try [world.store, other].map { store in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Toy"), context = world.fresh()
                request.affectedStores = [store]
                return try context.performAndWait { () throws in try context.count(for: request) }
            }
        }
        for store in [world.store, other] {
            let request = NSBatchInsertRequest(entityName: "Toy", objects: [["label": "l", "age": 1], ["label": "l", "age": 2]])
            request.affectedStores = [store]
            try world.execute(request)
        }
        try world.insert("Toy", [["label": "l", "age": 3]])
        #expect(try count() == [3, 2])
        let one = batchDelete("Toy", "age == 1")
        one.affectedStores = [other]
        try world.execute(one)
        #expect(try count() == [3, 1])
        // In the second it would be one row, and well; the first refuses.
        #expect(errorCode { try world.execute(batchUpdate("Toy", nil, ["age": 9])) } == 133_021)
        let context = world.fresh()
        try context.performAndWait { () throws in #expect(try context.all("Toy", "age == 9").isEmpty) }
        try world.execute(batchDelete("Toy"))
        #expect(try count() == [0, 0])
    }

    /// Two stores that keep toys of these ages.
    private func twoStores(_ ages: [[Int]]) throws -> (BatchWorld, [NSPersistentStore]) {
        let world = try BatchWorld(.file)
        let other = try world.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        for (store, ages) in zip([world.store, other], ages) {
            let request = NSBatchInsertRequest(entityName: "Toy", objects: ages.map { ["label": "l", "age": $0, "number": $0] })
            request.affectedStores = [store]
            try world.execute(request)
        }
        return (world, [world.store, other])
    }

    // B1, F14
    @Test func aDeleteCutsItsWindowFromTheWholeAndKeepsToTheStoresOfItsFetch() throws {
        let (world, stores) = try twoStores([[1, 3, 5, 7], [2, 4, 6, 8]])
        let fetch = NSFetchRequest<NSManagedObject>(entityName: "Toy")
        fetch.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        fetch.fetchOffset = 1
        fetch.fetchLimit = 2
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeCount
        #expect(try world.execute(request, as: NSBatchDeleteResult.self).result as? Int == 2)
        #expect(try world.dump().keys.sorted() == ["Toy 1", "Toy 4", "Toy 5", "Toy 6", "Toy 7", "Toy 8"])
        let one = NSFetchRequest<NSManagedObject>(entityName: "Toy")
        one.affectedStores = [stores[1]]
        try world.execute(NSBatchDeleteRequest(fetchRequest: one))
        #expect(try world.dump().keys.sorted() == ["Toy 1", "Toy 5", "Toy 7"])
    }

    // B5, S9
    @Test func aRuleThatLeadsIntoAnotherStoreStopsNothing() throws {
        let model = Shops.model()
        model.setEntities(
            ["Shop", "Tag", "Owner", "Loan", "Licence", "Shelf"].compactMap { model.entitiesByName[$0] }, forConfigurationName: "Shops")
        model.setEntities(["Item", "Book", "Toy"].compactMap { model.entitiesByName[$0] }, forConfigurationName: "Items")
        // Whose to-ones are kept at the other end, so that the tables of the first need nothing of the second.
        for name in ["tags", "supplier", "shelves"] {
            for entity in model.entities { entity.properties.removeAll { $0.name == name && ($0 as? NSRelationshipDescription) != nil } }
        }
        for (entity, name) in [("Tag", "items"), ("Shelf", "books")] {
            model.entitiesByName[entity]?.properties.removeAll { $0.name == name }
        }
        model.entitiesByName["Item"]?.relationshipsByName["shop"]?.isTransient = true
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("batch-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: "Shops", at: folder.appendingPathComponent("s.sqlite"), options: nil)
        defer { try? store.close() }
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { () throws in
            try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: [["number": 1], ["number": 2]]))
            try context.execute(batchDelete("Tag", "number == 1"))
            #expect(try context.all("Tag").count == 1)
        }
    }

    // S6
    @Test(arguments: BatchWorld.Kind.allCases) func aStoreThatWasOpenedForReadingOnlyRefusesThem(_ kind: BatchWorld.Kind) throws {
        let world = try BatchWorld(.file)
        try world.insert("Shop", [["name": "a", "number": 1]])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shops.model())
        let store = try coordinator.addPersistentStore(
            ofType: kind == .file ? NSSQLiteStoreType : NSInMemoryStoreType, configurationName: nil, at: world.store.url,
            options: [NSReadOnlyPersistentStoreOption: true])
        defer { try? store.close() }
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        func refused(_ request: NSPersistentStoreRequest) -> Bool {
            let error = #expect(throws: NSError.self) { try context.execute(request) }
            return error?.code == 134_030 && error?.localizedDescription.contains("was opened read-only; it can't execute NSBatch") == true
        }
        try context.performAndWait { () throws in
            #expect(refused(NSBatchInsertRequest(entityName: "Shop", objects: [["name": "b"]])))
            #expect(refused(batchUpdate("Shop", nil, ["stars": 1])))
            #expect(refused(batchDelete("Shop")))
            #expect(try context.all("Shop").count == (kind == .file ? 1 : 0))
        }
        #expect(try world.dump().values.map { $0["stars"] } == ["3"])
    }
}
