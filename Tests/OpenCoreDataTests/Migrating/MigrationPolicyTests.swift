import OpenCoreData
import Synchronization
import Testing

/// A class of the program's.
final class CitizenOfToday: NSManagedObject {
    static let awakened = Mutex(0)

    override func awakeFromInsert() {
        super.awakeFromInsert()
        Self.awakened.withLock { $0 += 1 }
    }
}

/// What a program's own policies do in a migration.
@Suite struct MigrationPolicyTests {
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
        let fixture = try Citizens.Fixture(people: 1)
        try fixture.migrate(
            fixture.manager(),
            Citizens.model(
                Citizens.mapping("A", "Person", "Citizen", [], [], Steps.self), Citizens.mapping("B", "City", "Town", [], [], Steps.self)))
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
        let fixture = try Citizens.Fixture(), mapping = Citizens.written(), manager = fixture.manager()
        mapping.entityMappings[1].entityMigrationPolicyClass = Countries.self
        // Its members are those of all.
        mapping.entityMappings[1].relationshipMappings = [Citizens.property("citizens", "people")]
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
        let error = try Citizens.Fixture().refusal(Citizens.written(OneCitizen.self))
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.hasSuffix("gives 2 objects for the relationship Citizen.town, which is to one."))
    }

    // Without a state of its own.
    private final class Meddling: NSEntityMigrationPolicy, @unchecked Sendable {
        override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
            guard let file = manager.userInfo?["file"] as? URL else { return }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Citizens.old())
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
        let fixture = try Citizens.Fixture(), manager = fixture.manager(), mapping = Citizens.written()
        manager.userInfo = ["file": fixture.old.file]
        mapping.entityMappings[1].entityMigrationPolicyClass = Meddling.self
        try fixture.migrate(manager, Citizens.model(mapping.entityMappings[1], mapping.entityMappings[0]))
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
        let fixture = try Citizens.Fixture(), added = NSEntityMapping()
        (added.name, added.mappingType, added.destinationEntityName) = ("new", .addEntityMappingType, "Town")
        added.entityMigrationPolicyClass = Founding.self
        try fixture.migrate(fixture.manager(), Citizens.model(added))
        #expect(try fixture.rows("SELECT title FROM Town") == [["Davos"]])
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: fixture.made)
        #expect(metadata["founded"] as? String == "now" && metadata["owner"] as? String == "Ada")
    }

    // G4
    @Test func objectsOfAnAbstractEntityAreNotLostWithoutAWord() throws {
        let new = Citizens.new()
        new.entitiesByName["Citizen"]?.isAbstract = true
        let error = try Citizens.Fixture().refusal(Citizens.written(), to: new)
        #expect(error.code == NSMigrationError && error.localizedDescription.contains("would make objects of Citizen, which is abstract"))
    }

    // G4
    @Test func theProgramsClassesTakeNoPartInIt() throws {
        let new = Citizens.new()
        new.entitiesByName["Citizen"]?.managedObjectClassName = NSStringFromClass(CitizenOfToday.self)
        let fixture = try Citizens.Fixture(), manager = fixture.manager(new)
        try fixture.migrate(manager, Citizens.written())
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
        let fixture = try Citizens.Fixture()
        func mapping(_ selector: String) -> NSMappingModel {
            Citizens.model(
                Citizens.mapping(
                    "Citizens", "Person", "Citizen", [Citizens.property("first", "FUNCTION($entityPolicy, '\(selector)', $source.name)")], [],
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
        let error = try Citizens.Fixture().refusal(Citizens.written(Failing.self))
        #expect(error.code == NSEntityMigrationPolicyError)
        #expect(error.localizedDescription.hasPrefix("Failing failed in endRelationshipCreation of the mapping \"PersonToCitizen\""))
        #expect((error.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == CocoaError.fileNoSuchFile.rawValue)
    }

    // G4
    @Test func aClassThatIsNotThereIsNamed() throws {
        let mapping = Citizens.written()
        mapping.entityMappings[0].entityMigrationPolicyClassName = "App.NoSuchPolicy"
        let error = try Citizens.Fixture().refusal(mapping)
        #expect(error.code == NSEntityMigrationPolicyError && error.localizedDescription.contains("App.NoSuchPolicy"))
        mapping.entityMappings[0].entityMigrationPolicyClassName = NSStringFromClass(NSEntityMigrationPolicy.self)
        let fixture = try Citizens.Fixture()
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
        let error = try Citizens.Fixture().refusal(Citizens.written(Cancelling.self))
        #expect(error.domain == CocoaError.errorDomain && error.code == CocoaError.userCancelled.rawValue)
        #expect(Cancelling.created.withLock { $0 } == 1)
    }
}
