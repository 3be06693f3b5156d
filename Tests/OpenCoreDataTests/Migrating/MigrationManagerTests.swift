import Foundation
import OpenCoreData
import Synchronization
import Testing

import class OpenCoreData.NSExpression

/// A class of the program's.
final class CitizenOfToday: NSManagedObject {
    static let awakened = Mutex(0)

    override func awakeFromInsert() {
        super.awakeFromInsert()
        Self.awakened.withLock { $0 += 1 }
    }
}

/// A store that a manager makes out of another, object by object. The search over random models is in `MigrationPropertyTests`.
@Suite struct MigrationManagerTests {
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
            let (context, coordinator, store) = try open(MigrationManagerTests.old(), old.file)
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

        func manager(_ new: NSManagedObjectModel = MigrationManagerTests.new()) -> NSMigrationManager {
            NSMigrationManager(sourceModel: MigrationManagerTests.old(), destinationModel: new)
        }

        /// The error of a migration, of which nothing may be left and that may have changed nothing.
        func refusal(_ mapping: NSMappingModel, to new: NSManagedObjectModel = MigrationManagerTests.new()) throws -> NSError {
            let before = try old.dump(), names = try FileManager.default.contentsOfDirectory(atPath: old.directory.path).sorted()
            let error = #expect(throws: NSError.self) { try migrate(manager(new), mapping) }
            #expect(try old.dump() == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: old.directory.path).sorted() == names)
            return try #require(error)
        }

