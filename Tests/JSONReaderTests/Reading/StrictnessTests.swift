import Foundation
import Testing

@testable import JSONReader

/// The grammar, against a second implementation which is as plain as can be.
struct StrictnessTests {
    @Test(arguments: [
        "[]", "{}", "null", "0", "-0", "\"\"", "[[]]", #"{"a":[{}]}"#, " [ 1 , 2 ] ", "\t\r\n{}\n", "[1.5e+3,1E2,-0.0]",
        #"["\u0000\"\\\/\b\f\n\r\t"]"#, "[\"\u{7F}\"]",
        "[true,false,null]", #"{"":""}"#, #"{"a":1,"a":2}"#, "[\"\u{2028}\"]", "\"\u{10FFFF}\"", #"["\uDBFF\uDFFF"]"#, "[0.1e1]", "-1",
    ])
    func documentsOfTheStandardAreAccepted(text: String) {
        #expect(accepts(text))
        #expect(PlainParser.accepts(Array(text.utf8)))
    }

    @Test(arguments: [
        "[1,]", "[,]", "[1,,2]", "{,}", #"{"a":1,}"#, #"{"a"}"#, #"{"a":}"#, "{1:2}", "[", "]", "{", "}", "[}", "{]", "'a'", "[1 2]", "01",
        "-", "+1",
        ".5", "1.", "1e", "1e+", "1.e1",
        "0x1", "NaN", "Infinity", "-Infinity", "tru", "truee", "nulll", "True", "[1]x", "\"a", "\"\\\"", "\"\\x\"", "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\U0041\"", "\"\t\"", "[\u{C}]",
        "[1]//c", "/**/[]", "[1]\u{0}", "\u{0}", "1\u{0}", "[\"a\"\"b\"]", "[\"a\"true]", "[true\"a\"]", "[1\"a\"]", "[1[]]", "[]1",
        "{\"a\":1 \"b\":2}", "{\"a\" : : 1}", "[:]", "a", "\u{A0}[]", "\u{2028}[]",
        "[- 1]", "[1 .5]", "[\"a\\\n\"]", "{\"a\":1}}", "[[]", "\"\\uD83D\\uDE0\"", "\u{1A}", "[1\u{C},2]",
    ])
    func whatIsNotInTheStandardIsRefused(text: String) {
        #expect(!accepts(text))
        #expect(!PlainParser.accepts(Array(text.utf8)))
        for records in ["$", "$.a"] as [JSONPath] {
            #expect(pageError(text, records: records).map { $0.kind != .recordsMissing && $0.kind != .recordsNotAList } == true)
        }
    }

    @Test func wantedOrNotEverythingIsChecked() {
        for bad in ["01", "tru", "\"\\x\"", "[1,]", "{\"a\"}", "\"\u{1}\""] {
            for body in ["[{\"skipped\":{\"deep\":[\(bad)]}}]", "{\"data\":[],\"other\":\(bad)}", "{\"other\":\(bad),\"data\":[]}"] {
                #expect(pageError(body, records: body.hasPrefix("[") ? .root : "$.data", [JSONField(key: "v")])?.kind == .syntax)
            }
        }
    }

    @Test func mutatedDocumentsAreJudgedAsByThePlainParser() { Self.judgeMutatedDocuments(20_000, mutations: 1...3, seed: 0x9E37_79B9_7F4A_7C15) }

