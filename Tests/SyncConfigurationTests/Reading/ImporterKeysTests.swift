import Testing

@testable import SyncConfiguration

/// What the user info of a model says to importers.
@Suite struct ImporterKeysTests: ModelFileReading {
    private func entry(_ key: String, _ value: String) -> String { "<userInfo><entry key=\"\(key)\" value=\"\(value)\"/></userInfo>" }

    // MARK: remotePrimaryKey

    @Test(arguments: [("x", "$.x"), ("contract_id", "$.contract_id"), ("a.b", "$.a.b")])
    func anEntityNamesItsKeyByTheKeyOfARecordThatFillsIt(_ field: String, _ path: String) throws {
        let model = try model(entity(attribute("attributeType=\"String\"", ["sync.remoteKey": field]) + entry("remotePrimaryKey", field)))
        #expect(model.entities[0].key == ["x"] && model.entities[0].attribute(named: "x")?.paths.map(\.description) == [path])
    }

    @Test func anEntityNamesItsKeyByAnAttribute() throws {
        let filled = try model(entity(attribute("attributeType=\"String\"", ["mappedKeyName": "code"]) + entry("remotePrimaryKey", "x")))
        #expect(filled.entities[0].key == ["x"])
        let added = try model(entity(entry("remotePrimaryKey", "y")), "[entity.A.attributes]\ny = { type = \"string\" }")
        #expect(added.entities[0].key == ["y"])
    }

