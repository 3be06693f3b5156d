import Testing

@testable import SyncConfiguration

/// Keys that records do not say.
@Suite struct DerivedKeyReadingTests {
    private func text(_ key: String, _ more: String = "") -> String {
        """
        [entity.Line]
        key = \(key)
        [entity.Line.attributes]
        day = { type = "string" }
        \(more)
        [[source]]
        name = "s"
        url = "https://a.example/lines"
        entity = "Line"
        """
    }

    @Test(arguments: EntityConfiguration.DerivedKey.allCases)
    func aKeyThatRecordsDoNotSayIsAnAttributeOfItsOwn(kind: EntityConfiguration.DerivedKey) throws {
        let result = try configuration(text("\"\(kind.rawValue)\"")), line = try #require(result.model.entity(named: "Line"))
        #expect(line.derivedKey == kind && line.key == ["cisternKey"] && line.attributes.map(\.name) == ["day", "cisternKey"])
        #expect(line.attributes.last?.isRead == false && line.attributes.last?.type == .string)
    }

    @Test func aWordThatIsNoneIsRefused() {
        let found = read(text("\"contents\"")).errors
        #expect(found.contains { $0.keyPath.hasSuffix("key") && $0.suggestion?.contains("content") == true }, "\(found)")
    }

    @Test func noValueNamesAnObjectThatHasNone() {
        let found = read(
            text(
                "\"content\"",
                """
                [entity.Item]
                key = ["id"]
                attributes = { id = { type = "int64" } }
                relationships = { line = { to = "Line", match = "key" } }
                """)
        ).errors
        #expect(found.contains { $0.message.contains("has key = \"content\", which no value can name") }, "\(found)")
    }
}
