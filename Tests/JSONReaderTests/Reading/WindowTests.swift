import Testing

@testable import JSONReader

/// The structure of a document is found window by window; where one ends must not be seen from outside.
struct WindowTests {
    static let sizes = [1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 16, 17, 31, 32, 63, 64, 65, 100, 1000]

    /// All that can be seen of a page.
    func trace(_ body: [UInt8], window: Int) -> String {
        let nested = JSONFieldPlan()
        nested.define(
            [JSONField(key: "v"), JSONField(key: "n", capture: .record(nested)), JSONField("raw", path: "$.v", capture: .raw)],
            collectsUnknownKeys: true)
        defer { nested.invalidate() }
        func item(_ cell: JSONCell) -> String {
            if case .object(let object) = cell { describe(object) } else { "\(JSONValue(cell))" }
        }
        func describe(_ record: JSONRecord) -> String {
            var text = "\(record.raw)|\(JSONValue(record[0]))|\(JSONValue(record[2]))|\(record.problem.map { "\($0)" } ?? "")|"
            text += record.unknownKeys.map { $0.stringValue ?? "?" }.joined(separator: ",")
            switch record[1] {
            case .object(let object): text += "<\(describe(object))>"
            case .array(let array):
                text +=
                    "(" + array.map(item).joined(separator: ";") + ")"
            default: text += "\(JSONValue(record[1]))"
            }
            return text
        }
        var text = ""
        do {
            let summary = try withExactBytes(body) { bytes in
                try JSONRecordReader(window: window).read(
                    bytes: bytes, records: "$.data", plan: nested,
                    envelope: JSONFieldPlan([JSONField(key: "next"), JSONField(key: "e", capture: .raw)])
                ) {
                    text += describe($0) + "\n"
                }
            }
            text += "\(summary)"
        } catch {
            text += "\(error)"
        }
        return text
    }

    static let documents = [
        #"{"data":[{"v":1,"n":{"v":"a\"b\\","x":[1,2,[3]]}},"#
            + #"{"v":"\\\"","\u0076x":0,"n":[{"v":-1.5e3},7,null,"s\n",[1,"]"]]}, { "v" : true , "n" : { } } ],"next":"c\"","e":{"a":[]}}"#,
        #"{ "e" : [ 1 , 2 , 3 ] , "next" : 12345678901234567890 , "data" : [ 1, "x", {"v":1e400}, {"v":1,"v":2}, {"v":"\ud800é€😀"} ] }"#,
        #"{"data":[[[[[1,2,3,4,5,6,7,8,9,10],11],12],13],1111111111111111111111111111111111,0.000000000000000000000001],"e":""}"#,
        #"{"data":{"v":"","n":""},"":"","next":"]}"}"#, "{\"data\":null}     \n\t ", "   \n {\"data\":[]} x", #"{"data":[{"v":01}]}"#,
        #"{"data":[{"v":"\x"}]}"#,
        "{\"data\":[{\"v\":\"a\u{1}\"}]}", #"{"data":[{"v":"abc}]}"#, #"{"data":[{"v":1}"#, #"{"data":[],"data":[]}"#,
    ]

    @Test(arguments: documents)
    func aDocumentReadsTheSameHoweverItIsCut(document: String) {
        let body = Array(document.utf8)
        let whole = trace(body, window: 0)
        for size in Self.sizes {
            #expect(trace(body, window: size) == whole, "window of \(size)")
        }
    }

    /// Which of two neighbours is said to be wrong here does depend on it.
    @Test(arguments: [
        #"{"data":[{"v":tru"e"}]}"#, #"{"data":[1"a"]}"#, #"{"data":["a"1]}"#, #"{"data":[\"a"]}"#, #"{"data":["a""b"]}"#,
        #"{"data":[1\"]}"#,
        #"{"data":[\\"a"]}"#,
    ])
    func tokensWithoutAnythingBetweenThemAreRefusedHoweverTheyAreCut(document: String) {
        for size in Self.sizes + [0] {
            #expect(trace(Array(document.utf8), window: size).contains(", at line 1, column "))
            #expect(throws: JSONReaderError.self) { try JSONRecordReader(window: size).validate(body: Array(document.utf8)) }
        }
    }

    @Test func whatIsNotUTF8IsFoundInAnyWindow() {
        for size in Self.sizes + [0] {
            let text = trace(Array(#"{"data":[{"v":"é€"},{"v":""#.utf8) + [0xE2, 0x82] + Array(#""}]}"#.utf8), window: size)
            #expect(text.contains("not UTF-8, at line 1, column 27 (byte 29)"), "\(text)")
        }
    }

    @Test func largePagesOfAllShapesReadInUsualWindows() throws {
        // Longer than a window: one string, one number's neighbourhood without strings, white space, and strings full of escaped quotes.
        let long = String(repeating: #"a\"b\\"#, count: 40_000)
        let numbers = (0..<60_000).map(String.init).joined(separator: ",")
        let space = String(repeating: " \n", count: 150_000)
        let shapes = [
            "\"\(long)\"", "[\(numbers)]", "{\(space)\"k\"\(space):\(space)1\(space)}",
            "[" + String(repeating: #"{"q":"\"","s":"\\"},"#, count: 20_000) + "0]",
        ]
        for shift in 0..<8 {
            let padding = String(repeating: " ", count: shift)
            let page = try Page.read(
                "[" + shapes.map { #"{"id":\#(padding)1,"v":\#($0),"after":"x"}"# }.joined(separator: ",") + "]",
                [JSONField(key: "id"), JSONField(key: "v"), JSONField(key: "after"), JSONField("last", path: "$.v[59999]")])
            #expect(page.problems == [nil, nil, nil, nil])
            #expect(page.rows.map { $0[0] } == Array(repeating: .int64(1), count: 4))
            #expect(page.rows.map { $0[2] } == Array(repeating: .string("x"), count: 4))
            #expect(page.rows[0][1] == .string(String(repeating: #"a"b\"#, count: 40_000)))
            #expect(page.rows[1][3] == .int64(59_999))
            for row in 1..<4 { #expect(page.rows[row][1] == .raw(shapes[row])) }
        }
    }

    @Test func anErrorFarInsideIsGivenItsPlace() throws {
        let record = #"{"id":1,"v":"some text"},"# + "\n"
        let good = String(repeating: record, count: 15_000)
        for (bad, kind) in [("{\"v\":\"\u{1}\"}", JSONReaderError.Kind.syntax), ("{\"v\":01}", .syntax), ("{\"v\":\"x", .syntax)] {
            let error = try #require(pageError("[\n" + good + bad + "]", [JSONField(key: "v")]))
            #expect(error.kind == kind)
            #expect(error.location.line == 15_002)
            #expect(error.location.byteOffset - (2 + good.utf8.count) < 8)
        }
    }
}
