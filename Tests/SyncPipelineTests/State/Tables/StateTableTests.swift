import Foundation
import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Every column is there for somebody: something writes it, and something reads it.
@Suite struct StateTableTests {
    private static func names(_ table: any StateTable.Type) -> [String] { table.allColumns.map { "\(table.entity).\($0.name)" } }
    private static var all: Set<String> { Set(StateModel.tables.flatMap(names)) }

    // MARK: Declarations

    @Test(arguments: StateModel.tables.map { ($0.entity) })
    func theColumnsOfATableAreItsPropertiesAndNothingElse(_ entity: String) throws {
        let table = try #require(StateModel.tables.first { $0.entity == entity })
        func properties<Table: StateTable>(_ table: Table.Type) -> [String] { Mirror(reflecting: table.columns).children.map { $0.label ?? "" } }
        #expect(table.allColumns.map(\.name) == properties(table))
        let description = table.description(views: [:])
        #expect(description.attributesByName.keys.sorted() == properties(table).sorted())
        #expect(description.uniquenessConstraints.count == 1 && !(description.uniquenessConstraints.first ?? []).isEmpty)
    }

    @Test func theKeysOfTheTablesAreWhatTheirRowsAreFoundBy() {
        let keys = Dictionary(uniqueKeysWithValues: StateModel.tables.map { ($0.entity, $0.allColumns.filter(\.isKey).map(\.name)) })
        #expect(
            keys == [
                "CisternResource": ["source", "resource", "partition"], "CisternRequest": ["scope", "request"],
                "CisternKeys": ["scope", "request", "kind"],
                "CisternManifest": ["scope", "request", "piece"],
                "CisternRun": ["source", "resource", "number"], "CisternQuarantine": ["digest"],
            ])
    }

    /// What people read keeps its names.
    @Test func theViewsHaveTheColumnsThatTheyAlwaysHad() {
        func shown(_ table: any StateTable.Type) -> [String] { table.allColumns.filter(\.isShown).map(\.sql) }
        #expect(
            shown(RunTable.self) == [
                "source", "resource", "run", "uuid", "cause", "started_at", "ended_at", "outcome", "complete", "pages", "bytes", "inserted",
                "updated",
                "unchanged", "deleted", "quarantined", "http_status", "error",
            ])
        #expect(
            shown(QuarantineTable.self) == [
                "digest", "source", "resource", "partition", "run", "page", "record", "reason", "path", "raw", "seen_at", "count",
            ])
        let words = StatusViews.status.split(separator: " ").map { $0.trimmingCharacters(in: [","]) }
        let aliases = zip(words, words.dropFirst()).filter { $0.0 == "AS" && $0.1 != "INTEGER)" }.map(\.1)
        #expect(
            aliases == [
                "source", "resource", "partition", "state", "last_success", "age_s", "next_poll_at", "cursor", "pages", "rows", "http_status",
                "consecutive_failures", "breaker", "complete_at", "error", "held_deletes",
            ])
    }

    @Test func everyCountOfARunIsAColumn() {
        #expect(RecordCounts.kinds.map(\.name) == Mirror(reflecting: RecordCounts()).children.map { $0.label ?? "" })
        let columns = RunTable.allColumns.map(\.name)
        #expect(RecordCounts.kinds.allSatisfy { columns.contains($0.name) })
    }

    // MARK: Written

    private let api = ScriptedAPI()

    private static func toml(_ names: [String]) -> String {
        let more = [
            "people": "deletion = { detect = \"snapshot\", confirm_runs = 1, max_fraction = 1.0 }",
            "links": "pages = { kind = \"link-header\" }", "forks": "pages = { kind = \"link-header\" }",
            "torn": "pages = { kind = \"link-header\" }", "parts": "for_each = { values = [\"a\", \"b\"], as = \"p\" }\nparams = { p = \"{p}\" }",
            "cursors": """
            records = "$.items"
            pages = { kind = "cursor", path = "$.next", stop = { has_more = "$.more", total = "$.total", total_pages = "$.pages" } }
            """,
            "deltas": """
            records = "$.items"
            incremental = { kind = "token", path = "$.token", param = "token" }
            """,
            "numbers": """
            records = "$.items"
            pages = { kind = "cursor", path = "$.next" }
            incremental = { kind = "integer", field = "$.id", since = "after" }
            filter = [{ path = "$.id", not_equals = 72 }]
            """,
        ]
        let resources = names.map { ScriptedAPI.resource($0, of: $0 == "things" ? "Thing" : "Person", more[$0] ?? "") }.joined()
        return ScriptedAPI.configuration(
            resources, defaults: "max_age = \"2h\"\nadaptive = true",
            entities: ScriptedAPI.entities() + "\n[entity.Thing]\nkey = [\"id\"]\nattributes = { id = { type = \"int64\", optional = false } }\n")
    }

    /// The columns that hold something else now than what they read as where nothing was ever written.
    private static func written(in fixture: PipelineFixture) async throws -> Set<String> {
        try await fixture.pipeline.writer.written()
        return try await fixture.document.withWorker { worker in
            func columns<Table: StateTable>(_ table: Table.Type) throws -> [String] {
                let rows = try StateRow<Table>.all(in: worker)
                return table.allColumns.filter { column in
                    rows.contains { !$0.stored(column).isNull && $0.stored(column) != column.unwritten }
                }.map { "\(table.entity).\($0.name)" }
            }
            return try Set(StateModel.tables.flatMap { try columns($0) })
        }
    }

    private func serve() {
        api.set("/people", #"[{"id": 1}, {"id": 2}, {"id": 3}]"#)
        api.set("/links", #"[{"id": 11}]"#, headers: ["Link": "</links?page=2>; rel=next"])
        api.set("/links?page=2", #"[{"id": 12}]"#, headers: ["Link": "<http://elsewhere.example/links>; rel=next"])
        api.set("/forks", #"[{"id": 21}]"#, headers: ["Link": "</forks?a=1>; rel=next, </forks?b=1>; rel=next"])
        api.set("/forks?a=1", #"[{"id": 22}]"#)
        api.set("/torn", #"[{"id": 31}]"#, headers: ["Link": "</torn?page=2; rel=next"])
        api.set("/cursors", #"{"items": [{"id": 41}], "next": "x", "more": true, "total": 2, "pages": 2}"#)
        api.set("/cursors?cursor=x", #"{"items": [{"id": 42}], "more": false, "total": "many", "pages": 2}"#)
        api.set("/alone", #"{"id": 51}"#)
        api.set("/numbers", #"{"items": [{"id": 71}, {"id": 72}], "next": 7}"#)
        api.set("/numbers?cursor=7", #"{"items": []}"#)
        api.set("/deltas", #"{"items": [{"id": 81}], "token": "t1"}"#)
        api.set("/parts?p=a", #"[{"id": 61}, {"id": "one"}]"#)
        api.set("/parts?p=b", #"[{"id": 62}]"#)
        api.set("/things", "[\((0...Manifest.pieceSize).map { #"{"id": \#($0)}"# }.joined(separator: ","))]")
    }

    @Test func somethingWritesEveryColumn() async throws {
        let names = ["people", "links", "forks", "torn", "cursors", "numbers", "deltas", "things", "parts", "alone"]
        let api = api
        let fixture = try await PipelineFixture(Self.toml(names), savesAtOnce: true) { request, _ in api.answer(request) }
        serve()
        try await fixture.sync()
        var written = try await Self.written(in: fixture)
        // Rows change, one goes, one is no good, and two cannot be told.
        api.set("/people", #"[{"id": 1, "name": "Ada"}, {"id": 2}]"#)
        try await fixture.sync("api/people")
        written.formUnion(try await Self.written(in: fixture))
        api.set("/people", #"[{"id": 1}, {"id": "two"}]"#, etag: "\"1\"", headers: ["Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"])
        #expect(try await fixture.sync("api/people").counts.quarantined == 1)
        written.formUnion(try await Self.written(in: fixture))
        // The server fails before anybody may delete.
        api.set("/people", "", status: 404)
        let ended = fixture.reports.count
        try await fixture.pipeline.acceptDeletes("api/people")
        fixture.clock.advance(by: .seconds(3600))
        try await fixture.finished(ended + 1)
        written.formUnion(try await Self.written(in: fixture))
        try await fixture.pipeline.pause("api/links")
        try await fixture.pipeline.reload(try PipelineFixture.configuration(Self.toml(names.dropLast())))
        written.formUnion(try await Self.written(in: fixture))
        api.set("/parts?p=b", "", status: 429, headers: ["Retry-After": "86400"])
        #expect(try await fixture.sync("api/parts").outcome == .parked)
        written.formUnion(try await Self.written(in: fixture))
        try await fixture.end()
        written.formUnion(try await Self.writtenInALongRun())
        written.formUnion(try await Self.writtenWhenAServerFails())
        #expect(Self.all.subtracting(written).sorted() == [])
    }

    private static func writtenInALongRun() async throws -> Set<String> {
        let fixture = try await PipelineFixture(toml(["people"]), isArmed: true) { _, _ in .silence }
        fixture.pipeline.handle(.asked(ResourceScope(source: "api", resource: "people"), .control))
        for await _ in fixture.transport.silences { break }
        fixture.clock.advance(by: PipelineState.noticeable)
        fixture.pipeline.handle(.due)
        let written = try await written(in: fixture)
        try await fixture.end()
        return written
    }

    private static func writtenWhenAServerFails() async throws -> Set<String> {
        let toml = ScriptedAPI.configuration(
            ScriptedAPI.resource("people"), defaults: "[defaults.retry]\nattempts = 1\n[defaults.breaker]\nfailures = 1")
        let fixture = try await PipelineFixture(toml) { _, _ in .response(status: 500) }
        try await fixture.sync()
        let written = try await written(in: fixture)
        try await fixture.end()
        return written
    }

    // MARK: Read

    /// What a column may hold, by its type.
    private static func samples(_ type: NSAttributeDescription.AttributeType) -> [AttributeValue] {
        switch type {
        case .string: [.string("a"), .string("b")]
        case .integer64: [.int64(1), .int64(2)]
        case .boolean: [.bool(true), .bool(false)]
        case .date: [.date(1), .date(2)]
        case .binaryData:
            [Data(repeating: 1, count: 32), Data(repeating: 2, count: 32), Data(#"["a"]"#.utf8), Data(#"["b"]"#.utf8)].map { .data($0) }
        default: []
        }
    }

    /// The columns that make a difference to what `read` tells of a row, each alone. A row is found by its key, so that is read.
    private static func columns<Table: StateTable>(
        in fixture: PipelineFixture, find: @escaping @Sendable (NSManagedObjectContext) throws -> StateRow<Table>,
        read: @escaping @Sendable (StateRow<Table>, NSManagedObjectContext) throws -> String
    ) async throws -> Set<String> {
        try await fixture.document.withWorker { worker in
            func told(_ column: any TableColumn, _ sample: AttributeValue) throws -> String {
                defer { worker.rollback() }
                var row = try find(worker)
                for other in Table.allColumns where !other.isKey {
                    if let first = samples(other.type).first { row.set(other, to: first) }
                }
                row.set(column, to: sample)
                row.write(in: worker)
                return try read(row, worker)
            }
            let columns = try Table.allColumns.filter { column in
                column.isKey ? true : Set(try samples(column.type).map { try told(column, $0) }).count > 1
            }
            return Set(columns.map { "\(Table.entity).\($0.name)" })
        }
    }

    /// The columns of a view that the manual names: people read them.
    private static func shown(_ table: any StateTable.Type) throws -> Set<String> {
        let manual = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../../../docs/man/cisternd.8")
        let text = try String(contentsOf: manual, encoding: .utf8)
        #expect(text.contains("\(table.view ?? "none") ,") || text.contains("\(table.view ?? "none") ."))
        return Set(table.allColumns.filter(\.isShown).map { "\(table.entity).\($0.name)" })
    }

    @Test func somethingReadsEveryColumn() async throws {
        let fixture = try await api.fixture(Self.toml(["people"])), scope = ResourceScope(source: "api", resource: "people")
        var read = try await Self.columns(in: fixture) {
            try ResourceTable.row(of: scope, in: $0)
        } read: { row, _ in
            "\(row.state()) \(row.schedule)"
        }
        let words = Set(StatusViews.status.split { !$0.isLetter && $0 != "_" }.map(String.init))
        read.formUnion(ResourceTable.allColumns.filter { words.contains($0.sql) }.map { "\(ResourceTable.entity).\($0.name)" })
        read.formUnion(
            try await Self.columns(in: fixture) {
                try RequestTable.row(of: scope, "page", in: $0)
            } read: { _, worker in
                "\(String(describing: try StoredRequest.load(scope: scope, key: "page", fingerprint: "a", in: worker)))"
            })
        read.formUnion(
            try await Self.columns(in: fixture) {
                try StateRow<KeysTable>.find(key: "\(scope)", "", StoredKeys.Kind.members, in: $0)
            } read: { _, worker in
                "\(try StoredKeys.data(.members, of: scope, in: worker)?.first ?? 0)"
            })
        read.formUnion(
            try await Self.columns(in: fixture) {
                try StateRow<ManifestTable>.find(key: "\(scope)", "page", 0, in: $0)
            } read: { row, worker in
                _ = try StoredManifest.load(count: 1, of: scope, page: "page", in: worker)
                return "\(row.records?.first ?? 0)"
            })
        read.formUnion(try Self.shown(RunTable.self))
        read.formUnion(try Self.shown(QuarantineTable.self))
        #expect(Self.all.subtracting(read).sorted() == [])
        try await fixture.end()
    }
}
