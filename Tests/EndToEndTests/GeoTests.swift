import Foundation
import SyncControl
import SyncTestSupport
import Testing

/// Three files of real data with references between them, from a real web server with ETags and gzip.
@Suite(.serialized) struct GeoTests {
    private struct Changes: Decodable {
        let changed: [Int]
        let removed: [Int]
        let added: [Int]
    }

    static let hasData = TestData.has("geo/countries.json", "geo/states.json.gz", "geo/cities.json.gz")

    @Test(.enabled(if: hasData, "\(TestData.absent)"), .timeLimit(.minutes(60)))
    func theWorldIsMirroredOnceAndThenOnlyWhatChanges() async throws {
        let shop = try Workshop()
        defer { shop.close() }
        try await Self.unpack(shop)
        let server = try await shop.server("nginx.py", ["\(shop.folder)/www", "\(shop.folder)/nginx"])
        try shop.configure("geo.toml", ["API": server.address])
        let daemon = try await shop.daemon()

        // Everything, once.
        var runs = try await shop.sync()
        #expect(runs.values.map(\.outcome) == [.succeeded, .succeeded, .succeeded])
        #expect(runs["geo/cities"]?.counts.quarantined == 7)
        try await expectTheWholeWorld(shop)
        let cities = try #require(runs["geo/cities"])
        Evidence.note(
            "geo: \(cities.counts.inserted + cities.counts.updated) cities of \(cities.bytes) bytes in "
                + "\(Int(cities.endedAt.timeIntervalSince(cities.startedAt))) s")

        // The same again: asked, answered with 304, and nothing is written but when that was and when the next poll is.
        let before = try await fingerprint(shop), asked = server.requests.count
        runs = try await shop.sync()
        #expect(runs.values.allSatisfy { $0.outcome == .succeeded && $0.notModifiedPages == 1 && $0.counts.changes == 0 })
        #expect(server.requests.dropFirst(asked).map(\.status) == [304, 304, 304])
        #expect(try await fingerprint(shop) == before)

        try await whatChangedIsWritten(shop)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        #expect(try await shop.damage() == [])
    }

    // MARK: The first import

    /// Puts the three files where the server finds them.
    static func unpack(_ shop: Workshop) async throws {
        for name in ["states.json", "cities.json"] {
            let result = try await shop.run("sh", ["-c", "cp \"$1.gz\" www/ && gunzip -k \"www/$2.gz\"", "-", TestData.path("geo/\(name)"), name])
            try #require(result.status == 0, "\(result.errors)")
        }
        try FileManager.default.copyItem(atPath: TestData.path("geo/countries.json"), toPath: "\(shop.folder)/www/countries.json")
    }

    /// Compared with what SQLite itself reads from the files.
    private func expectTheWholeWorld(_ shop: Workshop) async throws {
        #expect(try await shop.damage() == [])
        #expect(try await shop.number("SELECT count(*) FROM Country WHERE NOT _stub") == 250)
        #expect(try await shop.number("SELECT count(*) FROM State WHERE NOT _stub") == 5_308)
        #expect(try await shop.number("SELECT count(*) FROM City WHERE NOT _stub") == 58_220)
        // R11: one bad record costs one record, and says why.
        let rejected = try await shop.sql("SELECT reason FROM cistern_quarantine WHERE source = 'geo' AND resource = 'cities'")
        #expect(rejected.count == 7 && rejected.allSatisfy { $0.contains("no id") }, "\(rejected)")
        #expect(try await shop.number("SELECT count(*) FROM State s JOIN Country c ON c.id = s.country") == 5_308)
        let joined = "SELECT count(*) FROM City c JOIN State s ON s.id = c.state JOIN Country l ON l.id = c.country WHERE NOT c._stub"
        #expect(try await shop.number(joined) == 58_220)
        // Each value as it stands in the file, links and all.
        let file = "\(shop.folder)/www/cities.json"
        let differences = try await shop.sql(
            """
            WITH file AS (SELECT value FROM json_each(readfile('\(file)')) WHERE json_extract(value, '$.id') IS NOT NULL)
            SELECT count(*) FROM (
                SELECT json_extract(value, '$.id'), json_extract(value, '$.name'), json_extract(value, '$.population'),
                    json_extract(value, '$.state_id'), json_extract(value, '$.country_id'), json_extract(value, '$.parent_id'),
                    json_extract(value, '$.translations.ja'), json_extract(value, '$.created_at') || 'Z' FROM file
                EXCEPT
                SELECT id, name, population, state, country, parent, json_extract(translations, '$.ja'), createdAt FROM City)
            """)
        #expect(differences == ["0"])
        #expect(try await shop.number("SELECT count(*) FROM City WHERE latitude + 0.0 NOT BETWEEN -90 AND 90") == 0)
    }

