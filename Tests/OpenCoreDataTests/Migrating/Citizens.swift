import OpenCoreData
import Testing

/// Two versions of a model of which none can be inferred from the other, mappings between them, and a store of the older one.
enum Citizens {
    /// Persons who live in cities.
    static func old() -> NSManagedObjectModel {
        let person = StoreModels.entity("Person", [StoreModels.attribute("name", .string), StoreModels.attribute("age", .integer32)])
        let city = StoreModels.entity("City", [StoreModels.attribute("name", .string), StoreModels.attribute("country", .string)])
        StoreModels.relate(person, "city", toMany: false, city, "people", inverseToMany: true)
        return NSManagedObjectModel(entities: [person, city])
    }

    /// Citizens, in order, of towns.
    static func new(_ more: [NSPropertyDescription] = []) -> NSManagedObjectModel {
        let citizen = StoreModels.entity("Citizen", [StoreModels.attribute("first", .string), StoreModels.attribute("years", .string)] + more)
        let town = StoreModels.entity("Town", [StoreModels.attribute("title", .string)])
        StoreModels.relate(citizen, "town", toMany: false, town, "citizens", inverseToMany: true, inverseOrdered: true)
        return NSManagedObjectModel(entities: [citizen, town])
    }

    static func property(_ name: String, _ expression: String) -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = name
        mapping.valueExpression = NSExpression(format: expression)
        return mapping
    }

    static func mapping(
        _ name: String, _ source: String, _ destination: String, _ attributes: [NSPropertyMapping], _ relationships: [NSPropertyMapping] = [],
        _ policy: NSEntityMigrationPolicy.Type? = nil
    ) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.name = name
        mapping.mappingType = policy == nil ? .transformEntityMappingType : .customEntityMappingType
        mapping.sourceEntityName = source
        mapping.destinationEntityName = destination
        mapping.attributeMappings = attributes
        mapping.relationshipMappings = relationships
        mapping.entityMigrationPolicyClass = policy
        return mapping
    }

    static func model(_ mappings: NSEntityMapping...) -> NSMappingModel {
        let model = NSMappingModel()
        model.entityMappings = mappings
        return model
    }

    /// As Xcode writes it.
    static func written(_ policy: NSEntityMigrationPolicy.Type? = nil) -> NSMappingModel {
        model(
            mapping(
                "PersonToCitizen", "Person", "Citizen", [property("first", "$source.name"), property("years", "$source.age")],
                [
                    property(
                        "town", #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "CityToTown", $source.city)"#)
                ], policy),
            mapping("CityToTown", "City", "Town", [property("title", "$source.name")]))
    }

    struct Fixture {
        let old: MigrationFixture
        var made: URL { old.directory.appendingPathComponent("made.sqlite") }

        init(people: Int = 3) throws {
            old = try MigrationFixture()
            let (context, coordinator, store) = try open(Citizens.old(), old.file)
            try context.performAndWait {
                let cities = context.make(
                    "City", ["name": "Bern", "country": "CH"], ["name": "Chur", "country": "CH"], ["name": "Graz", "country": "AT"])
                for number in 0..<people {
                    let person = context.make("Person", ["name": "P\(number)", "age": number])[0]
                    person.setValue(cities[number % 2], forKey: "city")
                }
                try context.save()
            }
            store.metadata["owner"] = "Ada"
            try context.performAndWait { try context.save() }
            try coordinator.remove(store)
        }

        func open(_ model: NSManagedObjectModel, _ file: URL) throws -> (NSManagedObjectContext, NSPersistentStoreCoordinator, NSPersistentStore) {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
            let context = NSManagedObjectContext(.privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return (context, coordinator, store)
        }

        func migrate(_ manager: NSMigrationManager, _ mapping: NSMappingModel?) throws {
            try manager.migrateStore(
                from: old.file, sourceType: NSSQLiteStoreType, with: mapping, toDestinationURL: made, destinationType: NSSQLiteStoreType)
        }

        func manager(_ new: NSManagedObjectModel = Citizens.new()) -> NSMigrationManager {
            NSMigrationManager(sourceModel: Citizens.old(), destinationModel: new)
        }

        /// The error of a migration, of which nothing may be left and that may have changed nothing.
        func refusal(_ mapping: NSMappingModel, to new: NSManagedObjectModel = Citizens.new()) throws -> NSError {
            let before = try old.dump(), names = try FileManager.default.contentsOfDirectory(atPath: old.directory.path).sorted()
            let error = #expect(throws: NSError.self) { try migrate(manager(new), mapping) }
            #expect(try old.dump() == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: old.directory.path).sorted() == names)
            return try #require(error)
        }

        func rows(_ query: String) throws -> [[String]] { try SQLiteShell(file: made).rows(query) }
    }
}
