import Foundation
import SyncTestSupport
import Testing

/// What a server sent, looked at with `cisternctl query`.
@Suite struct QueryTests {
    /// Escapes, a C1 control and a mark that turns the direction of writing.
    private static let hostile = "a\u{1B}[2Jb\u{9B}31mc\u{202E}d\u{7}"
    private static let isHostile: @Sendable (Unicode.Scalar) -> Bool = { "\u{1B}\u{9B}\u{202E}\u{7}".unicodeScalars.contains($0) }

    private func withRow(_ body: (Workshop) async throws -> Void) async throws {
        let server = try await RawHTTPServer(
            .send(HostileServerTests.answer("200 OK", #"[{"id": 1, "name": "a\u001b[2Jb\u009b31mc\u202ed\u0007"}]"#)), .close)
        let shop = try Workshop()
        defer { shop.close() }
        try shop.configure(text: HostileServerTests.configuration(server, paths: ["good"]))
        try await shop.importEverything()
        try await body(shop)
        await server.shutdown()
    }

    private func query(_ shop: Workshop, _ sql: String, _ more: String..., onTerminal: Bool) async throws -> (status: Int32, text: String) {
        let words = [try Workshop.binary("cisternctl"), "query", sql, "--config", "\(shop.folder)/cisternd.toml"] + more
        // The parent of a terminal of its own writes what the terminal would show.
        let spawning = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
        let result =
            onTerminal ? try await shop.run(Workshop.python, ["-c", spawning] + words) : try await shop.run(words[0], Array(words.dropFirst()))
        #expect(result.errors.isEmpty)
        return (result.status, result.output.joined(separator: "\n"))
    }

    @Test(.timeLimit(.minutes(60))) func noTextOfAServerReachesTheTerminalByWayOfAQuery() async throws {
        try await withRow { shop in
            let shown = try await query(shop, "SELECT id, name FROM Item", onTerminal: true)
            #expect(shown.status == 0)
            // What is left of it. Where sqlite3 breaks lines differs between its versions.
            #expect(shown.text.contains("[2Jb\u{FFFD}31mc\u{FFFD}d"), "\(shown.text.debugDescription)")
            #expect(!shown.text.unicodeScalars.contains(where: Self.isHostile), "\(shown.text.debugDescription)")
            let json = try await query(shop, "SELECT name FROM Item", "--json", onTerminal: true)
            #expect(!json.text.unicodeScalars.contains(where: Self.isHostile), "\(json.text.debugDescription)")
            #expect(try JSONDecoder().decode([[String: String]].self, from: Data(json.text.utf8)) == [["name": Self.hostile]])
            // What sqlite3 says beside its output may name a value, too.
            let wrong = try await query(shop, "SELECT \"\u{9B}31m\" FROM Nowhere", onTerminal: true)
            #expect(wrong.status == 65)
            #expect(!wrong.text.isEmpty && !wrong.text.unicodeScalars.contains(where: Self.isHostile), "\(wrong.text.debugDescription)")
        }
    }

    @Test(.timeLimit(.minutes(60))) func aPipeGetsTheValuesOfAQueryAsTheyAre() async throws {
        try await withRow { shop in
            let piped = try await query(shop, "SELECT name FROM Item", onTerminal: false)
            #expect(piped.status == 0)
            #expect(piped.text == "name\n\(Self.hostile)")
        }
    }
}
