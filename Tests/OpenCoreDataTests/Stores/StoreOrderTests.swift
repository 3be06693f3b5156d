import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Where members of an ordered to-many stand that no order names, whatever store keeps them.
@Suite struct StoreOrderTests {
    private static let types = [NSInMemoryStoreType, NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType]

    private func stack(_ type: String, _ body: (NSManagedObjectContext) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("order-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Keyed.model())
        let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.appendingPathComponent("store"))
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try body(context) }
        try coordinator.remove(store)
    }

    private func make(_ entity: String, _ code: String, in context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(code, forKey: "code")
        return object
    }

    private func codes(_ owner: NSManagedObject, _ name: String) -> [String?] {
        let members = owner.value(forKey: name) as? NSOrderedSet
        return (members?.array as? [NSManagedObject] ?? []).map { $0.value(forKey: "code") as? String }
    }

    // R2
    @Test(arguments: types)
    func whoLeavesItsOwnerAndComesBackStandsLast(_ type: String) throws {
        try stack(type) { context in
            let shelf = make("Shelf", "a", in: context), other = make("Shelf", "b", in: context)
            let things = ["p", "q", "r"].map { make("Thing", $0, in: context) }
            shelf.setValue(NSOrderedSet(array: [things[2], things[0], things[1]]), forKey: "things")
            try context.save()
            things[2].setValue(other, forKey: "shelf")
            try context.save()
            things[2].setValue(shelf, forKey: "shelf")
            // The order that this has set is given up, the member stays.
            context.refresh(shelf, mergeChanges: false)
            try context.save()
            let before = codes(shelf, "things")
            context.reset()
            let stored = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf")).first { codes($0, "things").count > 1 })
            #expect(codes(stored, "things") == ["p", "q", "r"])
            #expect(codes(stored, "things") == before)
        }
    }

    // R2
    @Test(arguments: types)
    func whoIsSetAnewToItsOwnerKeepsItsPlace(_ type: String) throws {
        try stack(type) { context in
            let shelf = make("Shelf", "a", in: context), things = ["p", "q", "r"].map { make("Thing", $0, in: context) }
            shelf.setValue(NSOrderedSet(array: [things[2], things[0], things[1]]), forKey: "things")
            try context.save()
            context.reset()
            // Without its shelf's members, so that no order is set beside it.
            let stored = try #require(
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).first { $0.value(forKey: "code") as? String == "r" })
            let row = try #require(stored.row), slot = try #require(row.layout.slot(of: "shelf"))
            context.updateRow(stored.objectID, to: row.copy(), changed: SlotSet([slot]), base: row)
            try context.save()
            context.reset()
            let again = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf")).first)
            #expect(codes(again, "things") == ["r", "p", "q"])
        }
    }

    // R2
    @Test(arguments: types)
    func whatIsTakenOutOfPairsAndAddedAgainStandsLast(_ type: String) throws {
        try stack(type) { context in
            let thing = make("Thing", "p", in: context), tags = ["a", "b", "c"].map { make("Tag", $0, in: context) }
            thing.setValue(NSOrderedSet(array: [tags[2], tags[0], tags[1]]), forKey: "tags")
            try context.save()
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
            let key = try key("tags", of: thing), id = tags[2].objectID, back = try self.key("things", of: tags[2])
            for change in [{ $0.remove($1) }, { $0.add($1) }] as [(inout PairChanges, NSManagedObjectID) -> Void] {
                var changes = ChangeSet()
                changes.pairs.change(key) { change(&$0, id) }
                changes.pairs.change(back) { change(&$0, thing.objectID) }
                _ = try store.save(changes)
            }
            #expect(try store.relatedIDs(key) == [tags[0].objectID, tags[1].objectID, id])
        }
    }

    private func key(_ name: String, of object: NSManagedObject) throws -> RelationshipKey {
        let number = try #require(object.entity.relationshipsByName[name].flatMap { object.objectID.layout.toManyNumber($0) })
        return RelationshipKey(owner: object.objectID, toMany: number)
    }
}
