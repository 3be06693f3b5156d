import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// One save in which an object meets the key of another that meets a third one's itself.
@Suite struct OwnerOfTwoKeysTests {
    private static func model() -> NSManagedObjectModel {
        let thing = Company.entity("Thing")
        thing.properties = [Company.attribute("a", .string), Company.attribute("b", .string), Company.attribute("name", .string)]
        thing.uniquenessConstraints = [["a"], ["b"]]
        return NSManagedObjectModel(entities: [thing])
    }

    private func valuesArrive(in root: NSManagedObjectContext) throws {
        root.mergePolicy = .mergeByPropertyObjectTrump
        try root.performAndWait { () throws in
            let first = root.make("Thing", ["a": "w", "b": "v"]), second = root.make("Thing", ["a": "x", "b": "y"])
            try root.save()
            first.setValue("K", forKey: "a")
            second.setValue("K", forKey: "a")
            second.setValue("B", forKey: "b")
            root.make("Thing", ["a": "z", "b": "B", "name": "zz"])
            try root.save()
            let all = try root.all("Thing")
            #expect(all.contains { $0.value(forKey: "name") as? String == "zz" })
            for key in ["a", "b"] {
                let values = all.compactMap { $0.value(forKey: key) as? String }
                #expect(Set(values).count == values.count)
            }
        }
    }

    @Test func whatANewObjectBringsToAnOwnerThatGivesWayIsNotLost() throws {
        let memory = TestStack(Self.model()), file = try SQLiteStack(Self.model())
        try valuesArrive(in: memory.root)
        // The file is gone with its stack.
        try withExtendedLifetime(file) { try valuesArrive(in: file.root) }
    }

    /// The reservations are looked up when the context's last properties go, after the model.
    @Test func aContextThatOutlivesItsModelLetsGoOfItsKeys() throws {
        var root: NSManagedObjectContext?
        do {
            let parent = Company.entity("Parent"), child = Company.entity("Child")
            parent.properties = [Company.attribute("code", .string)]
            parent.uniquenessConstraints = [["code"]]
            parent.subentities = [child]
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [parent, child]))
            coordinator.add(InMemoryStore(entities: coordinator.managedObjectModel.entities))
            let context = NSManagedObjectContext(.privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            _ = try context.performAndWait { try context.findOrReserve(child, constraint: 0, keys: [.one(.string("A"))]) }
            root = context
        }
        weak let gone = root
        root = nil
        #expect(gone == nil)
    }
}
