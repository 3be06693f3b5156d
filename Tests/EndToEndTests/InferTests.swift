import Foundation
import Glibc
import SyncReports
import SyncTestSupport
import Testing

/// From an address to rows: a draft is made, and the daemon runs it as it is.
@Suite struct InferTests {
    @Test func aDraftIsSyncedAsItIs() async throws {
        let shop = try Workshop()
        defer { shop.close() }
        let server = try await RawHTTPServer { request, _ in
            let isFirst = !request.target.contains("page=2")
            let records = (isFirst ? 0..<3 : 3..<5).map {
                "{\"id\": \($0), \"owner\": {\"id\": 9, \"login\": \"a\"}, \"at\": \"2024-01-01T00:00:00Z\"}"
            }
            let next = isFirst ? "\"/books?page=2\"" : "null"
            let body = "{\"next\": \(next), \"results\": [\(records.joined(separator: ", "))]}"
            return [.send(HostileServerTests.answer("200 OK", body)), .close]
        }
        let drafted = try await shop.run(Workshop.binary("cisternctl"), ["infer", server.url("/books"), "-o", "\(shop.folder)/draft.toml"])
        #expect(drafted.status == 0, "\(drafted)")
        // Keys of the outermost table would stand in another one.
        let draft = try String(contentsOfFile: "\(shop.folder)/draft.toml", encoding: .utf8).replacing("version = 1\n", with: "")
        try shop.configure(
            text: """
                version = 1
                [log]
                format = "json"
                [document]
                autosave_interval = "1s"
                [store]
                min_free_disk = "1MiB"

                \(draft)
                """)
        let check = try await shop.check()
        #expect(check.status == 0, "\(check)")
        let daemon = try await shop.daemon()
        let runs = try await shop.sync()
        #expect(runs["books/books"]?.isComplete == true, "\(runs)")
        #expect(try await shop.number("SELECT count(*) FROM Book") == 5)
        #expect(try await shop.sql("SELECT id, login FROM Owner") == ["9|a"])
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        await server.shutdown()
    }
}
