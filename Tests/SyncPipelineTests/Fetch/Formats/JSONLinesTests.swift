import JSONReader
import SyncConfiguration
import TestTraits
import Testing

@testable import SyncPipeline

/// JSON values one after the other, in lines and in sequences.
@Suite struct JSONLinesTests {
    private static let text = "{\"id\":1}\r\n\n  {\"id\": 2, \"n\": \"a\\\"}\\\\\"}\t\n\t\n{\"id\":[{\"a\":[1]}]}"
    private static let records = ["{\"id\":1}", "{\"id\": 2, \"n\": \"a\\\"}\\\\\"}", "{\"id\":[{\"a\":[1]}]}"]

    @Test(arguments: FormatPage.pieces) func linesAreRecordsHoweverTheyArrive(piece: Int) throws {
        #expect(try FormatPage.records(Self.text, .ndjson, piece: piece) == Self.records)
        #expect(try FormatPage.records(Self.text + "\n", .ndjson, piece: piece) == Self.records)
        let digest = try FormatPage.content(Array(Self.text.utf8), .ndjson).digest
        #expect(try FormatPage.content(Array(Self.text.utf8), .ndjson, piece: piece).digest == digest)
    }

    private static let sequence = "\u{1E}{\"id\":1}\n\u{1E}\u{1E}\n\u{1E}{\"id\":\n2}\n\u{1E}{\"id\":3}"

    @Test(arguments: FormatPage.pieces) func textsOfASequenceAreRecordsHoweverTheyArrive(piece: Int) throws {
        #expect(try FormatPage.records(Self.sequence, .jsonSequence, piece: piece) == ["{\"id\":1}", "{\"id\":\n2}", "{\"id\":3}"])
    }

    // MARK: What is broken

    @Test(
        arguments: [
            ("{\"id\":1}\n{\"id\":2\n{\"id\":3}", "line 2: a JSON value is not complete at the end of the line"),
            ("{\"a\":[1\n2]}", "line 1: a JSON value is not complete at the end of the line"),
            ("{\"a\":\n1}", "line 1: a JSON value is not complete at the end of the line"),
            ("1]\n[2", "line 1: something follows the value"),
            ("{\"id\":1}],[{\"id\":2}", "line 1: something follows the value"),
            ("\n{\"id\":1},{\"id\":2}", "line 2: something follows the value"),
            ("{\"id\":1}{\"id\":2}", "line 1: something follows the value"),
            ("1 2", "line 1: something follows the value"),
            ("\"a\":1", "line 1: something follows the value"),
            ("{\"id\":1}\n\n,{\"id\":2}", "line 3: expected a value"),
            ("]\n", "line 1: expected a value"),
            ("{\"id\":\"a\n\"}", "line 1: a string is not closed at the end of the line"),
            ("{\"id\":\"a\\\n\"}", "line 1: a string is not closed at the end of the line"),
            ("{\"id\":1}\n{\"id\":", "line 2: a JSON value is not complete at the end of the body"),
            ("{\"id\":1}\n{\"id\":\"x", "line 2: a string is not closed at the end of the body"),
        ] as [(String, String)])
    func aLineThatIsNoValueRefusesThePage(text: String, reason: String) throws {
        for piece in FormatPage.pieces {
            #expect(FormatPage.refusal(text, .ndjson, piece: piece) == reason)
            #expect(try FormatPage.content(Array(text.utf8), .ndjson, piece: piece).isWhole == false)
        }
    }

