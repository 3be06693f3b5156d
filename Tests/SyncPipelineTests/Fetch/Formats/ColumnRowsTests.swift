import JSONReader
import SyncConfiguration
import Testing

@testable import SyncPipeline

/// Records that are lists of values, and records that stand in columns, in a page that arrives in pieces.
@Suite struct ColumnRowsTests {
    private static func content(
        _ text: String, _ columns: ColumnNames, _ records: JSONPath? = nil, _ format: ContentFormat = .json, piece: Int = .max, known: Manifest? = nil
    ) throws -> PageContent {
        try FormatPage.content(Array(text.utf8), format, piece: piece, known: known) {
            ($0.columns, $0.records) = (columns, records)
            $0.pagination.kind = .cursor(PaginationConfiguration.Cursor(from: .path("$.next")))
        }
    }

    private static func records(
        _ text: String, _ columns: ColumnNames, _ records: JSONPath? = nil, _ format: ContentFormat = .json, piece: Int = .max
    ) throws -> [String] {
        try FormatPage.records(of: content(text, columns, records, format, piece: piece))
    }

    private static func refusal(_ text: String, _ columns: ColumnNames, _ records: JSONPath? = nil) -> String? {
        do {
            _ = try Self.records(text, columns, records)
            return nil
        } catch {
            return "\(error)"
        }
    }

    private static let two = [#"{"id":1,"name":"a,]"}"#, #"{"id":2,"name":{"x":[1,"}"]}}"#]

    @Test(arguments: FormatPage.pieces) func valuesStandUnderTheNamesOfTheirColumns(piece: Int) throws {
        let rows = #"[[1, "a,]"], [2,{"x":[1,"}"]}] ]"#
        let names = JSONPath(segments: [.key("fields"), .each, .key("name")])
        #expect(try Self.records(#"{"columns": ["id", "name"], "rows": \#(rows)}"#, .path("$.columns"), "$.rows", piece: piece) == Self.two)
        #expect(try Self.records(#"{"rows": \#(rows), "columns": ["id", "name"]}"#, .path("$.columns"), "$.rows", piece: piece) == Self.two)
        let fields = #"[{"type": 1, "name": "id"}, {"name": "name"}]"#
        #expect(try Self.records(#"{"fields": \#(fields), "rows": \#(rows)}"#, .path(names), "$.rows", piece: piece) == Self.two)
        #expect(try Self.records(#"{"rows": \#(rows)}"#, .fixed(["id", "name"]), "$.rows", piece: piece) == Self.two)
        #expect(try Self.records(#"[["id", "name"], [1, "a,]"], [2,{"x":[1,"}"]}]]"#, .header, piece: piece) == Self.two)
        #expect(try Self.records("[\"id\"]\n[1]\n\n[2]\n", .header, nil, .ndjson, piece: piece) == [#"{"id":1}"#, #"{"id":2}"#])
    }

    @Test(arguments: FormatPage.pieces) func columnsBecomeRecords(piece: Int) throws {
        let page = #"{"unit": "mm", "hourly": {"id": [1, 2], "name": ["a,]", {"x":[1,"}"]}], "unit": "s"}}"#
        #expect(try Self.records(page, .members, "$.hourly", piece: piece) == Self.two)
        #expect(try Self.records(#"{"s": "ok", "id": [1], "c": [null]}"#, .members, piece: piece) == [#"{"id":1,"c":null}"#])
        #expect(try Self.records(#"{"id": [], "c": []}"#, .members, piece: piece) == [])
    }

    @Test func whatIsAroundTheRecordsStaysAndTheyAreComparedAsObjects() throws {
        let page = #"{"columns": ["id"], "rows": [[1], [2]], "next": "abc"}"#
        let content = try Self.content(page, .path("$.columns"), "$.rows", piece: 7)
        let plan = SievePlan(
            Fixture.resource("https://api.example") {
                ($0.columns, $0.records) = (.path("$.columns"), "$.rows")
                $0.pagination.kind = .cursor(PaginationConfiguration.Cursor(from: .path("$.next")))
            })
        let summary = try content.read(plan: JSONFieldPlan([]), policies: JSONReaderPolicies()) { _, _ in }
        #expect(plan.envelope.values(summary).cursor == "abc")
        var known = Manifest()
        known.append(JSONHash(of: Array(#"{"id":1}"#.utf8)).low, key: 71)
        let again = try Self.content(page, .path("$.columns"), "$.rows", known: known)
        #expect(try again.isCompared && FormatPage.records(of: again) == [#"{"id":2}"#])
        // Another order of columns is the same page of other objects.
        let other = try Self.content(page.replacing(#"["id"]"#, with: #"["no"]"#), .path("$.columns"), "$.rows")
        #expect(other.digest != content.digest)
    }

    @Test func aPageWhoseValuesCannotBeNamedIsRefused() {
        #expect(Self.refusal(#"{"id": [1, 2], "name": ["a"]}"#, .members) == "the column name has 1 values, and id has 2")
        #expect(Self.refusal(#"{"rows": [[1], [1, 2]]}"#, .fixed(["id"]), "$.rows") == "record 2: it has 2 values, and there are 1 columns")
        #expect(Self.refusal(#"{"rows": [[1], {"id": 2}]}"#, .fixed(["id"]), "$.rows") == "record 2: it is no list of values")
        #expect(Self.refusal(#"{"rows": [[1]]}"#, .path("$.columns"), "$.rows") == "there are no names of columns at $.columns")
        #expect(Self.refusal(#"{"rows": [[1]], "columns": [7]}"#, .path("$.columns"), "$.rows") == "$.columns has no text for column 1")
        #expect(Self.refusal("[]", .header) == "there is no first record, which would name the columns")
        // An error is no list without records.
        #expect(Self.refusal(#"{"error": "later"}"#, .members) == "no member of $ is a list, which would be a column")
        #expect(Self.refusal(#"{"rows": [[1]"#, .fixed(["id"]), "$.rows") != nil)
        #expect(Self.refusal("", .header) == "the body is empty")
    }

    @Test func aListThatIsNotThereIsForTheReaderToJudge() throws {
        #expect(Self.refusal(#"{"data": 1}"#, .fixed(["id"]), "$.rows") != nil)
        #expect(try Self.records(#"{"rows": null}"#, .fixed(["id"]), "$.rows") == [])
    }
}
