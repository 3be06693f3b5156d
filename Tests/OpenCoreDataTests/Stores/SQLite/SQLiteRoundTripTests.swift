import Foundation
import OpenCoreData
import Testing

/// Every value comes back as it was, and stands in the file as Core Data writes it.
struct SQLiteRoundTripTests {
    private static let uuid = UUID(uuidString: "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0") ?? UUID()

    // X3
    @Test func everyTypeComesBackAsItWas() throws {
        let fixture = try StoreFixture(StoreModels.everything())
        let values: [String: AttributeValue] = [
            "small": .int64(-32768), "medium": .int64(2_147_483_647), "large": .int64(.min), "flag": .bool(true), "real": .double(0.1),
            "short": .double(Double(Float(0.1))), "money": .decimal(Decimal(string: "12.34") ?? 0), "text": .string("naïve ☃ \u{0} end"),
            "when": .date(-1.5), "bytes": .data(Data([0, 255, 1])), "uuid": .uuid(Self.uuid),
            "link": .object(ObjectBox(URL(string: "https://example.org/a?b=c") ?? URL(fileURLWithPath: "/"))),
        ]
        let id = try fixture.insert("Thing", values)
        try fixture.reopen()
        let entity = try fixture.entity("Thing")
        let again = NSManagedObjectID(entity: entity, key: id.key, store: fixture.store.identity, isTemporary: false)
        let row = try #require(try fixture.stored(again))
        for (name, value) in values { #expect(row[name] == value, "\(name)") }
        #expect(row.version == 1)
        #expect(row["hidden"] == .null)
        #expect(
            try fixture.shell.rows("SELECT ZSMALL, ZFLAG, ZWHEN, hex(ZUUID), ZLINK, ZMONEY FROM ZTHING") == [
                ["-32768", "1", "-1.5", "0F1E2D3C4B5A69788796A5B4C3D2E1F0", "https://example.org/a?b=c", "12.34"]
            ])
    }

    @Test func nullsAndEmptyValuesAreToldApart() throws {
        let fixture = try StoreFixture(StoreModels.everything())
        let empty = try fixture.insert("Thing", ["text": .string(""), "bytes": .data(Data())])
        let none = try fixture.insert("Thing", [:])
        #expect(try fixture.stored(empty)?["text"] == .string(""))
        #expect(try fixture.stored(empty)?["bytes"] == .data(Data()))
        let row = try #require(try fixture.stored(none))
        #expect((0..<row.count).allSatisfy { row[$0].isNull })
    }

    @Test(arguments: [
        "0", "1", "-1", "0.1", "-0.5", "123456789012345", "1234567890123456", "12345678901234567890.123456789", "9223372036854775807",
        "9223372036854775808", "0.000000000000000000000000000001", "99999999999999999999999999999999999999", "1e100", "-1.5e-100",
    ])
    func decimalsLoseNothing(text: String) throws {
        let decimal = try #require(Decimal(string: text))
        let fixture = try StoreFixture(StoreModels.everything())
        let id = try fixture.insert("Thing", ["money": .decimal(decimal)])
        #expect(try fixture.stored(id)?["money"] == .decimal(decimal))
        #expect(try fixture.fetch("Thing", "money == %@", [decimal]).map(\.id) == [id])
        #expect(try fixture.fetch("Thing", "money < %@", [decimal]).isEmpty)
        #expect(try fixture.fetch("Thing", "money <= %@", [decimal]).map(\.id) == [id])
    }

    // A7
    @Test func transformableValuesComeBackAsSwiftValues() throws {
        let fixture = try StoreFixture(StoreModels.everything())
        let list: [AnyHashable] = ["a", 1, 2.5, Data([1]), Date(timeIntervalSinceReferenceDate: 5)]
        let id = try fixture.insert("Thing", ["list": .object(ObjectBox(list as AnyHashable))])
        guard case .object(let box)? = try fixture.stored(id)?["list"] else {
            Issue.record("no value came back")
            return
        }
        let back = try #require(box.value.base as? [AnyHashable])
        #expect(back.count == 5)
        #expect(back[0].base as? String == "a")
        #expect((back[1].base as? NSNumber)?.intValue == 1)
        #expect((back[2].base as? NSNumber)?.doubleValue == 2.5)
        #expect(back[3].base as? Data == Data([1]))
        #expect(back[4].base as? Date == Date(timeIntervalSinceReferenceDate: 5))
    }

    private struct Unarchivable: Hashable {}

    @Test func aTransformableValueThatCannotBeArchivedIsRefusedByName() throws {
        let fixture = try StoreFixture(StoreModels.everything())
        let error = #expect(throws: NSError.self) {
            try fixture.insert("Thing", ["list": .object(ObjectBox(Unarchivable() as AnyHashable))])
        }
        #expect(error?.localizedDescription.contains("Thing.list") == true)
        #expect(try fixture.fetch("Thing").isEmpty)
    }

    // A6
    @Test func transientAttributesHaveNoColumn() throws {
        let fixture = try StoreFixture(StoreModels.everything())
        try fixture.insert("Thing", ["hidden": .string("secret")])
        #expect(try fixture.shell.column("SELECT count(*) FROM pragma_table_info('ZTHING') WHERE name LIKE '%HIDDEN%'") == ["0"])
    }
}
