import Foundation
import Glibc
import SyncControl
import Testing

/// Signals in numbers, in pairs, and at any moment.
@Suite struct SignalStormTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let isStress = environment["CISTERN_STRESS"] == "1"
    private static let seed = SeededRandom.seed
    private static let all = [SIGHUP, SIGUSR1, SIGUSR2, SIGTERM]

    private func workshop(pages: Int, records: Int = 20) async throws -> (shop: Workshop, server: FixtureServer, striker: FixtureServer) {
        let shop = try Workshop()
        let server = try await shop.server("pages.py", ["--pages", "\(pages)", "--records", "\(records)"])
        try shop.configure("pages.toml", ["API": server.address, "GRACE": "10m"])
        return (shop, server, try await shop.server("strike.py"))
    }

    /// So many polls of the items have been begun.
    private func polls(_ server: FixtureServer) -> Int { server.requests.count { $0.path?.contains("?page=1&") == true } }

    /// What is in the store once nobody disturbs any more is the whole listing.
    private func expectEverything(_ shop: Workshop, rows: Int) async throws {
        let runs = try await shop.importEverything()
        #expect(runs.values.allSatisfy { $0.outcome == .succeeded && $0.isComplete }, "\(runs)")
        #expect(try await shop.number("SELECT count(*) FROM Item WHERE page IS NOT NULL") == rows)
        #expect(try await shop.damage() == [])
        #expect(try await shop.verify().status == 0)
    }

    // K2
    @Test(.timeLimit(.minutes(60))) func aThousandPollSignalsDuringARunAreOneMoreRun() async throws {
        let (shop, server, striker) = try await workshop(pages: 5)
        defer { shop.close() }
        try await server.tell("hold", ["page": 3])
        let daemon = try await shop.daemon()
        _ = try await shop.control("sync", "shop/items")
        try await server.event { $0.event == "held" }
        try await striker.tell("storm", ["pid": Int(daemon.pid), "signal": Int(SIGUSR1), "count": 1000])
        // The kernel hands out signals by their numbers: whoever has heard of this one has heard of those.
        daemon.signal(SIGUSR2)
        try await daemon.line { $0.contains(MessageMark.statusDump) }
        try await server.tell("release")
        for _ in 0..<2 { try await server.event { $0.event == "request" && $0.path?.contains("?page=5&") == true } }
        let next = try await shop.sync("shop/items")
        #expect(next["shop/items"]?.outcome == .succeeded)
        #expect(polls(server) == 3)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0, "\(daemon.errors.suffix(5))")
    }

    // K2
    @Test(.timeLimit(.minutes(60))) func aThousandReloadsDuringAnImportLoseNoPage() async throws {
        let (shop, server, striker) = try await workshop(pages: 50)
        defer { shop.close() }
        let daemon = try await shop.daemon()
        async let finished = shop.sync("shop/items")
        for page in 1...50 {
            try await server.event { $0.event == "request" && $0.path?.contains("?page=\(page)&") == true }
            try await striker.tell("storm", ["pid": Int(daemon.pid), "signal": Int(SIGHUP), "count": 20])
        }
        let run = try #require(try await finished["shop/items"])
        #expect(run.outcome == .succeeded && run.isComplete && run.pages == 50, "\(run)")
        #expect(try await shop.control("reload", "--wait").status == 0)
        #expect(try await shop.number("SELECT count(*) FROM Item WHERE page IS NOT NULL") == 1000)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0, "\(daemon.errors.suffix(5))")
        #expect(daemon.errors.contains { $0.contains(MessageMark.reloaded) })
        try await expectEverything(shop, rows: 1000)
    }

    /// Milliseconds after a start: all of the first five hundred in `make stress`, some of them else.
    private static let moments = Array(stride(from: 0, to: 500, by: isStress ? 1 : 20))

    // K2, C11
    @Test(.timeLimit(.minutes(60)), arguments: all) func aSignalAtAnyMillisecondOfTheStartIsNeitherLostNorFatal(_ signal: Int32) async throws {
        let (shop, _, striker) = try await workshop(pages: 2)
        defer { shop.close() }
        for moment in Self.moments {
            // Blocked at first: until the program's first line has run, a signal does what the system does with it.
            let daemon = try shop.launch(blockedSignals: Self.all)
            try await striker.tell("strike", ["pid": Int(daemon.pid), "signal": Int(signal), "delay_us": moment * 1000])
            if signal != SIGTERM {
                try await daemon.line { $0.contains(MessageMark.ready) }
                if signal == SIGUSR2 { try await daemon.line { $0.contains(MessageMark.statusDump) } }
                daemon.signal(SIGTERM)
            }
            #expect(await daemon.end() == 0, "after \(moment) ms: \(daemon.errors.suffix(5))")
        }
        try await expectEverything(shop, rows: 40)
    }

    private static let pairs = environment["CISTERN_PAIRS"].flatMap { Int($0) } ?? (isStress ? 1000 : 100)

    // K3
    @Test(.timeLimit(.minutes(60))) func noTwoSignalsAtAnyMomentsLoseAnything() async throws {
        var random = SeededRandom(state: Self.seed)
        let (shop, server, striker) = try await workshop(pages: 10)
        defer { shop.close() }
        for pair in 1...Self.pairs {
            let first = random.one(of: Self.all), second = random.one(of: Self.all), isStart = random.once(in: 2)
            // Half of the pages are new each time.
            try await server.tell("publish", ["version": pair])
            let daemon = try shop.launch(blockedSignals: Self.all)
            if !isStart {
                try await daemon.line { $0.contains(MessageMark.ready) }
                _ = try await shop.control("sync")
            }
            let delays = (Int.random(in: 0..<200_000, using: &random), Int.random(in: 0..<50_000, using: &random))
            try await striker.tell(
                "strike",
                ["pid": Int(daemon.pid), "signal": Int(first), "delay_us": delays.0, "signal2": Int(second), "delay2_us": delays.1])
            let place = "seed \(Self.seed), pair \(pair): \(first) after \(delays.0) µs, \(second) after \(delays.1) more"
            if first != SIGTERM, second != SIGTERM {
                if isStart { try await daemon.line { $0.contains(MessageMark.ready) } }
                daemon.signal(SIGTERM)
            }
            #expect(await daemon.end() == 0, "\(place): \(daemon.errors.suffix(5))")
            if FileManager.default.fileExists(atPath: shop.store) { #expect(try await shop.damage() == [], "\(place)") }
        }
        // The first version is the one in which every page has all of its records.
        try await server.tell("publish", ["version": 1])
        try await expectEverything(shop, rows: 200)
    }
}
