import JSONReader
import SyncConfiguration
import Testing

@testable import SyncPipeline

/// What a record has to say to be one of an object that is gone.
@Suite struct DeletionSignTests {
    private func met(_ test: ValueTest?, _ values: [String?], areTexts: Bool = false) throws -> [Bool] {
        let plan = JSONFieldPlan([JSONField("deletion", path: "$.at.deleted")])
        let sign = DeletionSign(field: 0, test: test, areTexts: areTexts)
        return try values.map { value in
            var isMet = false
            let body = value.map { "[{\"at\": {\"deleted\": \($0)}}]" } ?? "[{\"at\": {}}]"
            _ = try JSONRecordReader().read(body: Array(body.utf8), plan: plan) { isMet = sign.isMet(by: $0) }
            return isMet
        }
    }

    @Test func whatIsThereAndNeitherNullNorFalseHolds() throws {
        let values: [String?] = [nil, "null", "false", "true", "0", "\"\"", "{}", "[]", "{\"reason\": \"changed\"}", "1.5", "\"2024-01-01\""]
        #expect(try met(nil, values) == [false, false, false] + Array(repeating: true, count: 8))
    }

    @Test func whatExistsMayBeNull() throws {
        #expect(try met(.exists(true), [nil, "null", "false", "1"]) == [false, true, true, true])
        #expect(try met(.exists(false), [nil, "null", "false", "1"]) == [true, false, false, false])
    }

    @Test func aValueIsOneOfThoseThatAreNamedAndOfTheirKind() throws {
        let values: [String?] = [nil, "null", "true", "1", "1.0", "1.5", "\"removed\"", "\"Removed\"", "\"true\"", "\"1\"", "[1]"]
        func expected(_ places: Int...) -> [Bool] { values.indices.map { places.contains($0) } }
        #expect(try met(.equals(.boolean(true)), values) == expected(2))
        #expect(try met(.equals(.integer(1)), values) == expected(3, 4))
        #expect(try met(.isAmong([.text("removed"), .text("1")]), values) == expected(6, 9))
    }

    @Test func whatASignIsComparedWithMayBeAnything() throws {
        let values: [String?] = [nil, "null", "1.5", "\"was removed\"", "{\"reason\": \"removed\"}", "\"\u{E9}\"", "\"e\u{301}\""]
        #expect(try met(.equals(.number(1.5)), values) == [false, false, true, false, false, false, false])
        #expect(try met(.contains("removed"), values) == [false, false, false, true, true, false, false])
        #expect(try met(.notEquals(.number(1.5)), values) == [true, true, false, true, true, true, true])
        // Letters that look the same are other bytes.
        #expect(try met(.equals(.text("\u{E9}")), values) == [false, false, false, false, false, true, false])
    }

    // The cells of a table are texts, and one without any is there in every row.
    @Test func whereAllAreTextsWhatTheySayCounts() throws {
        let no: [String?] = [nil, "null", "\"\"", "\" \"", "\"false\"", "\"False\"", "\"0\"", "\"no\"", "\"N\""]
        #expect(try met(nil, no, areTexts: true) == no.map { _ in false })
        #expect(try met(nil, ["\"true\"", "\"1\"", "\"2024-01-01\"", "\"x\""], areTexts: true) == [true, true, true, true])
        #expect(try met(.exists(true), [nil, "null", "\"x\""], areTexts: true) == [false, false, true])
        #expect(try met(.exists(false), [nil, "null", "\"x\""], areTexts: true) == [true, true, false])
        let values: [String?] = ["\"true\"", "\"false\"", "\"1\"", "\"1.0\"", "\"x\"", "null"]
        #expect(try met(.equals(.boolean(true)), values, areTexts: true) == [true, false, false, false, false, false])
        #expect(try met(.equals(.integer(1)), values, areTexts: true) == [false, false, true, true, false, false])
        #expect(try met(.isAmong([.text("x"), .text("1")]), values, areTexts: true) == [false, false, true, false, true, false])
    }

    @Test func withoutAFieldEveryRecordSaysIt() throws {
        var isMet = false
        _ = try JSONRecordReader().read(body: Array("[{}]".utf8), plan: JSONFieldPlan([])) {
            isMet = DeletionSign(field: nil).isMet(by: $0)
        }
        #expect(isMet)
    }
}
