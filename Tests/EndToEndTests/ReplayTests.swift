import Foundation
import Glibc
import SyncReports
import SyncTestSupport
import Synchronization
import Testing

/// A mapping that is mended while the server is away, through the programs.
@Suite struct ReplayTests {
    private static func configuration(_ api: String, path: String) -> String {
        """
        version = 1
        [daemon]
        start = "wait"
        [log]
        format = "json"
        [document]
        autosave_interval = "1s"
        [store]
        min_free_disk = "1MiB"
        [defaults.schedule]
        every = "1h"
        min_interval = "1s"
        [defaults.retry]
        attempts = 1
        [defaults.schema]
        raw = "last"
        raw_max = "1MiB"
        [[source]]
        name = "shop"
        base_url = "\(api)"
        [[source.resource]]
        name = "items"
        path = "/items"
        entity = "Item"
        records = "$.items"
        pages = { kind = "page", size_param = "", stop = { total_pages = "$.pages" } }
        deletion = { detect = "snapshot", confirm_runs = 1, max_fraction = 1.0 }
        [entity.Item]
        key = ["id"]
        [entity.Item.attributes]
        id = { type = "int64", optional = false }
        title = { path = "\(path)", type = "string" }
        """
    }

    private final class Requests: Sendable {
        let targets = Mutex<[String]>([])
    }

    private static func answer(_ target: String) -> String {
        let page = target.hasSuffix("page=2") ? 2 : 1
        return #"{"pages": 2, "items": [{"id": \#(page * 2), "label": "l\#(page)"}, {"id": \#(page * 2 + 1), "label": "m\#(page)"}]}"#
    }

    @Test func aMendedMappingIsAppliedWithoutARequestAndSurvivesAKill() async throws {
        let shop = try Workshop(), requests = Requests()
        defer { shop.close() }
        let server = try await RawHTTPServer { request, _ in
            requests.targets.withLock { $0.append(request.target) }
            return [.send(HostileServerTests.answer("200 OK", Self.answer(request.target))), .close]
        }
        try shop.configure(text: Self.configuration(server.url(""), path: "$.wrong"))
        var daemon = try await shop.daemon()
        #expect(try await shop.sync()["shop/items"]?.isComplete == true)
        #expect(try await shop.sql("SELECT count(*) FROM Item WHERE title IS NULL") == ["4"])
        daemon.signal(SIGKILL)
        _ = await daemon.end()
        daemon = try await shop.daemon()
        let asked = requests.targets.withLock { $0.count }
        try shop.configure(text: Self.configuration(server.url(""), path: "$.label"))
        #expect(try await shop.control("reload", "--wait").status == 0)
        let replay = try await shop.control("replay", "shop/items", "--wait")
        #expect(replay.status == 0 && replay.output.contains { $0.contains("shop/items") }, "\(replay)")
        #expect(try await shop.sql("SELECT id || title FROM Item ORDER BY id") == ["2l1", "3m1", "4l2", "5m2"])
        #expect(try await shop.sql("SELECT cause, outcome, pages, updated FROM cistern_run ORDER BY run DESC LIMIT 1") == ["replay|succeeded|2|4"])
        #expect(requests.targets.withLock { $0.count } == asked)
        // The poll that follows finds everything as it should be.
        let next = try await shop.sync()
        #expect(next["shop/items"]?.counts.changes == 0 && next["shop/items"]?.notModifiedPages == 2, "\(next)")
        let files = FileManager.default.enumerator(atPath: "\(shop.folder)/state/Archive")?.compactMap { $0 as? String } ?? []
        #expect(files.count { $0.hasSuffix(".body") } == 2, "\(files)")
        try shop.configure(
            text: Self.configuration(server.url(""), path: "$.label").replacingOccurrences(of: "raw = \"last\"", with: "raw = \"none\""))
        #expect(try await shop.control("reload", "--wait").status == 0)
        #expect(!FileManager.default.fileExists(atPath: "\(shop.folder)/state/Archive/shop"))
        let refused = try await shop.control("replay", "shop/items")
        #expect(refused.status == 64 && refused.errors.contains { $0.contains("no bodies are kept of shop/items") }, "\(refused)")
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        #expect(try await shop.damage() == [])
    }
}
