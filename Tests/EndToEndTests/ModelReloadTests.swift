import Foundation
import Glibc
import SyncReports
import SyncTestSupport
import Testing

/// Reloads that change the model, through the binaries, beside everything else that may happen at the same time.
@Suite struct ModelReloadTests {
    /// What may be so or otherwise, each independent of the others; all of it without a loss.
    private static let changes: [(old: String, new: String)] = [
        ("  page = { type", "  owner = { path = \"$.parent_id\", type = \"int64\", drop = @OWNER@ }\n  page = { type"),
        ("version = { type = \"int32\" }", "version = { type = \"int32\", index = true }"),
        ("name = { type = \"string\", index = true }", "name = { type = \"string\" }"),
        ("[store]\n", "[store]\nsynchronous = \"normal\"\n"),
        ("  [entity.Category.attributes]\n", "  [entity.Category.attributes]\n  note = { type = \"string\", drop = @NOTE@ }\n"),
    ]

    /// The configuration with these changes. What had come and goes again says so: `drop = true` is the same as no attribute.
    private static func edit(_ chosen: [Bool]) -> (String) -> String {
        { text in
            var text = text
            for (number, change) in changes.enumerated() where chosen[number] || change.new.contains("drop") {
                text = text.replacingOccurrences(of: change.old, with: change.new)
            }
            return text.replacingOccurrences(of: "@OWNER@", with: "\(!chosen[0])").replacingOccurrences(of: "@NOTE@", with: "\(!chosen[4])")
        }
    }

    /// What the daemon has open.
    private static func descriptors(of daemon: Child) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon.pid)/fd").count
    }

    // A reload beside polls that somebody waits for, pauses, signals, readers, and kills: each ends well, and the end is what a store has that never knew
    // another model.
    @Test(.timeLimit(.minutes(60)), arguments: [UInt64(1), 2, 3]) func whateverHappensBesideAReloadOfTheModelEverybodyIsServed(seed: UInt64)
        async throws
    {
        var random = SeededRandom(state: seed)
        let shop = try Workshop(), server = try await shop.server("pages.py", ["--pages", "4", "--records", "40"])
        defer { shop.close() }
        var chosen = [Bool](repeating: false, count: Self.changes.count)
        func configure(_ shop: Workshop) throws {
            try shop.configure("pages.toml", ["API": server.address, "GRACE": "20s"], edit: Self.edit(chosen))
        }
        try configure(shop)
        var daemon = try await shop.daemon(), open: Int?, exchanges = 0
        for _ in 0..<10 {
            let number = Int.random(in: chosen.indices, using: &random)
            chosen[number].toggle()
            try configure(shop)
            async let reports = shop.sync()
            async let reload = shop.control("reload", "--wait")
            if Bool.random(using: &random) { daemon.signal(SIGUSR1) }
            if Bool.random(using: &random) { daemon.signal(SIGHUP) }
            let isPausing = Bool.random(using: &random)
            async let pause = isPausing ? shop.control("pause", "shop/tags") : nil
            async let status = shop.control("status", "--json")
            async let quarantine = shop.control("quarantine", "list")
            if Int.random(in: 0..<4, using: &random) == 0 {
                daemon.signal(SIGKILL)
                _ = await daemon.end()
                _ = try? await (reports, reload, pause, status, quarantine)
                daemon = try await shop.daemon()
                open = nil
                exchanges = 0
            } else {
                let answers = try await [reload, quarantine] + [pause].compactMap(\.self)
                #expect(answers.allSatisfy { $0.status == 0 }, "\(answers)")
                // 75: not everything has been fetched yet.
                let told = try await status
                #expect([0, 75].contains(told.status) && told.output.first == "{", "\(told)")
                let runs = try await reports
                // What is paused meanwhile answers nobody.
                #expect(runs["shop/items"]?.isComplete == true, "\(runs)")
                exchanges += 1
            }
            if isPausing { #expect(try await shop.control("resume", "shop/tags").status == 0) }
            #expect(try await shop.control("reload", "--wait").status == 0)
            if exchanges == 2 { open = try Self.descriptors(of: daemon) }
            if exchanges > 3, let open { #expect(try Self.descriptors(of: daemon) <= open + 12, "an engine that was exchanged keeps files open") }
        }
        let more = (chosen[0] ? ", owner" : ""), notes = (chosen[4] ? ", note" : "")
        try await shop.expectAsNew(
            daemon,
            sameAs: [
                "SELECT id, name, page, version, pageCount, tagCount, amount, parent, category\(more) FROM @Item WHERE NOT _stub",
                "SELECT id, name\(notes) FROM @Category WHERE NOT _stub", "SELECT id, name FROM @Tag WHERE NOT _stub",
            ], configure: configure)
    }
}
