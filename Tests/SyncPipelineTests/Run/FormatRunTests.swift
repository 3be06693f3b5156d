import Foundation
import NIOHTTP1
import OpenCoreData
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Whole runs of resources whose responses are lines, tables and packed files.
@Suite struct FormatRunTests {
    /// A server whose answers a test sets, by path and query.
    final class FileAPI: Sendable {
        private struct File {
            let body: [UInt8]
            let type: String
            let etag: String?
            let headers: HTTPHeaders
        }

        private let files = Mutex<[String: File]>([:])

        func set(_ path: String, _ body: [UInt8], type: String = "text/plain", etag: String? = nil, headers: HTTPHeaders = [:]) {
            files.withLock { $0[path] = File(body: body, type: type, etag: etag, headers: headers) }
        }

        func set(_ path: String, _ text: String, type: String = "text/plain", etag: String? = nil, headers: HTTPHeaders = [:]) {
            set(path, Array(text.utf8), type: type, etag: etag, headers: headers)
        }

        func answer(_ request: HTTPRequest) -> StubTransport.Answer {
            let url = request.address.url, path = url.path + (url.query.map { "?\($0)" } ?? "")
            guard let file = files.withLock({ $0[path] }) else { return .response(status: 404) }
            var headers = file.headers
            if let etag = file.etag {
                headers.add(name: "ETag", value: etag)
                if request.headers.first(name: "If-None-Match") == etag { return .response(status: 304, headers: headers) }
            }
            headers.add(name: "Content-Type", value: file.type)
            headers.add(name: "Content-Length", value: "\(file.body.count)")
            return .response(status: 200, headers: headers, body: file.body)
        }

        func fixture(_ toml: String) async throws -> PipelineFixture { try await PipelineFixture(toml) { request, _ in self.answer(request) } }
    }

    private let api = FileAPI()
    private static let csv = "format = \"csv\""
    private static let ndjson = "format = \"ndjson\""

    private func people(_ fixture: PipelineFixture) async throws -> [String] {
        let rows = try await fixture.document.withWorker { worker in
            try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map { person in
                ["id", "name", "age"].map { "\(person.value(forKey: $0) ?? "-")" }.joined(separator: " ")
            }
        }
        return rows.sorted()
    }

    // MARK: A list

    struct Person: Sendable {
        let id: Int
        let name: String
        let age: Int?

        init(_ id: Int, _ name: String, _ age: Int?) { (self.id, self.name, self.age) = (id, name, age) }

        var json: String {
            let more = age.map { ", \"age\": \($0)" } ?? ""
            return "{\"id\": \(id), \"name\": \"\(name)\"\(more)}"
        }

        /// A list of its values.
        var values: String { "[\(id), \"\(name)\", \(age.map { "\($0)" } ?? "null")]" }

        func row(_ delimiter: String, quote: String = "") -> String {
            let cells = ["\(id)", quote + name + quote, age.map { "\($0)" } ?? ""]
            return cells.joined(separator: delimiter) + "\r\n"
        }
    }

