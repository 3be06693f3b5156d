import JSONReader
import Testing

struct PolicyTests {
    func policies(_ change: (inout JSONReaderPolicies) -> Void) -> JSONReaderPolicies {
        var policies = JSONReaderPolicies()
        change(&policies)
        return policies
    }

    @Test func aNumberBeyondDoublesRefusesItsRecordOnly() throws {
        // J2
        let body = #"[{"v":1},{"v":1e400},{"v":2},{"x":[{"y":-1.5e9999}]},{"v":3}]"#
        let page = try Page.read(body, [JSONField(key: "v")])
        #expect(page.problems == [nil, .numberOverflow, nil, .numberOverflow, nil])
        #expect(page.rows[4] == [.int64(3)])
        #expect(try Page.value("1e400", policies: policies { $0.numberOverflow = .keep }) == .bigNumber("1e400"))
        // Too small is exact as a decimal, so it is kept.
        #expect(try Page.problem(#"{"v":1e-400}"#) == nil)
    }

    @Test func bigIntegersAreKeptOrRefuseTheRecord() throws {
        #expect(try Page.problem(#"{"v":9223372036854775808}"#) == nil)
        #expect(try Page.problem(#"{"v":[9223372036854775808]}"#, policies: policies { $0.bigIntegers = .rejectRecord }) == .bigInteger)
        #expect(try Page.problem(#"{"v":9223372036854775807}"#, policies: policies { $0.bigIntegers = .rejectRecord }) == nil)
    }

    @Test(arguments: [
        #"{"a":1,"a":2}"#, #"{"a":1,"a":1}"#, #"{"a":1,"\u0061":2}"#, #"{"x":{"y":[{"k":1,"l":2,"k":3}]}}"#, #"{"":1,"":2}"#,
        #"{"\ud800":1,"\udc00":2}"#,
    ])
    func aKeyThatStandsTwiceRefusesItsRecordWhereverItIs(record: String) throws {
        let page = try Page.read("[{\"a\":0},\(record),{\"a\":9}]", [JSONField(key: "a")])
        #expect(page.problems == [nil, .duplicateKey, nil])
        #expect(page.rows[2] == [.int64(9)])
        #expect(try Page.problem(record, policies: policies { $0.duplicateKeys = .last }) == nil)
        #expect(try Page.problem(record, policies: policies { $0.duplicateKeys = .first }) == nil)
    }

    @Test func duplicatesAreFoundAmongManyKeysAndBetweenEqualShapes() throws {
        func object(_ keys: [String]) -> String { "{" + keys.map { "\"\($0)\":0" }.joined(separator: ",") + "}" }
        for count in [2, 15, 16, 17, 40, 1000] {
            let keys = (0..<count).map { "key\($0)" }
            let good = object(keys)
            for repeated in [0, count / 2, count - 1] {
                let bad = object(keys + [keys[repeated]])
                let page = try Page.read("[\(good),\(bad),\(good),\(bad),\(good)]", [])
                #expect(page.problems == [nil, .duplicateKey, nil, .duplicateKey, nil], "\(count) keys, \(repeated) twice")
            }
        }
        // Inside and outside of each other is not twice.
        #expect(try Page.problem(#"{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}"#) == nil)
    }

