import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

enum Kennel {
    final class Inner: NSManagedObject {}
}

private final class Hidden: NSManagedObject {}

/// The class of an entity's objects.
@Suite struct EntityClassTests {
    // A3
    @Test func aClassWithinAnotherTypeOrAPrivateOneMakesTheObjects() throws {
        for type in [Kennel.Inner.self, Hidden.self] as [NSManagedObject.Type] {
            let model = Company.model(), item = try #require(model.entitiesByName["Item"])
            item.setManagedObjectClass(type)
            #expect(item.managedObjectClassName == String(reflecting: type))
            let copy = try #require(model.copy() as? NSManagedObjectModel)
            for model in [model, copy] {
                let stack = TestStack(model)
                stack.root.performAndWait { #expect(Swift.type(of: stack.root.make("Item")) == type) }
            }
        }
    }

    // A3
    @Test func theNameOfAClassWithinAnotherTypeFindsNoneAndSaysWhatToDo() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let model = Company.model()
            model.entitiesByName["Item"]?.managedObjectClassName = String(reflecting: Kennel.Inner.self)
            let stack = TestStack(model)
            stack.root.performAndWait { _ = stack.root.make("Item") }
        }.trap(says: "name a class within another type by setManagedObjectClass(_:)")
    }

    @Test func anEntityKnowsWhetherItMakesObjectsOfAClass() throws {
        let model = Company.model(), person = try #require(model.entitiesByName["Person"]), engineer = try #require(model.entitiesByName["Engineer"])
        #expect(person.makesObjects(of: Person.self) && person.makesObjects(of: NSManagedObject.self) && !person.makesObjects(of: Engineer.self))
        #expect(engineer.makesObjects(of: Person.self) && engineer.makesObjects(of: Engineer.self) && !engineer.makesObjects(of: Department.self))
        let badge = try #require(model.entitiesByName["Badge"])
        #expect(badge.makesObjects(of: NSManagedObject.self) && !badge.makesObjects(of: Person.self))
    }
}
