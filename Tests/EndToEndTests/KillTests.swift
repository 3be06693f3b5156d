import Foundation
import Glibc
import SyncControl
import SyncTestSupport
import Testing

/// C1: `kill -9` at random moments of an import, again and again on one database. CISTERN_KILLS says how often, CISTERN_SEED repeats a run.
@Suite struct KillTests {
    private static let pages = 50
    private static let environment = ProcessInfo.processInfo.environment
    private static let kills = environment["CISTERN_KILLS"].flatMap { Int($0) } ?? 12
    private static let seed = SeededRandom.seed

    @Test(.timeLimit(.minutes(60))) func noKillLeavesAnythingHalfDone() async throws {
        var random = SeededRandom(state: Self.seed)
        let shop = try Workshop()
        defer { shop.close() }
        let server = try await shop.server("pages.py", ["--pages", "\(Self.pages)", "--records", "200", "--seed", "\(Self.seed % 1000)"])
        try shop.configure("pages.toml", ["API": server.address, "GRACE": "20s"])
        var version = 1, found: [String] = [], inTheMiddle = 0

        for kill in 1...Self.kills {
            // Now and then from nothing; else on what the kills before left, with about half of the pages new.
            if Int.random(in: 0..<4, using: &random) == 0 { try FileManager.default.removeItem(atPath: "\(shop.folder)/state") }
            try FileManager.default.createDirectory(atPath: "\(shop.folder)/state", withIntermediateDirectories: true)
            version += 1
            try await server.tell("publish", ["version": version])
            let daemon = try await shop.daemon()
            // Counted from the moment in which a page is asked for; some come late enough for the last save and the sweep.
            let isLate = Int.random(in: 0..<5, using: &random) == 0
            let page = isLate ? Self.pages : Int.random(in: 1...Self.pages, using: &random)
            let delay = Int.random(in: 0..<(isLate ? 400_000 : 60_000), using: &random)
            try await server.tell("kill", ["pid": Int(daemon.pid), "page": page, "delay_us": delay])
            _ = try await shop.control("sync")
            let status = await daemon.end()
            #expect(status == 128 + SIGKILL)
            let (problems, isPartial) = try await examine(shop)
            inTheMiddle += isPartial ? 1 : 0
            found += problems.map { "kill \(kill) (page \(page), \(delay) µs later): \($0)" }
        }
        #expect(found.isEmpty, "seed \(Self.seed):\n\(found.joined(separator: "\n"))")

        // What was interrupted so often is, in the end, what an import that nobody disturbed gives.
        let runs = try await shop.importEverything()
        #expect(runs.values.allSatisfy { $0.outcome == .succeeded && $0.isComplete })
        let differences = try await compareWithAnUndisturbedImport(shop, server)
        #expect(differences == [], "seed \(Self.seed)")
        Evidence.note(
            "kill -9: \(Self.kills) kills, seed \(Self.seed), \(inTheMiddle) with an import in the middle; \(found.count) findings; "
                + "rows \(differences.isEmpty ? "equal" : "differ from") those of an undisturbed import")
    }

    // MARK: After a kill

    /// Looks at a copy of what the kill left, as it is. The second value: whether some pages were in and others were not.
    private func examine(_ shop: Workshop) async throws -> (problems: [String], isPartial: Bool) {
        let copy = "\(shop.folder)/copy"
        _ = try await shop.run("sh", ["-c", "rm -rf copy && cp -r state/StoreContent copy"])
        let store = "\(copy)/persistentStore"
        guard try await shop.sql("SELECT count(*) FROM sqlite_master WHERE name = 'ZITEM'", store: store) == ["1"] else {
            return ([], false)
        }
        var problems = try await shop.damage(store: store)
        // Page by page: the rows, how many there should be, and the validator beside them, all of one version.
        let torn = try await shop.sql(
            """
            WITH newest AS (SELECT ZPAGE AS page, max(ZVERSION) AS version FROM ZITEM WHERE ZPAGE IS NOT NULL GROUP BY ZPAGE),
                counted AS (
                    SELECT n.page, n.version, count(*) AS n, min(i.ZPAGECOUNT) AS least, max(i.ZPAGECOUNT) AS most
                    FROM newest n JOIN ZITEM i ON i.ZPAGE = n.page AND i.ZVERSION = n.version GROUP BY n.page)
            SELECT 'page ' || page || ' of version ' || version || ': ' || n || ' of ' || most || ' rows' FROM counted
                WHERE n <> most OR least <> most
            UNION ALL
            SELECT 'page ' || page || ' has rows of version ' || version || ' and validator ' || ifnull(r.ZETAG, 'none') FROM counted
                LEFT JOIN ZCISTERNREQUEST r ON r.ZETAG = '"p' || page || '-v' || version || '"'
                WHERE r.Z_PK IS NULL
            UNION ALL
            SELECT 'item ' || i.ZID || ' has ' || count(t.Tag) || ' tags of ' || i.ZTAGCOUNT
                FROM ZITEM i LEFT JOIN Item_tags t ON t.Item = i.ZID WHERE i.ZTAGCOUNT IS NOT NULL AND i.ZCISTERNDELETEDAT IS NULL
                GROUP BY i.ZID HAVING count(t.Tag) <> i.ZTAGCOUNT
            UNION ALL
            SELECT 'run ' || r.ZNUMBER || ' of ' || r.ZRESOURCE || ' is ahead of its resource' FROM ZCISTERNRUN r
                LEFT JOIN ZCISTERNRESOURCE s ON s.ZSOURCE = r.ZSOURCE AND s.ZRESOURCE = r.ZRESOURCE
                WHERE s.Z_PK IS NULL OR s.ZRUNNUMBER < r.ZNUMBER OR (r.ZISCOMPLETE AND s.ZCOMPLETEAT IS NULL)
            """, store: store)
        problems += torn
        problems += try await aheadOfTheRows(shop, store)
        let pages = try await shop.sql("SELECT count(*) FROM ZCISTERNREQUEST WHERE ZSCOPE = 'shop/items'", store: store).first ?? "0"
        return (problems, (1..<Self.pages).contains(Int(pages) ?? 0))
    }

