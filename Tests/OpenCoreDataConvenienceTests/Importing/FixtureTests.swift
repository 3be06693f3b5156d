import CoreData
import Foundation
import OpenCoreDataConvenience
import TestTraits
import Testing

/// MagicalRecord's own model and JSON.
@Suite(
    .enabled(if: TestData.has("coredata/magicalrecord/Fixtures"), "needs MagicalRecord's fixtures among the test data (CISTERN_TEST_DATA)"))
struct FixtureTests {
    private static let folder = "coredata/magicalrecord/Fixtures"

    /// A context over the fixtures' model in memory.
    private func using(_ block: (NSManagedObjectContext) throws -> Void) throws {
        let file = TestData.directory.appending(path: "\(Self.folder)/TestModel.xcdatamodeld")
        let model = try NSManagedObjectModel(readingContentsOf: file)
        // It names an attribute that is not there; MagicalRecord takes that for none.
        model.entitiesByName["MappedEntity"]?.userInfo = nil
        let container = NSPersistentContainer(name: "Fixtures", managedObjectModel: model)
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        let context = container.newBackgroundContext()
        try context.performAndWait { try block(context) }
    }

    private func json(_ name: String) throws -> Data { Data(try TestData.bytes("\(Self.folder)/\(name).json")) }

    /// The object of the entity that the fixture is called after.
    private func imported(_ name: String, as entity: String? = nil, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        let object = try #require(try context.importObjects(entityName: entity ?? name, from: json(name)).first)
        try context.save()
        return object
    }

    @Test func attributesOfEveryType() throws {
        try using { context throws in
            let name = "SingleEntityWithNoRelationships"
            // A colour is what a class of the program makes of the text.
            context.endOfChain?.managedObjectModel.entitiesByName[name].map { #expect($0.attributesByName["colorTestAttribute"] != nil) }
            let object = try imported(name, context)
            func number(_ key: String) -> NSNumber? { object.value(forKey: "\(key)TestAttribute") as? NSNumber }
            #expect(number("int64") == 10_158_365_420_975_381)
            #expect(number("int32") == 32)
            #expect(number("int16") == 256)
            #expect(number("decimal")?.decimalValue == Decimal(string: "1.2"))
            #expect(number("double") == 124.3)
            #expect(number("float") == 10_000_000_000)
            #expect(number("boolean") == false)
            #expect(object.value(forKey: "nullTestAttribute") == nil)
            #expect(object.value(forKey: "stringTestAttribute") as? String == "This is a test value")
            #expect(object.value(forKey: "mappedStringAttribute") as? String == "Mapped value")
            #expect(object.value(forKey: "notInJsonAttribute") as? String == "Set From Core Data Model Editor")
            #expect(object.value(forKey: "numberAsStringTestAttribute") as? String == "10248909829")
            func seconds(_ key: String) -> Double? { (object.value(forKey: key) as? Date)?.timeIntervalSince1970 }
            #expect(seconds("dateTestAttribute") == 1_311_460_240)
            #expect(seconds("dateWithCustomFormat") == 1_312_509_364)
            #expect(seconds("unixTimeTestAttribute") == 1_388_349_428)
            #expect(seconds("unixTime13TestAttribute").map { abs($0 - 1_388_349_427.543) < 0.001 } == true)
        }
    }

    @Test func embeddedObjectsAreFoundByTheKeyOfTheRelationship() throws {
        try using { context throws in
            let name = "SingleEntityRelatedToMappedEntityUsingMappedPrimaryKey"
            let object = try imported(name, context)
            let related = try #require(object.value(forKey: "mappedEntity") as? NSManagedObject)
            #expect(related.value(forKey: "testMappedEntityID") as? Int == 42)
            #expect(related.value(forKey: "sampleAttribute") as? String == "This is from the sample json file")
            #expect(try imported(name, context).value(forKey: "mappedEntity") as? NSManagedObject === related)
        }
    }

    @Test func keysByTheNameThatMagicalRecordExpects() throws {
        try using { context throws in
            let object = try imported("SingleEntityRelatedToMappedEntityUsingDefaults", context)
            let related = try #require(object.value(forKey: "mappedEntity") as? NSManagedObject)
            #expect(related.value(forKey: "mappedEntityID") as? Int == 42)
        }
    }

    @Test func nestedAndSecondaryPaths() throws {
        try using { context throws in
            let nested = try imported("SingleEntityRelatedToMappedEntityWithNestedMappedAttributes", context)
            let related = nested.value(forKey: "mappedEntity") as? NSManagedObject
            #expect(related?.value(forKey: "nestedAttribute") as? String == "This is a nested value")
            let secondary = try imported("SingleEntityRelatedToMappedEntityWithSecondaryMappings", context)
            #expect(secondary.value(forKey: "secondaryMappedAttribute") as? String == "mapped value from sample json file")
            #expect((secondary.value(forKey: "mappedRelationship") as? NSManagedObject)?.value(forKey: "testMappedEntityID") as? Int == 50)
            #expect(secondary.value(forKey: "notImportedAttribute") as? Bool == true)
        }
    }

    @Test(arguments: [
        "SingleEntityRelatedToManyMappedEntitiesUsingMappedPrimaryKey", "SingleEntityRelatedToManyMappedEntitiesUsingListOfPrimaryKeys",
    ])
    func toManysByObjectsAndByKeys(_ fixture: String) throws {
        try using { context throws in
            let object = try imported(fixture, as: "SingleEntityRelatedToManyMappedEntitiesUsingMappedPrimaryKey", context)
            let related = try #require(object.value(forKey: "mappedEntities") as? Set<NSManagedObject>)
            #expect(Set(related.compactMap { $0.value(forKey: "testMappedEntityID") as? Int }) == [1, 2, 3, 4])
        }
    }

    @Test func withoutAKeyEveryRecordIsAnObject() throws {
        try using { context throws in
            let objects = try context.importObjects(entityName: "SingleEntityWithNoRelationships", from: json("MultipleEntitiesWithNoPrimaryKey"))
            #expect(objects.count == 4)
            #expect(try context.importObjects(entityName: "SingleEntityWithNoRelationships", from: json("SampleJSONDataForImport")).count == 1)
        }
    }

    @Test func aRelationshipToAnAbstractEntityNeedsAClassThatChooses() throws {
        try using { context throws in
            let error = #expect(throws: RecordError.self) { try imported("SingleRelatedEntity", context) }
            #expect(error?.entity == "AbstractRelatedEntity")
            #expect(error?.place?.hasPrefix("$.testAbstract") == true)
            #expect(!context.hasChanges)
        }
    }
}
