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
        ["count": .int64(.max), "flag": .bool(false), "mark": .uuid(mark), "name": .string(String(repeating: "ü", count: 248))],
        // The longest text whose length takes one byte, and the shortest whose length takes two.
        ["name": .string(String(repeating: "x", count: 255)), "note": .string(String(repeating: "y", count: 256))],
        // As much text as is packed, and one byte more.
        ["name": .string(String(repeating: "x", count: 512)), "mark": .uuid(mark), "count": .int64(1 << 40)],
        ["name": .string(String(repeating: "x", count: 500)), "note": .string(String(repeating: "y", count: 12))],
        ["name": .string(String(repeating: "x", count: 500)), "note": .string(String(repeating: "y", count: 13))],
        ["name": .string(String(repeating: "z", count: 100_000)), "ratio": .double(.infinity)],
    ]

    /// Numbers on both sides of where they take more bytes, whole and not, and some that follow them.
    @Test func numbersOfAllSizesComeBack() throws {
        let fixture = try StoreFixture(Self.model())
        let powers: [Int64] = [0, 1 << 7, 1 << 15, 1 << 31, 1 << 53, .max]
        let edges = powers.reduce(into: Set<Int64>()) { $0.formUnion([$1 - 1, $1, -$1, -$1 - 1]) }
        var saved: [Int64: [String: AttributeValue]] = [:]
        for edge in edges {
            let number = Double(edge)
            let values: [String: AttributeValue] = [
                "count": .int64(edge), "ratio": .double(number), "at": .date(number + 0.25), "name": .string("\(edge)"), "flag": .bool(edge > 0),
            ]
            saved[edge] = values
            try fixture.insert("Thing", values)
        }
        let rows = try fixture.fetch("Thing").compactMap(\.row)
        #expect(rows.count == edges.count)
        for row in rows {
            let name = try #require(row["name"].any as? String), values = saved[try #require(Int64(name))]
            for name in row.layout.names { #expect(row[name] == values?[name] ?? .null, "\(name)") }
        }
    }

    /// The longest row there is for its number of values: UUIDs, as much text as is packed, and more of them than the text leaves room for.
    @Test func aRowOfManyUUIDsAndMuchTextComesBack() throws {
        let names = (0..<120).map { "mark\($0)" }
        let entity = NSEntityDescription()
        entity.name = "Thing"
        entity.properties = names.map { NSAttributeDescription(name: $0, type: .uuid) } + [NSAttributeDescription(name: "name", type: .string)]
        let fixture = try StoreFixture(NSManagedObjectModel(entities: [entity]))
        var values = Dictionary(uniqueKeysWithValues: names.map { ($0, AttributeValue.uuid(UUID())) })
        values["name"] = .string(String(repeating: "x", count: 512))
        try fixture.insert("Thing", values)
        let row = try #require(try fixture.fetch("Thing").first?.row)
        #expect(row.cost < row.copy().cost)
        for name in row.layout.names { #expect(row[name] == values[name], "\(name)") }
    }

    /// How many bytes of text there are.
    private static func textLength(_ values: [String: AttributeValue]) -> Int {
        values.values.reduce(0) { sum, value in
            if case .string(let string) = value { sum + string.utf8.count } else { sum }
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
