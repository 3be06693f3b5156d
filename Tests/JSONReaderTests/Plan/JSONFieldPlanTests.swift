import JSONReader
import Testing

struct JSONFieldPlanTests {
    @Test func theFirstPathThatExistsWins() throws {
        let size = JSONField("size", paths: ["$.size_kb", "$.size", "$.stats.size"])
        let page = try Page.read(#"[{"size":2,"size_kb":1},{"stats":{"size":3}},{"size":4},{"size_kb":null,"size":5},{}]"#, [size])
        #expect(page.rows == [[.int64(1)], [.int64(3)], [.int64(4)], [.null], [.missing]])
    }

    @Test func aFieldCanBeAPrefixOfAnotherAndWantedTwice() throws {
        let page = try Page.read(
            #"[{"owner":{"login":"a","id":7},"n":1}]"#,
            [
                JSONField("raw", path: "$.owner", capture: .raw), JSONField("login", path: "$.owner.login"),
                JSONField("again", path: "$.owner"),
                JSONField("id", path: "$.owner.id"), JSONField("n", path: "$.n"), JSONField("all", path: "$"), JSONField("m", path: "$.n"),
            ])
        let owner = JSONValue.raw(#"{"login":"a","id":7}"#)
        #expect(
            page.rows == [
                [
                    owner, .string("a"), owner, .int64(7), .int64(1), .raw(#"{"owner":{"login":"a","id":7},"n":1}"#),
                    .int64(1),
                ]
            ])
    }

    @Test func rawFieldsGiveTheTextOfAnyValue() throws {
        for text in ["1.50", "null", "true", #""a\u0041""#, "[1, 2]", #"{"a" : 1}"#, "1e400"] {
            #expect(try Page.value(text, capture: .raw) == .raw(text))
        }
        for text in ["[]", "{}", "[1,[2]]", #"{"a":{}}"#] {
            #expect(try Page.value(text) == .raw(text))
        }
    }

    @Test func anIndexReachesIntoArraysAndNumberedKeys() throws {
        let page = try Page.read(
            #"[{"a":[10,[20,21],{"b":30}]},{"a":{"0":"zero","2":{"b":"two"}}},{"a":5},{"a":[]}]"#,
            [JSONField("0", path: "/a/0"), JSONField("11", path: "$.a[1][1]"), JSONField("2b", path: "$.a[2].b")])
        #expect(
            page.rows == [
                [.int64(10), .int64(21), .int64(30)], [.string("zero"), .missing, .string("two")], [.missing, .missing, .missing],
                [.missing, .missing, .missing],
            ])
    }

    @Test func rowsThatAreArraysAreRecordsWhenAFieldIndexesThem() throws {
        let page = try Page.read(#"[[1,"a"],[2],{"0":3}]"#, [JSONField("id", path: "$[0]"), JSONField("name", path: "$[1]")])
        #expect(page.rows == [[.int64(1), .string("a")], [.int64(2), .missing], [.int64(3), .missing]])
        #expect(page.problems == [nil, nil, nil])
    }

    @Test func keysCompareByTheirDecodedBytes() throws {
        let fields = [JSONField(key: "a"), JSONField(key: "größe"), JSONField(key: "\u{E9}"), JSONField(key: ""), JSONField(key: "a\"b")]
        let page = try Page.read(#"[{"\u0061":1,"gr\u00f6\u00DFe":2,"e\u0301":3,"":4,"a\"b":5,"aa":6}]"#, fields)
        #expect(page.rows == [[.int64(1), .int64(2), .missing, .int64(4), .int64(5)]])
    }

    @Test func manyKeysOfAllLengthsAreTold() throws {
        let keys = (0..<300).map { String(repeating: "k", count: $0 % 40) + "\($0)" }
        let body = "[{" + keys.enumerated().map { "\"\($1)\":\($0)" }.joined(separator: ",") + "}]"
        #expect(try Page.read(body, keys.map { JSONField(key: $0) }).rows == [(0..<300).map { .int64($0) }])
    }

    @Test func aNestedPlanReadsObjectsArraysAndForeignKeys() throws {
        let user = JSONFieldPlan([JSONField(key: "id"), JSONField(key: "login")])
        let plan = JSONFieldPlan([JSONField(key: "user", capture: .record(user)), JSONField(key: "n")])
        let body =
            #"[{"user":{"login":"x","id":1},"n":1},{"user":17},{"user":null},{},"#
            + #"{"user":[{"id":2},3,"k",[4],null,{"id":5,"login":"y"}],"n":6}]"#
        var seen: [String] = []
        _ = try JSONRecordReader().read(body: Array(body.utf8), plan: plan) { record in
            switch record[0] {
            case .object(let user): seen.append("\(JSONValue(user[0])) \(JSONValue(user[1])) \(user.raw) \(user.index)")
            case .array(let users):
                #expect(users.count == 6)
                var items: [String] = []
                users.forEachRaw { cell, raw in
                    if case .object(let user) = cell {
                        items.append("\(JSONValue(user[0]))\(JSONValue(user[1]))")
                    } else {
                        items.append("\(JSONValue(cell))")
                    }
                    items.append("\(raw)")
                }
                seen.append(items.joined(separator: " "))
                #expect(Array(users).count == 6)
                #expect(record.rawValue(of: 0).map(String.init) == #"[{"id":2},3,"k",[4],null,{"id":5,"login":"y"}]"#)
                #expect(record[1].int64Value == 6)
            default: seen.append("\(JSONValue(record[0]))")
            }
        }
        #expect(
            seen == [
                #"int64(1) string("x") {"login":"x","id":1} 0"#, "int64(17)", "null", "missing",
                #"int64(2)missing {"id":2} int64(3) 3 string("k") "k" raw("[4]") [4] null null int64(5)string("y") {"id":5,"login":"y"}"#,
            ])
    }

    @Test func aPlanCanReadItself() throws {
        let person = JSONFieldPlan()
        person.define([
            JSONField(key: "id"), JSONField(key: "mother", capture: .record(person)), JSONField(key: "children", capture: .record(person)),
        ])
        defer { person.invalidate() }
        func ids(_ record: JSONRecord) -> String {
            var text = record[0].int64Value.map { "\($0)" } ?? "?"
            if case .object(let mother) = record[1] { text += "<\(ids(mother))" }
            if case .array(let children) = record[2] {
                text += "(" + children.map { if case .object(let child) = $0 { ids(child) } else { "-" } }.joined(separator: " ") + ")"
            }
            return text
        }
        var seen: [String] = []
        let body =
            #"[{"mother":{"id":2,"mother":{"children":[{"id":4},null],"id":3}},"id":1,"children":[{"id":5,"children":[]},{"id":6}]}]"#
        _ = try JSONRecordReader().read(body: Array(body.utf8), plan: person) { seen.append(ids($0)) }
        #expect(seen == ["1<2<3(4 -)(5() 6)"])
    }

    @Test func twoPlansCanReadOneValueAndEachOther() throws {
        let a = JSONFieldPlan()
        let b = JSONFieldPlan()
        a.define([JSONField(key: "x"), JSONField(key: "n", capture: .record(a)), JSONField("as b", path: "$.n", capture: .record(b))])
        b.define([JSONField(key: "y"), JSONField(key: "n", capture: .record(a)), JSONField("as b", path: "$.n", capture: .record(b))])
        defer { a.invalidate() }
        // Read as a tree of copies this would be 2^60 records; both plans together need two records a level.
        let depth = 60
        let body = "[" + String(repeating: #"{"x":1,"y":2,"n":"#, count: depth) + "7" + String(repeating: "}", count: depth) + "]"
        var count = 0
        _ = try JSONRecordReader().read(body: Array(body.utf8), plan: a) { record in
            #expect(record.problem == nil)
            var current = record
            while case .object(let next) = current[2] {
                #expect(next[0].int64Value == 2)
                count += 1
                if case .object(let other) = current[1] { #expect(other[0].int64Value == 1) } else { Issue.record("not read by plan a") }
                current = next
            }
            #expect(current[2].int64Value == 7)
        }
        #expect(count == depth - 1)
    }

    @Test func keysNobodyAsksForAreListedOnDemand() throws {
        let nested = JSONFieldPlan([JSONField(key: "id")], collectsUnknownKeys: true)
        let plan = JSONFieldPlan(
            [JSONField(key: "a"), JSONField("deep", path: "$.b.c"), JSONField(key: "n", capture: .record(nested))],
            collectsUnknownKeys: true)
        var seen: [[String]] = []
        _ = try JSONRecordReader().read(
            body: Array(#"[{"z":1,"a":2,"b":{"x":1},"\u0079":3,"n":{"id":1,"q":{}}},{"a":1}]"#.utf8),
            plan: plan
        ) {
            record in
            seen.append(record.unknownKeys.compactMap(\.stringValue))
            if case .object(let nested) = record[2] { seen.append(nested.unknownKeys.compactMap(\.stringValue)) }
        }
        #expect(seen == [["z", "y"], ["q"], []])
    }

    @Test func oneReaderTakesPagesOfDifferentPlansOneAfterTheOther() throws {
        let reader = JSONRecordReader()
        let ids = JSONFieldPlan([JSONField(key: "id")])
        let names = JSONFieldPlan([JSONField(key: "name"), JSONField(key: "id")])
        var seen: [JSONValue] = []
        for _ in 0..<3 {
            _ = try reader.read(body: Array(#"[{"id":1}]"#.utf8), plan: ids) { seen.append(JSONValue($0[0])) }
            #expect(throws: JSONReaderError.self) { try reader.read(body: Array(#"[{"id":1},]"#.utf8), plan: names) { _ in } }
            _ = try reader.read(body: Array(#"{"d":[{"name":"x"}]}"#.utf8), records: "$.d", plan: names) { seen.append(JSONValue($0[0])) }
            reader.releaseBuffers()
        }
        #expect(seen == [.int64(1), .string("x"), .int64(1), .string("x"), .int64(1), .string("x")])
    }

    @Test func aPlanIsSharedByReadersOnManyThreads() async throws {
        let nested = JSONFieldPlan([JSONField(key: "s")])
        let plan = JSONFieldPlan([JSONField(key: "id"), JSONField(key: "n", capture: .record(nested))])
        let body = Array(("[" + (0..<2000).map { #"{"id":\#($0),"n":{"s":"t\u00e9\#($0)"}}"# }.joined(separator: ",") + "]").utf8)
        let sums = try await withThrowingTaskGroup(of: Int64.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var sum: Int64 = 0
                    _ = try JSONRecordReader().read(body: body, plan: plan) { record in
                        if case .object(let object) = record[1] { sum += Int64(object[0].stringValue?.utf8.count ?? 0) }
                        sum += record[0].int64Value ?? 0
                    }
                    return sum
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(sums).count == 1)
        #expect(sums[0] > 1_999_000)
    }

    @Test func plansInACircleAreFreedOnceOneIsInvalidated() {
        weak var kept: JSONFieldPlan?
        weak var other: JSONFieldPlan?
        do {
            let a = JSONFieldPlan()
            let b = JSONFieldPlan()
            let outside = JSONFieldPlan([JSONField(key: "x")])
            let field = { (plan: JSONFieldPlan) in JSONField(key: "n", capture: .record(plan)) }
            a.define([field(a), field(b), field(outside)])
            b.define([field(b), field(a), field(outside)])
            (kept, other) = (a, b)
            a.invalidate()
            #expect(outside.fields.count == 1)
        }
        #expect(kept == nil)
        #expect(other == nil)
    }

    @Test func misuseOfAPlanTraps() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            JSONFieldPlan([]).define([])
        }.trap(says: "the fields are already defined")
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try JSONRecordReader().read(
                body: Array("[]".utf8),
                plan: JSONFieldPlan()
            ) { _ in }
        }.trap(says: "has no fields; call define")
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let open = JSONFieldPlan([JSONField(key: "n", capture: .record(JSONFieldPlan()))])
            _ = try JSONRecordReader().read(body: Array("[]".utf8), plan: open) { _ in }
        }.trap(says: "has no fields; call define")
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = JSONField("self", path: .root, capture: .record(JSONFieldPlan()))
        }.trap(says: "$ is the record itself")
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try JSONRecordReader().read(
                body: Array("[{}]".utf8),
                plan: JSONFieldPlan([])
            ) { _ = $0[0] }
        }.trap(says: "the plan has no field 0")
    }
}
