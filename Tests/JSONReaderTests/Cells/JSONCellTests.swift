import JSONReader
import Testing

struct JSONCellTests {
    // J2
    @Test(arguments: [
        ("0", JSONValue.int64(0)), ("-1", .int64(-1)), ("9223372036854775807", .int64(.max)), ("-9223372036854775808", .int64(.min)),
        ("9223372036854775808", .bigNumber("9223372036854775808")), ("-9223372036854775809", .bigNumber("-9223372036854775809")),
        ("18446744073709551616", .bigNumber("18446744073709551616")), ("18446744073709551617", .bigNumber("18446744073709551617")),
        ("10000000000000000999", .bigNumber("10000000000000000999")), ("999999999999999999", .int64(999_999_999_999_999_999)),
        ("9999999999999999999", .bigNumber("9999999999999999999")), ("1.0", .double(1)), ("1e6", .double(1e6)), ("1E+2", .double(100)),
        ("1.000000000000000005", .double(1)), ("-0", .double(-0.0)), ("-0.0", .double(-0.0)), ("0e99999999999999999999", .double(0)),
        ("1E-999", .bigNumber("1E-999")), ("-1e-400", .bigNumber("-1e-400")), ("5e-324", .double(.leastNonzeroMagnitude)),
        ("2.2250738585072014e-308", .double(.leastNormalMagnitude)),
        ("1.7976931348623157e308", .double(1.7976931348623157e308)), ("0.1", .double(0.1)), ("123456.789e3", .double(123_456_789)),
        ("9007199254740993.0", .double(9007199254740993.0)), ("1e22", .double(1e22)),
        ("3.141592653589793238462643", .double(3.141592653589793238462643)),
        ("0.000000000000000000000000000001", .double(1e-30)),  // Just above the middle between two doubles.
        ("100000000000000000000000.5", .double(1.0000000000000001e23)), ("1e23", .double(9.999999999999999e22)),
    ])
    func numbersAreExactOrSayThatTheyAreNot(text: String, expected: JSONValue) throws {
        let value = try Page.value(text)
        #expect(value == expected)
        if case .double(let number) = value, case .double(let wanted) = expected { #expect(number.bitPattern == wanted.bitPattern) }
        #expect(try Page.value(text, capture: .raw) == .raw(text))
    }

    @Test func allDigitsOfANumberCanBeHad() throws {
        let plan = JSONFieldPlan([JSONField(key: "v"), JSONField(key: "w")])
        _ = try JSONRecordReader().read(body: Array(#"[{"v":1.000000000000000005}]"#.utf8), plan: plan) { record in
            #expect(record.rawValue(of: 0).map(String.init) == "1.000000000000000005")
            #expect(record.rawValue(of: 1) == nil)
        }
    }

    @Test func doublesAreTheNearestForRandomDigits() throws {
        var random = SystemRandomNumberGenerator()
        let texts = (0..<3000).map { _ in
            let digits = (0..<Int.random(in: 1...25, using: &random)).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
            return "\(Int.random(in: 1...9, using: &random)).\(digits)e\(Int.random(in: -340...320, using: &random))"
        }
        var policies = JSONReaderPolicies()
        policies.numberOverflow = .keep
        let page = try Page.read(
            "[{\"v\":[" + texts.joined(separator: ",") + "]}]",
            texts.indices.map { JSONField("v", path: JSONPath(segments: [.key("v"), .index($0)])) }, policies: policies)
        for (text, value) in zip(texts, page.rows[0]) {
            let expected = Double(text)!
            if expected.isInfinite || expected == 0 {
                #expect(value == .bigNumber(text))
            } else {
                #expect(
                    value == .double(expected),
                    "\(text)")
            }
        }
    }

    @Test(arguments: [
        (#""""#, ""), (#""a""#, "a"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9\u20AC""#, "Aé€"),
        (#""\uD83D\uDE00""#, "😀"),
        (#""😀 é""#, "😀 é"), (#""\u0000x""#, "\0x"), (#""\uD800""#, "\u{FFFD}"), (#""\uDC00a""#, "\u{FFFD}a"),
        (#""\uD800\uD800\n""#, "\u{FFFD}\u{FFFD}\n"),
        (#""\uD888\u1234""#, "\u{FFFD}\u{1234}"), (#""\uDd1e\uD834""#, "\u{FFFD}\u{FFFD}"), (#""\ud800abc""#, "\u{FFFD}abc"),
        (#""a\\""#, "a\\"),
        (#""\\u0041""#, "\\u0041"), (#""\u202e\u007f""#, "\u{202e}\u{7f}"), ("\"\u{7f}\u{2028}\"", "\u{7f}\u{2028}"),
    ])
    func stringsAreDecoded(text: String, expected: String) throws {
        let value = try Page.value(text)
        #expect(value == .string(expected))
        #expect(value.stringValue.map { Array($0.utf8) } == Array(expected.utf8))
        // The same text read only by way of a nested plan and an envelope: both have buffers of their own.
        let body = "{\"n\":[{\"v\":\(text)},\(text)],\"v\":\(text)}"
        let nested = JSONFieldPlan([JSONField(key: "v")])
        let plan = JSONFieldPlan([JSONField(key: "n", capture: .record(nested)), JSONField(key: "v")])
        let summary = try JSONRecordReader().read(
            body: Array(body.utf8), plan: plan,
            envelope: JSONFieldPlan([JSONField(key: "v")])
        ) { record in
            guard case .array(let items) = record[0] else {
                Issue.record("not an array")
                return
            }
            var texts: [String?] = []
            for item in items {
                if case .object(let object) = item { texts.append(object[0].stringValue) } else { texts.append(item.stringValue) }
            }
            #expect(texts == [expected, expected])
            if case .string(let string) = record[1] {
                #expect(string == expected)
                #expect(!(string == expected + "x"))
                #expect(string.isEmpty == expected.isEmpty)
                #expect(string.utf8Count == expected.utf8.count)
            }
        }
        #expect(summary.envelope == [JSONValue.string(expected)])
    }

    @Test func normalFormsStayApart() throws {
        // J2: keys and values that differ only in their normal form are different.
        let page = try Page.read("[{\"\u{E9}\":\"nfc\",\"e\u{301}\":\"nfd\"}]", [JSONField(key: "\u{E9}"), JSONField(key: "e\u{301}")])
        #expect(page.rows == [[.string("nfc"), .string("nfd")]])
        #expect(page.problems == [nil])
    }

    @Test func theHashIsThatOfTheRecordsText() throws {
        let bodies = [#"[{"a":1},  {"a":1} ,{"a": 1}]"#, #"{"x":[{"a":1}]}"#]
        var hashes: [JSONHash] = []
        let plan = JSONFieldPlan([JSONField(key: "a")])
        _ = try JSONRecordReader().read(body: Array(bodies[0].utf8), plan: plan) { hashes.append($0.hash) }
        _ = try JSONRecordReader().read(body: Array(bodies[1].utf8), records: "$.x", plan: plan) { hashes.append($0.hash) }
        #expect(hashes[0] == hashes[1])
        #expect(hashes[0] == hashes[3])
        #expect(hashes[0] != hashes[2])
        #expect(hashes[0] == JSONHash(of: Array(#"{"a":1}"#.utf8)))
    }

    @Test func theHashIsXXH3() {
        // The published value for nothing at all, and with it the order of the two halves.
        #expect(JSONHash(of: []).description == "99aa06d3014798d86001c324468d497f")
    }

    @Test func aRecordKeptTooLongTraps() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var kept: JSONRecord?
            let reader = JSONRecordReader()
            _ = try reader.read(body: Array(#"[{"a":1},{"a":2}]"#.utf8), plan: JSONFieldPlan([JSONField(key: "a")])) { record in
                if let kept { _ = kept[0] } else { kept = record }
            }
        }.trap(says: "used after the closure it was handed to had returned")
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var kept: JSONString?
            var reader: JSONRecordReader? = JSONRecordReader()
            _ = try reader?.read(body: Array(#"[{"a":"x"}]"#.utf8), plan: JSONFieldPlan([JSONField(key: "a")])) { record in
                if case .string(let text) = record[0] { kept = text }
            }
            reader = nil
            if let kept { print(String(kept)) }
        }.trap(says: "used after the closure it was handed to had returned")
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let reader = JSONRecordReader()
            _ = try reader.read(body: Array("[{}]".utf8), plan: JSONFieldPlan([])) { _ in _ = try reader.validate(body: Array("1".utf8)) }
        }.trap(says: "a page was opened from inside of read")
    }
}
