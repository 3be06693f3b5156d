import Foundation
import Glibc
import SyncTestSupport
import Testing

/// After an unclean end: one server must not take the mirrors of the others down.
@Suite struct UncleanEndTests {
    @Test(.timeLimit(.minutes(60))) func whoseRunWasOpenIsPolledLastThenNotForAWhile() async throws {
        let server = try await RawHTTPServer { request, _ in
            request.target == "/deadly" ? [.hang] : [.send(HostileServerTests.answer("200 OK", "[{\"id\": 1}]")), .close]
        }
        let shop = try Workshop()
        defer { shop.close() }
        let text = HostileServerTests.configuration(server, paths: ["deadly", "good", "other"])
            .replacingOccurrences(of: "start = \"wait\"", with: "start = \"now\"")
        try shop.configure(text: text)
        var asked = 0
        // The third time the others are polled, and this one waits.
        for process in 1...3 {
            let daemon = try await shop.daemon()
            await server.requests(atLeast: asked + (process < 3 ? 3 : 2))
            // While that one is polled alone they would wait for it.
            for path in ["good", "other"] where process != 2 { #expect(try await shop.control("sync", "--wait", "shop/\(path)").status == 0) }
            let targets = server.requests.dropFirst(asked).map(\.target)
            if process == 2 { #expect(targets.last == "/deadly" && Set(targets.dropLast()) == ["/good", "/other"], "\(targets)") }
            if process == 3 { #expect(!targets.contains("/deadly"), "\(targets)") }
            asked = server.requests.count
            daemon.signal(process < 3 ? SIGKILL : SIGTERM)
            #expect(await daemon.end() == (process < 3 ? 128 + SIGKILL : 0), "\(process)")
            let left = try String(contentsOfFile: "\(shop.folder)/state/.runs", encoding: .utf8).split(separator: "\n")
            #expect(left.first?.hasPrefix(process == 3 ? "20 " : "0\(process) ") == true && left.first?.hasSuffix(" shop/deadly") == true, "\(left)")
            // Of the others it is known at most when they were asked.
            #expect(left.dropFirst().dropLast().allSatisfy { $0.hasPrefix("00 ") || $0.hasPrefix("-- ") } && left.last == ".", "\(left)")
            // Two minutes may pass before this test comes to its turn again, a day may not.
            if process == 2 { try "20 0 shop/deadly\n.\n".write(toFile: "\(shop.folder)/state/.runs", atomically: false, encoding: .utf8) }
            // The limits between two polls are not what this is about: with them whoever was asked longer ago is asked first.
            if process < 3 { _ = try await shop.run("sqlite3", [shop.store, "UPDATE ZCISTERNRESOURCE SET ZNEXTPOLLAT = NULL, ZSTARTEDAT = NULL"]) }
        }
        await server.shutdown()
    }
}
