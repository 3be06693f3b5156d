import Foundation
import Glibc
import SyncReports
import SyncTestSupport
import Synchronization
import Testing

/// Searches and GraphQL, through the programs.
@Suite struct PostTests {
    private static let repositories = 7, size = 3

    private static func configuration(_ api: String) -> String {
        """
        version = 1
        [log]
        format = "json"
        [document]
        autosave_interval = "1s"
        [store]
        min_free_disk = "1MiB"
        [defaults.schedule]
        every = "1h"
        min_interval = "1s"
        jitter = "0%"
        [defaults.retry]
        attempts = 2
        base = "1ms"

        [[source]]
        name = "hub"
        base_url = "\(api)"
        deletion = { detect = "snapshot", confirm_runs = 1, max_fraction = 1.0 }
        [[source.resource]]
        name = "repos"
        path = "/search"
        entity = "Repo"
        method = "POST"
        idempotent = true
        json = { filter = { kind = "repo", weight = 1.0 } }
        records = "$.hits"
        pages = { kind = "page", in = "body", param = "/paging/page", size_param = "/paging/size", size = \(size), stop = { total = "$.total" } }
        [[source.resource]]
        name = "issues"
        path = "/graphql"
        entity = "Issue"
        query_file = "issues.graphql"
        variables = { repo = "{repo.name}" }
        records = "$.data.repository.issues.nodes"
        pages = { kind = "graphql", page_info = "$.data.repository.issues.pageInfo" }
        for_each = { resource = "repos", as = "repo" }
        set = { repo = "{repo}" }

        [entity.Repo]
        key = ["id"]
        [entity.Repo.attributes]
        id = { type = "int64", optional = false }
        name = { type = "string" }
        [entity.Issue]
        key = ["id"]
        [entity.Issue.attributes]
        id = { type = "string", optional = false }
        [entity.Issue.relationships]
        repo = { to = "Repo" }
        """
    }

    private static let query = """
        # The issues of one repository.
        query Issues($repo: String!, $after: String) {
          repository(name: $repo) {
            issues(first: 2, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } }
          }
        }

        """

    private struct Search: Decodable {
        struct Filter: Decodable { let kind: String }
        struct Paging: Decodable { let page: Int, size: Int }
        let filter: Filter
        let paging: Paging
    }

    private struct Query: Decodable {
        struct Variables: Decodable { let repo: String, after: String? }
        let query: String
        let variables: Variables
    }

