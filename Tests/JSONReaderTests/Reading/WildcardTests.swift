import TestTraits
import Testing

@testable import JSONReader

/// Records in several lists of a page, and in maps by name.
struct WildcardTests {
    private static let id = [JSONField(key: "id")]
    private static let three: [[JSONValue]] = [[.int64(1)], [.int64(2)], [.int64(3)]]

    private static func path(_ text: String) throws -> JSONPath { try JSONPath(parsing: text, allowsWildcards: true) }

    private static func read(_ body: String, _ path: String, policies: JSONReaderPolicies = JSONReaderPolicies()) throws -> Page {
        try Page.read(body, records: try Self.path(path), id, policies: policies)
    }

    private static func error(
        _ body: String, _ path: String, limits: JSONReaderLimits = JSONReaderLimits(), policies: JSONReaderPolicies = JSONReaderPolicies()
    ) throws -> JSONReaderError? {
        pageError(body, records: try Self.path(path), id, limits: limits, policies: policies)
    }

    /// The names of the records, those without one as nil.
    private static func names(_ body: String, _ path: String, policies: JSONReaderPolicies = JSONReaderPolicies()) throws -> [String?] {
        var names: [String?] = []
        _ = try JSONRecordReader().read(body: Array(body.utf8), records: try Self.path(path), plan: JSONFieldPlan(id), policies: policies) { record in
            names.append(record.memberName.map { String($0) })
        }
        return names
    }