    @Test func theLastOrFirstOfEqualKeysCountsWithAllThatIsBelow() throws {
        let fields = [JSONField("login", path: "$.o.login"), JSONField("id", path: "$.o.id"), JSONField("o", path: "$.o", capture: .raw)]
        let body = #"[{"o":{"login":"a","id":1},"o":{"login":"b"}}]"#
        let last = try Page.read(body, fields, policies: policies { $0.duplicateKeys = .last })
        #expect(last.rows == [[.string("b"), .missing, .raw(#"{"login":"b"}"#)]])
        let first = try Page.read(body, fields, policies: policies { $0.duplicateKeys = .first })
        #expect(first.rows == [[.string("a"), .int64(1), .raw(#"{"login":"a","id":1}"#)]])
        let scalar = try Page.read(#"[{"o":{"login":"a"},"o":null}]"#, fields, policies: policies { $0.duplicateKeys = .last })
        #expect(scalar.rows == [[.missing, .missing, .raw("null")]])
    }

    @Test(arguments: [#"{"v":"\uD800"}"#, #"{"x":["\udfff"]}"#, #"{"\uD800":1}"#, #"{"v":"\uD83D\u0041"}"#])
    func halfASurrogatePairIsReplacedOrRefusesTheRecord(record: String) throws {
        #expect(try Page.problem(record) == nil)
        #expect(try Page.problem(record, policies: policies { $0.loneSurrogates = .rejectRecord }) == .loneSurrogate)
        #expect(try Page.problem(#"{"v":"\uD83D\uDE00"}"#, policies: policies { $0.loneSurrogates = .rejectRecord }) == nil)
    }

    @Test func zeroInTextIsKeptStrippedOrRefusesTheRecord() throws {
        let text = #""a\u0000b\u0000""#
        #expect(try Page.value(text) == .string("a\0b\0"))
        #expect(try Page.value(text, policies: policies { $0.nulInText = .strip }) == .string("ab"))
        #expect(try Page.value(text, capture: .raw, policies: policies { $0.nulInText = .strip }) == .raw(text))
        #expect(try Page.problem("{\"x\":\(text)}", policies: policies { $0.nulInText = .rejectRecord }) == .nulInText)
        #expect(try Page.problem(#"{"x":"\u0001"}"#, policies: policies { $0.nulInText = .rejectRecord }) == nil)
    }

    @Test(arguments: [
        [0xFF], [0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
        [0xF0, 0x8F, 0xBF, 0xBF],
        [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFC, 0x83, 0xBF, 0xBF, 0xBF, 0xBF], [0xFE], [0xC3], [0xE2, 0x82],
        [0xF0, 0x9F, 0x98],
    ])
    func whatIsNotUTF8RefusesThePageOrIsReplaced(malformed: [UInt8]) throws {
        // J5
        for prefix in ["", "é€😀", String(repeating: "x", count: 100)] {
            let start = Array("[{\"v\":\"\(prefix)".utf8)
            let body = start + malformed + Array("a\"}]".utf8)
            #expect {
                try Page.read(body, [JSONField(key: "v")])
            } throws: { error in
                (error as? JSONReaderError)?.kind == .invalidUTF8 && (error as? JSONReaderError)?.location.byteOffset == start.count
            }
            let page = try Page.read(body, [JSONField(key: "v")], policies: policies { $0.invalidUTF8 = .replace })
            #expect(page.rows == [[.string(prefix + String(decoding: malformed, as: UTF8.self) + "a")]])
            #expect(page.summary.wasRepaired)
            #expect(!accepts(body))
            #expect(accepts(body, policies: policies { $0.invalidUTF8 = .replace }))
        }
    }

    @Test func rareButGoodUTF8IsTaken() throws {
        for text in [
            "\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}", "\u{FEFF}",
            "\u{202E}abc",
        ] {
            #expect(try Page.value("\"\(text)\"") == .string(text))
        }
    }

    @Test func aByteOrderMarkIsSkippedOrRefused() throws {
        let body: [UInt8] = [0xEF, 0xBB, 0xBF] + Array(#"[{"v":1}]"#.utf8)
        #expect(try Page.read(body, [JSONField(key: "v")]).rows == [[.int64(1)]])
        #expect(throws: JSONReaderError.self) { try Page.read(body, [], policies: policies { $0.byteOrderMark = .rejectPage }) }
        // Offsets in errors are those of the body as it came.
        #expect {
            try Page.read([0xEF, 0xBB, 0xBF] + Array("[x]".utf8), [])
        } throws: { error in
            (error as? JSONReaderError)?.location.byteOffset == 4
        }
        #expect(!accepts([0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF, 0x7B, 0x7D]))
    }

    @Test func widerCodeUnitsAreRefusedByName() throws {
        let text = Array(#"[{"v":1}]"#.utf16)
        let little = text.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big = text.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        for body in [little, big, [0xFF, 0xFE] + little, [0xFE, 0xFF] + big] {
            #expect {
                try Page.read(body, [])
            } throws: { error in
                (error as? JSONReaderError)?.kind == .encoding
            }
        }
    }

    @Test(arguments: ["", " ", "\n\t\r ", "\u{FEFF}", "\u{FEFF} "])
    func anEmptyBodyIsAnErrorUnlessItStandsForNoRecords(body: String) throws {
        #expect(pageError(body)?.kind == .emptyBody)
        let page = try Page.read(body, [], envelope: [JSONField(key: "next")], policies: policies { $0.emptyBody = .noRecords })
        #expect(page.summary.recordList == .emptyBody)
        #expect(page.summary.envelope == [.missing])
        #expect(page.rows.isEmpty)
        #expect(!accepts(body))
    }

    @Test(arguments: ["[] []", "[]x", "{}{}", "[{}],", "[]]", "1 2", "\"\"x", "[] \u{0}", "[]\u{FEFF}"])
    func whatFollowsTheDocumentRefusesThePage(body: String) {
        #expect(pageError(body)?.kind == .trailingData)
    }

    @Test(arguments: ["{}", #"{"data": {}}"#, #"{"other": [1]}"#])
    func aListThatIsNotThereIsAnErrorUnlessItStandsForNoRecords(body: String) throws {
        let path = JSONPath(keys: ["data", "items"])
        #expect {
            try JSONRecordReader().read(body: Array(body.utf8), records: path, plan: JSONFieldPlan([])) { _ in }
        } throws: { error in
            (error as? JSONReaderError)?.kind == .recordsMissing
        }
        let summary = try JSONRecordReader().read(
            body: Array(body.utf8), records: path, plan: JSONFieldPlan([]), policies: policies { $0.absentRecords = .noRecords }
        ) { _ in Issue.record("a record") }
        #expect(summary.recordList == .absent && summary.recordCount == 0)
    }
}
