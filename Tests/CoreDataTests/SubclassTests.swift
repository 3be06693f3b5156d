import CoreData
import Foundation
import Testing

/// A class with the initialiser that Core Data has, overridden as Xcode writes it.
class Ship: NSManagedObject {
    var made = 0

    override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
        made += 1
    }

    convenience init(named name: String, in context: NSManagedObjectContext) {
        self.init(context: context)
        setValue(name, forKey: "name")
    }
}

/// Which inherits everything.
final class Steamer: Ship {}

/// Makes another object on its way.
final class Fleet: NSManagedObject {
    private(set) var flagship: Ship?

    override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        flagship = context.map { Ship(context: $0) }
        super.init(entity: entity, insertInto: context)
    }
}

/// What a class of one's own may look like.
@Suite struct SubclassTests {
    private static func yard() -> NSManagedObjectModel {
        let types: [(String, NSManagedObject.Type)] = [("Ship", Ship.self), ("Steamer", Steamer.self), ("Fleet", Fleet.self)]
        let model = NSManagedObjectModel()
        model.entities = types.map { name, type in
            let entity = NSEntityDescription(), attribute = NSAttributeDescription()
            entity.name = name
            entity.managedObjectClassName = NSStringFromClass(type)
            attribute.name = "name"
            attribute.attributeType = .stringAttributeType
            attribute.isOptional = true
            entity.properties = [attribute]
            return entity
        }
        return model
    }

    private func make<Object: NSManagedObject>(_ type: Object.Type, in context: NSManagedObjectContext) -> Object { Object(context: context) }

    @Test func genericCodeMakesAnObjectOfItsType() throws {
        let stack = try Stack(Self.yard())
        stack.root.performAndWait {
            #expect(make(Steamer.self, in: stack.root).entity.name == "Steamer")
            #expect(make(Ship.self, in: stack.root).entity.name == "Ship")
        }
    }

    @Test func anOverriddenInitialiserRunsForEveryInstance() throws {
        let stack = try Stack(Self.yard())
        try stack.root.performAndWait { () throws in
            let fram = Ship(named: "Fram", in: stack.root)
            #expect(fram.made == 1)
            let inserted = NSEntityDescription.insertNewObject(forEntityName: "Steamer", into: stack.root)
            #expect((inserted as? Steamer)?.made == 1)
            try stack.root.save()
            #expect(fram.made == 1)
        }
        let beside = stack.beside()
        try beside.performAndWait { () throws in
            let found = try beside.fetch(NSFetchRequest<Ship>(entityName: "Ship"))
            #expect(found.map(\.made) == [1])
            #expect(found.map { $0.value(forKey: "name") as? String } == ["Fram"])
            #expect(!beside.hasChanges)
        }
    }

    @Test func anInitialiserMayMakeAnotherObjectFirst() throws {
        let stack = try Stack(Self.yard())
        let id = try stack.root.performAndWait { () throws in
            let fleet = Fleet(context: stack.root)
            try stack.root.save()
            return fleet.objectID
        }
        let beside = stack.beside()
        try beside.performAndWait { () throws in
            let fleet = try #require(try beside.existingObject(with: id) as? Fleet)
            #expect(fleet.objectID == id && !fleet.isInserted)
            #expect(fleet.flagship?.isInserted == true && fleet.flagship?.entity.name == "Ship")
        }
    }
}