    // What only the reader sees.
    @Test(arguments: [
        ("{\"id\":1}\n{\"id\":tru}\n{\"id\":3}", "line 2: expected true, false or null"), ("{\"id\":1}\n\n{\"id\":01}", "line 3: "),
        ("{\"id\":1}\n{\"id\":[1}]", "line 2: "), ("nul\n", "line 1: "), ("{\"id\":1}\n{\"id\":\"\u{1}\"}", "line 2: a control character"),
        ("{\"id\":1}\n{\"id\":\"\u{0}\"}", "line 2: a control character"), ("\n{\"a\" 1}", "line 2: expected \":\""),
    ])
    func whatIsNoJSONIsSaidWithItsLine(text: String, beginning: String) throws {
        var known = Manifest()
        known.append(JSONHash(of: Array("{\"id\":1}".utf8)).low, key: 7)
        for piece in FormatPage.pieces {
            let found = try #require(FormatPage.refusal(text, .ndjson, piece: piece))
            #expect(found.hasPrefix(beginning) && !found.contains("byte"), "\(found)")
            // Also where lines before it are left out.
            let content = try FormatPage.content(Array(text.utf8), .ndjson, piece: piece, known: known)
            let error = #expect(throws: FormatError.self) { try FormatPage.records(of: content) }
            #expect(error?.description.hasPrefix(beginning) == true, "\(String(describing: error))")
        }
    }