    @Test func anEntityNamesItsKeyAsTheRecordSpellsIt() throws {
        let spelt = try model(entity(attribute("attributeType=\"String\"", name: "contractID") + entry("remotePrimaryKey", "contract_id")))
        #expect(spelt.entities[0].key == ["contractID"])
        let elements = "<entity name=\"A\">\(attribute("attributeType=\"String\"", name: "remoteID"))\(entry("remotePrimaryKey", "id"))</entity>"
        #expect(try model(elements).entities[0].key == ["remoteID"])
    }

    @Test(arguments: [("YES", ["x"], [String]()), ("1", ["x"], []), ("NO", ["id"], []), ("contract.id", ["x"], ["$.contract.id"])])
    func anAttributeSaysThatItIsTheKey(_ value: String, _ key: [String], _ paths: [String]) throws {
        let model = try model(entity(attribute("attributeType=\"String\"", ["remotePrimaryKey": value])))
        #expect(model.entities[0].key == key && model.entities[0].attribute(named: "x")?.paths.map(\.description) == paths)
    }

    @Test func aSubentityIsRecognisedAsItsParentIsUnlessItSaysOtherwise() throws {
        let code = attribute("attributeType=\"String\"", name: "code") + entry("remotePrimaryKey", "code")
        let parent = "<entity name=\"P\" isAbstract=\"YES\">\(code)</entity>"
        let model = try model(
            parent + entity("", name: "B", "parentEntity=\"P\"") + entity(entry("remotePrimaryKey", "id"), name: "C", "parentEntity=\"P\""))
        #expect(model.entity(named: "B")?.key == ["code"] && model.entity(named: "C")?.key == ["id"])
    }

    @Test func remotePrimaryKeyAgreesWithTheOthersOrBothAreNamed() {
        let agreeing = reading(
            entity(
                attribute("attributeType=\"String\"", ["remotePrimaryKey": "code", "sync.isPrimaryKey": "YES", "sync.remoteKey": "code"])
                    + entry("remotePrimaryKey", "code")))
        #expect(agreeing.problems.isEmpty && agreeing.configuration?.model.entities[0].key == ["x"])
        let keys = reading(entity(attribute("attributeType=\"String\"", ["remotePrimaryKey": "YES"]) + entry("remotePrimaryKey", "id")))
        #expect(keys.errors.map(\.message) == ["remotePrimaryKey makes the key id, remotePrimaryKey of x makes it x"])
        let paths = reading(entity(attribute("attributeType=\"String\"", ["remotePrimaryKey": "a", "sync.remoteKey": "b"])))
        #expect(paths.errors.map(\.message) == ["sync.remoteKey leads to $.b, remotePrimaryKey to $.a"])
    }

    // MARK: Keys that are none

    @Test(arguments: ["relatedByAttribute", "identityAttributes", "remotePrimaryKey"])
    func anEntityWhoseKeyNamesNoAttributeIsLeftOut(_ word: String) {
        let reading = reading(
            entity("<relationship name=\"other\" maxCount=\"1\" destinationEntity=\"B\"/>") + entity(entry(word, "code"), name: "B"))
        #expect(reading.errors.isEmpty && reading.configuration?.model.entities.map(\.name) == ["A"])
        #expect(reading.configuration?.model.entities[0].relationships.isEmpty == true)
        #expect(
            Set(reading.warnings.map(\.message)) == [
                "\(word) names code, which is no attribute of B: it is left out", "it leads to B, which becomes no table: it is left out",
            ])
        #expect(reading.warnings.contains { $0.suggestion == "write [entity.B] with a key" })
    }

    @Test func aKeyOfWhichOneNameIsNoAttributeIsNone() {
        let reading = reading(entity(entry("identityAttributes", "id, code, kind")))
        #expect(reading.configuration?.model.entities.isEmpty ?? true)
        #expect(reading.warnings.map(\.message) == ["identityAttributes names code, kind, which are no attributes of A: it is left out"])
    }

    @Test func whatIsLeftOutOfAnEntityIsNoKeyOfIt() {
        for words in ["transient=\"YES\" attributeType=\"String\"", "attributeType=\"Composite\""] {
            let reading = reading(entity(attribute("optional=\"YES\" \(words)", ["sync.isPrimaryKey": "YES"])))
            #expect(reading.warnings.contains { $0.message == "sync.isPrimaryKey names x, which is no attribute of A: it is left out" })
        }
    }

    @Test func whereAnotherWordNamesAnAttributeThatIsTheKey() throws {
        let elements =
            entity(
                "<relationship name=\"b\" maxCount=\"1\" destinationEntity=\"B\">\(entry("relatedByAttribute", "x"))</relationship>")
            + entity(attribute("attributeType=\"String\"") + entry("relatedByAttribute", "code"), name: "B")
        let reading = reading(elements)
        #expect(reading.errors.isEmpty && reading.configuration?.model.entity(named: "B")?.key == ["x"])
        #expect(reading.warnings.map(\.message) == ["relatedByAttribute names code, which is no attribute of B: it says nothing of the key"])
        #expect(reading.warnings.map(\.suggestion) == ["relatedByAttribute of A.b makes it x"])
        #expect(self.reading(elements, "[entity.B]\nkey = [\"id\"]").problems.isEmpty)
    }

    // Who writes a table for it means to have it.
    @Test func anEntityOfATableWhoseKeyNamesNoAttributeIsAnError() throws {
        let elements = entity(attribute("attributeType=\"String\"") + entry("relatedByAttribute", "code"))
        let refused = reading(elements, "[entity.A.attributes]\nx = { index = true }")
        #expect(refused.errors.map(\.message) == ["\"code\" is not an attribute of \"A\""])
        #expect(try model(elements, "[entity.A]\nkey = [\"x\"]").entities[0].key == ["x"])
        #expect(try model(elements, "[entity.A.attributes]\ncode = { type = \"string\" }").entities[0].key == ["code"])
    }

    // MARK: Dates

    private func date(_ userInfo: [String: String], _ text: String = "") throws -> (format: String, warnings: [String]) {
        let reading = reading(entity(attribute("attributeType=\"Date\"", userInfo)), text)
        let attribute = try #require(reading.configuration?.model.entities[0].attribute(named: "x"), "\(reading.problems)")
        return (attribute.format.description, reading.warnings.map(\.message))
    }

    @Test(arguments: ["dateFormat", "dateFormat.0", "dateFormat.1", "dateFormat.9"])
    func aDateMaySayItsFormatUnderANumber(_ word: String) throws {
        let date = try date([word: "yyyy-MM-dd"])
        #expect(date.format == "%Y-%m-%d" && date.warnings == [])
    }

    @Test func ofSeveralFormatsTheFirstIsTakenAndEachFurtherOneIsNamed() throws {
        let numbered = try date(["dateFormat.7": "yyyy", "dateFormat.2": "UnixTime", "dateFormat.3": "MM/yyyy"])
        #expect(numbered.format == "unix-ms")
        #expect(
            numbered.warnings == [
                "dateFormat.3 \"MM/yyyy\" is not read: an attribute has one format, and dateFormat.2 is taken",
                "dateFormat.7 \"yyyy\" is not read: an attribute has one format, and dateFormat.2 is taken",
            ])
        let plain = try date(["dateFormat.0": "yyyy", "dateFormat": "MM/yyyy"])
        #expect(plain.format == "%m/%Y")
        #expect(plain.warnings == ["dateFormat.0 \"yyyy\" is not read: an attribute has one format, and dateFormat is taken"])
    }

    @Test func aFormatThatCannotBeSaidLeavesItsPlaceToTheNext() throws {
        let date = try date(["dateFormat": "QQQ yyyy", "dateFormat.1": "yyyy"])
        #expect(date.format == "%Y" && date.warnings == ["dateFormat \"QQQ yyyy\" can't be said in this configuration's words"])
    }

    @Test func whereATableSaysTheFormatNoneOfTheModelIsNamed() throws {
        let date = try date(["dateFormat": "QQQ", "dateFormat.1": "yyyy", "dateFormat.2": "MM"], "[entity.A.attributes]\nx = { format = \"unix\" }")
        #expect(date.format == "unix" && date.warnings == [])
    }
}
