import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Predicates that a property's value has to satisfy.
@Suite struct ValidationPredicateTests {
    private static func model(_ change: (NSAttributeDescription, NSAttributeDescription) -> Void) -> NSManagedObjectModel {
        let town = NSEntityDescription()
        town.name = "Town"
        let name = NSAttributeDescription(name: "name", type: .string), size = NSAttributeDescription(name: "size", type: .integer64)
        town.properties = [name, size]
        change(name, size)
        return NSManagedObjectModel(entities: [town])
    }

    private func failure(_ context: NSManagedObjectContext) -> NSError? {
        do {
            try context.save()
            return nil
        } catch { return error as NSError }
    }

    @Test func aValueThatFailsAPredicateIsRefusedWithItsWarningAndItsPredicate() throws {
        let short = NSPredicate(format: "length >= 3"), capital = NSPredicate(format: "SELF MATCHES '[A-Z].*'")
        let stack = TestStack(
            Self.model { name, size in
                name.setValidationPredicates([short, capital], withValidationWarnings: ["is no name of a town", "begins small"])
                size.setValidationPredicates([NSPredicate(format: "SELF BETWEEN {1, 100}")], withValidationWarnings: nil)
            })
        stack.root.performAndWait {
            let town = stack.root.make("Town", ["name": "Ys", "size": 7])
            let error = failure(stack.root)
            #expect(error?.code == 1550 && error?.localizedDescription.contains("Town.name is no name of a town") == true)
            #expect(error?.userInfo[NSValidationPredicateErrorKey] as? NSPredicate === short)
            #expect(
                error?.userInfo[NSValidationKeyErrorKey] as? String == "name" && error?.userInfo[NSValidationObjectErrorKey] as? NSObject === town)
            town.setValue("bergen", forKey: "name")
            #expect(failure(stack.root)?.localizedDescription.contains("begins small") == true)
            town.setValue("Bergen", forKey: "name")
            town.setValue(101, forKey: "size")
            #expect(failure(stack.root)?.localizedDescription.contains("does not satisfy SELF BETWEEN {1, 100}") == true)
            town.setValue(100, forKey: "size")
            #expect(failure(stack.root) == nil)
            // Nil is asked for by the model's other rules only.
            town.setValue(nil, forKey: "name")
            #expect(failure(stack.root) == nil)
        }
    }

    @Test func oneValueIsCheckedWithoutASave() throws {
        let stack = TestStack(
            Self.model { name, _ in name.setValidationPredicates([NSPredicate(format: "length < 5")], withValidationWarnings: nil) })
        stack.root.performAndWait {
            let town = stack.root.make("Town")
            var value: AnyObject? = "Bergen" as AnyObject
            let error = #expect(throws: (any Error).self) { try town.validateValue(&value, forKey: "name") } as NSError?
            #expect(error?.code == 1550)
            value = "Ålen" as AnyObject
            #expect(throws: Never.self) { try town.validateValue(&value, forKey: "name") }
        }
    }

    @Test func aPredicateThatHasNoAnswerRefusesTheValue() throws {
        let stack = TestStack(
            Self.model { name, _ in name.setValidationPredicates([NSPredicate(format: "SELF == $x")], withValidationWarnings: ["never"]) })
        stack.root.performAndWait {
            stack.root.make("Town", ["name": "Bergen"])
            #expect(failure(stack.root)?.localizedDescription.contains("variable $x has no value") == true)
        }
    }

    @Test func aCopyOfThePropertyHasThemAndTheVersionIsTheSame() throws {
        let model = Self.model { name, _ in name.setValidationPredicates([NSPredicate(format: "length < 5")], withValidationWarnings: ["long"]) }
        let name = try #require(model.entitiesByName["Town"]?.attributesByName["name"])
        let copy = try #require(name.copy() as? NSAttributeDescription)
        #expect(copy.validationPredicates.map(\.canonicalFormat) == ["length < 5"] && copy.validationWarnings as? [String] == ["long"])
        #expect(model.entityVersionHashesByName == Self.model { _, _ in }.entityVersionHashesByName)
        copy.setValidationPredicates(nil, withValidationWarnings: nil)
        #expect(copy.validationPredicates.isEmpty && copy.validationWarnings.isEmpty)
    }
}