    /// What the server says; a question that is not understood is answered with its text.
    private static func answer(_ request: RawHTTPServer.Request, failing: String? = nil) -> [UInt8] {
        func refuse(_ why: String) -> [UInt8] { HostileServerTests.answer("400 Bad Request", #"{"error": "\#(why)"}"#) }
        guard request.method == "POST", request.headers["content-type"] == "application/json" else { return refuse("no JSON by POST") }
        switch request.target {
        case "/search":
            guard let search = try? JSONDecoder().decode(Search.self, from: Data(request.body)), search.filter.kind == "repo",
                request.text.contains(#""weight":1.0"#)
            else { return refuse("no search") }
            let first = (search.paging.page - 1) * search.paging.size + 1
            let found = first > repositories ? [] : Array(first...min(first + search.paging.size - 1, repositories))
            let hits = found.map { #"{"id": \#($0), "name": "r\#($0)"}"# }
            return HostileServerTests.answer("200 OK", #"{"total": \#(repositories), "hits": [\#(hits.joined(separator: ","))]}"#)
        case "/graphql":
            guard let query = try? JSONDecoder().decode(Query.self, from: Data(request.body)), query.query == Self.query else {
                return refuse("no query")
            }
            let repo = query.variables.repo
            if repo == failing {
                // As whole as an answer can look, and yet some of what there is, is missing.
                let some = #"{"nodes": [{"id": "\#(repo)/1"}], "pageInfo": {"hasNextPage": false, "endCursor": "after \#(repo)"}}"#
                return HostileServerTests.answer(
                    "200 OK", #"{"data": {"repository": {"issues": \#(some)}}, "errors": [{"message": "out of quota"}]}"#)
            }
            // Two pages of each: the second begins where the cursor of the first says.
            let isFirst = query.variables.after == nil
            guard isFirst || query.variables.after == "after \(repo)" else { return refuse("no such cursor") }
            let nodes = (isFirst ? [1, 2] : [3]).map { #"{"id": "\#(repo)/\#($0)"}"# }.joined(separator: ",")
            let info = #"{"hasNextPage": \#(isFirst), "endCursor": "after \#(repo)"}"#
            return HostileServerTests.answer("200 OK", #"{"data": {"repository": {"issues": {"nodes": [\#(nodes)], "pageInfo": \#(info)}}}}"#)
        default: return refuse("no such place")
        }
    }

    @Test func aNewcomerMirrorsASearchAndTheConnectionsOfWhatItFinds() async throws {
        let shop = try Workshop()
        defer { shop.close() }
        // The first question of all is dropped on the way: it may be asked again.
        let server = try await RawHTTPServer { request, index in index == 0 ? [.reset] : [.send(Self.answer(request)), .close] }
        try shop.configure(text: Self.configuration(server.url("")))
        let missing = try await shop.check()
        #expect(missing.status != 0 && (missing.output + missing.errors).contains { $0.contains("issues.graphql cannot be read") }, "\(missing)")
        try Self.query.write(toFile: "\(shop.folder)/issues.graphql", atomically: true, encoding: .utf8)
        let check = try await shop.check()
        #expect(check.status == 0, "\(check)")
        let daemon = try await shop.daemon()
        let runs = try await shop.sync()
        #expect(runs["hub/repos"]?.isComplete == true && runs["hub/repos"]?.pages == 3, "\(runs)")
        #expect(runs["hub/issues"]?.isComplete == true && runs["hub/issues"]?.counts.inserted == 3 * Self.repositories, "\(runs)")
        #expect(try await shop.sql("SELECT count(*) FROM Issue JOIN Repo ON Repo.id = Issue.repo WHERE Issue.id LIKE Repo.name || '/%'") == ["21"])
        let again = try await shop.sync()
        #expect(again["hub/repos"]?.notModifiedPages == 3 && again["hub/issues"]?.notModifiedPages == 2 * Self.repositories, "\(again)")
        let trial = try await shop.run(Workshop.binary("cisternctl"), ["try", "hub/repos", "--config", "\(shop.folder)/cisternd.toml"])
        let shown = trial.output.joined(separator: "\n")
        #expect(trial.status == 0 && shown.contains("POST \(server.url("/search"))"), "\(trial)")
        #expect(shown.contains(#"{"filter":{"kind":"repo","weight":1.0},"paging":{"page":1,"size":3}}"#), "\(shown)")
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        #expect(try await shop.damage() == [])
        #expect(try await shop.verify().status == 0)
    }

    @Test func anErrorInASuccessEmptiesNoMirror() async throws {
        let shop = try Workshop(), failing = Switch()
        defer { shop.close() }
        let server = try await RawHTTPServer { request, _ in [.send(Self.answer(request, failing: failing.isOn ? "r2" : nil)), .close] }
        try shop.configure(text: Self.configuration(server.url("")))
        try Self.query.write(toFile: "\(shop.folder)/issues.graphql", atomically: true, encoding: .utf8)
        let daemon = try await shop.daemon()
        _ = try await shop.sync()
        failing.isOn = true
        let runs = try await shop.sync()
        #expect(runs["hub/issues"]?.outcome == .failed && runs["hub/issues"]?.error?.contains("out of quota") == true, "\(runs)")
        #expect(try await shop.sql("SELECT count(*) FROM Issue") == ["21"])
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
    }

    private final class Switch: Sendable {
        private let value = Mutex(false)

        var isOn: Bool {
            get { value.withLock { $0 } }
            set { value.withLock { $0 = newValue } }
        }
    }
}
