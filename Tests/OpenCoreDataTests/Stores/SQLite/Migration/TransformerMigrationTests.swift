import Foundation
import OpenCoreData
import Testing

/// Transformable attributes in another version of the model.
@Suite struct TransformerMigrationTests {
    private static func pen(_ transformer: String?, default value: Any? = nil) -> [NSEntityDescription] {
        let colour = StoreModels.attribute("colour", .transformable), name = StoreModels.attribute("name", .string)
        colour.valueTransformerName = transformer
        colour.defaultValue = value
        return [StoreModels.entity("Pen", [name, colour])]
    }

    private static func colours(_ fixture: MigrationFixture, _ entities: [NSEntityDescription]) throws -> [[String]?] {
        try fixture.open(entities) { context in try context.all("Pen", by: "name").map { $0.value(forKey: "colour") as? [String] } }
    }

    // A7, G2: what is stored is one archive.
    @Test func transformersOfArchivesReplaceEachOther() throws {
        let names = [nil, "NSSecureUnarchiveFromData", nil, "NSKeyedUnarchiveFromData", "NSSecureUnarchiveFromData", "NSUnarchiveFromData"]
        let fixture = try MigrationFixture()
        try fixture.open(Self.pen(nil)) { context in
            context.make("Pen", ["name": "a", "colour": ["red"]])
            try context.save()
        }
        for name in names { #expect(try Self.colours(fixture, Self.pen(name)) == [["red"]]) }
        let error = try fixture.refusal(Self.pen("Own"))
        #expect(error.code == NSInferredMappingModelError && error.localizedDescription.contains("Pen.colour has another transformer"))
    }

    // A7, G2
    @Test func aDefaultThatNobodyCanTransformIsRefusedAndNothingChanges() throws {
        let fixture = try MigrationFixture(), before = [StoreModels.entity("Pen", [StoreModels.attribute("name", .string)])]
        try fixture.open(before) { context in
            context.make("Pen", ["name": "a"])
            try context.save()
        }
        let dump = try fixture.dump(), error = try fixture.refusal(Self.pen("NobodyHasThisOne", default: ["red"]))
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.hasPrefix("The default value of Pen.colour, which objects would get, can't be stored:"))
        #expect(try fixture.dump() == dump)
        #expect(try Self.colours(fixture, Self.pen(nil, default: ["red"])) == [["red"]])
    }
}
