import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Errors of validation in the words of the model.
@Suite struct LocalizedErrorTests {
    private func refusal(_ words: [String: String]?) throws -> String {
        let parent = Company.entity("Base"), entity = Company.entity("Person")
        parent.properties = [Company.attribute("name", .string, optional: false)]
        parent.subentities = [entity]
        let model = NSManagedObjectModel(entities: [parent, entity])
        model.localizationDictionary = words
        let stack = TestStack(model)
        return try stack.root.performAndWait {
            _ = stack.root.make("Person")
            let error = #expect(throws: NSError.self) { try stack.root.save() }
            return try #require(error).localizedDescription
        }
    }

    // A14
    @Test func anErrorNamesThingsAsTheModelsWordsDo() throws {
        #expect(try refusal(nil).hasPrefix("Person.name is required (object "))
        #expect(try refusal(["Entity/Person": "Mensch", "Property/name": "Name"]).hasPrefix("Mensch.Name is required (object "))
        // What is inherited may be named where it is declared, and where it is inherited.
        let declared = ["Property/name": "c", "Property/name/Entity/Base": "b"]
        #expect(try refusal(declared).hasPrefix("Person.b is required"))
        #expect(try refusal(declared.merging(["Property/name/Entity/Person": "a"]) { $1 }).hasPrefix("Person.a is required"))
        #expect(try refusal(["ErrorString/is required": "fehlt"]).hasPrefix("Person.name fehlt (object "))
    }
}
