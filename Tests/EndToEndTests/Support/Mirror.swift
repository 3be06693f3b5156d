import Foundation
import Glibc
import SyncReports
import Testing

/// A daemon with a configuration of the examples, and a server that acts like the service it is about: what both have can be compared.
struct Mirror {
    let shop: Workshop
    let server: FixtureServer
    let daemon: Child
    private let queries: [String: String]

    /// - Parameters:
    ///   - source: the source of the example, which asks this server instead.
    ///   - path: where the service begins on the server.
    ///   - queries: what the rows are of each kind of thing that the server tells of.
    init(_ shop: Workshop, of example: String, source: String, at server: FixtureServer, path: String = "", queries: [String: String]) async throws {
        self.shop = shop
        self.server = server
        self.queries = queries
        let folder = shop.folder, files = FileManager.default
        try shop.configure(text: Self.text(of: example).replacing(/\{ credential = "\w+" \}/, with: "{ file = \"\(folder)/token\" }"))
        try "sesame".write(toFile: "\(folder)/token", atomically: true, encoding: .utf8)
        try files.createSymbolicLink(atPath: "\(folder)/presets", withDestinationPath: "\(TestData.project)/etc/cistern/presets")
        try files.createDirectory(atPath: "\(folder)/conf.d", withIntermediateDirectories: true)
        let dropIn = """
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
            [defaults.retry]
            base = "10ms"
            [defaults.deletion]
            confirm_runs = 1
            max_fraction = 1.0
            max_count = 1000000
            min_expected = 0
            [[source]]
            name = "\(source)"
            base_url = "\(server.address)\(path)"
            """
        try dropIn.write(toFile: "\(folder)/conf.d/test.toml", atomically: true, encoding: .utf8)
        let check = try await shop.check()
        try #require(check.status == 0, "\(check)")
        daemon = try await shop.daemon()
    }

    /// The configuration of an example, as it is shipped.
    static func text(of example: String) throws -> String {
        try String(contentsOfFile: "\(TestData.project)/Examples/\(example)/cisternd.toml", encoding: .utf8)
    }

    /// What the server has, a line `NAME:ROW` each.
    func truth() async throws -> Set<String> {
        try await server.tell("truth")
        let text = try String(contentsOfFile: "\(shop.folder)/truth", encoding: .utf8)
        return Set(text.split(separator: "\n").map(String.init))
    }

    /// What the database has, in the same words.
    func rows() async throws -> Set<String> {
        var rows: Set<String> = []
        for (name, query) in queries { rows.formUnion(try await shop.sql(query).map { "\(name):\($0)" }) }
        return rows
    }

    /// Polls until everything is listed, and expects that the rows are what the server has then.
    func expectAllAfterListing(_ words: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let runs = try await shop.sync(isFull: true)
        #expect(runs.values.allSatisfy { $0.isComplete }, "\(words): \(runs)", sourceLocation: sourceLocation)
        let truth = try await truth(), rows = try await rows()
        #expect(truth.subtracting(rows).sorted() == [], "\(words): no rows", sourceLocation: sourceLocation)
        #expect(rows.subtracting(truth).sorted() == [], "\(words): rows of what is not there", sourceLocation: sourceLocation)
    }

    /// Ends the daemon, and looks at its database.
    func end(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0, "\(daemon.errors.suffix(5))", sourceLocation: sourceLocation)
        #expect(try await shop.damage() == [], sourceLocation: sourceLocation)
        #expect(try await shop.verify().status == 0, sourceLocation: sourceLocation)
    }
}