    /// A list of people, as a format writes it.
    struct Writing: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let lines: String
        let write: @Sendable ([Person]) -> [UInt8]
    }

    private static func bytes(_ texts: [String]) -> [UInt8] { Array(texts.joined().utf8) }

    static let writings: [Writing] = [
        Writing(testDescription: "ndjson", lines: ndjson) { people in bytes(people.map { $0.json + "\n" }) },
        Writing(testDescription: "json-seq", lines: "format = \"json-seq\"") { people in bytes(people.map { "\u{1E}" + $0.json + "\n" }) },
        Writing(testDescription: "csv", lines: csv) { people in bytes(["id,name,age\r\n"] + people.map { $0.row(",", quote: "\"") }) },
        Writing(
            testDescription: "csv without a header",
            lines: csv + "\ncsv = { delimiter = \";\", header = false, columns = [\"id\", \"name\", \"age\"] }"
        ) { people in bytes(people.map { $0.row(";") }) },
        Writing(testDescription: "json.gz", lines: "unpack = \"gzip\"") { people in
            Fixture.gzip(bytes(["[", people.map(\.json).joined(separator: ","), "]"]))
        },
        Writing(testDescription: "ndjson.gz", lines: ndjson + "\nunpack = \"gzip\"") { people in
            people.flatMap { Fixture.gzip(bytes([$0.json, "\n"])) }
        },
        Writing(testDescription: "lists of values in lines, behind their names", lines: ndjson + "\ncolumns = \"header\"") { people in
            bytes(["[\"id\", \"name\", \"age\"]\n"] + people.map { $0.values + "\n" })
        },
        Writing(
            testDescription: "lists of values, whose names stand behind them",
            lines: "unpack = \"gzip\"\nrecords = \"$.rows\"\ncolumns = \"$.fields[*].name\""
        ) { people in
            let names = ["id", "name", "age"].map { "{\"name\": \"\($0)\"}" }.joined(separator: ", ")
            return Fixture.gzip(bytes(["{\"rows\": [", people.map(\.values).joined(separator: ", "), "], \"fields\": [\(names)]}"]))
        },
        Writing(testDescription: "columns", lines: "unpack = \"gzip\"\nrecords = \"$.people\"\ncolumns = \"members\"") { people in
            let ids = people.map { "\($0.id)" }, names = people.map { "\"\($0.name)\"" }, ages = people.map { $0.age.map { "\($0)" } ?? "null" }
            let columns = [("id", ids), ("name", names), ("age", ages)].map { "\"\($0.0)\": [\($0.1.joined(separator: ", "))]" }
            return Fixture.gzip(bytes(["{\"people\": {", columns.joined(separator: ", "), ", \"unit\": \"a\"}}"]))
        },
        Writing(testDescription: "csv.zip", lines: csv + "\nunpack = \"zip\"\nzip_entry = \"*.csv\"") { people in
            ZipBuilder.zip(("readme", [1]), ("people.csv", bytes(["id,name,age\n"] + people.map { $0.row(",") })))
        },
    ]

    private static let everybody = [Person(1, "Ada", 36), Person(2, "Grace", nil), Person(3, "Edsger", 72)]

    @Test(arguments: writings) func aListIsReadCheckedAndSweptWhateverItsFormatIs(writing: Writing) async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(writing.lines))
        api.set("/people", writing.write(Self.everybody), type: "application/octet-stream", etag: "\"1\"")
        let first = try #require(try await fixture.sync().first)
        #expect(first.isComplete && first.counts.inserted == 3, "\(first)")
        #expect(try await people(fixture) == ["1 Ada 36", "2 Grace -", "3 Edsger 72"])
        // Not modified.
        let second = try #require(try await fixture.sync().first)
        #expect(second.notModifiedPages == 1 && second.counts.unchanged == 3, "\(second)")
        // The same under another tag.
        api.set("/people", writing.write(Self.everybody), type: "application/octet-stream", etag: "\"2\"")
        #expect(try await fixture.sync().first?.notModifiedPages == 1)
        // A change, and a record that is gone.
        api.set("/people", writing.write([Person(1, "Ada", 37), Person(3, "Edsger", 72)]), type: "application/octet-stream", etag: "\"3\"")
        let third = try #require(try await fixture.sync().first)
        #expect(third.isComplete && third.counts.updated == 1 && third.counts.unchanged == 1 && third.counts.deleted == 1, "\(third)")
        #expect(try await fixture.live() == ["1", "3"])
        // An empty list is believed no more than elsewhere.
        api.set("/people", writing.write([]), type: "application/octet-stream", etag: "\"4\"")
        try await fixture.sync()
        #expect(try await fixture.live() == ["1", "3"])
        try await fixture.end()
    }

    // MARK: What is broken

    @Test(arguments: [
        (ndjson, "{\"id\":1}\n{\"id\":2\n{\"id\":3}\n", "line 2: a JSON value is not complete"),
        (ndjson, "{\"id\":1}\n{\"id\":tru}\n", "line 2: expected true, false or null"), (ndjson, "{\"id\":1}\n{\"id\":", "line 2: "),
        (csv, "id,name\n1,\"x\n", "line 2: a quoted cell that begins here does not end"), (csv, "", "the body is empty"),
        (csv + "\ncsv = { columns = [\"id\", \"name\"] }", "Try again later\n", "line 1: csv.columns says “id, name”, and the header says “Try"),
    ])
    func aPageThatIsNotWhatItsFormatSaysChangesNothing(lines: String, body: String, reason: String) async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(lines))
        let good = lines.hasPrefix(Self.csv) ? "id,name\n1,a\n2,b\n3,c\n" : "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n"
        api.set("/people", good)
        try await fixture.sync()
        let before = try await people(fixture)
        api.set("/people", body)
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed && report.failure == .page && report.error?.contains(reason) == true, "\(report)")
        #expect(try await people(fixture) == before && before.count == 3)
        // Afterwards it is as if nothing had been.
        api.set("/people", good)
        #expect(try await fixture.sync().first?.isComplete == true)
        try await fixture.end()
    }

    @Test func aBodyThatIsCutShortChangesNothing() async throws {
        // A file that was still being written when it was packed.
        let packed = try await api.fixture(ScriptedAPI.people(Self.csv + "\nunpack = \"gzip\"\nretry = { attempts = 1 }"))
        api.set("/people", Array(Fixture.gzip(Array("id\n1\n2\n3\n".utf8)).dropLast(3)))
        let report = try #require(try await packed.sync().first)
        #expect(report.outcome == .failed && report.error?.contains("the gzip data is cut short") == true, "\(report)")
        #expect(try await packed.live() == [])
        try await packed.end()
    }

    @Test func aCellThatDoesNotFitIsSetAsideAndItsRowStays() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(Self.csv))
        api.set("/people", "id,name,age\n1,a,1\n2,b,2\n3,c,3\n")
        try await fixture.sync()
        api.set("/people", "id,name,age\n1,a,1\n2,b,old\n")
        let report = try #require(try await fixture.sync().first)
        #expect(report.counts.quarantined == 1 && report.counts.deleted == 1, "\(report)")
        #expect(try await fixture.live() == ["1", "2"])
        let entry = try #require(try await fixture.pipeline.quarantine().first)
        #expect(entry.raw == #"{"id":"2","name":"b","age":"old"}"# && entry.reason.contains("age"), "\(entry)")
        try await fixture.end()
    }

    // Nobody can say whose cells they are.
    @Test func aRowWithTooManyCellsIsSetAsideAndProvesNothingOfOthers() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(Self.csv))
        api.set("/people", "id,name,age\n1,a,1\n2,b,2\n3,c,3\n")
        try await fixture.sync()
        api.set("/people", "id,name,age\n1,a,1\n2,b, Jr.,2\n")
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .succeeded && report.counts.quarantined == 1 && report.counts.deleted == 0, "\(report)")
        let entry = try #require(try await fixture.pipeline.quarantine().first)
        #expect(entry.raw == #""2,b, Jr.,2""# && entry.reason == "line 3: a row that has not as many cells as there are columns", "\(entry)")
        #expect(try await fixture.live() == ["1", "2", "3"])
        api.set("/people", "id,name,age\n1,a,1\n2,\"b, Jr.\",2\n")
        #expect(try await fixture.sync().first?.counts.deleted == 1)
        #expect(try await fixture.pipeline.quarantine().isEmpty)
        try await fixture.end()
    }

    // A server may say anything in place of a table.
    @Test(arguments: [0, 1990]) func whatAHeaderSaysOfASecretIsMasked(distance: Int) async throws {
        let toml = ScriptedAPI.people(
            Self.csv + "\ncsv = { columns = [\"id\"] }\nauth = { kind = \"bearer\", token = { credential = \"token\" } }")
        let fixture = try await PipelineFixture(toml, secrets: Fixture.secret("topsecret")) { [api] request, _ in api.answer(request) }
        api.set("/people", String(repeating: "x", count: distance) + "topsecret is not welcome\n")
        let error = try #require(try await fixture.sync().first?.error)
        #expect(error.contains("line 1: csv.columns says “id”") && !error.contains("topse"), "\(error)")
        try await fixture.end()
    }

    // MARK: What is known of pages

    // The server says that nothing has changed, and it is read otherwise now.
    @Test(arguments: [
        (csv, csv + "\ncsv = { delimiter = \";\" }"), (csv, csv + "\ncsv = { empty = \"text\" }"), (csv, csv + "\ncsv = { quote = \"'\" }"),
        (csv, csv + "\ncsv = { header = false, columns = [\"id\", \"name\"] }"), (ndjson, "format = \"json-seq\""), ("", ndjson),
        (ndjson + "\nunpack = \"gzip\"", ndjson), ("unpack = \"zip\"\nzip_entry = \"a\"", "unpack = \"zip\"\nzip_entry = \"b\""),
    ])
    func whatAFormatSaysOtherwiseIsAskedForAgain(before: String, after: String) async throws {
        func fingerprint(_ lines: String) throws -> String {
            let configuration = try PipelineFixture.configuration(ScriptedAPI.people(lines))
            let mapping = ModelMapping(configuration.model, model: try SyncPipeline.model(for: configuration))
            return mapping.fingerprint(of: try #require(configuration.resource(scope: "api/people")))
        }
        #expect(try fingerprint(before) != fingerprint(after))
        #expect(try fingerprint(after) == fingerprint(after))
    }

    @Test func otherColumnsReadAPageAgainThatHasNotChanged() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(Self.csv))
        api.set("/people", "id,name;age\n1,x;7\n", etag: "\"1\"")
        try await fixture.sync()
        #expect(try await fixture.sync().first?.notModifiedPages == 1)
        try await fixture.pipeline.reload(
            try PipelineFixture.configuration(ScriptedAPI.people(Self.csv + "\ncsv = { header = false, columns = [\"id\", \"name\"] }")))
        let report = try #require(try await fixture.sync().first)
        #expect(report.notModifiedPages == 0, "\(report)")
        #expect(try await people(fixture) == ["1 x;7 -"])
        try await fixture.end()
    }

    // Under other names the cells of a row are another record, although its line is the same.
    @Test func anotherHeaderReadsLinesAgainThatHaveNotChanged() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(Self.csv))
        api.set("/people", "id,name,nick\n1,a,b\n2,c,d\n")
        try await fixture.sync()
        api.set("/people", "id,nick,name\n1,a,b\n2,c,d\n")
        let report = try #require(try await fixture.sync().first)
        #expect(report.counts.updated == 2, "\(report)")
        #expect(try await people(fixture) == ["1 b -", "2 d -"])
        try await fixture.end()
    }

    // MARK: Pages, parts and increments

    @Test func linesComeInPages() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(Self.ndjson + "\npages = { kind = \"link-header\" }"))
        api.set("/people", "{\"id\":1}\n{\"id\":2}\n", headers: ["Link": "</people?page=2>; rel=next"])
        api.set("/people?page=2", "{\"id\":3}\n")
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.pages == 2, "\(report)")
        api.set("/people?page=2", "{\"id\":4}\n")
        #expect(try await fixture.sync().first?.counts.deleted == 1)
        #expect(try await fixture.live() == ["1", "2", "4"])
        try await fixture.end()
    }

    @Test func theLastRowSaysWhereTheNextPageBegins() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(Self.csv + "\npages = { kind = \"keyset\", from = \"$.id\", param = \"after\" }"))
        api.set("/people", "name,id\na,1\nb,2\n")
        api.set("/people?after=2", "name,id\nc,5\n\n")
        api.set("/people?after=5", "name,id\n")
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.pages == 3, "\(report)")
        #expect(try await fixture.live() == ["1", "2", "5"])
        try await fixture.end()
    }

    @Test func eachPartIsATableOfItsOwn() async throws {
        let fixture = try await api.fixture(
            ScriptedAPI.people(
                Self.csv + "\nfor_each = { values = [\"a\", \"b\"], as = \"team\" }\nparams = { team = \"{team}\" }\nset = { name = \"{team}\" }"))
        api.set("/people?team=a", "id\n1\n2\n")
        api.set("/people?team=b", "number,id\n7,3\n")
        #expect(try await fixture.sync().first?.isComplete == true)
        #expect(try await people(fixture) == ["1 a -", "2 a -", "3 b -"])
        api.set("/people?team=b", "number,id\n7,3")
        api.set("/people?team=a", "id\n2\n")
        #expect(try await fixture.sync().first?.counts.deleted == 1)
        #expect(try await fixture.live() == ["2", "3"])
        try await fixture.end()
    }

    @Test(arguments: [
        ("time", "2024-12-31T00:00:00Z", "2024-12-31T12:00:00Z"), ("integer", "5", "12"),
    ])
    func rowsSayHowNewTheyAre(kind: String, first: String, second: String) async throws {
        let lines = Self.csv + "\nincremental = { kind = \"\(kind)\", field = \"$.at\", since = \"since\" }"
        let fixture = try await api.fixture(ScriptedAPI.configuration(ScriptedAPI.resource("people", of: "Person", lines)))
        api.set("/people", "id,at\n1,\(first)\n2,\(second)\n3,\n")
        try await fixture.sync()
        let since = second.replacing(":", with: "%3A")
        for query in [second, since] { api.set("/people?since=\(query)", "id,at\n2,\(second)\n4,\(second)\n") }
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .succeeded && report.counts.inserted == 1, "\(report)")
        #expect(try await fixture.live() == ["1", "2", "3", "4"])
        try await fixture.end()
    }

    // Any text is a header, and without what records are told apart by it is no list that has ended.
    @Test(arguments: ["Service temporarily unavailable", "{\"error\":\"x\"}", "name,age\n", "<html>\n<p>no</p>\n"])
    func aTextWithoutTheColumnsOfTheKeyIsNoTable(text: String) async throws {
        let lines = Self.csv + "\npages = { kind = \"page\", size_param = \"\" }"
        let fixture = try await api.fixture(ScriptedAPI.people(lines))
        api.set("/people?page=1", "id,name\n1,a\n2,b\n")
        api.set("/people?page=2", "id,name\n3,c\n")
        api.set("/people?page=3", "name,id\n")
        #expect(try await fixture.sync().first?.isComplete == true)
        api.set("/people?page=2", text)
        for _ in 1...2 {
            let report = try #require(try await fixture.sync().first)
            #expect(report.outcome == .failed && report.counts.deleted == 0, "\(report)")
        }
        #expect(try await fixture.live() == ["1", "2", "3"])
        try await fixture.end()
    }

    @Test func whatIsWrongWithAHeaderIsSaid() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(Self.csv))
        api.set("/people", "\nname,age\n")
        let report = try #require(try await fixture.sync().first)
        #expect(report.failure == .page && report.error?.contains("line 2: no column is $.id") == true, "\(report)")
        #expect(report.error?.contains("name, age") == true, "\(report)")
        try await fixture.end()
    }

    // MARK: What cells say

    @Test(arguments: ["", ", equals = true"]) func aRowSaysThatItIsGoneWithItsText(test: String) async throws {
        let lines = Self.csv + "\ndeletion = { detect = \"field\", path = \"$.gone\"\(test) }"
        let fixture = try await api.fixture(ScriptedAPI.configuration(ScriptedAPI.resource("people", of: "Person", lines)))
        api.set("/people", "id,gone\n1,false\n2,false\n3,\n")
        #expect(try await fixture.sync().first?.counts.inserted == 3)
        for _ in 1...2 { #expect(try await fixture.sync().first?.counts.deleted == 0) }
        api.set("/people", "id,gone\n1,false\n2,true\n3,\n")
        #expect(try await fixture.sync().first?.counts.deleted == 1)
        #expect(try await fixture.live() == ["1", "3"])
        try await fixture.end()
    }

    @Test(arguments: [
        ("equals = true", ["1"]), ("equals = false", ["2"]), ("not_equals = true", ["2", "3", "4"]), ("in = [7, true]", ["1", "3"]),
        ("equals = 7.0", ["3"]), ("exists = false", ["4"]), ("equals = \"7\"", ["3"]),
    ])
    func aFilterComparesWhatCellsSay(test: String, live: [String]) async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(Self.csv + "\nfilter = [{ path = \"$.v\", \(test) }]"))
        api.set("/people", "id,v\n1,true\n2,false\n3,7\n4,\n")
        #expect(try await fixture.sync().first?.isComplete == true)
        #expect(try await fixture.live() == live, "\(test)")
        try await fixture.end()
    }

    // MARK: Trials

    @Test func aTrialReadsTheFormat() async throws {
        api.set("/people", ZipBuilder.zip(("a.csv", Array("id,name\n1,Ada\n2,b,c\n".utf8))), type: "application/zip")
        let configuration = try PipelineFixture.configuration(ScriptedAPI.people(Self.csv + "\nunpack = \"zip\""))
        let transport = StubTransport { [api] request, _ in api.answer(request) }
        let pages = try await PageTrial.run(
            try #require(configuration.resource(scope: "api/people")), configuration: configuration, transports: TransportPool { _ in transport },
            clock: ManualClock(), secrets: .none, version: "test", pages: 1)
        let page = try #require(pages.first)
        #expect(page.counts.inserted == 1 && page.rejected.map { $0.reason } == ["line 3: a row that has not as many cells as there are columns"])
        #expect(page.objects.first?.values.first { $0.name == "name" }?.value == "Ada")
    }
}
