import Foundation
import Glibc
import SyncReports
import SyncTestSupport
import Testing

/// Rows on the disk beside what was written, through the binaries.
@Suite struct VerifyTests {
    private static func store(_ shop: Workshop, _ sql: String) async throws {
        let result = try await shop.run("sqlite3", ["-batch", "-bail", "-cmd", ".timeout 5000", shop.store, sql])
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test(.timeLimit(.minutes(60))) func verifySaysWhichRowsAreNotAsTheyWereWrittenAndTheNextPollReadsThemAnew() async throws {
        let shop = try Workshop()
        defer { shop.close() }
        let server = try await shop.server("pages.py", ["--pages", "3", "--records", "50"])
        try shop.configure("pages.toml", ["API": server.address, "GRACE": "20s"])
        let runs = try await shop.importEverything()
        #expect(runs.values.allSatisfy { $0.isComplete })
        let names = "SELECT name FROM Item WHERE NOT _stub ORDER BY id", before = try await shop.sql(names)
        let sound = try await shop.verify()
        #expect(sound.status == 0 && sound.output.last?.hasSuffix("as cisternd wrote them.") == true, "\(sound)")

        // While nobody runs: a program, and a disk.
        try await Self.store(shop, "UPDATE ZITEM SET ZNAME = 'changed' WHERE ZID IN (7, 120)")
        let keys = try await shop.sql("SELECT _pk FROM Item WHERE id IN (7, 120) ORDER BY _pk").joined(separator: ", ")
        let found = try await shop.verify()
        #expect(found.status == 65)
        #expect(found.output.first == "Item: 2 rows are not as cisternd wrote them: _pk \(keys)")
        let remedy = "Restore a copy, or stop cisternd, move the store away and start cisternd again: it then fetches everything anew."
        #expect(found.output.last == remedy)
        let daemon = try await shop.daemon()
        _ = try await shop.sync()
        #expect(try await shop.verify().status == 0)
        #expect(try await shop.sql(names) == before)

        // While it runs: it hears of it soon.
        try await Self.store(shop, "UPDATE ZITEM SET ZNAME = 'changed again' WHERE ZID = 9; DELETE FROM ZITEM WHERE ZID = 140")
        for _ in 0..<20 where try await shop.sql(names) != before { _ = try await shop.sync() }
        #expect(try await shop.sql(names) == before)
        #expect(try await shop.verify().status == 0)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        let told = (daemon.output + daemon.errors).filter { $0.contains("not as cisternd wrote") }
        #expect(told.count == 3, "\(told)")
    }

    // A file that is damaged is refused by whoever looks at it.
    @Test(.timeLimit(.minutes(60))) func aDamagedFileIsRefusedWhenItIsChecked() async throws {
        let shop = try Workshop()
        defer { shop.close() }
        let server = try await shop.server("pages.py", ["--pages", "3", "--records", "50"])
        func configure(_ check: String) throws {
            try shop.configure("pages.toml", ["API": server.address, "GRACE": "20s"]) {
                $0.replacingOccurrences(of: "[store]\n", with: "[store]\nintegrity_check = \"\(check)\"\n")
            }
        }
        try configure("off")
        #expect(try await shop.importEverything().values.allSatisfy { $0.isComplete })
        let page = try #require(try await shop.number("SELECT rootpage FROM sqlite_master WHERE name = 'ZITEM'"))
        let size = try #require(try await shop.number("PRAGMA page_size"))
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: shop.store))
        try file.seek(toOffset: UInt64((page - 1) * size))
        try file.write(contentsOf: [UInt8](repeating: 0xFF, count: 64))
        try file.close()

        /// Nil: it started.
        func start(_ check: String, endedBy signal: Int32) async throws -> Int32? {
            try configure(check)
            let daemon = try shop.launch()
            let isUp = (try? await daemon.line { $0.contains(MessageMark.ready) }) != nil
            if isUp { daemon.signal(signal) }
            let status = await daemon.end()
            if !isUp { #expect(daemon.errors.contains { $0.contains("is damaged") }, "\(daemon.errors)") }
            return isUp ? nil : status
        }
        #expect(try await start("quick-on-start", endedBy: SIGTERM) == 74)
        #expect(try await start("off", endedBy: SIGTERM) == nil)
        #expect(try await start("after-unclean-end", endedBy: SIGTERM) == nil)
        #expect(try await start("off", endedBy: SIGKILL) == nil)
        // A start that was refused is no clean end.
        for _ in 1...2 { #expect(try await start("after-unclean-end", endedBy: SIGTERM) == 74) }
        #expect(try await start("off", endedBy: SIGTERM) == nil)
    }
}
