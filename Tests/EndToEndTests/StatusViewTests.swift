import Foundation
import Glibc
import SyncTestSupport
import Testing

/// The status of the mirror in SQL, as any reader of the file gets it, beside what the daemon says of itself.
@Suite struct StatusViewTests {
    @Test(.timeLimit(.minutes(60))) func theViewKnowsEveryState() async throws {
        let server = try await RawHTTPServer { request, _ in
            switch request.target {
            case "/good", "/held", "/quiet", "/gone": [.send(HostileServerTests.answer("200 OK", "[{\"id\": 1}]")), .close]
            case "/slow": [.hang]
            default: [.send(HostileServerTests.answer("500 No", "{}")), .close]
            }
        }
        let shop = try Workshop()
        defer { shop.close() }
        let paths = ["bad", "gone", "good", "held", "off", "quiet", "slow", "unasked"]
        let text = HostileServerTests.configuration(server, paths: paths)
        try shop.configure(text: text)
        let daemon = try await shop.daemon()
        for path in ["bad", "gone", "good", "held", "quiet"] { _ = try await shop.control("sync", "--wait", "shop/\(path)") }
        #expect(try await shop.control("pause", "shop/held").status == 0)
        #expect(try await shop.control("sync", "shop/slow").status == 0)
        let changed = text.replacingOccurrences(of: Self.table("gone"), with: "")
            .replacingOccurrences(of: Self.table("off"), with: Self.table("off") + "enabled = false\n")
            .replacingOccurrences(of: Self.table("quiet"), with: Self.table("quiet") + "schedule = { max_age = \"1s\" }\n")
        try shop.configure(text: changed)
        #expect(try await shop.control("reload").status == 0)
        let states = [
            "bad|degraded", "gone|removed", "good|ok", "held|paused", "off|disabled", "quiet|degraded", "slow|running", "unasked|pending",
        ]
        // A run is seen when it takes long, and data are too old when their time is over.
        try await Self.wait(for: states, of: "SELECT resource, state FROM cistern_status ORDER BY resource", in: shop)
        #expect(
            try await shop.sql("SELECT resource FROM cistern_status WHERE next_poll_at IS NULL ORDER BY resource") == ["gone", "held", "off"])
        // What an unclean end leaves open is over with the next start.
        daemon.signal(SIGKILL)
        _ = await daemon.end()
        let next = try await shop.daemon()
        try await Self.wait(for: ["0"], of: "SELECT count(*) FROM cistern_status WHERE state = 'running'", in: shop)
        next.signal(SIGTERM)
        #expect(await next.end() == 0)
        await server.shutdown()
    }

    /// The daemon tells the file soon, not at once.
    private static func wait(for rows: [String], of query: String, in shop: Workshop) async throws {
        var found: [String] = []
        for _ in 0..<3000 where found != rows { found = try await shop.sql(query) }
        #expect(found == rows)
    }

    private static func table(_ path: String) -> String {
        "[[source.resource]]\nname = \"\(path)\"\nentity = \"Item\"\npath = \"/\(path)\"\n"
    }

    // A poll that finds nothing new says so in SQL, too.
    @Test(.timeLimit(.minutes(60))) func anAnswerOfNotModifiedIsASuccess() async throws {
        let server = try await HostileServerTests.unchanging()
        let shop = try Workshop()
        defer { shop.close() }
        try shop.configure(text: HostileServerTests.configuration(server, paths: ["good"]))
        let daemon = try await shop.daemon()
        var seen: [String] = []
        for _ in 1...3 {
            #expect(try await shop.control("sync", "--wait", "shop/good").status == 0)
            seen += try await shop.sql("SELECT printf('%.8f', julianday(last_success)) FROM cistern_status")
        }
        #expect(Set(seen).count == 3 && seen == seen.sorted(), "\(seen)")
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        await server.shutdown()
    }
}
