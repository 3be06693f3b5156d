import Foundation
import Glibc
import SyncControl
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
            #expect(left.dropFirst().dropLast().allSatisfy { ["00", "--"].contains($0.prefix(2)) } && left.last == ".", "\(left)")
            // Two minutes may pass before this test comes to its turn again, a day may not.
            if process == 2 { try "20 0 - shop/deadly\n.\n".write(toFile: "\(shop.folder)/state/.runs", atomically: false, encoding: .utf8) }
            // The limits between two polls are not what this is about: with them whoever was asked longer ago is asked first.
            if process < 3 { _ = try await shop.run("sqlite3", [shop.store, "UPDATE ZCISTERNRESOURCE SET ZNEXTPOLLAT = NULL, ZSTARTEDAT = NULL"]) }
        }
        await server.shutdown()
    }

    // That everything was seen once more is committed with the next autosave; a process that does not live to see it has asked all the same.
    @Test(.timeLimit(.minutes(60))) func whoFoundNothingNewBeforeAKillIsNotAskedAgain() async throws {
        let server = try await HostileServerTests.unchanging()
        let shop = try Workshop()
        defer { shop.close() }
        try shop.configure(
            text: HostileServerTests.configuration(server, paths: ["good"])
                .replacingOccurrences(of: "start = \"wait\"", with: "start = \"now\"\n[document]\nautosave_interval = \"1h\""))
        let daemon = try await shop.daemon()
        #expect(try await shop.control("sync", "--wait", "shop/good").status == 0)
        let stored = "SELECT last_success, next_poll_at FROM cistern_status"
        let before = try await shop.sql(stored), asked = server.requests.count
        #expect(try await shop.control("sync", "shop/good").status == 0)
        await server.requests(atLeast: asked + 1)
        // One that has ended, and whose next one has a time.
        while try String(contentsOfFile: "\(shop.folder)/state/.runs", encoding: .utf8).firstMatch(of: /^00 \d+ \d+ shop/) == nil {
            await Task.yield()
        }
        daemon.signal(SIGKILL)
        #expect(await daemon.end() == 128 + SIGKILL)
        #expect(try await shop.sql(stored) == before)
        // As if the last poll the store knows of were long ago.
        _ = try await shop.run("sqlite3", [shop.store, "UPDATE ZCISTERNRESOURCE SET ZNEXTPOLLAT = 0, ZSTARTEDAT = 0"])
        let next = try await shop.daemon()
        let status = try await shop.control("status", "--json")
        let snapshot = try ControlCoding.decode(StatusSnapshot.self, from: Data(status.output.joined(separator: "\n").utf8))
        let due = try #require(snapshot.resources.first?.nextPollAt)
        #expect(due.timeIntervalSinceNow > 1800, "\(status.output)")
        next.signal(SIGTERM)
        #expect(await next.end() == 0)
        #expect(server.requests.count == asked + 1)
        await server.shutdown()
    }
}
