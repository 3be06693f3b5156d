import Foundation
import Glibc
import SyncControl
import Testing

/// Recorded answers of GitHub's API: pages linked by headers, objects inside of objects.
@Suite struct GitHubTests {
    private struct User: Decodable, Hashable {
        let id: Int
    }

    private struct Label: Decodable, Hashable {
        let id: Int
    }

    private struct Milestone: Decodable, Hashable {
        let id: Int
        let creator: User?
    }

    private struct Issue: Decodable {
        let id: Int
        let user: User?
        let assignees: [User]
        let labels: [Label]
        let milestone: Milestone?
    }

    private struct Exchange: Decodable {
        let method: String
        let path: String
        let response: Issues

        /// The answer, if it is a list of issues.
        struct Issues: Decodable {
            let issues: [Issue]

            init(from decoder: any Decoder) throws { issues = (try? [Issue](from: decoder)) ?? [] }
        }
    }

    private static let issues = "github-recorded/issues-page5.json"
    private static let pages = "octokit-fixtures/paginate-issues.json"
    private static let labels = "octokit-fixtures/labels.json"

    @Test(.enabled(if: TestData.has(issues, pages, labels), "\(TestData.absent)"), .timeLimit(.minutes(60)))
    func linkedPagesBecomeAGraphInWhichEachUserAndLabelIsOneRow() async throws {
        let shop = try Workshop()
        defer { shop.close() }
        let server = try await shop.server(
            "replay.py",
            ["--issues", TestData.path(Self.issues), "--exchanges", TestData.path(Self.pages), TestData.path(Self.labels)])
        try shop.configure("github.toml", ["API": server.address])
        let daemon = try await shop.daemon()
        var runs = try await shop.sync()

        // R8: every page is followed. What is not there is said so, and stops nothing else.
        #expect(runs["github/duckdb"].map { [$0.pages, $0.counts.inserted] } == [4, 100])
        #expect(runs["github/paginated"].map { [$0.pages, $0.counts.inserted] } == [5, 13])
        #expect(runs["github/labels"]?.outcome == .succeeded)
        #expect(runs["github/missing"].map { [$0.outcome.rawValue, "\($0.httpStatus ?? 0)"] } == ["failed", "404"])

        let all = try expected()
        try await expectTheGraph(shop, of: all)
        #expect(try await shop.damage() == [])

        // Each page has a validator of its own.
        let asked = server.requests.count
        runs = try await shop.sync()
        #expect(runs["github/duckdb"]?.notModifiedPages == 4)
        #expect(runs["github/paginated"]?.notModifiedPages == 5)
        #expect(server.requests.dropFirst(asked).map { $0.status ?? 0 }.sorted() == Array(repeating: 304, count: 10) + [404])
        try await expectTheGraph(shop, of: all)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
    }

    /// What the recorded files say, read without any of the pipeline's code.
    private func expected() throws -> [Issue] {
        func data(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: TestData.path(name))) }
        let exchanges = try JSONDecoder().decode([Exchange].self, from: data(Self.pages))
        return try JSONDecoder().decode([Issue].self, from: data(Self.issues)) + exchanges.flatMap(\.response.issues)
    }

    private func expectTheGraph(_ shop: Workshop, of issues: [Issue]) async throws {
        let users = Set(issues.flatMap { [$0.user, $0.milestone?.creator].compactMap(\.self) + $0.assignees })
        #expect(try await shop.number("SELECT count(*) FROM Issue") == Set(issues.map(\.id)).count)
        #expect(try await shop.number("SELECT count(*) FROM User") == users.count)
        #expect(try await shop.number("SELECT count(*) FROM Milestone") == Set(issues.compactMap(\.milestone?.id)).count)
        // Labels come in issues and as a listing of their own.
        let inIssues = Set(issues.flatMap(\.labels).map(\.id)).map(String.init)
        let stored = Set(try await shop.sql("SELECT id FROM Label"))
        #expect(stored.isSuperset(of: inIssues) && stored.count >= inIssues.count)
        func pairs(_ list: [String]) -> [String] { list.sorted() }
        #expect(
            try await pairs(shop.sql("SELECT Issue, Label FROM Issue_labels"))
                == pairs(issues.flatMap { issue in Set(issue.labels).map { "\(issue.id)|\($0.id)" } }))
        #expect(
            try await pairs(shop.sql("SELECT Issue, User FROM Issue_assignees"))
                == pairs(issues.flatMap { issue in Set(issue.assignees).map { "\(issue.id)|\($0.id)" } }))
        #expect(
            try await pairs(shop.sql("SELECT id, user FROM Issue WHERE user IS NOT NULL"))
                == pairs(issues.compactMap { issue in issue.user.map { "\(issue.id)|\($0.id)" } }))
        #expect(
            try await pairs(shop.sql("SELECT id, milestone FROM Issue WHERE milestone IS NOT NULL"))
                == pairs(issues.compactMap { issue in issue.milestone.map { "\(issue.id)|\($0.id)" } }))
    }
}