    /// So many documents, each with some mutations, in the order that a seed decides.
    static func judgeMutatedDocuments(_ count: Int, mutations: ClosedRange<Int>, seed: UInt64) {
        let seeds = [
            #"[{"id":1,"name":"a\u00e9\n","tags":["x","y",null],"n":{"a":-1.5e3,"b":true}},{"id":2,"name":"\ud83d\ude00é€"}]"#,
            #"{"data":[{"a":1},{"a":[[],{}]}],"next":"c\\","total":12345678901234567890,"more":false}"#,
            "[ 1 , \"a b\" , [ ] , { } ,\n\t{ \"k\" : \"v\" } , 0.5 , -0 ]",
        ].map { Array($0.utf8) }
        let alphabet =
            Array("{}[]:,\"\\ \n\t0123456789.eE+-utrfalsn/xbX'".utf8) + [
                0x00, 0x0C, 0x1A, 0x7F, 0x80, 0xC3, 0xA9, 0xE2, 0xED,
                0xF0, 0xFF,
            ]
        var random = Sequence(state: seed)
        var accepted = 0
        let plan = JSONFieldPlan()
        plan.define(
            [
                JSONField(key: "id"), JSONField(key: "name"), JSONField(key: "n", capture: .record(plan)), JSONField("a", path: "$.a[0]"),
                JSONField("data", path: "$.data[1].a", capture: .raw),
            ], collectsUnknownKeys: true)
        defer { plan.invalidate() }
        // Windows far smaller than the usual ones: a document may be cut in two between any two tokens.
        let readers = [0, 1, 2, 3, 7, 16, 40].map { JSONRecordReader(window: $0) }
        for round in 0..<count {
            var bytes = seeds.randomElement(using: &random)!
            for _ in 0..<Int.random(in: mutations, using: &random) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0: bytes.remove(at: at)
                case 1: bytes.insert(alphabet.randomElement(using: &random)!, at: at)
                case 2: bytes[at] = alphabet.randomElement(using: &random)!
                case 3: bytes.replaceSubrange(at..., with: bytes[at...].prefix(Int.random(in: 0...20, using: &random)))
                default: bytes.swapAt(at, Int.random(in: 0..<bytes.count, using: &random))
                }
                if bytes.isEmpty { bytes = [0x20] }
            }
            let isGood = PlainParser.accepts(bytes)
            accepted += isGood ? 1 : 0
            #expect(accepts(bytes) == isGood, "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
            let reader = readers[round % readers.count]
            // The same with everything being captured; only the place of the records may be wrong then.
            let isRead = withExactBytes(bytes) { bytes in
                do {
                    _ = try reader.read(bytes: bytes, plan: plan) { record in
                        for field in 0..<5 { _ = JSONValue(record[field], raw: record.rawValue(of: field)) }
                        #expect(PlainParser.accepts(record.rawBytes))
                        for key in record.unknownKeys { _ = key.stringValue }
                    }
                    return true
                } catch {
                    return (error as? JSONReaderError)?.kind == .recordsNotAList
                }
            }
            #expect(isRead == isGood, "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
        }
        // A generator that makes only bad documents, or only good ones, would prove nothing.
        #expect(accepted > count / 100 && accepted < count - count / 20)
    }

    /// A small generator whose numbers are the same in every run.
    struct Sequence: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state &* 0x2545_F491_4F6C_DD1D
        }
    }
}

/// Many more documents, which are changed more, and others each time: `make stress`. CISTERN_SEED repeats a run.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "runs under make stress"))
struct StrictnessStress {
    @Test(arguments: 0..<4) func aMillionMutatedDocumentsAreJudgedAsByThePlainParser(_ part: UInt64) {
        let seed = ProcessInfo.processInfo.environment["CISTERN_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...999_999)
        // The generator comes to nothing from nothing.
        StrictnessTests.judgeMutatedDocuments(250_000, mutations: 1...6, seed: max(seed &* 4 &+ part, 1))
    }
}

/// Recursive descent straight from the grammar; slow, and only for small documents.
struct PlainParser {
    private let bytes: [UInt8]
    private var at = 0

    static func accepts(_ bytes: [UInt8]) -> Bool {
        guard String(validating: bytes, as: UTF8.self) != nil else { return false }
        var parser = PlainParser(bytes: bytes)
        parser.space()
        guard parser.value() else { return false }
        parser.space()
        return parser.at == bytes.count
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func peek() -> Character? { at < bytes.count ? Character(UnicodeScalar(bytes[at])) : nil }

    private mutating func take(_ expected: Character) -> Bool {
        guard peek() == expected else { return false }
        at += 1
        return true
    }

    private mutating func space() {
        while at < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[at]) { at += 1 }
    }

    private mutating func word(_ text: String) -> Bool { text.allSatisfy { take($0) } }

    private mutating func value() -> Bool {
        switch peek() {
        case "{": return list("{", "}") { $0.member() }
        case "[": return list("[", "]") { $0.value() }
        case "\"": return string()
        case "t": return word("true")
        case "f": return word("false")
        case "n": return word("null")
        default: return number()
        }
    }

    private mutating func list(_ open: Character, _ close: Character, _ element: (inout PlainParser) -> Bool) -> Bool {
        guard take(open) else { return false }
        space()
        if take(close) { return true }
        repeat {
            space()
            guard element(&self) else { return false }
            space()
        } while take(",")
        return take(close)
    }

    private mutating func member() -> Bool {
        guard string() else { return false }
        space()
        guard take(":") else { return false }
        space()
        return value()
    }

    private mutating func string() -> Bool {
        guard take("\"") else { return false }
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            if byte == UInt8(ascii: "\"") { return true }
            if byte < 0x20 { return false }
            guard byte == UInt8(ascii: "\\") else { continue }
            guard let escape = peek() else { return false }
            at += 1
            if escape == "u" {
                for _ in 0..<4 {
                    guard let digit = peek(), digit.isASCII, digit.isHexDigit else { return false }
                    at += 1
                }
            } else if !"\"\\/bfnrt".contains(escape) {
                return false
            }
        }
        return false
    }

    private mutating func digits() -> Bool {
        let start = at
        while at < bytes.count, (0x30...0x39).contains(bytes[at]) { at += 1 }
        return at > start
    }

    private mutating func number() -> Bool {
        _ = take("-")
        if !take("0") {
            guard digits() else { return false }
        }
        if take(".") {
            guard digits() else { return false }
        }
        if take("e") || take("E") {
            _ = take("+") || take("-")
            return digits()
        }
        return true
    }
}