    @Test(
        arguments: [
            ("{\"id\":1}\n", "text 1: the text does not begin with a record separator (RFC 7464)"),
            ("\u{1E}{\"id\":1}\n\u{1E}{\"id\":\n\u{1E}{\"id\":3}\n", "text 2: a JSON value is not complete at the end of the text"),
            ("\u{1E}{\"id\":1}\n\u{1E}{\"id\":\"a", "text 2: a string is not closed at the end of the body"),
            ("\u{1E}1]\u{1E}[2", "text 1: something follows the value"),
            ("\u{1E}{\"id\":1}\n{\"id\":2}\n", "text 1: something follows the value"),
        ] as [(String, String)])
    func aTextThatIsNoValueRefusesTheSequence(text: String, reason: String) {
        for piece in FormatPage.pieces { #expect(FormatPage.refusal(text, .jsonSequence, piece: piece) == reason) }
    }

    /// Pieces of JSON that make good lines and bad ones, and bad ones that would be good together.
    private static let fragments = [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\n", "\n", " ", "1", "\"a\"", "\"id\":1", "{\"id\":1}", "[1]", "null", "\r\n", "{\"id\":\"\\\\\"}",
        "{\"id\":\"\\\"\"}",
    ]

    // A page is good exactly if each of its lines is one value, and then these are its records.
    @Test(.longComputation, arguments: 0..<8) func whateverALineIsItIsJudgedAlone(seed: Int) throws {
        var random = SeededNumbers(seed), good = 0
        for _ in 0..<1500 {
            let text = (0...random.next(upTo: 8)).map { _ in random.element(Self.fragments) ?? "" }.joined()
            let texts = text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            let expected = FormatPage.values(texts), piece = random.element(FormatPage.pieces) ?? 1
            var policies = JSONReaderPolicies()
            policies.emptyBody = .noRecords
            let found = try? FormatPage.records(of: try FormatPage.content(Array(text.utf8), .ndjson, piece: piece), policies)
            #expect(found == expected, "seed \(seed), pieces of \(piece): \(text.debugDescription)")
            if expected != nil { good += 1 }
        }
        #expect(good > 50)
    }

    // MARK: Beginnings

    @Test(arguments: ["", "\n", " \r\n\t\n"]) func aBodyOfNothingIsAnErrorUnlessThatIsAllowed(text: String) throws {
        var policies = JSONReaderPolicies()
        policies.emptyBody = .noRecords
        for piece in FormatPage.pieces {
            #expect(FormatPage.refusal(text, .ndjson, piece: piece) == "the body is empty")
            #expect(FormatPage.refusal(text, .ndjson, piece: piece, policies) == nil)
        }
        #expect(FormatPage.refusal("\u{1E}", .jsonSequence) == "the body is empty")
    }

    @Test(arguments: FormatPage.pieces) func aByteOrderMarkIsTreatedAsInJSON(piece: Int) throws {
        let text = "\u{FEFF}{\"id\":1}\n{\"id\":2}"
        #expect(try FormatPage.records(text, .ndjson, piece: piece) == ["{\"id\":1}", "{\"id\":2}"])
        var policies = JSONReaderPolicies()
        policies.byteOrderMark = .rejectPage
        #expect(FormatPage.refusal(text, .ndjson, piece: piece, policies) == "a byte order mark stands before the document")
        #expect(FormatPage.refusal("{\"id\":1}", .ndjson, piece: piece, policies) == nil)
        #expect(FormatPage.refusal([0xFF, 0xFE, 0x7B, 0], .ndjson, piece: piece) == "UTF-16 where UTF-8 was expected")
    }

    @Test func whatIsNoUTF8IsTreatedAsInJSON() throws {
        let bytes = Array("{\"id\":1}\n{\"id\":\"".utf8) + [0xE2, 0x82] + Array("\"}\n".utf8)
        #expect(try #require(FormatPage.refusal(bytes, .ndjson)).hasPrefix("line 2: not UTF-8"))
        var policies = JSONReaderPolicies()
        policies.invalidUTF8 = .replace
        let content = try FormatPage.content(bytes, .ndjson)
        #expect(try FormatPage.records(of: content, policies) == ["{\"id\":1}", "{\"id\":\"\u{FFFD}\"}"])
    }

    // MARK: What follows

    @Test func aLineMayBeLong() throws {
        let text = String(repeating: "x", count: 3 << 20)
        let records = try FormatPage.records("{\"id\":1}\n{\"id\":\"\(text)\"}\n{\"id\":3}", .ndjson, piece: 65_536)
        #expect(records.map(\.utf8.count) == [8, 9 + text.utf8.count, 8])
    }

    @Test func aScalarIsALineAndNoRecord() throws {
        let content = try FormatPage.content(Array("{\"id\":1}\n7\n\"x\"\n".utf8), .ndjson)
        #expect(try FormatPage.problems(of: content) == ["line 2: a record that is not an object", "line 3: a record that is not an object"])
        #expect(content.isWhole)
    }

    @Test func linesThatAreTheSameAreLeftOut() throws {
        var known = Manifest()
        for id in [1, 3] { known.append(JSONHash(of: Array("{\"id\":\(id)}".utf8)).low, key: Int64(id)) }
        let content = try FormatPage.content(Array("{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n".utf8), .ndjson, piece: 5, known: known)
        #expect(content.isCompared && content.records.unread == [1, 3])
        #expect(try FormatPage.records(of: content) == ["{\"id\":2}"])
    }

    @Test func theLastLineSaysWhereTheNextPageBegins() throws {
        let change: (inout ResourceConfiguration) -> Void = { $0.pagination.kind = .keyset(PaginationConfiguration.Keyset(from: "$.id")) }
        let resource = Fixture.resource("https://api.example", change)
        let plan = try #require(SievePlan(resource).lastRecord)
        let content = try FormatPage.content(Array("{\"id\":1}\n{\"id\":7}\n\n".utf8), .ndjson, piece: 3, change)
        #expect(try content.readLast(plan, policies: JSONReaderPolicies()) == PageContent.Token(text: "7", isNumber: true))
    }

    @Test func linesAreCountedAgainstTheLimitOfRecords() throws {
        let text = "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n"
        let content = try FormatPage.content(Array(text.utf8), .ndjson, piece: 4) { $0.limits.maxRecordsPerPage = 2 }
        let error = #expect(throws: FormatError.self) { try FormatPage.records(of: content) }
        #expect(error?.message.contains("max_records_per_page = 2") == true, "\(String(describing: error))")
    }

    @Test func linesAreFoundByTheirRecords() {
        var lines = RecordLines(.line)
        for line in [1, 2, 5, 6, 9] { lines.append(line) }
        #expect((0..<5).map { lines.line(of: $0) } == [1, 2, 5, 6, 9])
        #expect(lines.line(of: 5) == nil && lines.line(of: -1) == nil)
    }
}
