import JSONReader
import SyncConfiguration
import TestTraits
import Testing

@testable import SyncPipeline

/// Rows of cells, as objects of texts.
@Suite struct CSVRowsTests {
    private static func csv(_ change: (inout CSVFormat) -> Void = { _ in }) -> ContentFormat {
        var csv = CSVFormat()
        change(&csv)
        return .csv(csv)
    }

    private static let plain = csv()

    @Test(arguments: FormatPage.pieces) func rowsAreRecordsHoweverTheyArrive(piece: Int) throws {
        let text = "id,full name,\"no\"\"te\"\r\n1,Ada,x\n\n2,\"Hopper, \"\"Grace\"\"\",\"two\r\nlines\"\r\n3,5\" pipe,\\"
        #expect(
            try FormatPage.records(text, Self.plain, piece: piece) == [
                #"{"id":"1","full name":"Ada","no\"te":"x"}"#, #"{"id":"2","full name":"Hopper, \"Grace\"","no\"te":"two\r\nlines"}"#,
                #"{"id":"3","full name":"5\" pipe","no\"te":"\\"}"#,
            ])
        let digest = try FormatPage.content(Array(text.utf8), Self.plain).digest
        #expect(try FormatPage.content(Array(text.utf8), Self.plain, piece: piece).digest == digest)
        // How it is written makes no difference, as long as it says the same.
        let other = text.replacing("Ada", with: "\"Ada\"").replacing("\\", with: "\\\r\n")
        #expect(try FormatPage.content(Array(other.utf8), Self.plain, piece: piece).digest == digest)
    }

    @Test(arguments: ["\n", "\r\n", "\r"]) func linesEndInAnyWay(end: String) throws {
        let text = ["id,a", "1,x", "", "2,y"].joined(separator: end)
        for piece in FormatPage.pieces {
            #expect(try FormatPage.records(text, Self.plain, piece: piece) == [#"{"id":"1","a":"x"}"#, #"{"id":"2","a":"y"}"#])
            #expect(try FormatPage.records(text + end, Self.plain, piece: piece).count == 2)
            #expect(FormatPage.refusal(text + end + "\"", Self.plain, piece: piece) == "line 5: a quoted cell that begins here does not end")
        }
    }

    // MARK: Cells

    @Test func anEmptyCellIsNoValueUnlessItIsToBeAText() throws {
        #expect(try FormatPage.records("id,a,b\n,\"\",x", Self.plain) == [#"{"id":null,"a":null,"b":"x"}"#])
        #expect(try FormatPage.records("id,a,b\n,\"\",x", Self.csv { $0.empty = .text }) == [#"{"id":"","a":"","b":"x"}"#])
        // An empty line is no row, but a quoted cell is one.
        #expect(try FormatPage.records("id\n1\n\n\"\"\n", Self.plain) == [#"{"id":"1"}"#, #"{"id":null}"#])
    }

    @Test func everyCharacterBecomesJSON() throws {
        let text = String(String.UnicodeScalarView((1..<0x20).compactMap { Unicode.Scalar($0) })) + "\u{0}\"\\/\u{7F}é\u{1F600}"
        let page = try FormatPage.content(Array("id\n\"\(text.replacing("\"", with: "\"\""))\"".utf8), Self.plain)
        var read: [String] = []
        _ = try page.read(plan: JSONFieldPlan([JSONField(key: "id")]), policies: JSONReaderPolicies()) { record, _ in
            if case .string(let value) = record[0] { read.append(String(value)) }
        }
        #expect(read == [text])
    }

    @Test func delimiterAndQuoteMayBeOthers() throws {
        let tabs = Self.csv { $0.delimiter = UInt8(ascii: "\t") }
        #expect(try FormatPage.records("id\ta\n1\tx,y\n", tabs) == [#"{"id":"1","a":"x,y"}"#])
        let single = Self.csv { ($0.delimiter, $0.quote) = (UInt8(ascii: ";"), UInt8(ascii: "'")) }
        #expect(try FormatPage.records("id;a\n1;'it''s; \"so\"'\n", single) == [#"{"id":"1","a":"it's; \"so\""}"#])
        let none = Self.csv { $0.quote = nil }
        #expect(try FormatPage.records("id,a\n\"1,x\"\n", none) == [#"{"id":"\"1","a":"x\""}"#])
    }

    // MARK: Columns

    @Test func columnsMayBeNamedInTheConfiguration() throws {
        let named = Self.csv { ($0.hasHeader, $0.columns) = (false, ["id", "a\"b"]) }
        for piece in FormatPage.pieces { #expect(try FormatPage.records("1,x\n2,y", named, piece: piece).first == #"{"id":"1","a\"b":"x"}"#) }
        let both = Self.csv { $0.columns = ["id", "a"] }
        #expect(try FormatPage.records("id,\"a\"\n1,x", both) == [#"{"id":"1","a":"x"}"#])
        #expect(FormatPage.refusal("a,id\n1,x", both) == "line 1: csv.columns says “id, a”, and the header says “a,id”")
        #expect(FormatPage.refusal("\nTry again later", both) == "line 2: csv.columns says “id, a”, and the header says “Try again later”")
    }

    @Test func aColumnWithoutANameIsLeftOut() throws {
        #expect(try FormatPage.records(",id,\n0,1,\n", Self.plain) == [#"{"id":"1"}"#])
        #expect(try FormatPage.records(",\n0,1\n", Self.plain) == ["{}"])
    }

    @Test func twoColumnsOfOneNameAreTreatedAsKeysThatAppearTwice() throws {
        let content = try FormatPage.content(Array("id,a,a\n1,x,y\n".utf8), Self.plain)
        #expect(try FormatPage.problems(of: content) == ["line 2: a key appears twice in one object"])
    }

    @Test func aHeaderAloneIsAnEmptyListAndNothingIsNone() throws {
        for piece in FormatPage.pieces {
            for text in ["id,a", "id,a\n", "\u{FEFF}id,a\r\n\r\n"] {
                let content = try FormatPage.content(Array(text.utf8), Self.plain, piece: piece)
                let summary = try content.read(plan: JSONFieldPlan([]), policies: JSONReaderPolicies()) { _, _ in }
                #expect(summary.recordList == .array && summary.recordCount == 0)
            }
            for text in ["", "\n\n"] { #expect(FormatPage.refusal(text, Self.plain, piece: piece) == "the body is empty") }
        }
        #expect(FormatPage.refusal("\n", Self.csv { ($0.hasHeader, $0.columns) = (false, ["id"]) }) == "the body is empty")
    }

    @Test func aMarkIsNoPartOfTheFirstName() throws {
        for piece in FormatPage.pieces { #expect(try FormatPage.records("\u{FEFF}id\n1", Self.plain, piece: piece) == [#"{"id":"1"}"#]) }
        #expect(FormatPage.refusal([0xFF, 0xFE] + Array("i\0d\0".utf8), Self.plain) == "UTF-16 where UTF-8 was expected")
    }

    // MARK: What is broken

    // Whatever it is, its cells may stand under the wrong names.
    @Test(arguments: FormatPage.pieces) func aRowWithMoreOrFewerCellsIsNoRecord(piece: Int) throws {
        let text = "id,a\n1,x\n\n2,y,z\n3\n\"4\",\"y, \"\"z\"\"\",\"\n\"\n5,y\n"
        let content = try FormatPage.content(Array(text.utf8), Self.plain, piece: piece)
        #expect(
            try FormatPage.records(of: content) == [
                #"{"id":"1","a":"x"}"#, #""2,y,z""#, #""3""#, #""4,\"y, \"\"z\"\"\",\"\n\"""#, #"{"id":"5","a":"y"}"#,
            ])
        let reason = "a row that has not as many cells as there are columns"
        #expect(try FormatPage.problems(of: content) == ["line 4: \(reason)", "line 5: \(reason)", "line 6: \(reason)"])
        #expect(content.lines?.line(of: 4) == 8)
    }

    // Nor may it become one where an attribute is read from a list.
    @Test func suchARowIsNoListEither() throws {
        let content = try FormatPage.content(Array("id,a\n1\n".utf8), Self.plain)
        let plan = JSONFieldPlan([JSONField("id", path: "$[0]")])
        var problems = 0
        _ = try content.read(plan: plan, policies: JSONReaderPolicies()) { record, _ in problems += record.problem == nil ? 0 : 1 }
        #expect(problems == 1)
    }

    @Test(
        arguments: [
            ("id,a\n1,\"x\n2,y\n", "line 2: a quoted cell that begins here does not end"),
            ("id,a\n\n1,\"x\"y\n", "line 3: something follows a quoted cell; a quote inside of one is written twice"),
            ("id,a\n1,\"x\" ,y\n", "line 2: something follows a quoted cell; a quote inside of one is written twice"),
            ("\"id", "line 1: a quoted cell that begins here does not end"),
        ] as [(String, String)])
    func quotesThatDoNotFitRefuseThePage(text: String, reason: String) {
        for piece in FormatPage.pieces { #expect(FormatPage.refusal(text, Self.plain, piece: piece) == reason) }
    }

    @Test func whatIsNoUTF8IsTreatedAsInJSON() throws {
        let bytes = Array("id,a\n1,x\n2,".utf8) + [0xE9] + Array("\n".utf8)
        #expect(try #require(FormatPage.refusal(bytes, Self.plain)).hasPrefix("line 3: not UTF-8"))
        var policies = JSONReaderPolicies()
        policies.invalidUTF8 = .replace
        #expect(try FormatPage.records(of: try FormatPage.content(bytes, Self.plain), policies).last == "{\"id\":\"2\",\"a\":\"\u{FFFD}\"}")
    }

    // MARK: Limits

    @Test func aCellMayBeLong() throws {
        let text = String(repeating: "x,", count: 1 << 20)
        let records = try FormatPage.records("id,a\n1,\"\(text)\"\n2,y", Self.plain, piece: 65_536)
        #expect(records.map(\.utf8.count) == [17 + text.utf8.count, 18])
    }

    @Test func aRowMayHaveAnyNumberOfCellsAndAHeaderManyColumns() throws {
        let commas = String(repeating: ",", count: 2 << 20)
        let content = try FormatPage.content(Array("id,a\n1,x\n\(commas)\n2,y".utf8), Self.plain, piece: 65_536)
        #expect(try FormatPage.problems(of: content).count == 1)
        #expect(try FormatPage.records(of: content).map { $0.utf8.count < 20_000 } == [true, true, true])
        #expect(FormatPage.refusal(commas, Self.plain) == "line 1: the header has more than 16384 columns")
    }

    // A small file would become a large list.
    @Test func namesThatMakeAListTooMuchLargerThanItsFileAreRefused() {
        let name = String(repeating: "n", count: 1000)
        let header = (0..<100).map { "\(name)\($0)" }.joined(separator: ","), row = String(repeating: ",", count: 99) + "\n"
        let text = Array((header + "\n" + String(repeating: row, count: 300)).utf8)
        let error = #expect(throws: FetchError.self) { try FormatPage.content(text, Self.plain, piece: 65_536) }
        #expect(error?.kind == .tooLarge(.ratio))
        #expect(throws: Never.self) { try FormatPage.content(text, Self.plain, piece: 65_536) { $0.http.maxRatio = 10_000 } }
    }

    // MARK: A model

    /// Writes a cell in one of the ways in which it may stand in a file.
    private static func written(_ cell: String, alone: Bool, _ random: inout SeededNumbers) -> String {
        let special: Set<Unicode.Scalar> = [",", "\"", "\r", "\n"]
        let needsQuotes = cell.unicodeScalars.contains { special.contains($0) } || alone && cell.isEmpty
        guard needsQuotes || random.chance(30) else { return cell }
        return "\"" + cell.replacing("\"", with: "\"\"") + "\""
    }

    private static let texts = ["", "a", "b c", ",", "\"", "\n", "\r\n", "\r", "é", "\\", " ", "1", "\u{1F600}", "null"]

    @Test(.longComputation, arguments: 0..<8) func whatIsWrittenIsRead(seed: Int) throws {
        var random = SeededNumbers(seed)
        for _ in 0..<150 {
            let width = 1 + random.next(upTo: 4), names = ["id", "a", "b", "c"].prefix(width)
            let rows: [[String]] = (0..<random.next(upTo: 6)).map { _ in
                (0..<width).map { _ in (0..<random.next(upTo: 4)).map { _ in random.element(Self.texts) ?? "" }.joined() }
            }
            var text = names.joined(separator: ",") + "\n"
            for row in rows {
                text += row.map { Self.written($0, alone: width == 1, &random) }.joined(separator: ",")
                text += random.element(["\n", "\r\n", "\r", "\n\n"]) ?? "\n"
            }
            let format = Self.csv { $0.empty = .text }, piece = random.element(FormatPage.pieces) ?? 1
            let content = try FormatPage.content(Array(text.utf8), format, piece: piece)
            var read: [[String]] = []
            _ = try content.read(plan: JSONFieldPlan(names.map { JSONField(key: $0) }), policies: JSONReaderPolicies()) { record, _ in
                read.append(names.indices.map { record[$0].stringValue ?? "none" })
            }
            #expect(read == rows, "seed \(seed), pieces of \(piece): \(text.debugDescription)")
        }
    }
}
