import Foundation
import Glibc
import SyncControl
import SyncTestSupport
import Testing

/// C12: backups while pages arrive, restored and compared, through the binaries. CISTERN_BACKUPS says how many.
@Suite struct BackupTests {
    private static let backups = ProcessInfo.processInfo.environment["CISTERN_BACKUPS"].flatMap { Int($0) } ?? 3
    private static let rows = [
        "SELECT 'item', i.id, i.name, i.page, i.version, i.pageCount, i.tagCount, i.amount, i.parent, i.category, i._stub FROM @Item i",
        "SELECT 'category', id, name FROM @Category", "SELECT 'tag', id, name FROM @Tag", "SELECT 'item has tag', t.Item, t.Tag FROM @Item_tags t",
    ]
    /// Pages of which there is only a part.
    private static let torn = """
        WITH newest AS (SELECT ZPAGE AS page, max(ZVERSION) AS version FROM ZITEM WHERE ZPAGE IS NOT NULL GROUP BY ZPAGE)
        SELECT n.page, n.version FROM newest n JOIN ZITEM i ON i.ZPAGE = n.page AND i.ZVERSION = n.version GROUP BY n.page
            HAVING count(*) <> max(i.ZPAGECOUNT) OR min(i.ZPAGECOUNT) <> max(i.ZPAGECOUNT)
        """

    private static func store(_ backup: BackupReport) -> String { "\(backup.path)/StoreContent/persistentStore" }

    private static func backup(_ shop: Workshop) async throws -> BackupReport {
        let result = try await shop.control("backup", "--json")
        #expect(result.status == 0, "\(result.errors)")
        return try ControlCoding.decode(BackupReport.self, from: Data(result.output.joined().utf8))
    }

    private static func differences(_ shop: Workshop, from other: String) async throws -> [String] {
        var found: [String] = []
        for query in rows {
            for (first, second) in [("main.", "other."), ("other.", "main.")] {
                let sql = "\(query.replacing("@", with: first)) EXCEPT \(query.replacing("@", with: second)) LIMIT 5"
                found += try await shop.sql("ATTACH 'file:\(other)?mode=ro' AS other; \(sql)").map { "\(first) only: \($0)" }
            }
        }
        return found
    }

    @Test(.timeLimit(.minutes(60))) func whatIsBackedUpWhilePagesArriveIsWholeAndComesBack() async throws {
        let shop = try Workshop()
        defer { shop.close() }
        let server = try await shop.server("pages.py", ["--pages", "30", "--records", "200"])
        let configure = { (shop: Workshop) in
            try shop.configure("pages.toml", ["API": server.address, "GRACE": "20s"]) {
                $0.replacingOccurrences(of: "[store]\n", with: "[store]\nbackup = { keep = \(Self.backups) }\n")
            }
        }
        try configure(shop)
        let daemon = try await shop.daemon()
        var made: [BackupReport] = []
        for number in 1...Self.backups {
            try await server.tell("publish", ["version": number])
            #expect(try await shop.control("sync").status == 0)
            made.append(try await Self.backup(shop))
            _ = try await shop.sync()
        }
        for backup in made {
            #expect(try await shop.damage(store: Self.store(backup)) == [])
            #expect(try await shop.sql(Self.torn, store: Self.store(backup)) == [], "\(backup.name)")
        }
        let listed = try await shop.control("backup", "list", "--json", "--config", "\(shop.folder)/cisternd.toml")
        let names = try ControlCoding.decode([BackupReport].self, from: Data(listed.output.joined(separator: "\n").utf8)).map(\.name)
        #expect(names == made.map(\.name).reversed())

        // C9: while it runs nobody gets at its database.
        let last = try #require(made.last)
        let words = ["restore", last.name, "--config", "\(shop.folder)/cisternd.toml"]
        let refused = try await shop.run(Workshop.binary("cisternctl"), words)
        #expect(refused.status == 75 && refused.errors.first?.contains("is in use by another cisternd (process \(daemon.pid))") == true, "\(refused)")
        #expect(try await shop.control("status").status == 0)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)

        for backup in made {
            let words = ["restore", backup.path, "--config", "\(shop.folder)/cisternd.toml"]
            let restored = try await shop.run(Workshop.binary("cisternctl"), words)
            #expect(restored.status == 0, "\(restored)")
            #expect(try await shop.damage() == [])
            #expect(try await shop.verify().status == 0)
            #expect(try await Self.differences(shop, from: Self.store(backup)) == [])
        }
        let kept = try FileManager.default.contentsOfDirectory(atPath: "\(shop.folder)/state").filter { $0.contains("before-restore") }
        #expect(kept.count == made.count)

        // What has happened since is polled, and nothing is amiss then.
        let next = try await shop.daemon()
        try await shop.expectAsNew(
            next,
            sameAs: [
                "SELECT id, name, page, version, pageCount, tagCount, amount, category FROM @Item WHERE NOT _stub",
                "SELECT id, name FROM @Category", "SELECT id, name FROM @Tag",
            ], configure: configure)
    }

