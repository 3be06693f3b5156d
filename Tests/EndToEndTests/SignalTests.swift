import Foundation
import Glibc
import SyncControl
import Testing

/// Signals at the worst moments.
@Suite struct SignalTests {
    private func workshop(grace: String = "10m") async throws -> (Workshop, FixtureServer) {
        let shop = try Workshop()
        let server = try await shop.server("pages.py", ["--pages", "5", "--records", "20"])
        try shop.configure("pages.toml", ["API": server.address, "GRACE": grace])
        return (shop, server)
    }

    // C11
    @Test(.timeLimit(.minutes(60)), arguments: [SIGTERM, SIGINT]) func aStopBeforeTheFirstInstructionEndsWithNothingLost(_ signal: Int32) async throws
    {
        let (shop, _) = try await workshop()
        defer { shop.close() }
        // Blocked from the beginning, as in a service manager that is asked to stop while it starts: the signal waits for the daemon.
        let daemon = try shop.launch(blockedSignals: [signal])
        daemon.signal(signal)
        #expect(await daemon.end() == 0, "\(daemon.errors)")
        // What it left behind can be used.
        let next = try await shop.daemon()
        next.signal(SIGTERM)
        #expect(await next.end() == 0)
    }

    /// The first of what a start asks the system for, and more that comes before it is ready.
    private static let moments = [
        ("mmap", 1), ("open", 1), ("epoll", 1), ("event", 1), ("thread", 1), ("thread", 24), ("thread", 25), ("thread", 26), ("stat", 1),
        ("mkdir", 1),
        ("lock", 1), ("sync", 1), ("socket", 1),
    ]

    // C11
    @Test(.enabled(if: FaultShim.compiler != nil, "\(FaultShim.absent)"), .timeLimit(.minutes(60)), arguments: moments, [SIGTERM, SIGINT])
    func aStopAtAnyCallOfTheStartEndsWithNothingLost(_ moment: (family: String, at: Int), _ signal: Int32) async throws {
        let (shop, _) = try await workshop()
        defer { shop.close() }
        // Nothing is blocked but by the daemon itself, and the signal comes before the call returns.
        let daemon = try await FaultShim(in: shop).launch(shop, Fault(family: moment.family, at: moment.at, signal: signal))
        #expect(await daemon.end() == 0, "\(daemon.errors)\n\(FaultShim.place(shop))")
        #expect(try FaultShim.counts(shop).failed == 1, "there was no such call")
        if FileManager.default.fileExists(atPath: shop.store) { #expect(try await shop.damage() == []) }
    }

    /// The start asks for the lock of the store and is never answered: it never comes to where it would hear of the stop.
    @Test(.enabled(if: FaultShim.compiler != nil, "\(FaultShim.absent)"), .timeLimit(.minutes(60)))
    func aStopThatDoesNotComeToAnEndIsEndedByTheKernel() async throws {
        let (shop, _) = try await workshop()
        defer { shop.close() }
        let daemon = try await FaultShim(in: shop).launch(shop, Fault(family: "lock", at: 1, signal: 0))
        try await daemon.line { $0.contains("never returns") }
        daemon.signal(SIGTERM)
        // Forty seconds later.
        let status = await daemon.end()
        #expect(status == 71, "\(status): \(daemon.errors)")
        #expect(daemon.errors.last == "<2>cisternd did not stop in time and exits now; what is committed is safe", "\(daemon.errors)")
        let next = try await shop.daemon()
        next.signal(SIGTERM)
        #expect(await next.end() == 0)
    }

    @Test(.timeLimit(.minutes(60))) func aStopBeforeReadyEndsWithNothingLost() async throws {
        let (shop, _) = try await workshop()
        defer { shop.close() }
        let daemon = try shop.launch()
        try await daemon.line { $0.contains(MessageMark.started) }
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0, "\(daemon.errors)")
    }

