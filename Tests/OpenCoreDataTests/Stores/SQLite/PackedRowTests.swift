import Foundation
import OpenCoreData
import Testing

/// Rows as fetches bring them: packed where that is possible, and the same either way.
struct PackedRowTests {
    private static func model(_ more: NSAttributeDescription? = nil) -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = "Thing"
        let types: [(String, NSAttributeDescription.AttributeType)] = [
            ("count", .integer64), ("ratio", .double), ("flag", .boolean), ("at", .date), ("name", .string), ("note", .string), ("mark", .uuid),
        ]
        let next = NSRelationshipDescription(name: "next", destination: entity, toMany: false)
        entity.properties = types.map { NSAttributeDescription(name: $0.0, type: $0.1) } + [next] + [more].compactMap { $0 }
        return NSManagedObjectModel(entities: [entity])
    }

    private static let mark = UUID()
    static let cases: [[String: AttributeValue]] = [
        [:],
        ["count": .int64(.min), "ratio": .double(-0.1), "flag": .bool(true), "at": .date(1e9), "name": .string("é"), "note": .string("")],
        // As much text as is packed, and one byte more, with a UUID among it and without.
        ["count": .int64(.max), "flag": .bool(false), "mark": .uuid(mark), "name": .string(String(repeating: "ü", count: 248))],
        ["name": .string(String(repeating: "x", count: 497)), "mark": .uuid(mark)],
        ["name": .string(String(repeating: "x", count: 500)), "note": .string(String(repeating: "y", count: 12))],
        ["name": .string(String(repeating: "x", count: 500)), "note": .string(String(repeating: "y", count: 13))],
        ["name": .string(String(repeating: "z", count: 100_000)), "ratio": .double(.infinity)],
    ]

    /// How many bytes of strings and UUIDs there are.
    private static func textLength(_ values: [String: AttributeValue]) -> Int {
        values.values.reduce(0) { sum, value in
            switch value {
            case .string(let string): sum + string.utf8.count
            case .uuid: sum + 16
            default: sum
            }
        }
    }

    @Test(arguments: cases, [false, true]) func aFetchedRowHasTheValuesThatWereSaved(_ values: [String: AttributeValue], _ hasData: Bool) throws {
        // Data is never packed, and a transient has no column.
        let extra = NSAttributeDescription(name: "extra", type: .binaryData)
        let fixture = try StoreFixture(Self.model(hasData ? extra : nil))
        let target = try fixture.insert("Thing", ["count": .int64(0)])
        var saved = values
        saved["next"] = one(target)
        if hasData { saved["extra"] = .data(Data([1, 2])) }
        let id = try fixture.insert("Thing", saved)
        let row = try #require(try fixture.fetch("Thing").first { $0.id == id }?.row)
        for name in row.layout.names { #expect(row[name] == saved[name] ?? .null, "\(name)") }
        let copy = row.copy()
        // A copy is never packed, and what is packed takes less.
        #expect((row.cost < copy.cost) == (!hasData && Self.textLength(saved) <= 512))
        #expect(copy.differences(from: row).isEmpty && copy.version == 1)
        copy.update(try #require(row.layout.slot(of: "name")), to: .string("other"))
        #expect(copy.differences(from: row).slots == [try #require(row.layout.slot(of: "name"))])
        #expect(row["name"] == values["name"] ?? .null && row.cost > 64)
    }

    @Test func aReferenceLivesAsLongAsTheRow() throws {
        let fixture = try StoreFixture(Self.model())
        let target = try fixture.insert("Thing", [:])
        for _ in 0..<200 { try fixture.insert("Thing", ["next": one(target)]) }
        var rows = try fixture.fetch("Thing")
        #expect(rows.count == 201)
        let last = try #require(rows.last?.row)
        rows = []
        #expect(last["next"] == one(target))
    }
}
