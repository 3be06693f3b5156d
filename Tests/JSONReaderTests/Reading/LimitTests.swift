import Foundation
import JSONReader
import Testing

struct LimitTests {
    func nested(_ depth: Int, _ open: String, _ core: String, _ close: String) -> String {
        String(repeating: open, count: depth) + core + String(repeating: close, count: depth)
    }

    // J3
    @Test(arguments: [("[", "", "]"), (#"{"a":"#, "1", "}"), (#"[{"":"#, "[]", "}]")])
    func nestingIsCountedAndNamed(open: String, core: String, close: String) throws {
        let levels = open.hasPrefix("[{") ? 2 : 1
        let extra = core == "[]" ? 1 : 0
        for depth in [1, 63, 64, 127, 128, 129, 512, 513, 50_000] {
            let text = nested(depth, open, core, close)
            let isAllowed = depth * levels + extra <= 128
            #expect(accepts(text) == isAllowed)
            let error = pageError("{\"data\":[],\"x\":\(text)}", records: "$.data")
            #expect((error == nil) == (depth * levels + extra <= 127))
            if let error {
                #expect(error.kind == .limit(try #require(error.limit)))
                #expect(error.limit?.description == "max_depth = 128")
                #expect(error.message.contains("max_depth = 128"))
            }
        }
    }

    @Test func onlyOpeningBracketsEndInTheLimitAsWell() {
        for text in [String(repeating: "[", count: 100_000), String(repeating: #"[{"":"#, count: 50_000)] {
            #expect(!accepts(text))
            #expect(pageError(text)?.limit?.name == .maxDepth)
        }
    }

    @Test func aSmallThreadSurvivesAnyNesting() async {
        let plan = JSONFieldPlan()
        plan.define([JSONField(key: "a", capture: .record(plan)), JSONField("first", path: "$[0]")])
        defer { plan.invalidate() }
        let results: [Bool] = await withCheckedContinuation { continuation in
            let thread = Thread {
                var limits = JSONReaderLimits()
                limits.maxDepth = 1_000_000
                var results: [Bool] = []
                for (open, close) in [("[", "]"), (#"{"a":"#, "}"), (#"{"a":["#, "]}")] {
                    let text = "[" + String(repeating: open, count: 100_000) + "0" + String(repeating: close, count: 100_000) + "]"
                    // Refused at the default limit, walked to the end without one.
                    results.append((try? JSONRecordReader().validate(body: Array(text.utf8))) == nil)
                    let summary = try? JSONRecordReader().read(body: Array(text.utf8), plan: plan, limits: limits) { _ in }
                    results.append(summary?.recordCount == 1)
                }
                continuation.resume(returning: results)
            }
            thread.stackSize = 512 << 10
            thread.start()
        }
        #expect(results == Array(repeating: true, count: 6))
    }

    @Test func aLongStringRefusesItsRecordOrOutsideOfRecordsThePage() throws {
        var limits = JSONReaderLimits()
        limits.maxString = 5
        let records = #"[{"v":"12345"},{"v":"123456"},{"x":"\u0041\u0041\u0041\u0041\u0041"},{"x":"\u00e9\u00e9\u00e9"},{"v":1}]"#
        let page = try Page.read(records, [JSONField(key: "v")], limits: limits)
        #expect(page.problems.map { $0 != nil } == [false, true, false, true, false])
        guard case .limit(let exceeded)? = page.problems[1] else {
            Issue.record("not refused for a limit")
            return
        }
        #expect(exceeded.description == "max_string = 5")
        let error = try #require(pageError(#"{"data":[],"x":"123456"}"#, records: "$.data", limits: limits))
        #expect(error.limit?.description == "max_string = 5")
        #expect(error.location.byteOffset == 15)
    }

    // A cursor that was left out would be the end of a list.
    @Test func aLimitThatAValueOfTheEnvelopeExceedsRefusesThePageAlsoWhereTheDocumentIsTheRecord() throws {
        var limits = JSONReaderLimits()
        limits.maxString = 5
        limits.maxNumberDigits = 5
        for (value, limit) in [("\"123456\"", "max_string = 5"), ("\"\\u0041bcdef\"", "max_string = 5"), ("123456", "max_number_digits = 5")] {
            for (document, path) in [("{\"next\":\(value)}", "$.next"), ("{\"meta\":{\"next\":[\(value)]}}", "$.meta.next[0]")]
                as [(String, JSONPath)]
            {
                for field in [JSONField("next", path: path), JSONField("next", path: path, capture: .raw)] {
                    let error = try #require(pageError(document, [JSONField(key: "v")], envelope: [field], limits: limits), "\(document)")
                    #expect(error.limit?.description == limit)
                }
                #expect(try Page.problem(document, limits: limits) != nil)
            }
        }
    }

    // The text is promised to be there: of a record that is refused, too.
    @Test func theJSONTextOfAStringThatIsTooLongIsItsText() throws {
        var limits = JSONReaderLimits()
        limits.maxString = 5
        var texts: [String] = []
        let reader = JSONRecordReader(), plan = JSONFieldPlan([JSONField("v", path: "$.v", capture: .raw)])
        _ = try reader.read(body: Array(#"[{"v":"123456"}]"#.utf8), plan: plan, limits: limits) { record in
            #expect(record.problem != nil)
            texts.append(record.rawValue(of: 0).map { $0.withBytes { String(decoding: $0, as: UTF8.self) } } ?? "none")
        }
        #expect(texts == [#""123456""#])
    }

    @Test func aLongKeyRefusesItsRecordOrThePage() throws {
        var limits = JSONReaderLimits()
        limits.maxKey = 4
        #expect(try Page.problem(#"{"abcd":1,"\u0061bcd2":{}}"#, limits: limits).map { "\($0)" }?.contains("max_key = 4") == true)
        #expect(try Page.problem(#"{"abcd":1}"#, limits: limits) == nil)
        #expect(pageError(#"{"data":[],"abcde":1}"#, records: "$.data", limits: limits)?.limit?.name == .maxKey)
    }

    @Test func digitsAreCountedWhereverTheyStand() throws {
        var limits = JSONReaderLimits()
        limits.maxNumberDigits = 6
        for (number, isGood) in [
            ("123456", true), ("1234567", false), ("-123456", true), ("123.456", true), ("123.4567", false), ("123.4e56", true),
            ("123.4e567", false),
            ("0.000001", false),
        ] {
            #expect((try Page.problem("{\"v\":\(number)}", limits: limits) == nil) == isGood, "\(number)")
        }
        #expect(pageError(#"{"data":[],"x":1234567}"#, records: "$.data", limits: limits)?.limit?.description == "max_number_digits = 6")
        // J4
        let digits = String(repeating: "7", count: 1_000_000)
        for number in [digits, "1." + digits, "1e" + digits, "-0." + digits] {
            let page = try Page.read("[{\"v\":\(number)},{\"v\":1}]", [JSONField(key: "v")])
            #expect(page.problems[0].map { "\($0)" }?.contains("max_number_digits = 1000") == true)
            #expect(page.rows[1] == [.int64(1)])
        }
        let longest = String(repeating: "7", count: 1000)
        #expect(try Page.value(longest) == .bigNumber(longest))
    }

    @Test func recordsAreCounted() throws {
        var limits = JSONReaderLimits()
        limits.maxRecordsPerPage = 3
        #expect(try Page.read("[{},{},{}]", [], limits: limits).rows.count == 3)
        let error = try #require(pageError("[{},{},{},{}]", limits: limits))
        #expect(error.limit?.description == "max_records_per_page = 3")
        #expect(error.location.byteOffset == 10)
    }

    @Test func aSmallTextCannotClaimMuchMemory() throws {
        let wide = JSONFieldPlan((0..<100).map { JSONField(key: "k\($0)") })
        let plan = JSONFieldPlan([JSONField(key: "list", capture: .record(wide)), JSONField(key: "id")])
        let bomb = "{\"list\":[" + Array(repeating: "{}", count: 100_000).joined(separator: ",") + "]}"
        var problems: [String] = []
        _ = try JSONRecordReader().read(body: Array("[\(bomb),{\"id\":1}]".utf8), plan: plan) { record in
            problems.append(record.problem.map { "\($0)" } ?? "")
            if record.index == 1 { #expect(record[1].int64Value == 1) }
        }
        #expect(problems.count == 2)
        #expect(problems[0].contains("max_cells = 1000000"))
        #expect(problems[1].isEmpty)
        #expect(
            pageError(
                bomb.replacing("list", with: "a"), records: "$.a[0]",
                envelope: [JSONField(key: "a", capture: .record(wide))])?.limit?.name
                == .maxCells)
    }

    @Test func manyKeysAndManyElementsAreWalked() throws {
        // J4
        let keys = "{" + (0..<1_000_000).map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        #expect(try Page.read(keys, [JSONField(key: "999999")]).rows == [[.int64(0)]])
        #expect(try Page.read(keys, [JSONField(key: "999999")]).problems == [nil])
        let elements = "{\"v\":[" + String(repeating: "1,", count: 2_000_000) + "1]}"
        #expect(try Page.read(elements, [JSONField("v", path: "$.v[2000000]")]).rows == [[.int64(1)]])
        let escapes = "{\"v\":\"" + String(repeating: #"\u0041"#, count: 700_000) + "\"}"
        #expect(try Page.read(escapes, [JSONField(key: "v")]).rows == [[.string(String(repeating: "A", count: 700_000))]])
        let key = "{\"" + String(repeating: "k", count: 16 << 20) + "\":1}"
        #expect(try Page.problem(key).map { "\($0)" }?.contains("max_key = 1024") == true)
    }
}

extension JSONReaderError {
    var limit: JSONLimit? {
        if case .limit(let limit) = kind { limit } else { nil }
    }
}
