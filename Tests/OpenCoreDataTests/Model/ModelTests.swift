import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct ModelTests {
    // A1
    @Test func aModelBuiltInCodeIsFoundByName() throws {
        let model = Company.model()
        let person = try #require(model.entitiesByName["Person"]), engineer = try #require(model.entitiesByName["Engineer"])
        #expect(model.entities.allSatisfy { $0.managedObjectModel === model })
        #expect(person.attributesByName.keys.sorted() == ["age", "name", "nick", "note"])
        #expect(person.relationshipsByName["department"]?.inverseRelationship?.name == "employees")
        #expect(engineer.superentity === person && person.subentitiesByName["Engineer"] === engineer)
        #expect(engineer.propertiesByName["name"] === person.propertiesByName["name"] && engineer.isKindOf(entity: person))
        #expect(person.propertiesByName["language"] == nil && engineer.attributesByName["language"]?.type == .string)
    }

    // A1, E2
    @Test func anAbstractEntityHasNoObjects() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let entity = Company.entity("Shape")
            entity.isAbstract = true
            let stack = TestStack(NSManagedObjectModel(entities: [entity]))
            stack.root.performAndWait { _ = stack.root.make("Shape") }
        }.trap(says: "entity Shape is abstract")
    }

    // A2, E2
    @Test func aModelInUseCannotBeChanged() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let model = Company.model()
            _ = NSPersistentStoreCoordinator(managedObjectModel: model)
            model.entities = []
        }.trap(says: "can't change the model")
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let model = Company.model()
            _ = NSPersistentStoreCoordinator(managedObjectModel: model)
            model.entitiesByName["Person"]?.attributesByName["name"]?.isOptional = true
        }.trap(says: "can't change property Person.name")
    }

    // A5
    @Test func attributeTypesHaveApplesRawValues() {
        let types: [NSAttributeDescription.AttributeType] = [
            .undefined, .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binaryData, .uuid, .uri,
            .transformable, .objectID, .composite,
        ]
        #expect(
            types.map(\.rawValue)
                == [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1800, 2000, 2100])
        #expect(NSAttributeType.booleanAttributeType.rawValue == 800)
    }

    // A5
    @Test func defaultsAreAppliedAtInsert() {
        let stack = TestStack()
        stack.root.performAndWait {
            let engineer = Engineer(context: stack.root)
            #expect(engineer.name == "nobody" && engineer.age == 18 && engineer.language == "Swift" && engineer.nick == nil)
        }
    }

    // A6
    @Test func transientValuesAreTrackedAndNeverStored() throws {
        let stack = TestStack()
        let other = stack.independent()
        try holding(stack.root, other) { () throws in
            let ada = Person(context: stack.root)
            try stack.root.save()
            ada.note = "mine"
            #expect(ada.isUpdated && ada.changedValues()["note"] as? String == "mine" && stack.root.hasChanges)
            try stack.root.save()
            #expect(ada.note == "mine")
            #expect(try stack.stored("Person", "note").isEmpty)
            #expect(other.object(with: ada.objectID).value(forKey: "note") == nil)
        }
    }

    // E1
    @Test func errorCodesHaveApplesNumbersAndDomain() {
        #expect(CocoaError.Code.managedObjectValidation.rawValue == 1550 && CocoaError.Code.validationMultipleErrors.rawValue == 1560)
        #expect(CocoaError.Code.managedObjectReferentialIntegrity.rawValue == 133000)
        #expect(CocoaError.Code.managedObjectMerge.rawValue == 133020 && CocoaError.Code.managedObjectConstraintMerge.rawValue == 133021)
        #expect(CocoaError.Code.persistentStoreInvalidType.rawValue == 134000)
        #expect(CocoaError.Code.persistentStoreIncompatibleVersionHash.rawValue == 134100)
        #expect(CocoaError.Code.stagedMigrationBackwardMigration.rawValue == 134506)
        #expect(NSDetailedErrorsKey == "NSDetailedErrors" && NSSQLiteErrorDomain == "NSSQLiteErrorDomain")
        #expect(NSAffectedObjectsErrorKey == "NSAffectedObjectsErrorKey" && NSAffectedStoresErrorKey == "NSAffectedStoresErrorKey")
    }

    // E1
    @Test func aThrownErrorIsACocoaError() throws {
        let stack = TestStack()
        stack.root.performAndWait {
            stack.root.make("Person").setValue(nil, forKey: "name")
            do {
                try stack.root.save()
                Issue.record("the save passed")
            } catch let error as NSError {
                #expect(error.domain == NSCocoaErrorDomain)
                #expect(CocoaError.Code(rawValue: error.code) == .validationMissingMandatoryProperty)
            }
        }
    }
}