    /// What any write of a row changes, but for the column that says when the next poll is.
    private func fingerprint(_ shop: Workshop) async throws -> [String] {
        var print = try await shop.sql("SELECT Z_PK, ZRUNNUMBER, ZROWS, ZCOMPLETEAT FROM ZCISTERNRESOURCE")
        for table in ["ZCITY", "ZSTATE", "ZCOUNTRY", "ZCISTERNREQUEST", "ZCISTERNKEYS", "ZCISTERNRUN", "ZCISTERNQUARANTINE"] {
            print += try await shop.sql("SELECT count(*), sum(Z_OPT), max(Z_PK) FROM \(table)")
        }
        return print
    }

    // MARK: Changes

    private func whatChangedIsWritten(_ shop: Workshop) async throws {
        try await snapshot(shop)
        let cities = try await variant(shop, "cities.json", keep: [])
        // States that somebody refers to stay in the listing, so that only what is to be seen is seen.
        let used = try await shop.sql(
            "SELECT DISTINCT state FROM City WHERE state IS NOT NULL UNION SELECT parent FROM State WHERE parent IS NOT NULL")
        let states = try await variant(shop, "states.json", keep: used.compactMap { Int($0) })
        try #require(cities.changed.count > 550 && cities.removed.count == 20 && cities.added.count == 20)
        try #require(!states.changed.isEmpty && !states.removed.isEmpty && states.added.count == states.removed.count)

        var runs = try await shop.sync()
        let city = try #require(runs["geo/cities"]), state = try #require(runs["geo/states"])
        #expect([city.counts.inserted, city.counts.updated, city.counts.deleted] as [Int] == [20, cities.changed.count, 20])
        #expect([state.counts.inserted, state.counts.updated, state.counts.deleted] as [Int] == [states.added.count, states.changed.count, 0])
        #expect(runs["geo/countries"]?.notModifiedPages == 1)
        #expect(try await moved(shop, "City") == (cities.changed + cities.removed + cities.added).sorted())
        #expect(try await moved(shop, "State") == (states.changed + states.added).sorted())
        #expect(try await tombstones(shop, "City") == cities.removed.sorted())

        // R6: with confirm_runs = 2 what is missing waits for the second complete run.
        #expect(try await tombstones(shop, "State") == [])
        // The same answer again is none.
        runs = try await shop.sync("geo/states")
        #expect(runs["geo/states"]?.counts.deleted == 0)
        let append = """
            import gzip, sys
            body = open(sys.argv[1], "rb").read() + b"\\n"
            open(sys.argv[1], "wb").write(body)
            open(sys.argv[1] + ".gz", "wb").write(gzip.compress(body, 1, mtime=0))
            """
        let appended = try await shop.run(Workshop.python, ["-c", append, "\(shop.folder)/www/states.json"])
        try #require(appended.status == 0, "\(appended.errors)")
        runs = try await shop.sync("geo/states")
        #expect(runs["geo/states"]?.counts.deleted == states.removed.count)
        #expect(try await tombstones(shop, "State") == states.removed.sorted())
        #expect(try await shop.number("SELECT count(*) FROM City WHERE NOT _stub") == 58_220)
        #expect(try await shop.number("SELECT count(*) FROM State WHERE NOT _stub") == 5_308)
        Evidence.note("geo: \(cities.changed.count) cities changed, 20 gone, 20 new: exactly these rows were written")
    }

    private func variant(_ shop: Workshop, _ name: String, keep: [Int]) async throws -> Changes {
        let path = "\(shop.folder)/www/\(name)"
        let result = try await shop.run(
            Workshop.python, [TestData.fixture("variant.py"), path, path, "--keep"] + keep.map(String.init))
        try #require(result.status == 0, "\(result.errors)")
        return try JSONDecoder().decode(Changes.self, from: Data(result.output.joined().utf8))
    }

    /// Keeps the version of every row, to compare with later.
    private func snapshot(_ shop: Workshop) async throws {
        let statement = """
            ATTACH 'file:\(shop.store)?mode=ro' AS store;
            CREATE TABLE ZCITY AS SELECT ZID, Z_OPT FROM store.ZCITY;
            CREATE TABLE ZSTATE AS SELECT ZID, Z_OPT FROM store.ZSTATE;
            """
        let result = try await shop.run("sqlite3", ["-bail", "\(shop.folder)/before.db", statement])
        try #require(result.status == 0, "\(result.errors)")
    }

    /// The ids of the rows whose version is another one since, or that were not there.
    private func moved(_ shop: Workshop, _ entity: String) async throws -> [Int] {
        let table = "Z\(entity.uppercased())"
        return try await shop.sql(
            """
            ATTACH 'file:\(shop.folder)/before.db?mode=ro' AS old;
            SELECT n.ZID FROM main.\(table) n LEFT JOIN old.\(table) o ON o.ZID = n.ZID WHERE o.Z_OPT IS NOT n.Z_OPT ORDER BY n.ZID
            """
        ).compactMap { Int($0) }
    }

    private func tombstones(_ shop: Workshop, _ entity: String) async throws -> [Int] {
        try await shop.sql("SELECT key FROM cistern_tombstone WHERE entity = '\(entity)' ORDER BY CAST(key AS INTEGER)").compactMap { Int($0) }
    }
}
