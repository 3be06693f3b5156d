import Foundation
import Glibc
import SyncControl
import SyncTestSupport
import Testing

/// `kill -9` at random moments of the import of the world. CISTERN_GEO_KILLS says how often, CISTERN_SEED repeats a run.
@Suite struct GeoKillTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let kills = environment["CISTERN_GEO_KILLS"].flatMap { Int($0) } ?? 3
    private static let seed = environment["CISTERN_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...999_999)
    /// Resource, table, and how many records there are.
    private static let pages = [("countries", "ZCOUNTRY", 250), ("states", "ZSTATE", 5_308), ("cities", "ZCITY", 58_220)]

    @Test(.enabled(if: GeoTests.hasData, "\(TestData.absent)"), .timeLimit(.minutes(60)))
    func noKillLeavesHalfAWorld() async throws {
        srandom(UInt32(truncatingIfNeeded: Self.seed))
        let shop = try Workshop()
        defer { shop.close() }
        try await GeoTests.unpack(shop)
        let server = try await shop.server("nginx.py", ["\(shop.folder)/www", "\(shop.folder)/nginx"])
        // Saves while the import goes on, so that there is something to be killed in.
        try shop.configure("geo.toml", ["API": server.address]) {
            $0.replacingOccurrences(of: "autosave_interval = \"1h\"", with: "autosave_interval = \"1s\"\nautosave_changes = 2000")
        }
        var found: [String] = [], stages: [Int: Int] = [:]
        for kill in 1...Self.kills {
            if kill % 4 != 0 { try? FileManager.default.removeItem(atPath: "\(shop.folder)/state") }
            try FileManager.default.createDirectory(atPath: "\(shop.folder)/state", withIntermediateDirectories: true)
            let daemon = try await shop.daemon()
            _ = try await shop.control("sync")
            // The moment is what is random here; what is waited for is the end.
            let delay = Double(random() % 1_000_000) / 1_000_000 * 9
            DispatchQueue.global().asyncAfter(deadline: .now() + delay) { daemon.signal(SIGKILL) }
            #expect(await daemon.end() == 128 + SIGKILL)
            let (problems, complete) = try await examine(shop)
            stages[complete, default: 0] += 1
            found += problems.map { "kill \(kill), after \(delay) s: \($0)" }
        }
        #expect(found.isEmpty, "seed \(Self.seed):\n\(found.joined(separator: "\n"))")

        let runs = try await shop.importEverything()
        #expect(runs.values.allSatisfy { $0.outcome == .succeeded })
        let differences = try await compareWithAnUndisturbedImport(shop, server)
        #expect(differences == [], "seed \(Self.seed)")
        let reached = stages.sorted { $0.key < $1.key }.map { "\($0.value) with \($0.key) of 3 files in" }.joined(separator: ", ")
        Evidence.note("kill -9 of the geo import: \(Self.kills) kills, seed \(Self.seed), \(reached); \(found.count) findings; rows equal")
    }

    /// Looks at a copy of what the kill left. The second value: how many of the three files are in.
    private func examine(_ shop: Workshop) async throws -> (problems: [String], complete: Int) {
        _ = try await shop.run("sh", ["-c", "rm -rf copy && cp -r state/StoreContent copy"])
        let store = "\(shop.folder)/copy/persistentStore"
        guard try await shop.sql("SELECT count(*) FROM sqlite_master WHERE name = 'ZCITY'", store: store) == ["1"] else { return ([], 0) }
        var problems = try await shop.damage(store: store), complete = 0
        for (resource, table, count) in Self.pages {
            let rows = try await shop.sql("SELECT count(*) FROM \(table) WHERE NOT ifnull(ZCISTERNSTUB, 0)", store: store).first.flatMap { Int($0) }
            let vouched = try await shop.sql(
                "SELECT ZRECORDCOUNT FROM ZCISTERNREQUEST WHERE ZSCOPE = 'geo/\(resource)' AND ZETAG IS NOT NULL", store: store
            ).first.flatMap { Int($0) }
            switch (rows, vouched) {
            case (0, nil): continue
            case (count, count?): complete += 1
            // The seven cities without an ID are counted by the page and are no rows.
            case (count, .some(count + 7)): complete += 1
            default: problems.append("\(resource): \(rows ?? -1) rows of \(count), vouched for \(vouched.map(String.init) ?? "none")")
            }
        }
        return (problems, complete)
    }

    private func compareWithAnUndisturbedImport(_ shop: Workshop, _ server: FixtureServer) async throws -> [String] {
        let other = try Workshop()
        defer { other.close() }
        try other.configure("geo.toml", ["API": server.address])
        try await other.importEverything()
        let queries = [
            "SELECT id, name, iso2, population, translations FROM @Country", "SELECT s.id, s.name, s.country FROM @State s",
            "SELECT c.id, c.name, c.state FROM @City c",
        ]
        return try await shop.damage() + shop.differences(queries, from: other)
    }
}
