import JSONPaths
import Testing

@testable import SyncConfiguration

/// `format`, `csv` and `unpack`.
@Suite struct FormatReadingTests {
    private func resource(_ lines: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> ResourceConfiguration {
        try configuration(itemSource + lines, sourceLocation: sourceLocation).sources[0].resources[0]
    }

    private func problem(_ lines: String) -> String { errors(itemSource + lines).joined(separator: "\n") }

    /// Two resources of one source that says `shared`.
    private func resources(_ shared: String, _ first: String, _ second: String) throws -> [ResourceConfiguration] {
        let text =
            itemModel + """
                [[source]]
                name = "s"
                base_url = "https://api.example.com"
                \(shared)
                [[source.resource]]
                name = "a"
                path = "/a"
                entity = "Item"
                \(first)
                [[source.resource]]
                name = "b"
                path = "/b"
                entity = "Item"
                \(second)
                """
        return try configuration(text).sources[0].resources
    }

    @Test func aResponseIsOneDocumentOfJSONUnlessItSaysOtherwise() throws {
        let plain = try resource("")
        #expect(plain.format == .json && plain.format.isDocument && plain.unpacking == nil)
        #expect(plain.parse.contentTypes == ParsePolicy().contentTypes)
        #expect(try resource("format = \"json\"\nunpack = \"none\"") == plain)
    }

    @Test(arguments: [("ndjson", ContentFormat.ndjson), ("json-seq", .jsonSequence), ("csv", .csv(CSVFormat()))])
    func aFormatHasItsMediaTypes(word: String, format: ContentFormat) throws {
        let read = try resource("format = \"\(word)\"")
        #expect(read.format == format && !format.isDocument)
        #expect(read.parse.contentTypes == format.contentTypes && !format.contentTypes.contains("application/json"))
        #expect(try resource("format = \"\(word)\"\nrecords = \"$\"").records == .root)
    }

    @Test func cellsAreWhatTheTableSays() throws {
        let text = """
            format = "csv"
            csv = { delimiter = "\\t", quote = "", header = false, columns = ["id", "a b"], empty = "text" }
            """
        guard case .csv(let csv) = try resource(text).format else {
            Issue.record("no CSV")
            return
        }
        #expect(csv.delimiter == 9 && csv.quote == nil && !csv.hasHeader && csv.columns == ["id", "a b"] && csv.empty == .text)
        let quoted = try resource("format = \"csv\"\ncsv = { quote = \"'\", delimiter = \";\" }").format
        var expected = CSVFormat()
        (expected.quote, expected.delimiter) = (UInt8(ascii: "'"), UInt8(ascii: ";"))
        #expect(quoted == .csv(expected))
    }

    @Test func whatSourcesSayOfTheirFilesMeansThoseOfTheirResources() throws {
        let read = try resources(
            "format = \"csv\"\nunpack = \"zip\"\nzip_entry = \"*.csv\"\ncsv = { delimiter = \";\" }", "csv = { empty = \"text\" }",
            "format = \"json\"\nunpack = \"none\"")
        var csv = CSVFormat()
        (csv.delimiter, csv.empty) = (UInt8(ascii: ";"), .text)
        #expect(read[0].format == .csv(csv) && read[0].unpacking == .zip(entry: "*.csv"))
        #expect(read[1].format == .json && read[1].unpacking == nil)
    }

    // MARK: Media types

    @Test func whatPacksAFileHasItsMediaTypesBesides() throws {
        let gzip = try resource("unpack = \"gzip\"").parse.contentTypes
        #expect(gzip.prefix(2) == ["application/gzip", "application/x-gzip"] && gzip.contains("application/json"))
        #expect(gzip.contains("application/octet-stream") && Set(gzip).count == gzip.count)
        let zip = try resource("format = \"csv\"\nunpack = \"zip\"").parse.contentTypes
        #expect(zip.first == "application/zip" && zip.contains("text/csv") && !zip.contains("application/json") && Set(zip).count == zip.count)
    }

    // What is said of all resources is said of JSON.
    @Test func mediaTypesThatASourceSaysAreThoseThatCount() throws {
        let said = "content_types = [\"text/x\"]"
        #expect(try resource("format = \"csv\"\nparse = { \(said) }").parse.contentTypes == ["text/x"])
        #expect(try resource("unpack = \"gzip\"\nparse = { \(said) }").parse.contentTypes == ["text/x"])
        #expect(try resources("parse = { \(said) }", "format = \"csv\"", "")[0].parse.contentTypes == ["text/x"])
        let defaults = "[defaults.parse]\n\(said)\nbom = \"reject-page\"\n" + itemSource
        let csv = try configuration(defaults + "format = \"csv\"").sources[0].resources[0].parse
        #expect(csv.contentTypes == ContentFormat.csv(CSVFormat()).contentTypes && csv.byteOrderMark == .rejectPage)
        #expect(try configuration(defaults).sources[0].resources[0].parse.contentTypes == ["text/x"])
        #expect(try configuration(defaults + "unpack = \"gzip\"").sources[0].resources[0].parse.contentTypes.contains("text/x"))
    }

    @Test(arguments: [
        "format = \"ndjson\"", "format = \"json-seq\"\nunpack = \"gzip\"", "unpack = \"zip\"\nzip_entry = \"a.json\"",
        "format = \"csv\"\ncsv = { delimiter = \"\\t\", quote = \"\", columns = [\"id\"], header = false }", "format = \"csv\"",
    ])
    func whatIsPrintedIsReadAsTheSame(lines: String) throws {
        let reading = read(itemSource + lines)
        let printed = try #require(reading.resolved).toml()
        let again = read(printed)
        #expect(again.errors.map(\.description) == [] && again.configuration?.sources == reading.configuration?.sources, "\(printed)")
    }

    // MARK: What does not fit together

    @Test(arguments: ["ndjson", "json-seq", "csv"]) func thereIsNothingAroundRecordsThatAreNoDocument(format: String) {
        func problem(_ lines: String) -> String { self.problem("format = \"\(format)\"\n\(lines)") }
        #expect(problem("records = \"$.data\"").contains("with format = \"\(format)\" a response is its records, and there is no path to them"))
        let nothing = "with format = \"\(format)\" a response is its records, and nothing around them could say it"
        for pages in [
            "kind = \"cursor\", path = \"$.next\"", "kind = \"body-link\", path = \"$.next\"",
            "kind = \"page\", stop = { has_more = \"$.more\" }", "kind = \"link-header\", stop = { total = \"$.n\" }",
            "kind = \"offset\", stop = { total_pages = \"$.n\" }", "kind = \"page\", stop = { last = \"$.last\" }",
        ] {
            let found = problem("pages = { \(pages) }")
            #expect(found.contains(nothing), "\(pages): \(found)")
        }
        let token = problem("incremental = { kind = \"token\", path = \"$.token\", param = \"t\" }")
        #expect(token.contains(nothing) && token.contains("write header = \"NAME\" and param"), "\(token)")
        #expect(problem("incremental = { kind = \"token\", header = \"X-Next\", param = \"t\" }") == "")
        #expect(problem("query = \"{ a }\"\nrecords = \"$\"").contains("the answer to a query is JSON, and not \(format)"))
        for pages in [
            "kind = \"cursor\", header = \"X-Next\"", "kind = \"page\"", "kind = \"offset\"", "kind = \"link-header\"",
            "kind = \"keyset\", from = \"$.id\"",
        ] {
            #expect(problem("pages = { \(pages) }") == "", "\(pages)")
        }
    }

    @Test func whatBelongsToAnotherFormatIsRefused() {
        let other = problem("csv = { delimiter = \";\" }")
        #expect(other.contains("\"csv\" is about format = \"csv\", and the format is \"json\"; write format = \"csv\""), "\(other)")
        #expect(problem("format = \"ndjson\"\ncsv = {}").contains("the format is \"ndjson\""))
        #expect(problem("zip_entry = \"a\"").contains("there is no zip file that would have entries; write unpack = \"zip\""))
        #expect(problem("unpack = \"gzip\"\nzip_entry = \"a\"").contains("there is no zip file"))
        #expect(problem("format = \"csv\"\ncsv = { header = false }").contains("without a header nothing names the columns; write columns = "))
        #expect(problem("format = \"csv\"\ncsv = { delimiter = \"'\", quote = \"'\" }").contains("delimiter and quote are the same character"))
        #expect(problem("format = \"csv\"\ncsv = { columns = [\"a\", \"a\"] }").contains("\"a\" appears twice in the list"))
        #expect(problem("format = \"cvs\"").contains("did you mean \"csv\"?"))
        #expect(problem("unpack = \"bzip2\"").contains("expected one of \"none\", \"gzip\", \"zip\""))
    }

    @Test func aComplaintSaysWhereItIs() throws {
        let problem = try #require(read(itemSource + "format = \"csv\"\n[source.csv]\ndelimiter = \"ab\"\n").errors.first)
        #expect(problem.keyPath == "source.items.csv.delimiter" && problem.line == itemSource.count { $0 == "\n" } + 3, "\(problem)")
        let records = try #require(read(itemSource + "format = \"csv\"\nrecords = \"$.a\"\n").errors.first)
        #expect(records.keyPath == "source.items.records" && records.line == itemSource.count { $0 == "\n" } + 2, "\(records)")
    }

    // MARK: Columns

    @Test func whatNamesColumnsIsRead() throws {
        #expect(try resource("").columns == nil)
        #expect(try resource("columns = [\"id\", \"name\"]").columns == .fixed(["id", "name"]))
        #expect(try resource("columns = \"header\"").columns == .header)
        #expect(try resource("records = \"$.rows\"\ncolumns = \"$.columns\"").columns == .path("$.columns"))
        let names = JSONPath(segments: [.key("fields"), .each, .key("name")])
        #expect(try resource("records = \"$.rows\"\ncolumns = \"$.fields[*].name\"").columns == .path(names))
        #expect(try resource("records = \"$.hourly\"\ncolumns = \"members\"").columns == .members)
        #expect(try resource("format = \"ndjson\"\ncolumns = \"header\"").columns == .header)
        // A source says it for all of its resources.
        #expect(try resources("columns = \"header\"", "", "columns = [\"id\"]").map(\.columns) == [.header, .fixed(["id"])])
    }

    @Test(arguments: [
        ("columns = \"colums\"", "a path to one"), ("columns = \"$.a[*].b[*]\"\nrecords = \"$.rows\"", "leads to more than one list"),
        ("format = \"csv\"\ncolumns = \"header\"", "named by its header, or by csv.columns"),
        ("records = \"$.a[*].b\"\ncolumns = \"header\"", "leads to several lists"),
        ("format = \"ndjson\"\ncolumns = \"members\"", "nothing around them could name columns"),
        ("format = \"ndjson\"\ncolumns = \"$.columns\"", "nothing around them could name columns"),
        ("columns = \"$.columns\"", "all of the answer is records"),
        ("columns = \"members\"\nfail_if = [{ path = \"$.s\", equals = \"error\" }]", "no condition could look into it"),
        ("columns = \"members\"\npages = { kind = \"cursor\", path = \"$.next\" }", "nothing around them could say it"),
    ])
    func columnsThatNothingCouldNameAreRefused(lines: String, complaint: String) {
        #expect(problem(lines).contains(complaint), "\(problem(lines))")
    }

    @Test func theResolvedConfigurationSaysWhatNamesColumns() throws {
        let resolved = try #require(read(itemSource + "records = \"/rows\"\ncolumns = \"/columns\"").resolved)
        #expect(resolved.settings.contains { $0.keyPath.hasSuffix(".columns") && $0.value == "\"$.columns\"" })
    }
}
