import Foundation
import Glibc
import SyncControl
import SyncTestSupport
import Testing

/// What was set aside, as an administrator looks at it.
@Suite struct QuarantineTests {
    @Test(.timeLimit(.minutes(60))) func everyRecordThatWasSetAsideCanBeShownHoweverMuchThereIs() async throws {
        let long = String(repeating: "x", count: 7000)
        let bad = (1...1100).map { "{\"id\": \"number \($0)\", \"name\": \"\(long)\"}" }
        let good = (5001...9000).map { "{\"id\": \($0)}" }
        let body = "[" + (good + bad).joined(separator: ",") + "]"
        let server = try await RawHTTPServer { _, _ in [.send(HostileServerTests.answer("200 OK", body)), .close] }
        let shop = try Workshop()
        defer { shop.close() }
        try shop.configure(text: HostileServerTests.configuration(server, paths: ["many"]))
        let daemon = try await shop.daemon()
        let runs = try await shop.sync()
        #expect(runs["shop/many"]?.counts.quarantined == 1100, "\(runs)")
        var ids: [String] = []
        for skip in stride(from: 0, to: 1100, by: 200) {
            let list = try await shop.control("quarantine", "list", "--json", "--limit", "200", "--skip", "\(skip)")
            #expect(list.status == 0)
            ids += try ControlCoding.decode([QuarantineEntry].self, from: Data(list.output.joined(separator: "\n").utf8)).map(\.digest)
        }
        #expect(ids.count == 1000 && Set(ids).count == 1000)
        let shown = try await shop.control("quarantine", "show", String(try #require(ids.last).prefix(16)))
        #expect(shown.status == 0 && shown.output.first?.contains(ids[999]) == true, "\(shown.errors)")
        let missing = try await shop.control("quarantine", "show", "no-such")
        #expect(missing.status == 65 && missing.errors.first?.contains("no record with the id no-such was set aside") == true)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        await server.shutdown()
    }
}
