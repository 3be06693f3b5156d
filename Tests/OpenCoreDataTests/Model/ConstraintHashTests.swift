import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct ConstraintHashTests {
    private func model(_ constraints: [[Any]]?) -> NSManagedObjectModel {
        let item = Company.entity("Item")
        item.properties = [Company.attribute("key", .string), Company.attribute("code", .string)]
        if let constraints { item.uniquenessConstraints = constraints }
        return NSManagedObjectModel(entities: [item])
    }

    // P14
    @Test func constraintsArePartOfTheVersionHash() throws {
        let without = model(nil), with = model([["key"]]), pair = model([["key", "code"]])
        #expect(without.entitiesByName["Item"]?.uniquenessConstraints.isEmpty == true)
        #expect(with.entitiesByName["Item"]?.uniquenessConstraints as? [[String]] == [["key"]])
        let hashes = [without, with, pair].compactMap { $0.entityVersionHashesByName["Item"] }
        #expect(Set(hashes).count == 3)
        #expect(model([["key"]]).entityVersionHashesByName == with.entityVersionHashesByName)
        #expect(!with.isConfiguration(withName: nil, compatibleWithStoreMetadata: [NSStoreModelVersionHashesKey: without.entityVersionHashesByName]))
    }
}
