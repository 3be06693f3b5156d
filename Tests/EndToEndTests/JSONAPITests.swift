import Foundation
import Glibc
import SyncReports
import SyncTestSupport
import Synchronization
import Testing

/// Articles of a JSON:API with what they include, through the programs.
@Suite struct JSONAPITests {
    /// The shipped example, which asks another server.
    private static func configuration(_ api: String) throws -> String {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let example = try String(contentsOf: folder.appendingPathComponent("../../Examples/jsonapi/cisternd.toml"), encoding: .utf8)
        // Keys of the outermost table would stand in another one.
        let tables = example.replacing("version = 1\n", with: "").replacing("url = \"https://example.com", with: "url = \"\(api)")
        return """
            version = 1
            [log]
            format = "json"
            [document]
            autosave_interval = "1s"
            [store]
            min_free_disk = "1MiB"
            [defaults.deletion]
            confirm_runs = 1
            max_fraction = 1.0
            [defaults.schedule]
            min_interval = "1s"
            jitter = "0%"
            [defaults.retry]
            attempts = 1

            \(tables)
            """
    }

    private static func person(_ id: Int, _ name: String) -> String { #"{"type": "people", "id": "\#(id)", "attributes": {"name": "\#(name)"}}"# }

    private static func comment(_ id: Int, _ body: String, by author: String) -> String {
        #"{"type": "comments", "id": "\#(id)", "attributes": {"body": "\#(body)"}, "relationships": {"author": {"data": \#(author)}}}"#
    }

    private static func who(_ id: Int) -> String { #"{"type": "people", "id": "\#(id)"}"# }

    private static func article(_ id: Int, _ title: String, by author: String, _ comments: Int...) -> String {
        let list = comments.map { #"{"type": "comments", "id": "\#($0)"}"# }.joined(separator: ", ")
        return """
            {"type": "articles", "id": "\(id)", "attributes": {"title": "\(title)"},
            "relationships": {"author": {"data": \(author)}, "comments": {"data": [\(list)]}}}
            """
    }

    private static func page(_ articles: [String], _ included: [String]?, next: String = "null") -> String {
        let included = included.map { "\"included\": [\($0.joined(separator: ", "))], " } ?? ""
        return "{\"data\": [\(articles.joined(separator: ", "))], \(included)\"links\": {\"next\": \(next)}}"
    }

    /// What the server says, first page and second.
    private static let first = [
        page(
            [article(1, "One", by: who(9), 5, 12)],
            [
                person(9, "Ada"), comment(5, "First!", by: who(2)), comment(12, "I see", by: who(9)),
                #"{"type": "tags", "id": "9", "attributes": {}}"#,
            ],
            next: "\"/articles?page[number]=2\""),
        page([article(2, "Two", by: "null")], nil),
    ]

    // Only what the first article includes has changed; the second is gone.
    private static let second = [page([article(1, "One", by: who(9), 5, 12)], [person(9, "Ada"), person(2, "Bo"), comment(5, "Last!", by: "null")])]

    private final class Server: Sendable {
        let pages = Mutex(JSONAPITests.first)
    }

    @Test func theExampleOfJSONAPIIsMirrored() async throws {
        let shop = try Workshop(), said = Server()
        defer { shop.close() }
        let server = try await RawHTTPServer { request, _ in
            let pages = said.pages.withLock { $0 }
            let isSecond = request.target.contains("2") && request.target.contains("page")
            let body = isSecond ? (pages.count > 1 ? pages[1] : nil) : pages[0]
            return [.send(HostileServerTests.answer(body == nil ? "404 Not Found" : "200 OK", body ?? "")), .close]
        }
        try shop.configure(text: try Self.configuration(server.url("")))
        let check = try await shop.check()
        #expect(check.status == 0, "\(check)")
        let trial = try await shop.run(Workshop.binary("cisternctl"), ["try", "blog/blog", "--config", "\(shop.folder)/cisternd.toml"])
        #expect(trial.status == 0 && trial.output.joined(separator: "\n").contains("First!"), "\(trial)")

        var daemon = try await shop.daemon()
        var runs = try await shop.sync()
        #expect(runs["blog/blog"]?.isComplete == true && runs["blog/blog"]?.pages == 2, "\(runs)")
        #expect(try await shop.sql("SELECT id, title, author FROM Article ORDER BY id") == ["1|One|9", "2|Two|"])
        #expect(try await shop.sql("SELECT id, body, author, article FROM Comment ORDER BY body") == ["5|First!|2|1", "12|I see|9|1"])
        #expect(try await shop.sql("SELECT id, name FROM Person WHERE NOT _stub") == ["9|Ada"])
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)

        // A new process knows what the old one has read.
        daemon = try await shop.daemon()
        runs = try await shop.sync()
        #expect(runs["blog/blog"]?.notModifiedPages == 2, "\(runs)")
        said.pages.withLock { $0 = Self.second }
        runs = try await shop.sync()
        #expect(runs["blog/blog"]?.isComplete == true && runs["blog/blog"]?.counts.deleted == 1, "\(runs)")
        #expect(try await shop.sql("SELECT id, title, author FROM Article") == ["1|One|9"])
        #expect(try await shop.sql("SELECT id, body, author, article FROM Comment ORDER BY body") == ["12|I see|9|1", "5|Last!||1"])
        #expect(try await shop.sql("SELECT id, name FROM Person WHERE NOT _stub ORDER BY name") == ["9|Ada", "2|Bo"])
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        #expect(try await shop.damage() == [])
        #expect(try await shop.verify().status == 0)
    }
}
