import JSONReader
import Testing

struct JSONReaderErrorTests {
    @Test(arguments: [
        ("[1,]", 3, "expected a value"), ("[,1]", 1, "expected a value"), (#"{"a":0,}"#, 7, "expected a key"),
        (#"{a:1}"#, 1, "expected a key"),
        (#"{"a" 1}"#, 5, "expected \":\""), (#"{"a":1 "b":2}"#, 7, "expected \",\" or \"}\""), ("[1 2]", 3, "expected \",\" or \"]\""),
        ("[1}", 2, "expected \",\" or \"]\""),
        ("[tru]", 1, "true, false or null"), ("[nul", 1, "true, false or null"), ("[01]", 1, "number"), ("[1.]", 1, "number"),
        ("[-]", 1, "number"),
        ("[+1]", 1, "expected a value"),
        (#"["\x"]"#, 2, "escape"), (#"["a\u12G4"]"#, 3, "escape"), ("[\"a\u{1}\"]", 3, "control character"), ("[\"a", 1, "not closed"),
        ("[1", 2, "ends in the middle"),
        (#"{"a":"#, 5, "ends in the middle"), (#"{"a""#, 4, "ends in the middle"), ("[", 1, "ends in the middle"),
        (#"["a\"]"#, 1, "not closed"),
        ("['a']", 1, "expected a value"),
        ("[\"a\nb\"]", 3, "control character"), ("[\"a\\\nb\"]", 4, "control character"), ("[1,2", 4, "ends in the middle"),
        ("nope", 0, "true, false or null"), ("]", 0, "expected a value"),
    ])
    func aSyntaxErrorSaysWhatAndWhere(text: String, offset: Int, part: String) throws {
        let error = try #require(pageError(text))
        #expect(error.kind == .syntax)
        #expect(error.location.byteOffset == offset)
        #expect(error.message.contains(part), "\(error.message)")
    }

    @Test func thePlaceIsGivenAsLineColumnAndText() throws {
        let error = try #require(pageError("[\n  {\"größe\": 1},\r\n  {\"€😀\": nope}\n]"))
        #expect(error.location.line == 3)
        #expect(error.location.column == 10)
        #expect(error.description.hasPrefix("expected true, false or null, at line 3, column 10 (byte "))
        #expect(error.excerpt.contains("{\"€😀\": ▸nope} ]"))
    }

    @Test func theExcerptIsShortAndHarmless() throws {
        let noise = String(repeating: "\u{1F600}\u{202E}\u{85}", count: 50)
        let error = try #require(pageError("[\"\(noise)\",x,\"\(noise)\"]"))
        #expect(error.excerpt.utf8.count < 90)
        #expect(error.excerpt.hasPrefix("…"))
        #expect(error.excerpt.hasSuffix("…"))
        #expect(error.excerpt.contains("▸x,"))
        #expect(!error.excerpt.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E || $0.value == 0x85 || $0.value == 0xFFFD })
        #expect(try #require(pageError("x")).excerpt == "▸x")
        #expect(try #require(pageError("[")).excerpt == "[▸")
    }

    @Test func aBadRecordSaysWhereItIs() throws {
        var seen: [String] = []
        _ = try JSONRecordReader().read(body: Array("[\n {\"a\":1},\n {\"a\":1,\n  \"a\":2}]".utf8), plan: JSONFieldPlan([])) { record in
            if let problem = record.problem { seen.append("\(problem); \(record.location); \(record.raw)") }
        }
        #expect(seen == ["a key appears twice in one object, at byte 23; line 3, column 2 (byte 13); {\"a\":1,\n  \"a\":2}"])
    }
}
