import Testing

@testable import SyncConfiguration

/// `deletion`: how it is known that an object is gone.
@Suite struct DeletionReadingTests {
    /// A resource with some keys in its `deletion`.
    private func text(_ deletion: String, _ more: String = "", defaults: String = "", entity: String = itemModel) -> String {
        defaults + entity + """
            [[source]]
            name = "s"
            base_url = "https://a.example"
            [[source.resource]]
            name = "items"
            entity = "Item"
            path = "/items"
            deletion = { \(deletion) }
            \(more)
            """
    }

    private func deletion(_ keys: String, defaults: String = "") throws -> DeletionConfiguration {
        try #require(try configuration(text(keys, defaults: defaults)).resource(scope: "s/items")?.deletion)
    }

    @Test(
        arguments: [
            ("path = \"$.deleted\"", nil), ("path = \"$.deleted\", equals = true", .equals(.boolean(true))),
            ("path = \"$.deleted\", equals = 1", .equals(.integer(1))), ("path = \"$.deleted\", equals = \"yes\"", .equals(.text("yes"))),
            ("path = \"$.deleted\", equals = 1.5", .equals(.number(1.5))), ("path = \"$.deleted\", not_equals = \"no\"", .notEquals(.text("no"))),
            ("path = \"$.deleted\", in = [\"removed\", 7, false]", .isAmong([.text("removed"), .integer(7), .boolean(false)])),
            ("path = \"$.deleted\", in = [\"removed\"]", .isAmong([.text("removed")])),
            ("path = \"$.deleted\", contains = \"gone\"", .contains("gone")),
            ("path = \"$.deleted\", exists = true", .exists(true)), ("path = \"$.deleted\", exists = false", .exists(false)),
        ] as [(String, ValueTest?)])
    func aConditionIsRead(keys: String, test: ValueTest?) throws {
        for detect in ["field", "snapshot"] {
            let deletion = try deletion("detect = \"\(detect)\", \(keys)")
            #expect(deletion.condition == condition(test) && deletion.isSaid && deletion.isOnlySaid == (detect == "field"))
        }
    }

    private func condition(_ test: ValueTest?) -> RecordCondition {
        var condition = RecordCondition(path: "$.deleted")
        condition.tests = test.map { [$0] } ?? []
        return condition
    }

    @Test func withoutAConditionNothingIsSaidOrEverythingIs() throws {
        #expect(try deletion("detect = \"snapshot\"").isSaid == false)
        let records = try deletion("detect = \"records\"")
        #expect(records.isSaid && records.isOnlySaid && records.condition == nil)
    }

    // A less specific table speaks for other resources, too.
    @Test func whatDoesNotConcernAResourceDoesItNoHarm() throws {
        let defaults = "[defaults.deletion]\ndetect = \"field\"\npath = \"$.deleted\"\nequals = true\n"
        #expect(try deletion("detect = \"none\"", defaults: defaults).condition == nil)
        #expect(try deletion("detect = \"records\"", defaults: defaults).condition == nil)
        #expect(try deletion("in = [\"a\", \"b\"]", defaults: defaults).condition == condition(.isAmong([.text("a"), .text("b")])))
        #expect(try deletion("action = \"delete\"", defaults: defaults).condition == condition(.equals(.boolean(true))))
    }

    @Test(arguments: [
        ("detect = \"field\"", "detect = \"field\" needs path"),
        ("detect = \"snapshot\", equals = true", "equals is about what stands at path"),
        ("detect = \"field\", path = \"$.a\", equals = true, in = [1]", "equals and in cannot be used together"),
        ("detect = \"field\", path = \"$.a\", exists = true, equals = 1", "exists and equals cannot be used together"),
        ("detect = \"none\", path = \"$.a\"", "\"path\" belongs to detect = \"field\" or \"snapshot\""),
        ("detect = \"records\", exists = true", "\"exists\" belongs to detect"),
        ("path = \"$.a\"", "\"path\" belongs to detect"),
        ("detect = \"field\", path = \"$.a\", in = [1, 1]", "appears twice"),
        ("detect = \"field\", path = \"$.a\", contains = \"x\", not_equals = 1", "not_equals and contains cannot be used together"),
        ("detect = \"field\", path = \"$.a\", equals = [1]", "expected a text, a number or a truth value"),
        ("detect = \"field\", path = \"$.a\", after = \"-1d\"", "unknown key \"after\""),
    ])
    func whatDoesNotFitTogetherIsRefused(keys: String, message: String) {
        let found = read(text(keys)).errors
        #expect(found.contains { $0.message.contains(message) && $0.suggestion?.isEmpty == false && $0.line != nil }, "\(found)")
    }

