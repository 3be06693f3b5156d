import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// A store that a manager makes out of another, object by object. The search over random models is in `MigrationPropertyTests`.
@Suite struct MigrationManagerTests {
    // G4
    @Test func objectsBecomeWhatTheExpressionsOfTheMappingSay() throws {
        let new = Citizens.new()
        new.versionIdentifiers = ["towns"]
        let fixture = try Citizens.Fixture(), manager = fixture.manager(new)
        try fixture.migrate(manager, Citizens.written())
        #expect(manager.migrationProgress == 1)
        #expect(
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: fixture.made)[
                NSStoreModelVersionIdentifiersKey]
                as? [String] == ["towns"])
        #expect(
            try fixture.rows("SELECT c.first, c.years, t.title FROM Citizen c JOIN Town t ON c.town = t._pk ORDER BY 1") == [
                ["P0", "0", "Bern"], ["P1", "1", "Chur"], ["P2", "2", "Bern"],
            ])
        let (context, coordinator, store) = try fixture.open(Citizens.new(), fixture.made)
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
        let fixture = try Citizens.Fixture(people: 2_500)
        try fixture.migrate(fixture.manager(), Citizens.written())
        #expect(
            try fixture.rows("SELECT t.title, count(*) FROM Citizen c JOIN Town t ON c.town = t._pk GROUP BY 1 ORDER BY 1") == [
                ["Bern", "1250"], ["Chur", "1250"],
            ])
        #expect(try fixture.rows("SELECT count(*) FROM Citizen WHERE first = 'P' || years") == [["2500"]])
    }

    // G4: an object that is asked for what it does not have stops the process
    @Test(arguments: [
        "nickname", "$source.nickname", "city.mayor", "$destination.age", "uppercase:($source.nickname)",
        "SUBQUERY(city.people, $p, $p.nickname == 'x').@count", "FUNCTION($source, 'valueForKey:', 'nickname')",
        "FUNCTION($source, 'valueForKeyPath:', 'city.mayor')",
    ])
    func aMappingThatAsksForAKeyThatIsNotThereIsRefused(_ expression: String) throws {
        let fixture = try Citizens.Fixture()
        let mapping = Citizens.model(Citizens.mapping("Citizens", "Person", "Citizen", [Citizens.property("first", expression)]))
        let error = try fixture.refusal(mapping), words = error.localizedDescription
        #expect(error.code == 134_110 && words.contains("\"Citizens\" can't tell Citizen.first") && words.contains("has no property"), "\(words)")
    }

    /// Makes nothing, whatever its mapping says.
    // Has no state of its own.
    private final class Nothing: NSEntityMigrationPolicy, @unchecked Sendable {
        override func createDestinationInstances(
            forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
        ) throws {}
    }

    // G4: keys are looked at where they are asked for, and nothing else is
    @Test func aMappingIsRefusedForNothingElse() throws {
        let fixture = try Citizens.Fixture()
        let mapping = Citizens.model(
            Citizens.mapping("Nobody", "City", "Town", [Citizens.property("title", "mayor")], [], Nothing.self),
            Citizens.mapping(
                "Citizens", "Person", "Citizen",
                [
                    Citizens.property("first", "TERNARY(age == 'x', 'a', name)"),
                    Citizens.property("years", "FUNCTION($source, 'valueForKey:', 'age')"),
                ]))
        try fixture.migrate(fixture.manager(), mapping)
        #expect(try fixture.rows("SELECT first, years FROM Citizen ORDER BY 1") == [["P0", "0"], ["P1", "1"], ["P2", "2"]])
    }

    // G4: an object on the way may be one of a subentity, and know more
    @Test func aKeyThatASubentityHasIsAskedFor() throws {
        func model() -> NSManagedObjectModel {
            let owner = StoreModels.entity("Owner", [StoreModels.attribute("note", .string)]), animal = StoreModels.entity("Animal")
            let dog = StoreModels.entity("Dog", [StoreModels.attribute("breed", .string)])
            animal.subentities = [dog]
            StoreModels.relate(owner, "pet", toMany: false, animal, "owner", inverseToMany: false)
            return NSManagedObjectModel(entities: [owner, animal, dog])
        }
        let folder = try ModelFolder.empty(), old = model(), new = model()
        func open(_ model: NSManagedObjectModel, _ name: String) throws -> NSManagedObjectContext {
            let context = NSManagedObjectContext(.privateQueueConcurrencyType)
            context.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try context.persistentStoreCoordinator?.addPersistentStore(type: .sqlite, at: folder.url.appending(path: name))
            return context
        }
        let before = try open(old, "old.sqlite")
        try before.performAndWait { () throws in
            before.make("Owner", ["pet": before.make("Dog", ["breed": "Spitz"])])
            try before.save()
        }
        let mapping = Citizens.model(Citizens.mapping("Owners", "Owner", "Owner", [Citizens.property("note", "$source.pet.breed")]))
        try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
            from: folder.url.appending(path: "old.sqlite"), sourceType: NSSQLiteStoreType, options: nil, with: mapping,
            toDestinationURL: folder.url.appending(path: "new.sqlite"), destinationType: NSSQLiteStoreType, destinationOptions: nil)
        let after = try open(new, "new.sqlite")
        try after.performAndWait { () throws in
            #expect(try after.all("Owner").map { $0.value(forKey: "note") as? String } == ["Spitz"])
        }
    }

    // G4: what the objects of the source have become is what a relationship gets.
    @Test(arguments: ["people", #"FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:", "people", $source.people)"#])
    func aRelationshipTakesWhatItsMembersHaveBecome(_ expression: String) throws {
        let fixture = try Citizens.Fixture()
        let mapping = Citizens.model(
            Citizens.mapping("Towns", "City", "Town", [Citizens.property("title", "name")], [Citizens.property("citizens", expression)]),
            Citizens.mapping("Citizens", "Person", "Citizen", [Citizens.property("first", "name")]))
        try fixture.migrate(fixture.manager(), mapping)
        #expect(
            try fixture.rows("SELECT t.title, count(c._pk) FROM Town t LEFT JOIN Citizen c ON c.town = t._pk GROUP BY 1 ORDER BY 1") == [
                ["Bern", "2"], ["Chur", "1"], ["Graz", "0"],
            ])
    }

    // G4: as an inferred mapping of an entity that has left a tree.
    @Test func whatHasBecomeSomethingElseIsNoMemberAnyMore() throws {
        let fixture = try Citizens.Fixture(), mapping = Citizens.written()
        mapping.entityMappings[0].relationshipMappings = [Citizens.property("town", "city.people")]
        try fixture.migrate(fixture.manager(), mapping)
        #expect(try fixture.rows("SELECT count(*), count(town) FROM Citizen") == [["3", "0"]])
    }

    // G4
    @Test func aSourceExpressionChoosesWhichObjectsAreTaken() throws {
        let fixture = try Citizens.Fixture()
        let towns = Citizens.mapping("Towns", "City", "Town", [Citizens.property("title", "$source.name")])
        let one = NSFetchRequest<NSManagedObject>(entityName: "City")
        one.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
        one.fetchLimit = 1
        towns.sourceExpression = NSExpression(forConstantValue: one)
        try fixture.migrate(fixture.manager(), Citizens.model(towns))
        #expect(try fixture.rows("SELECT title FROM Town ORDER BY 1") == [["Graz"]])
        try FileManager.default.removeItem(at: fixture.made)
        towns.sourceExpression = NSExpression(
            format: #"FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "City", "country == 'CH'")"#)
        try fixture.migrate(fixture.manager(), Citizens.model(towns))
        #expect(try fixture.rows("SELECT title FROM Town ORDER BY 1") == [["Bern"], ["Chur"]])
    }

    // MARK: What can't be

    // G4
    @Test func aValueThatTheAttributeDoesNotTakeIsNamed() throws {
        let mapping = Citizens.written(), date = StoreModels.attribute("born", .date)
        mapping.entityMappings[0].attributeMappings?.append(Citizens.property("born", "$source.name"))
        let error = try Citizens.Fixture().refusal(mapping, to: Citizens.new([date]))
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.hasPrefix("Citizen.born can't be P"))
        #expect(error.localizedDescription.hasSuffix("and it is declared as Date."))
    }

    // G4
    @Test func whatTheNewModelDoesNotTakeIsNotSaved() throws {
        let error = try Citizens.Fixture().refusal(
            Citizens.written(), to: Citizens.new([NSAttributeDescription(name: "email", type: .string, isOptional: false)]))
        #expect(error.code == NSMigrationError)
        #expect((error.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == NSValidationMultipleErrorsError)
    }

    // G4
    @Test func whatBreaksAConstraintIsNotSaved() throws {
        let new = Citizens.new()
        new.entitiesByName["Town"]?.uniquenessConstraints = [["title"]]
        let mapping = Citizens.written()
        mapping.entityMappings[1].attributeMappings = [Citizens.property("title", "$source.country")]
        #expect(try Citizens.Fixture().refusal(mapping, to: new).code == NSMigrationConstraintViolationError)
    }

    // G4
    @Test func aFileThatIsThereIsNotWrittenOver() throws {
        let fixture = try Citizens.Fixture()
        try Data("mine".utf8).write(to: fixture.made)
        #expect(try fixture.refusal(Citizens.written()).code == NSMigrationManagerDestinationStoreError)
        #expect(try Data(contentsOf: fixture.made) == Data("mine".utf8))
    }

    // G4
    @Test func aStoreOfAnotherModelIsNoSource() throws {
        let fixture = try Citizens.Fixture(), other = NSMigrationManager(sourceModel: Citizens.new(), destinationModel: Citizens.new())
        let error = #expect(throws: NSError.self) { try fixture.migrate(other, nil) }
        #expect(error?.code == NSMigrationManagerSourceStoreError)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == NSPersistentStoreIncompatibleVersionHashError)
    }

    // G4
    @Test func aMappingThatDoesNotFitTheModelsIsNamed() throws {
        func refusal(_ change: (NSEntityMapping) -> Void) throws -> String {
            let mapping = Citizens.written()
            change(mapping.entityMappings[0])
            let error = try Citizens.Fixture().refusal(mapping)
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