    /// Keys that a request or a resource vouches for although there is no such row.
    private func aheadOfTheRows(_ shop: Workshop, _ store: String) async throws -> [String] {
        let rows = Set(try await shop.sql("SELECT Z_PK FROM ZITEM", store: store).compactMap { Int64($0) })
        let vouchers = try await shop.sql(
            """
            SELECT 'request ' || r.ZREQUEST || '|' || ifnull(hex(k.ZKEYS), 'none') || '|' || r.ZRECORDCOUNT FROM ZCISTERNREQUEST r
                LEFT JOIN ZCISTERNKEYS k ON k.ZSCOPE = r.ZSCOPE AND k.ZREQUEST = r.ZREQUEST AND k.ZKIND = 'members' WHERE r.ZSCOPE = 'shop/items'
            UNION ALL SELECT 'resource|' || hex(ZKEYS) || '|' FROM ZCISTERNKEYS
                WHERE ZSCOPE = 'shop/items' AND ZREQUEST = '' AND ZKIND = 'members'
            """, store: store)
        return vouchers.compactMap { line in
            let parts = line.split(separator: "|", omittingEmptySubsequences: false)
            if parts[1] == "none" { return "\(parts[0]) says nothing of its rows" }
            let members = Self.keys(String(parts[1]))
            if let missing = members.first(where: { !rows.contains($0) }) { return "\(parts[0]) vouches for row \(missing), which is not there" }
            if let count = Int(parts[2]), count != members.count { return "\(parts[0]) names \(members.count) rows for \(count) records" }
            return nil
        }
    }

    /// A mark and a version; of each run how far it begins after the one before and how many keys follow its first, seven bits a byte, the least first;
    /// four bytes of a check sum. What is none of that has the key -1, which no row has.
    private static func keys(_ hex: String) -> [Int64] {
        var digits = Substring(hex), bytes: [Int64] = []
        while let byte = Int64(digits.prefix(2), radix: 16) {
            digits = digits.dropFirst(2)
            bytes.append(byte)
        }
        guard bytes.starts(with: [0x80, 0, 1]), bytes.count >= 7 else { return [-1] }
        var numbers: [Int64] = [], value: Int64 = 0, shift: Int64 = 0
        for byte in bytes[3..<bytes.count - 4] {
            value |= (byte & 0x7f) << shift
            shift += 7
            guard byte & 0x80 == 0 else { continue }
            numbers.append(value)
            (value, shift) = (0, 0)
        }
        guard numbers.count.isMultiple(of: 2), shift == 0 else { return [-1] }
        var keys: [Int64] = []
        for place in stride(from: 0, to: numbers.count, by: 2) {
            let first = (keys.last ?? 0) + numbers[place]
            keys += first...first + numbers[place + 1]
        }
        return keys
    }

    // MARK: At the end

    private func compareWithAnUndisturbedImport(_ shop: Workshop, _ server: FixtureServer) async throws -> [String] {
        let other = try Workshop()
        defer { other.close() }
        try other.configure("pages.toml", ["API": server.address, "GRACE": "20s"])
        try await other.importEverything()
        #expect(try await shop.damage() == [])
        #expect(try await other.number("SELECT count(*) FROM Item WHERE NOT _stub") ?? 0 > 9_000)
        let queries = [
            // The parents as the table keeps them: the view shows one that has gone as none, and an import that never saw it as a stub.
            """
            SELECT 'item', i.id, i.name, i.page, i.version, i.pageCount, i.tagCount, i.amount, p.ZID, i.category FROM @Item i
                JOIN @ZITEM t ON t.Z_PK = i._pk LEFT JOIN @ZITEM p ON p.Z_PK = t.ZPARENT WHERE NOT i._stub
            """,
            "SELECT 'category', id, name FROM @Category", "SELECT 'tag', id, name FROM @Tag",
            "SELECT 'item has tag', t.Item, t.Tag FROM @Item_tags t JOIN @Item i ON i.id = t.Item WHERE NOT i._stub",
        ]
        let hidden = try await shop.sql(
            """
            SELECT 'the view hides the parent of item ' || i.id FROM Item i JOIN ZITEM t ON t.Z_PK = i._pk JOIN ZITEM p ON p.Z_PK = t.ZPARENT
                WHERE i.parent IS NOT CASE WHEN p.ZCISTERNDELETEDAT IS NULL THEN p.ZID END LIMIT 5
            """)
        return try await hidden + shop.differences(queries, from: other)
    }
}