    // K2
    @Test(.timeLimit(.minutes(60))) func aPollThatIsAskedForBeforeReadyTakesPlace() async throws {
        let (shop, server) = try await workshop()
        defer { shop.close() }
        let daemon = try shop.launch(blockedSignals: [SIGUSR1, SIGUSR2, SIGHUP])
        for signal in [SIGUSR1, SIGUSR2, SIGHUP] { daemon.signal(signal) }
        try await daemon.line { $0.contains(MessageMark.ready) }
        // `start = "wait"`: only the signal can be the reason for a request.
        try await server.event { $0.event == "request" && $0.path?.contains("page=5") == true }
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
    }

    @Test(.timeLimit(.minutes(60))) func aReloadGivesTheJournalTheNewName() async throws {
        let shop = try Workshop()
        defer { shop.close() }
        func configure(_ name: String) throws {
            try shop.configure("pages.toml", ["API": "http://127.0.0.1:1", "GRACE": "1s"]) {
                $0.replacingOccurrences(of: "[daemon]", with: "[daemon]\nname = \"\(name)\"")
            }
        }
        try configure("first")
        let daemon = try await shop.daemon()
        try configure("second")
        #expect(try await shop.control("reload", "--wait").status == 0)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        let names = daemon.errors.compactMap { line in ["first", "second"].first { line.contains("\"SYSLOG_IDENTIFIER\":\"\($0)\"") } }
        #expect(names.first == "first" && names.last == "second")
    }

    // R2
    @Test(.timeLimit(.minutes(60))) func aStopInTheMiddleOfAPageFinishesThePage() async throws {
        let (shop, server) = try await workshop()
        defer { shop.close() }
        let daemon = try await stopWhilePageThreeIsHeld(shop, server)
        try await server.tell("release")
        #expect(await daemon.end() == 0)
        #expect(try await pages(shop) == ["1|20", "2|20", "3|20"])
        #expect(try await shop.damage() == [])
    }

    @Test(.timeLimit(.minutes(60))) func aPageThatNeverComesIsGivenUpAfterTheGrace() async throws {
        let (shop, server) = try await workshop(grace: "200ms")
        defer { shop.close() }
        let daemon = try await stopWhilePageThreeIsHeld(shop, server)
        #expect(await daemon.end() == 0)
        #expect(try await pages(shop) == ["1|20", "2|20"])
        #expect(try await shop.damage() == [])
    }

    @Test(.timeLimit(.minutes(60))) func aSecondStopSkipsThePage() async throws {
        let (shop, server) = try await workshop()
        defer { shop.close() }
        let daemon = try await stopWhilePageThreeIsHeld(shop, server)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        #expect(try await pages(shop) == ["1|20", "2|20"])
        // The next start goes on where this one was stopped: pages that are there are not sent again.
        try await server.tell("release")
        let next = try await shop.daemon()
        let runs = try await shop.sync("shop/items")
        #expect(runs["shop/items"].map { [$0.notModifiedPages, $0.pages] } == [2, 5])
        next.signal(SIGTERM)
        #expect(await next.end() == 0)
    }

    private func stopWhilePageThreeIsHeld(_ shop: Workshop, _ server: FixtureServer) async throws -> Child {
        try await server.tell("hold", ["page": 3])
        let daemon = try await shop.daemon()
        _ = try await shop.control("sync", "shop/items")
        try await server.event { $0.event == "held" }
        // It was asked for while the second page was read.
        while try await !shop.control("status", "--json").output.joined().replacing(" ", with: "").contains("\"running_page\":3") {}
        daemon.signal(SIGTERM)
        try await daemon.line { $0.contains(MessageMark.stopping) }
        return daemon
    }

    private func pages(_ shop: Workshop) async throws -> [String] {
        try await shop.sql("SELECT page, count(*) FROM Item WHERE page IS NOT NULL GROUP BY page ORDER BY page")
    }
}