    // Its key is what the record says, and this one says something else.
    @Test func aRecordThatIsWhatItSaysCannotSayThatItIsGone() {
        let entity = "[entity.Item]\nkey = \"content\"\nattributes = { code = { type = \"string\" } }\n"
        for keys in ["detect = \"field\", path = \"$.a\"", "detect = \"records\""] {
            let found = read(text(keys, entity: entity)).errors
            #expect(found.count == 1 && found.first?.message.contains("is another one") == true, "\(found)")
        }
        #expect(read(text("detect = \"snapshot\"", entity: entity)).errors.isEmpty)
    }

    @Test func whatIsGoneHasNoParts() {
        let parts = """

            [[source.resource]]
            name = "parts"
            entity = "Item"
            path = "/{item.id}/parts"
            for_each = { resource = "items", as = "item" }
            """
        let found = read(text("detect = \"records\"", parts)).errors
        #expect(found.count == 1 && found.first?.message.contains("s/items lists what is gone") == true, "\(found)")
        #expect(read(text("detect = \"field\", path = \"$.deleted\"", parts)).errors.isEmpty)
    }

    @Test func whatIsInForceIsShownAsItWasWritten() throws {
        let shown = try #require(read(text("detect = \"field\", path = \"$.state\", in = [\"a\", \"b\"]")).resolved).settings
        func value(_ key: String) -> String? { shown.first { $0.keyPath == "source.s.resource.items.deletion.\(key)" }?.value }
        #expect(value("in") == "[\"a\", \"b\"]" && value("equals") == nil && value("exists") == nil && value("path") == "\"$.state\"")
    }

    // MARK: Statuses

    /// A resource with a part for each of two values.
    private let parts = "for_each = { values = [\"a\", \"b\"], as = \"part\" }\nparams = { part = \"{part}\" }"

    private func statuses(_ keys: String, _ more: String) throws -> [Int] {
        try #require(try configuration(text(keys, more)).resource(scope: "s/items")).deletion.goneStatuses
    }

    @Test func aStatusSaysThatAPartIsGone() throws {
        #expect(try statuses("detect = \"gone-status\"", parts) == [404, 410])
        #expect(try statuses("detect = \"gone-status\", statuses = [404]", parts) == [404])
        #expect(try statuses("detect = \"gone-status\"", "records = \"$\"") == [404, 410])
        for keys in ["detect = \"snapshot\"", "detect = \"field\", path = \"$.deleted\""] {
            #expect(try statuses(keys, parts) == [])
            #expect(try statuses("\(keys), statuses = [410]", parts) == [410])
        }
    }

    @Test(
        arguments: [
            ("detect = \"gone-status\"", nil, "does not say that everything in it is gone"),
            ("detect = \"snapshot\", statuses = [404]", nil, "does not say that everything in it is gone"),
            ("detect = \"gone-status\"", "empty_statuses = [410]", "status 410 is one of the empty_statuses"),
            ("detect = \"gone-status\", statuses = [404, 403]", "", "403 says something else"),
            ("detect = \"records\", statuses = [404]", "", "\"statuses\" belongs to detect"),
            ("detect = \"gone-status\", path = \"$.a\"", "", "\"path\" belongs to detect"),
        ] as [(String, String?, String)])
    func statusesThatDoNotFitAreRefused(keys: String, more: String?, message: String) {
        let found = read(text(keys, more.map { "\(parts)\n\($0)" } ?? "")).errors
        #expect(found.contains { $0.message.contains(message) && $0.suggestion?.isEmpty == false && $0.line != nil }, "\(found)")
    }
}
