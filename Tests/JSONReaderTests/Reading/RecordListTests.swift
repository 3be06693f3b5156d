import JSONReader
import Testing

struct RecordListTests {
    static let id = [JSONField(key: "id")]

    @Test(arguments: [
        ("$", #"[{"id":1},{"id":2}]"#), ("$.data", #"{"data":[{"id":1},{"id":2}]}"#),
        ("$.a.b['3166-1']", #"{"a":{"x":[{"id":9}],"b":{"3166-1":[{"id":1},{"id":2}]}}}"#),
        ("$[1].items", #"[{"items":[{"id":7}]},{"items":[{"id":1},{"id":2}]},[]]"#), ("/4217", #"{"4217":[{"id":1},{"id":2}]}"#),
        ("$.d\u{e9}", #"{"d\u00e9":[{"id":1},{"id":2}]}"#),
    ])
    func recordsAreFoundWhereverTheyAre(path: String, body: String) throws {
        let page = try Page.read(body, records: JSONPath(parsing: path), Self.id)
        #expect(page.rows == [[.int64(1)], [.int64(2)]])
        #expect(page.summary.recordCount == 2)
        #expect(page.summary.recordList == .array)
        #expect(page.summary.badRecordCount == 0)
    }

    @Test func anObjectInPlaceOfTheListIsTheOnlyRecord() throws {
        for (path, body) in [("$", #"{"id":1,"x":{"id":2}}"#), ("$.data", #"{"data":{"id":1,"x":[{"id":2}]},"id":3}"#)] {
            let page = try Page.read(body, records: JSONPath(parsing: path), Self.id)
            #expect(page.rows == [[.int64(1)]])
            #expect(page.summary.recordList == .singleObject)
        }
    }

    @Test func nullAndAnEmptyListHaveNoRecords() throws {
        let none = try Page.read(#"{"data":null}"#, records: "$.data", Self.id)
        #expect(none.rows.isEmpty)
        #expect(none.summary.recordList == .null)
        let empty = try Page.read(#"{"data":[]}"#, records: "$.data", Self.id)
        #expect(empty.rows.isEmpty)
        #expect(empty.summary.recordList == .array)
    }

    @Test func noListIsAnErrorThatNamesThePath() throws {
        for body in [#"{"message":"no"}"#, "[]", "{}", "7", #"{"data":{"x":[]}}"#] {
            let error = try #require(pageError(body, records: "$.data.items"))
            #expect(error.kind == .recordsMissing)
            #expect(error.message.contains("$.data.items"))
        }
        for body in [#"{"d":7}"#, #"{"d":"x"}"#, #"{"d":true}"#] {
            let error = try #require(pageError(body, records: "$.d"))
            #expect(error.kind == .recordsNotAList)
            #expect(error.location.byteOffset == 5)
        }
        #expect(pageError("42")?.kind == .recordsNotAList)
        // What is not JSON at all is that first.
        #expect(pageError("42 x", records: "$.d")?.kind == .trailingData)
        #expect(pageError(#"{"d":"x",}"#, records: "$.d")?.kind == .syntax)
    }

    @Test func elementsThatAreNoObjectsAreBadRecordsOfTheirOwn() throws {
        let page = try Page.read(#"[{"id":1},5,"x",null,[1],[],{"id":2}]"#, Self.id)
        #expect(page.problems == [nil, .notAnObject, .notAnObject, .notAnObject, .notAnObject, .notAnObject, nil])
        #expect(page.summary.recordCount == 7)
        #expect(page.summary.badRecordCount == 5)
        var raws: [String] = []
        var places: [Int] = []
        _ = try JSONRecordReader().read(body: Array(#"[ 5 ,"x", [1,[2]],{}]"#.utf8), plan: JSONFieldPlan(Self.id)) { record in
            raws.append(String(record.raw))
            places.append(record.byteOffset)
            #expect(record.index == raws.count - 1)
            #expect(record[0].isMissing)
        }
        #expect(raws == ["5", #""x""#, "[1,[2]]", "{}"])
        #expect(places == [2, 5, 10, 18])
    }

    @Test func theEnvelopeIsReadBeforeAndAfterTheRecords() throws {
        let envelope = [
            JSONField("next", path: "$.page.next"), JSONField("more", path: "$.has_more"), JSONField("total", path: "$.total"),
            JSONField("none", path: "$.none"),
            JSONField("meta", path: "$.page", capture: .raw), JSONField("first", path: "$.data[0].id"), JSONField("escaped", path: "$.e"),
        ]
        let before = #""total":12345678901234567890,"e":"\u00e9","page":{"next":"c\n2","n":[1]}"#
        let list = #""data":[{"id":1,"e":"\u0041"},{"id":"\u0042\u0043"}]"#
        let expected: [JSONValue] = [
            .string("c\n2"), .bool(true), .bigNumber("12345678901234567890"), .missing, .raw(#"{"next":"c\n2","n":[1]}"#), .int64(1),
            .string("é"),
        ]
        for body in [
            "{\(before),\(list),\"has_more\":true}", "{\"has_more\":true,\(list),\(before)}",
            "{\"has_more\":true,\(before),\(list)}",
        ] {
            let page = try Page.read(body, records: "$.data", Self.id, envelope: envelope)
            #expect(page.rows == [[.int64(1)], [.string("BC")]])
            #expect(page.summary.envelope == expected)
        }
    }

    @Test func anEnvelopeCanStandAroundASingleRecordAndHaveNestedPlans() throws {
        let page = JSONFieldPlan([JSONField(key: "n")])
        let result = try Page.read(
            #"{"data":{"id":1},"page":{"n":2},"list":[{"n":3}]}"#, records: "$.data", Self.id,
            envelope: [
                JSONField(key: "page", capture: .record(page)), JSONField(key: "list", capture: .record(page)),
                JSONField("id", path: "$.data.id"),
            ])
        #expect(result.summary.envelope == [.raw(#"{"n":2}"#), .raw(#"[{"n":3}]"#), .int64(1)])
    }

    @Test func aCursorOrListThatStandsTwiceRefusesThePage() throws {
        let next = [JSONField(key: "next")]
        #expect(pageError(#"{"next":1,"data":[],"next":2}"#, records: "$.data", envelope: next)?.kind == .ambiguousEnvelope)
        #expect(pageError(#"{"data":[],"data":[{}]}"#, records: "$.data")?.kind == .ambiguousEnvelope)
        #expect(pageError(#"{"a":{"data":[]},"a":{}}"#, records: "$.a.data")?.kind == .ambiguousEnvelope)
        // Nobody looks at these.
        #expect(pageError(#"{"x":1,"x":2,"data":[]}"#, records: "$.data", envelope: next) == nil)

        var policies = JSONReaderPolicies()
        policies.duplicateKeys = .last
        #expect(
            try Page.read(
                #"{"next":1,"data":[],"next":2}"#, records: "$.data", [], envelope: next,
                policies: policies
            ).summary.envelope == [
                .int64(2)
            ])
        #expect(pageError(#"{"data":[],"data":[{}]}"#, records: "$.data", policies: policies)?.kind == .ambiguousEnvelope)
        policies.duplicateKeys = .first
        let first = try Page.read(
            #"{"next":1,"data":[{"id":1}],"next":2,"data":[{"id":2},{"id":3}]}"#, records: "$.data", Self.id, envelope: next,
            policies: policies)
        #expect(first.summary.envelope == [.int64(1)])
        #expect(first.rows == [[.int64(1)]])
    }

    @Test func theErrorOfTheClosureComesOutAndTheReaderGoesOn() throws {
        struct Stop: Error {}
        let reader = JSONRecordReader()
        let plan = JSONFieldPlan(Self.id)
        var count = 0
        #expect(throws: Stop.self) {
            try reader.read(body: Array("[{},{},{}]".utf8), plan: plan) { _ in
                count += 1
                if count == 2 { throw Stop() }
            }
        }
        #expect(count == 2)
        #expect(try reader.read(body: Array("[{},{},{}]".utf8), plan: plan) { _ in }.recordCount == 3)
    }
}