        func rows(_ query: String) throws -> [[String]] { try SQLiteShell(file: made).rows(query) }
    }

    // G4
    @Test func objectsBecomeWhatTheExpressionsOfTheMappingSay() throws {
        let new = Self.new()
        new.versionIdentifiers = ["towns"]
        let fixture = try Fixture(), manager = fixture.manager(new)
        try fixture.migrate(manager, Self.written())
        #expect(manager.migrationProgress == 1)
        #expect(
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: fixture.made)[
                NSStoreModelVersionIdentifiersKey]
                as? [String] == ["towns"])
        #expect(
            try fixture.rows("SELECT c.first, c.years, t.title FROM Citizen c JOIN Town t ON c.town = t._pk ORDER BY 1") == [
                ["P0", "0", "Bern"], ["P1", "1", "Chur"], ["P2", "2", "Bern"],
            ])
        let (context, coordinator, store) = try fixture.open(Self.new(), fixture.made)
        #expect(store.metadata["owner"] as? String == "Ada")
        #expect(
            store.identifier != (try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: fixture.old.file))[
                NSStoreUUIDKey] as? String)
        try context.performAndWait {
            let bern = try context.all("Town", by: "title")[0], people = bern.value(forKey: "citizens") as? NSOrderedSet
            #expect(people?.count == 2)
        }
        try coordinator.remove(store)
    }

    // G4: more than are in memory at a time, across their borders.
    @Test func objectsOfManyPartsKeepTheirRelationships() throws {
        let fixture = try Fixture(people: 2_500)
        try fixture.migrate(fixture.manager(), Self.written())
        #expect(
            try fixture.rows("SELECT t.title, count(*) FROM Citizen c JOIN Town t ON c.town = t._pk GROUP BY 1 ORDER BY 1") == [
                ["Bern", "1250"], ["Chur", "1250"],
            ])
        #expect(try fixture.rows("SELECT count(*) FROM Citizen WHERE first = 'P' || years") == [["2500"]])
    }

    // G4: what the objects of the source have become is what a relationship gets.
    @Test(arguments: ["people", #"FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:", "people", $source.people)"#])
    func aRelationshipTakesWhatItsMembersHaveBecome(_ expression: String) throws {
        let fixture = try Fixture()
        let mapping = Self.model(
            Self.mapping("Towns", "City", "Town", [Self.property("title", "name")], [Self.property("citizens", expression)]),
            Self.mapping("Citizens", "Person", "Citizen", [Self.property("first", "name")]))
        try fixture.migrate(fixture.manager(), mapping)
        #expect(
            try fixture.rows("SELECT t.title, count(c._pk) FROM Town t LEFT JOIN Citizen c ON c.town = t._pk GROUP BY 1 ORDER BY 1") == [
                ["Bern", "2"], ["Chur", "1"], ["Graz", "0"],
            ])
    }

    // G4: as an inferred mapping of an entity that has left a tree.
    @Test func whatHasBecomeSomethingElseIsNoMemberAnyMore() throws {
        let fixture = try Fixture(), mapping = Self.written()
        mapping.entityMappings[0].relationshipMappings = [Self.property("town", "city.people")]
        try fixture.migrate(fixture.manager(), mapping)
        #expect(try fixture.rows("SELECT count(*), count(town) FROM Citizen") == [["3", "0"]])
    }

    // G4
    @Test func aSourceExpressionChoosesWhichObjectsAreTaken() throws {
        let fixture = try Fixture()
        let towns = Self.mapping("Towns", "City", "Town", [Self.property("title", "$source.name")])
        let one = NSFetchRequest<NSManagedObject>(entityName: "City")
        one.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
        one.fetchLimit = 1
        towns.sourceExpression = NSExpression(forConstantValue: one)
        try fixture.migrate(fixture.manager(), Self.model(towns))
        #expect(try fixture.rows("SELECT title FROM Town ORDER BY 1") == [["Graz"]])
        try FileManager.default.removeItem(at: fixture.made)
        towns.sourceExpression = NSExpression(
            format: #"FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "City", "country == 'CH'")"#)
        try fixture.migrate(fixture.manager(), Self.model(towns))
        #expect(try fixture.rows("SELECT title FROM Town ORDER BY 1") == [["Bern"], ["Chur"]])
    }

    // MARK: Policies

    // Without a state of its own.
    private final class Steps: NSEntityMigrationPolicy, @unchecked Sendable {
        static let told = Mutex<[String]>([])

        private func tell(_ step: String, _ mapping: NSEntityMapping) { Self.told.withLock { $0.append("\(step) \(mapping.name ?? "")") } }

        override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws { tell("begin", mapping) }
        override func createDestinationInstances(
            forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
        ) throws {
            tell("create", mapping)
            #expect(manager.currentEntityMapping === mapping)
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        }
        override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws { tell("created", mapping) }
        override func createRelationships(
            forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
        ) throws {
            tell("relate", mapping)
            try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
        }
        override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws { tell("related", mapping) }
        override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws { tell("validate", mapping) }
        override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { tell("end", mapping) }
    }

    // G4
    @Test func aPolicyIsCalledInThreePasses() throws {
        let fixture = try Fixture(people: 1)
        try fixture.migrate(
            fixture.manager(),
            Self.model(
                Self.mapping("A", "Person", "Citizen", [], [], Steps.self), Self.mapping("B", "City", "Town", [], [], Steps.self)))
        #expect(
            Steps.told.withLock { $0 } == [
                "begin A", "create A", "created A", "begin B", "create B", "create B", "create B", "created B", "relate A", "related A", "relate B",
                "relate B", "relate B", "related B", "validate A", "end A", "validate B", "end B",
            ])
    }

    /// One town for each country.
    // Without a state of its own.
    private final class Countries: NSEntityMigrationPolicy, @unchecked Sendable {
        override func createDestinationInstances(
            forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
        ) throws {
            let country = sInstance.value(forKey: "country") as? String
            let known = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil)
            let town =
                known.first { $0.value(forKey: "title") as? String == country }
                ?? manager.destinationContext.make("Town", ["title": country ?? ""])[0]
            manager.associate(sourceInstance: sInstance, withDestinationInstance: town, for: mapping)
        }
    }

    // G4
    @Test func aPolicyMakesOneObjectOutOfMany() throws {
        let fixture = try Fixture(), mapping = Self.written(), manager = fixture.manager()
        mapping.entityMappings[1].entityMigrationPolicyClass = Countries.self
        // Its members are those of all.
        mapping.entityMappings[1].relationshipMappings = [Self.property("citizens", "people")]
        try fixture.migrate(manager, mapping)
        #expect(try fixture.rows("SELECT title FROM Town ORDER BY 1") == [["AT"], ["CH"]])
        #expect(try fixture.rows("SELECT count(*) FROM Citizen c JOIN Town t ON c.town = t._pk WHERE title = 'CH'") == [["3"]])
        manager.sourceContext.performAndWait {
            #expect(manager.sourceInstances(forEntityMappingName: "CityToTown", destinationInstances: nil).count == 3)
        }
    }

    // Without a state of its own.
    private final class OneCitizen: NSEntityMigrationPolicy, @unchecked Sendable {
        override func createDestinationInstances(
            forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
        ) throws {
            let known = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil).first
            let citizen = known ?? manager.destinationContext.make("Citizen", ["first": "all"])[0]
            manager.associate(sourceInstance: sInstance, withDestinationInstance: citizen, for: mapping)
        }
    }

    // G4: it would be chance which of both it gets.
    @Test func aToOneOfAnObjectMadeOutOfManyIsNotGuessed() throws {
        let error = try Fixture().refusal(Self.written(OneCitizen.self))
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.hasSuffix("gives 2 objects for the relationship Citizen.town, which is to one."))
    }

    // Without a state of its own.
    private final class Meddling: NSEntityMigrationPolicy, @unchecked Sendable {
        override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
            guard let file = manager.userInfo?["file"] as? URL else { return }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: MigrationManagerTests.old())
            let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
            let context = NSManagedObjectContext(.privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                for person in try context.all("Person", by: "name") { context.delete(person) }
                context.make("Person", ["name": "late"])
                try context.save()
            }
            try coordinator.remove(store)
        }
        override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws { manager.reset() }
    }

    // G4
    @Test func theSourceIsReadAsItIsWhenTheMigrationBegins() throws {
        let fixture = try Fixture(), manager = fixture.manager(), mapping = Self.written()
        manager.userInfo = ["file": fixture.old.file]
        mapping.entityMappings[1].entityMigrationPolicyClass = Meddling.self
        try fixture.migrate(manager, Self.model(mapping.entityMappings[1], mapping.entityMappings[0]))
        #expect(try fixture.rows("SELECT first FROM Citizen ORDER BY 1") == [["P0"], ["P1"], ["P2"]])
        // And what was made is there although the policy forgot what became what.
        #expect(try fixture.rows("SELECT title FROM Town ORDER BY 1") == [["Bern"], ["Chur"], ["Graz"]])
    }

    // Without a state of its own.
    private final class Founding: NSEntityMigrationPolicy, @unchecked Sendable {
        override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
            manager.destinationContext.make("Town", ["title": "Davos"])
            let made = manager.destinationContext.persistentStoreCoordinator?.persistentStores.first
            made?.metadata["founded"] = "now"
        }
    }

    // G4
    @Test func aPolicyWithoutASourceMakesObjectsAndMetadata() throws {
        let fixture = try Fixture(), added = NSEntityMapping()
        (added.name, added.mappingType, added.destinationEntityName) = ("new", .addEntityMappingType, "Town")
        added.entityMigrationPolicyClass = Founding.self
        try fixture.migrate(fixture.manager(), Self.model(added))
        #expect(try fixture.rows("SELECT title FROM Town") == [["Davos"]])
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: fixture.made)
        #expect(metadata["founded"] as? String == "now" && metadata["owner"] as? String == "Ada")
    }

    // G4
    @Test func objectsOfAnAbstractEntityAreNotLostWithoutAWord() throws {
        let new = Self.new()
        new.entitiesByName["Citizen"]?.isAbstract = true
        let error = try Fixture().refusal(Self.written(), to: new)
        #expect(error.code == NSMigrationError && error.localizedDescription.contains("would make objects of Citizen, which is abstract"))
    }

    // G4
    @Test func theProgramsClassesTakeNoPartInIt() throws {
        let new = Self.new()
        new.entitiesByName["Citizen"]?.managedObjectClassName = NSStringFromClass(CitizenOfToday.self)
        let fixture = try Fixture(), manager = fixture.manager(new)
        try fixture.migrate(manager, Self.written())
        #expect(CitizenOfToday.awakened.withLock { $0 } == 0)
        #expect(try fixture.rows("SELECT count(*) FROM Citizen") == [["3"]])
    }

    // Without a state of its own.
    private final class Initials: NSEntityMigrationPolicy, @unchecked Sendable {
        override func value(forFunction selector: String, arguments: [Any?]) throws -> Any? {
            guard selector == "initialOf:", let text = arguments[0] as? String else {
                return try super.value(forFunction: selector, arguments: arguments)
            }
            return String(text.prefix(1))
        }
    }

    // G4
    @Test func anExpressionAsksThePolicy() throws {
        let fixture = try Fixture()
        func mapping(_ selector: String) -> NSMappingModel {
            Self.model(
                Self.mapping(
                    "Citizens", "Person", "Citizen", [Self.property("first", "FUNCTION($entityPolicy, '\(selector)', $source.name)")], [],
                    Initials.self))
        }
        try fixture.migrate(fixture.manager(), mapping("initialOf:"))
        #expect(try fixture.rows("SELECT DISTINCT first FROM Citizen") == [["P"]])
        try FileManager.default.removeItem(at: fixture.made)
        let error = try fixture.refusal(mapping("lastOf:"))
        #expect(error.code == NSMigrationError && error.localizedDescription.contains("lastOf:"))
    }

    // Without a state of its own.
    private final class Failing: NSEntityMigrationPolicy, @unchecked Sendable {
        override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
            throw CocoaError(.fileNoSuchFile)
        }
    }

    // G4
    @Test func whatAPolicyThrowsEndsTheMigrationAndLeavesNothing() throws {
        let error = try Fixture().refusal(Self.written(Failing.self))
        #expect(error.code == NSEntityMigrationPolicyError)
        #expect(error.localizedDescription.hasPrefix("Failing failed in endRelationshipCreation of the mapping \"PersonToCitizen\""))
        #expect((error.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == CocoaError.fileNoSuchFile.rawValue)
    }

    // G4
    @Test func aClassThatIsNotThereIsNamed() throws {
        let mapping = Self.written()
        mapping.entityMappings[0].entityMigrationPolicyClassName = "App.NoSuchPolicy"
        let error = try Fixture().refusal(mapping)
        #expect(error.code == NSEntityMigrationPolicyError && error.localizedDescription.contains("App.NoSuchPolicy"))
        mapping.entityMappings[0].entityMigrationPolicyClassName = NSStringFromClass(NSEntityMigrationPolicy.self)
        let fixture = try Fixture()
        try fixture.migrate(fixture.manager(), mapping)
    }

    // Without a state of its own.
    private final class Cancelling: NSEntityMigrationPolicy, @unchecked Sendable {
        static let created = Mutex(0)

        override func createDestinationInstances(
            forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
        ) throws {
            Self.created.withLock { $0 += 1 }
            // From elsewhere, as a button does.
            let isDone = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                manager.cancelMigrationWithError(CocoaError(.userCancelled))
                isDone.signal()
            }
            isDone.wait()
        }
    }

    // G4
    @Test func aMigrationEndsWithWhatItWasCancelledWith() throws {
        let error = try Fixture().refusal(Self.written(Cancelling.self))
        #expect(error.domain == CocoaError.errorDomain && error.code == CocoaError.userCancelled.rawValue)
        #expect(Cancelling.created.withLock { $0 } == 1)
    }

    // MARK: What can't be

    // G4
    @Test func aValueThatTheAttributeDoesNotTakeIsNamed() throws {
        let mapping = Self.written(), date = StoreModels.attribute("born", .date)
        mapping.entityMappings[0].attributeMappings?.append(Self.property("born", "$source.name"))
        let error = try Fixture().refusal(mapping, to: Self.new([date]))
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.hasPrefix("Citizen.born can't be P"))
        #expect(error.localizedDescription.hasSuffix("and it is declared as Date."))
    }

    // G4
    @Test func whatTheNewModelDoesNotTakeIsNotSaved() throws {
        let error = try Fixture().refusal(
            Self.written(), to: Self.new([NSAttributeDescription(name: "email", type: .string, isOptional: false)]))
        #expect(error.code == NSMigrationError)
        #expect((error.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == NSValidationMultipleErrorsError)
    }

    // G4
    @Test func whatBreaksAConstraintIsNotSaved() throws {
        let new = Self.new()
        new.entitiesByName["Town"]?.uniquenessConstraints = [["title"]]
        let mapping = Self.written()
        mapping.entityMappings[1].attributeMappings = [Self.property("title", "$source.country")]
        #expect(try Fixture().refusal(mapping, to: new).code == NSMigrationConstraintViolationError)
    }

    // G4
    @Test func aFileThatIsThereIsNotWrittenOver() throws {
        let fixture = try Fixture()
        try Data("mine".utf8).write(to: fixture.made)
        #expect(try fixture.refusal(Self.written()).code == NSMigrationManagerDestinationStoreError)
        #expect(try Data(contentsOf: fixture.made) == Data("mine".utf8))
    }

    // G4
    @Test func aStoreOfAnotherModelIsNoSource() throws {
        let fixture = try Fixture(), other = NSMigrationManager(sourceModel: Self.new(), destinationModel: Self.new())
        let error = #expect(throws: NSError.self) { try fixture.migrate(other, nil) }
        #expect(error?.code == NSMigrationManagerSourceStoreError)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == NSPersistentStoreIncompatibleVersionHashError)
    }

    // G4
    @Test func aMappingThatDoesNotFitTheModelsIsNamed() throws {
        func refusal(_ change: (NSEntityMapping) -> Void) throws -> String {
            let mapping = Self.written()
            change(mapping.entityMappings[0])
            let error = try Fixture().refusal(mapping)
            #expect(error.code == NSMigrationError)
            return error.localizedDescription
        }
        #expect(try refusal { $0.sourceEntityName = "Nobody" }.contains("names the source entity Nobody, which its model does not have"))
        #expect(try refusal { $0.destinationEntityVersionHash = Data([1]) }.contains("another version of the destination entity Citizen"))
        #expect(
            try refusal {
                $0.relationshipMappings?[0].valueExpression = NSExpression(
                    format: #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "PersonToCitizen", $source)"#)
            } == "The mapping \"PersonToCitizen\" gives an object of Citizen for the relationship Citizen.town, which is to Town.")
        #expect(try refusal { $0.name = "CityToTown" } == "Two entity mappings are named \"CityToTown\"; each needs a name of its own.")
        #expect(try refusal { $0.attributeMappings?[0].name = "nick" }.contains("a value for Citizen.nick, which is no attribute there"))
        #expect(
            try refusal {
                $0.relationshipMappings?[0].valueExpression = NSExpression(
                    format: #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "Nowhere", $source.city)"#)
            } == "The mapping \"PersonToCitizen\" can't be carried out: no mapping is named \"Nowhere\".")
    }
}
