import Foundation
import Glibc
import SyncReports
import SyncTestSupport
import Synchronization
import Testing

/// Maps keyed by id and several lists of a page, through the programs.
@Suite struct MapsTests {
    /// The shipped example, which asks another server.
    private static func configuration(_ api: String) throws -> String {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let example = try String(contentsOf: folder.appendingPathComponent("../../Examples/maps/cisternd.toml"), encoding: .utf8)
        // Keys of the outermost table would stand in another one.
        let tables = example.replacing("version = 1\n", with: "").replacing("https://api.kraken.com", with: api)
            .replacing("https://www.gov.uk", with: api)
        return """
            version = 1
            [log]
            format = "json"
            [document]
            autosave_interval = "1s"
            [store]
            min_free_disk = "1MiB"
            [defaults.deletion]
            confirm_runs = 1
            max_fraction = 1.0
            [defaults.schedule]
            min_interval = "1s"
            jitter = "0%"
            [defaults.retry]
            attempts = 1

            \(tables)
            """
    }

    /// What the server says, by path.
    private static let first = [
        "/0/public/Assets": #"{"error": [], "result": {"XXBT": {"altname": "XBT", "decimals": 10}, "XETH": {"altname": "ETH", "decimals": 10}}}"#,
        "/bank-holidays.json": """
        {"scotland": {"division": "scotland", "events": [{"title": "New Year", "date": "2026-01-01", "bunting": true},
        {"title": "2nd January", "date": "2026-01-02", "bunting": true}]},
        "northern-ireland": {"division": "northern-ireland", "events": [{"title": "New Year", "date": "2026-01-01", "bunting": true}]}}
        """,
    ]

    private static let second = [
        "/0/public/Assets": #"{"error": [], "result": {"XETH": {"altname": "ETH", "decimals": 8}, "SOL": {"altname": "SOL"}}}"#,
        "/bank-holidays.json": """
        {"scotland": {"division": "scotland", "events": [{"title": "New Year", "date": "2026-01-01", "bunting": false}]},
        "northern-ireland": {"division": "northern-ireland", "events": []}}
        """,
    ]

    private final class Server: Sendable {
        let pages = Mutex(MapsTests.first)
    }

    @Test func theExampleOfMapsIsMirrored() async throws {
        let shop = try Workshop(), said = Server()
        defer { shop.close() }
        let server = try await RawHTTPServer { request, _ in
            let page = said.pages.withLock { $0[request.target] }
            return [.send(HostileServerTests.answer(page == nil ? "404 Not Found" : "200 OK", page ?? "")), .close]
        }
        try shop.configure(text: try Self.configuration(server.url("")))
        let check = try await shop.check()
        #expect(check.status == 0, "\(check)")
        let trial = try await shop.run(Workshop.binary("cisternctl"), ["try", "kraken/kraken", "--config", "\(shop.folder)/cisternd.toml"])
        #expect(trial.status == 0 && trial.output.joined(separator: "\n").contains("XXBT"), "\(trial)")

        var daemon = try await shop.daemon()
        var runs = try await shop.sync()
        #expect(runs["kraken/kraken"]?.isComplete == true && runs["holidays/holidays"]?.isComplete == true, "\(runs)")
        #expect(try await shop.sql("SELECT id, altname FROM Asset ORDER BY id") == ["XETH|ETH", "XXBT|XBT"])
        #expect(
            try await shop.sql("SELECT division, title FROM Holiday ORDER BY division, date")
                == ["northern-ireland|New Year", "scotland|New Year", "scotland|2nd January"])
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)

        // A new process knows what the old one has read.
        daemon = try await shop.daemon()
        runs = try await shop.sync()
        #expect(runs["kraken/kraken"]?.notModifiedPages == 1 && runs["holidays/holidays"]?.notModifiedPages == 1, "\(runs)")
        said.pages.withLock { $0 = Self.second }
        runs = try await shop.sync()
        #expect(runs["kraken/kraken"]?.isComplete == true && runs["holidays/holidays"]?.isComplete == true, "\(runs)")
        #expect(try await shop.sql("SELECT id, decimals FROM Asset ORDER BY id") == ["SOL|", "XETH|8"])
        #expect(try await shop.sql("SELECT division, title, bunting FROM Holiday") == ["scotland|New Year|0"])
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        #expect(try await shop.damage() == [])
        #expect(try await shop.verify().status == 0)
    }
}