    @Test(arguments: [
        ("$.groups[*].items", #"{"groups":[{"items":[{"id":1},{"id":2}]},{"items":[]},{"n":1,"items":[{"id":3}]}]}"#),
        ("$.data.*", #"{"data":{"a":{"id":1},"b":{"id":2},"c":{"id":3}}}"#), ("$.data.*", #"{"data":{"a":[{"id":1},{"id":2}],"b":[{"id":3}]}}"#),
        ("$.data.*", #"{"data":[{"id":1},[{"id":2},{"id":3}]]}"#),
        ("$.data.*.rows[*]", #"{"data":{"a":{"rows":[{"id":1}]},"b":{"x":[{"rows":1}],"rows":[{"id":2},{"id":3}]}}}"#),
        ("$[*].children", #"[{"children":[{"id":1}]},{"children":{"id":2}},{"children":[{"id":3}]}]"#), ("$[*]", #"[{"id":1},{"id":2},{"id":3}]"#),
        ("$.*", #"{"a":{"id":1},"b":[{"id":2}],"c":{"id":3}}"#), ("$[*][*]", #"[[{"id":1},{"id":2}],{"x":{"id":3}}]"#),
        ("$[1].*", #"[{"x":{"id":9}},{"a":{"id":1},"b":{"id":2},"c":{"id":3}}]"#), ("$[*][1]", #"[[7,{"id":1}],[0,[{"id":2},{"id":3}],{"id":9}]]"#),
    ])
    func recordsAreThoseOfAllListsAndMaps(path: String, body: String) throws {
        let page = try Self.read(body, path)
        #expect(page.rows == Self.three && page.problems == [nil, nil, nil])
        #expect(page.summary.recordCount == 3 && page.summary.recordList == .array && !page.summary.hasEmptyLists)
    }

    @Test func aWildcardOverAListIsTheList() throws {
        let body = #"[{"id":1},5,"x",null,1e999,{"id":2,"id":3},{"id":2}]"#
        let list = try Self.read(body, "$"), all = try Self.read(body, "$[*]")
        #expect(all.rows == list.rows && all.problems == list.problems && all.summary == list.summary)
        #expect(list.problems.compactMap { $0 }.count == 5)
    }

    // Whatever a member is, the others are read.
    @Test func aMemberThatIsNoObjectIsABadRecord() throws {
        let page = try Self.read(#"{"data":{"a":{"id":1},"updated":17,"n":null,"s":"x","b":{"id":2}}}"#, "$.data.*")
        #expect(page.problems == [nil, .notAnObject, .notAnObject, .notAnObject, nil])
        #expect(page.summary.badRecordCount == 3 && page.summary.recordList == .array)
    }

    // MARK: Names

    @Test func aRecordHasTheNameInTheInnermostMap() throws {
        #expect(try Self.names(#"{"data":{"a":{"id":1},"b":{"id":2}}}"#, "$.data.*") == ["a", "b"])
        #expect(try Self.names(#"{"data":{"a":{"rows":[{},{}]},"b":{"rows":[{}]}}}"#, "$.data.*.rows[*]") == ["a", "a", "b"])
        #expect(try Self.names(#"{"x":{"rows":{"y":{},"z":{}}},"w":{"rows":[{}]}}"#, "$.*.rows.*") == ["y", "z", "w"])
        #expect(try Self.names(#"{"groups":[{"items":[{"a":{}}]}]}"#, "$.groups[*].items") == [nil])
        // What stands in the record, or beside the way to it, gives it no name.
        #expect(try Self.names(#"{"data":{"a":{"inner":{"id":1}}},"b":{}}"#, "$.data.*") == ["a"])
        #expect(try Self.names(#"{"a":{"list":[{}]}}"#, "$.a.list") == [nil])
    }

    @Test func namesAreDecoded() throws {
        let body = #"{"\u0041\n":{"id":"\u0042"},"":{},"a name of more than sixteen bytes":{},"é\"":[{}]}"#
        #expect(try Self.names(body, "$.*") == ["A\n", "", "a name of more than sixteen bytes", "é\""])
    }

    @Test func aNameCountsAsATextOfItsRecord() throws {
        let body = #"{"a\ud800":{"id":1},"b\u0000c":{"id":2},"d":{"id":3}}"#
        #expect(try Self.names(body, "$.*") == ["a\u{FFFD}", "b\0c", "d"])
        var policies = JSONReaderPolicies()
        policies.loneSurrogates = .rejectRecord
        #expect(try Self.read(body, "$.*", policies: policies).problems == [.loneSurrogate, nil, nil])
        policies.nulInText = .rejectRecord
        #expect(try Self.read(body, "$.*", policies: policies).problems == [.loneSurrogate, .nulInText, nil])
        policies = JSONReaderPolicies()
        policies.nulInText = .strip
        #expect(try Self.names(body, "$.*", policies: policies)[1] == "bc")
    }

    // MARK: What is not there

    @Test func nullIsAListWithoutRecordsAndSaidOfThePage() throws {
        for (path, body) in [
            ("$.groups[*].items", #"{"groups":[{"items":null},{"items":[{"id":1},{"id":2},{"id":3}]}]}"#),
            ("$.groups[*].items[*]", #"{"groups":[{"items":[{"id":1},{"id":2}]},{"items":null},{"items":[{"id":3}]}]}"#),
        ] {
            let page = try Self.read(body, path)
            #expect(page.rows == Self.three && page.summary.recordList == .null, "\(path)")
        }
        let none = try Self.read(#"{"data":null}"#, "$.data.*")
        #expect(none.rows.isEmpty && none.summary.recordList == .null && !none.summary.hasEmptyLists)
    }

    @Test(arguments: [
        ("$.groups[*].items", #"{"groups":[{"name":"x"},{"items":[{"id":1}]}]}"#, 11), ("$[*].children", #"[{"children":[]},{}]"#, 17),
        ("$.data.*.rows", #"{"data":{"a":{"rows":[]},"b":null}}"#, 29), ("$.data.*.rows", #"{"data":{"a":[1]}}"#, 13),
        ("$[*][*]", "[[],5]", 4), ("$[*].a[*].b", #"[{"a":[{"b":[]},{"c":1}]}]"#, 16), ("$[*].a.b", #"[{"a":{"b":[]}},{"a":{}}]"#, 16),
    ])
    func whereTheRestOfThePathLeadsNowhereARecordListIsAbsent(path: String, body: String, offset: Int) throws {
        let refusal = try #require(try Self.error(body, path)), canonical = try Self.path(path).description
        #expect(refusal.kind == .recordsMissing && refusal.location.byteOffset == offset, "\(refusal)")
        #expect(refusal.message.contains(canonical))
        var policies = JSONReaderPolicies()
        policies.absentRecords = .noRecords
        #expect(try Self.error(body, path, policies: policies) == nil)
    }

    @Test func aPathThatDoesNotComeToItsWildcardIsAbsentToo() throws {
        for body in [#"{"x":1}"#, "[]", "7", #"{"data":7}"#, #"{"data":"x"}"#] {
            #expect(try Self.error(body, "$.data.*")?.kind == .recordsMissing, "\(body)")
        }
        #expect(try Self.error(#"{"groups":[{"items":5}]}"#, "$.groups[*].items")?.kind == .recordsNotAList)
        #expect(try Self.error(#"{"groups":[{},{"items":5}]}"#, "$.groups[*].items")?.location.byteOffset == 23)
    }

    @Test func emptyListsAreToldFromNoLists() throws {
        for (body, hasEmptyLists) in [
            (#"{"groups":[]}"#, false), (#"{"groups":{}}"#, false), (#"{"groups":[{"items":[]}]}"#, true), (#"{"groups":{"a":{"items":[]}}}"#, true),
        ] {
            let page = try Self.read(body, "$.groups[*].items")
            #expect(page.rows.isEmpty && page.summary.recordList == .array && page.summary.hasEmptyLists == hasEmptyLists, "\(body)")
        }
    }

    // MARK: Around the lists

    @Test func theEnvelopeIsReadBeforeBetweenAndAfterTheLists() throws {
        let body = #"{"next":"c","groups":[{"items":[{"id":1}],"total":3},{"n":"b\u0021","items":[{"id":2},{"id":3}]}],"more":true}"#
        let envelope = [
            JSONField("next", path: "$.next"), JSONField("total", path: "$.groups[0].total"), JSONField("n", path: "$.groups[1].n"),
            JSONField("second", path: "$.groups[1].items[0].id"), JSONField("more", path: "$.more"), JSONField("none", path: "$.groups[2]"),
        ]
        let page = try Page.read(body, records: try Self.path("$.groups[*].items"), Self.id, envelope: envelope)
        #expect(page.rows == Self.three)
        #expect(page.summary.envelope == [.string("c"), .int64(3), .string("b!"), .int64(2), .bool(true), .missing])
        // Also where the map has them among its members.
        let map = try Page.read(
            #"{"a":{"id":1},"next":{"id":2},"b":{"id":3}}"#, records: try Self.path("$.*"), Self.id, envelope: [JSONField("next", path: "$.next.id")])
        #expect(map.rows == Self.three && map.summary.envelope == [.int64(2)])
    }

    // MARK: Names that stand twice

    @Test func aNameThatStandsTwiceIsTreatedAsAListThatDoes() throws {
        var last = JSONReaderPolicies(), first = JSONReaderPolicies()
        (last.duplicateKeys, first.duplicateKeys) = (.last, .first)
        for body in [#"{"a":{"id":1},"b":{"id":2},"a":{"id":9},"c":{"id":3}}"#, #"{"a":[{"id":1},{"id":2}],"\u0061":[{"id":8}],"b":{"id":3}}"#] {
            #expect(try Self.error(body, "$.*")?.kind == .ambiguousEnvelope)
            #expect(try Self.error(body, "$.*", policies: last)?.kind == .ambiguousEnvelope)
            let page = try Self.read(body, "$.*", policies: first)
            #expect(page.rows == Self.three && page.summary.recordCount == 3)
        }
        #expect(try Self.error(#"{"a":{"rows":[],"rows":[]}}"#, "$.*.rows")?.kind == .ambiguousEnvelope)
        // In two maps a name may stand, and in a record a key that stands twice is the record's own trouble.
        #expect(try Self.error(#"{"x":{"a":{}},"y":{"a":{}}}"#, "$.*.*") == nil)
        #expect(try Self.read(#"{"a":{"id":1},"b":{"id":2,"id":2},"c":{"id":3}}"#, "$.*").problems == [nil, .duplicateKey, nil])
    }

    @Test func manyNamesAreToldApart() throws {
        let members = (0..<2000).map { #""name \#($0)":{"id":\#($0)}"# }
        #expect(try Self.read("{\(members.joined(separator: ","))}", "$.*").rows.count == 2000)
        for again in [0, 999, 1999] {
            let body = "{\((members + [members[again]]).joined(separator: ","))}"
            #expect(try Self.error(body, "$.*")?.kind == .ambiguousEnvelope)
        }
    }

    // MARK: Limits

    @Test func limitsCountOverAllLists() throws {
        var limits = JSONReaderLimits()
        limits.maxRecordsPerPage = 2
        let groups = #"[{"items":[{"id":1}]},{"items":[{"id":2}]},{"items":[{"id":3}]}]"#, map = #"{"a":{},"b":1,"c":{}}"#
        #expect(try Self.error(groups, "$[*].items", limits: limits)?.kind == .limit(JSONLimit(.maxRecordsPerPage, 2)))
        #expect(try Self.error(map, "$.*", limits: limits)?.kind == .limit(JSONLimit(.maxRecordsPerPage, 2)))
        limits.maxRecordsPerPage = 3
        #expect(try Self.error(groups, "$[*].items", limits: limits) == nil && Self.error(map, "$.*", limits: limits) == nil)
        // Levels count from the outermost of the page.
        limits.maxDepth = 3
        #expect(try Self.error(groups, "$[*].items", limits: limits)?.kind == .limit(JSONLimit(.maxDepth, 3)))
        limits = JSONReaderLimits()
        limits.maxKey = 4
        #expect(try Self.error(#"{"abcde":{}}"#, "$.*", limits: limits)?.kind == .limit(JSONLimit(.maxKey, 4)))
        limits = JSONReaderLimits()
        limits.maxString = 2
        #expect(try Page.read(#"{"a":"xyz","b":{"id":1}}"#, records: try Self.path("$.*"), Self.id, limits: limits).problems == [.notAnObject, nil])
    }

    // MARK: In pieces

    @Test func severalListsAreNotCut() throws {
        for path in ["$.groups[*].items", "$[*]", "$.*"] {
            let body = Array(#"{"groups":[{"items":[{"id":1}]},{"items":[{"id":2}]}]}"#.utf8)
            for chunk in [1, 7, Int.max] {
                let cutter = Cutting(records: try Self.path(path)).cutter()
                #expect(try Cuts(body, cutter, chunk: chunk).records.isEmpty)
                #expect(cutter.status == .undecided)
                #expect(try cutter.finish().hash == JSONHash(of: body))
            }
        }
    }

    static let paths = ["$[*]", "$.data[*]", "$.data[*].items", "$[*].items[*]", "$.data[*].rows[*].items", "$[*][*]", "$[0][*].items", "$[*][1]"]

    // Against what the document says itself, whole and in pieces, in windows of any size.
    @Test(.longComputation) func randomDocumentsAreReadAsTheyAreMeant() throws {
        var good = 0, refused = 0
        for seed in 0..<4000 as Range<UInt64> {
            var random = RandomDocument(seed: seed)
            let path = try Self.path(Self.paths[Int(seed) % Self.paths.count])
            let tree = RecordTree.random(path.segments[...], using: &random), body = Array(tree.text.utf8), expected = tree.records(at: path)
            var policies = JSONReaderPolicies()
            if seed.isMultiple(of: 3) { policies.absentRecords = .noRecords }
            let isMissing = policies.absentRecords == .error && (expected.lacks || !expected.isAnywhere)
            for window in [0, 1, 40] {
                var records: [RecordTree.Record] = []
                do {
                    let reader = JSONRecordReader(window: window), plan = JSONFieldPlan(Self.id)
                    let summary = try withExactBytes(body) { bytes in
                        try reader.read(bytes: bytes, records: path, plan: plan, policies: policies) { record in
                            let kind = record.problem?.kind, name = record.memberName.map { String($0) }
                            records.append(RecordTree.Record(text: String(record.raw), name: name, isBad: kind == .notAnObject))
                            if let kind, kind != .notAnObject { Issue.record("seed \(seed): \(kind)") }
                        }
                    }
                    let list: JSONPageSummary.RecordList = !expected.isAnywhere ? .absent : expected.hasNull ? .null : .array
                    #expect(!expected.hasWord && !isMissing && summary.recordList == list, "seed \(seed): \(tree.text)")
                    good += 1
                } catch let error as JSONReaderError {
                    #expect(error.kind == (expected.hasWord ? .recordsNotAList : .recordsMissing), "seed \(seed): \(tree.text)")
                    #expect(expected.hasWord || isMissing, "seed \(seed): \(tree.text)")
                    refused += 1
                }
                #expect(records == expected.records, "seed \(seed), at \(path): \(tree.text)")
            }
            let cutting = Cutting(records: path, policies: policies), whole = try wholePage(body, cutting)
            for chunk in Cutting.chunkSizes { try expectSameVerdict(body, cutting, chunk: chunk, .best, whole: whole, "seed \(seed)") }
        }
        // Neither side of it is rare.
        #expect(good > 1000 && refused > 500, "\(good) and \(refused)")
    }

    @Test func aFieldHasNoWildcard() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = JSONField("all", path: JSONPath(segments: [.key("a"), .each]))
        }.trap(says: "a field has one value, a path with a wildcard leads to many")
    }
}
