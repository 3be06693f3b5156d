import Foundation
import Glibc
import SyncControl
import Testing

/// The network goes and comes back, and so does the daemon's share of the processor.
@Suite struct NetworkLossTests {
    private static let pages = 5
    /// What one poll of everything asks for: the pages of the items, and the tags.
    private static let requestsOfAPoll = pages + 1

    private static let rounds = ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1" ? 50 : 5

    private func workshop() async throws -> (shop: Workshop, server: FixtureServer, proxy: FixtureServer) {
        let shop = try Workshop()
        let server = try await shop.server("pages.py", ["--pages", "\(Self.pages)", "--records", "20"])
        let proxy = try await shop.server("proxy.py", ["--to", "\(server.port)"])
        try shop.configure("pages.toml", ["API": proxy.address, "GRACE": "1s"]) {
            $0.replacing("every = \"1h\"", with: "every = \"2s\"\njitter = \"0%\"")
                .replacing(
                    "[defaults.schedule]", with: "[defaults.http]\ntotal_timeout = \"1s\"\n\n[defaults.retry]\nattempts = 1\n\n[defaults.schedule]")
        }
        return (shop, server, proxy)
    }

    private func failed(_ shop: Workshop) async throws -> Int {
        try await shop.number("SELECT count(*) FROM cistern_run WHERE resource = 'items' AND outcome = 'failed'") ?? 0
    }

    /// Nobody asks for anything: the schedule brings what was missed, in one poll or, where one was under way, in two.
    private func expectRecovery(_ shop: Workshop, _ server: FixtureServer, requests before: Int, _ round: String) async throws {
        try await server.event { $0.event == "request" && $0.path?.contains("?page=\(Self.pages)&") == true }
        #expect(server.requests.count - before <= 3 * Self.requestsOfAPoll, "\(round)")
        let runs = try await shop.sync("shop/items")
        #expect(runs["shop/items"]?.isComplete == true, "\(round)")
    }

    private func end(_ shop: Workshop, _ server: FixtureServer, _ daemon: Child) async throws {
        try await server.tell("publish", ["version": 1])
        #expect(try await shop.sync("shop/items")["shop/items"]?.isComplete == true)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0, "\(daemon.errors.suffix(5))")
        #expect(try await shop.number("SELECT count(*) FROM Item WHERE page IS NOT NULL") == 20 * Self.pages)
        #expect(try await shop.damage() == [])
    }

    // N11
    @Test(.timeLimit(.minutes(60)), arguments: [0, 1]) func aNetworkThatComesBackIsFoundByTheSchedule(reset: Int) async throws {
        let (shop, server, proxy) = try await workshop()
        defer { shop.close() }
        let daemon = try await shop.daemon()
        _ = try await shop.sync()
        for round in 1...Self.rounds {
            let lost = try await failed(shop)
            try await proxy.tell("lose", ["reset": reset])
            try await server.tell("publish", ["version": round + 1])
            while try await failed(shop) == lost {}
            let before = server.requests.count
            try await proxy.tell("heal")
            try await expectRecovery(shop, server, requests: before, "round \(round)")
        }
        try await end(shop, server, daemon)
    }

    // N11
    @Test(.timeLimit(.minutes(60))) func aDaemonThatWasStoppedForAWhileGoesOn() async throws {
        let (shop, server, _) = try await workshop()
        defer { shop.close() }
        let daemon = try await shop.daemon()
        _ = try await shop.sync()
        for round in 1...Self.rounds {
            let before = server.requests.count
            daemon.signal(SIGSTOP)
            try await server.tell("publish", ["version": round + 1])
            // So long that whatever it had begun is too late by now.
            let striker = try await shop.server("strike.py")
            try await striker.tell("strike", ["pid": Int(daemon.pid), "signal": Int(SIGCONT), "delay_us": 1_500_000])
            try await expectRecovery(shop, server, requests: before, "round \(round)")
        }
        try await end(shop, server, daemon)
    }
}