    @Test(.timeLimit(.minutes(60))) func theDaemonMakesThemByItselfAndARestartMakesNoneMore() async throws {
        let shop = try Workshop()
        defer { shop.close() }
        let server = try await shop.server("pages.py", ["--pages", "3", "--records", "50"])
        try shop.configure("pages.toml", ["API": server.address, "GRACE": "20s"]) {
            $0.replacingOccurrences(of: "[store]\n", with: "[store]\nbackup = { every = \"24h\" }\n")
        }
        for process in 1...2 {
            let daemon = try shop.launch()
            if process == 1 { try await daemon.line { $0.contains("bea68586a46c4929904d0a073a675ed6") } }
            if process == 2 { try await daemon.line { $0.contains(MessageMark.ready) } }
            _ = try await shop.sync()
            let status = try await shop.control("status", "--json")
            let snapshot = try ControlCoding.decode(StatusSnapshot.self, from: Data(status.output.joined(separator: "\n").utf8))
            #expect(snapshot.document.lastBackupAt != nil && snapshot.document.backupError == nil, "\(status.output)")
            daemon.signal(SIGTERM)
            #expect(await daemon.end() == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: "\(shop.folder)/state/backup")
            #expect(names.count == 1, "\(names)")
        }
    }

    // A kill in the middle of a copy leaves nothing that anybody could take for a backup, and the next one clears it away.
    @Test(.timeLimit(.minutes(60))) func aKillLeavesNoHalfOfABackup() async throws {
        let shop = try Workshop()
        defer { shop.close() }
        let server = try await shop.server("pages.py", ["--pages", "20", "--records", "200"])
        try shop.configure("pages.toml", ["API": server.address, "GRACE": "20s"])
        #expect(try await shop.importEverything().values.allSatisfy { $0.isComplete })
        let folder = "\(shop.folder)/state/backup"
        func names() -> Set<String> { Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []) }
        for _ in 1...3 {
            let daemon = try await shop.daemon(), before = names()
            let backup = try shop.start(Workshop.binary("cisternctl"), ["backup", "--socket", "\(shop.folder)/run/control.sock"])
            // As soon as anything of it is there, or all of it.
            while names() == before, backup.lifetime == nil { await Task.yield() }
            daemon.signal(SIGKILL)
            #expect(await daemon.end() == 128 + SIGKILL)
            _ = await backup.end()
        }
        let daemon = try await shop.daemon()
        let made = try await Self.backup(shop)
        let left = names()
        #expect(left.allSatisfy { !$0.hasPrefix(".") } && left.contains(made.name), "\(left)")
        for name in left { #expect(try await shop.damage(store: "\(folder)/\(name)/StoreContent/persistentStore") == []) }
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
    }
}
