import Foundation
import NIOHTTP1
import OpenCoreData
import Secrets
import SyncConfiguration
import SyncReports
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Whole runs with the presets of the package, through pages, increments and errors as the services document them. The clock begins with 2025.
@Suite struct PresetRunTests {
    let api = ServiceAPI()

    // MARK: GitHub

    private static let hub = "https://api.github.com"

    private func serveGitHub() {
        for (id, name) in [(1, "swift-nio"), (2, "swift-log")] {
            api.on(
                "\(Self.hub)/repos/apple/\(name)",
                #"{"id": \#(id), "name": "\#(name)", "full_name": "apple/\#(name)", "description": "d", "owner": {"id": 10, "login": "apple"}}"#)
        }
        api.on(
            "\(Self.hub)/repos/apple/swift-nio/issues", ["since": nil, "state": "all"],
            headers: [
                "Link": "<\(Self.hub)/repositories/1/issues?state=all&page=2>; rel=\"next\", <\(Self.hub)/repositories/1/issues?page=2>; rel=\"last\""
            ],
            #"""
            [{"id": 101, "number": 1, "title": "one", "updated_at": "2024-12-29T10:00:00Z", "user": {"id": 20, "login": "ada"}, "milestone": null,
              "labels": [{"id": 5, "name": "bug"}], "assignees": [{"id": 20, "login": "ada"}, {"id": 21, "login": "bo"}]},
             {"id": 102, "number": 2, "title": "two", "updated_at": "2024-12-30T10:00:00Z", "pull_request": {"url": "https://api.github.com/p/2"}}]
            """#)
        api.on(
            "\(Self.hub)/repositories/1/issues", ["page": "2"], #"[{"id": 103, "number": 3, "title": "three", "updated_at": "2024-12-01T10:00:00Z"}]"#
        )
        api.on("\(Self.hub)/repos/apple/swift-log/issues", status: 410, #"{"message": "Issues are disabled for this repo"}"#)
    }

    private static let repositories = "owner = \"apple\"\nrepositories = [\"swift-nio\", \"swift-log\"]"

    @Test func issuesOfGitHubAreListedAndThenAskedForByWhatHasChanged() async throws {
        serveGitHub()
        let fixture = try await api.fixture(
            "github", "auth.token = { credential = \"github_token\" }\nresources = [\"issues\"]", with: Self.repositories)
        let repositories = try await fixture.sync("github/repositories")
        #expect(repositories.isComplete && repositories.counts.inserted == 2, "\(repositories)")
        let first = try await fixture.sync("github/issues")
        #expect(first.outcome == .succeeded && first.isComplete && first.pages == 2 && first.counts.inserted == 3, "\(first)")
        #expect(
            fixture.transport.requests.allSatisfy {
                $0.headers["Authorization"] == ["Bearer secret"] && $0.headers["X-GitHub-Api-Version"] == ["2022-11-28"]
            })
        #expect(try await fixture.values("number", of: "GitHubIssue", where: "repository.fullName == 'apple/swift-nio'") == ["1", "2", "3"])
        #expect(try await fixture.values("login", of: "GitHubUser") == ["ada", "apple", "bo"])
        #expect(try await fixture.values("number", of: "GitHubIssue", where: "pullRequestURL != nil") == ["2"])
        // What has changed since the newest, and a little before.
        api.on(
            "\(Self.hub)/repos/apple/swift-nio/issues", ["since": "2024-12-30T09:55:00Z", "sort": "created", "direction": "asc"],
            #"[{"id": 101, "number": 1, "title": "uno", "updated_at": "2024-12-31T10:00:00Z", "labels": []}]"#)
        let second = try await fixture.sync("github/issues")
        #expect(second.outcome == .succeeded && second.pages == 1 && second.counts.updated == 1, "\(second)")
        #expect(try await fixture.values("title", of: "GitHubIssue") == ["three", "two", "uno"])
        // A failure leaves everything as it is, and the next run asks for the same.
        api.on("\(Self.hub)/repos/apple/swift-nio/issues", ["since": "2024-12-31T09:55:00Z"], status: 500, "{}")
        #expect(try await fixture.sync("github/issues").outcome == .failed)
        api.on("\(Self.hub)/repos/apple/swift-nio/issues", ["since": "2024-12-31T09:55:00Z"], "[]")
        #expect(try await fixture.sync("github/issues").outcome == .succeeded)
        #expect(try await fixture.values("id", of: "GitHubIssue").count == 3)
        try await fixture.end()
    }

    // The last changed come first, until one comes that is older than what is known.
    @Test func pullRequestsOfGitHubEndWithWhatIsKnown() async throws {
        serveGitHub()
        let pulls = "\(Self.hub)/repos/apple/swift-nio/pulls"
        func page(_ id: Int, _ time: String) -> String { #"[{"id": \#(id), "number": \#(id), "updated_at": "\#(time)", "head": {"ref": "a"}}]"# }
        api.on(
            pulls, ["page": nil, "sort": "updated", "direction": "desc"], headers: ["Link": "<\(pulls)?page=2>; rel=\"next\""],
            page(2, "2024-12-30T10:00:00Z"))
        api.on(pulls, ["page": "2"], page(1, "2024-12-29T10:00:00Z"))
        let fixture = try await api.fixture(
            "github", "auth.token = { credential = \"t\" }\nresources = [\"pull_requests\"]",
            with: "owner = \"apple\"\nrepositories = [\"swift-nio\"]")
        try await fixture.sync("github/repositories")
        #expect(try await fixture.sync("github/pull_requests").pages == 2)
        api.on(pulls, ["page": nil], headers: ["Link": "<\(pulls)?page=2>; rel=\"next\""], page(3, "2024-12-31T10:00:00Z"))
        api.on(pulls, ["page": "2"], headers: ["Link": "<\(pulls)?page=3>; rel=\"next\""], page(2, "2024-12-29T11:00:00Z"))
        let second = try await fixture.sync("github/pull_requests")
        #expect(second.outcome == .succeeded && second.pages == 2, "\(second)")
        #expect(try await fixture.values("number", of: "GitHubPullRequest") == ["1", "2", "3"])
        try await fixture.end()
    }

    // Without a list of them, all that the owner has.
    @Test func allRepositoriesOfAnOwnerAreListed() async throws {
        api.on(
            "\(Self.hub)/orgs/apple/repos", ["page": nil, "per_page": "100"],
            headers: ["Link": "<\(Self.hub)/organizations/7/repos?page=2>; rel=\"next\""],
            #"[{"id": 1, "full_name": "apple/a", "owner": {"id": 10, "login": "apple"}}]"#)
        api.on("\(Self.hub)/organizations/7/repos", #"[{"id": 2, "full_name": "apple/b"}]"#)
        let lines = "auth.token = { credential = \"t\" }\nresources = [\"repositories\"]"
        let fixture = try await api.fixture("github", lines, with: "owner = \"apple\"")
        #expect(try await fixture.sync("github/repositories").counts.inserted == 2)
        // Of a user they are elsewhere; what is known of the others does not count for these.
        api.on("\(Self.hub)/users/ada/repos", #"[{"id": 3, "full_name": "ada/c"}]"#)
        let other = ServiceAPI.toml("github", lines, with: "owner = \"ada\"\nlisted_under = \"users\"")
        try await fixture.pipeline.reload(try PipelineFixture.configuration(other))
        let report = try await fixture.sync("github/repositories")
        #expect(report.isComplete && report.counts.inserted == 1 && report.pages == 1, "\(report)")
        try await fixture.end()
    }

    // A repository that is named by a reload is listed by the next run, and its issues from the beginning; one that is not named any more is not asked for.
    @Test func aReloadWithAnotherValueAsksForWhatIsNewFromTheBeginning() async throws {
        serveGitHub()
        let lines = "auth.token = { credential = \"t\" }\nresources = [\"issues\"]"
        let fixture = try await api.fixture("github", lines, with: "owner = \"apple\"\nrepositories = [\"swift-log\"]")
        try await fixture.sync("github/repositories")
        try await fixture.sync("github/issues")
        let count = fixture.transport.requests.count
        let other = ServiceAPI.toml("github", lines, with: "owner = \"apple\"\nrepositories = [\"swift-nio\"]")
        try await fixture.pipeline.reload(try PipelineFixture.configuration(other))
        try await fixture.sync("github/repositories")
        let report = try await fixture.sync("github/issues")
        #expect(report.outcome == .succeeded && report.counts.inserted == 3, "\(report)")
        let asked = fixture.transport.requests.dropFirst(count).map(\.address.url.path)
        #expect(asked == ["/repos/apple/swift-nio", "/repos/apple/swift-nio/issues", "/repositories/1/issues"])
        try await fixture.end()
    }

    // MARK: GitLab

    @Test func issuesOfGitLabAreListedAndThenAskedForByWhatHasChanged() async throws {
        let base = "https://gitlab.com/api/v4"
        api.on("\(base)/projects/group%2Fproject", #"{"id": 7, "name": "project", "path_with_namespace": "group/project"}"#)
        let issues = "\(base)/projects/7/issues"
        api.on(
            issues, ["updated_after": nil, "page": nil, "scope": "all"],
            headers: ["Link": "<\(issues)?page=2>; rel=\"next\", <\(issues)?page=1>; rel=\"first\""],
            #"""
            [{"id": 1, "iid": 1, "title": "one", "description": "d", "labels": ["x"], "updated_at": "2024-12-29T10:00:00.250Z", "due_date": "2025-02-01",
              "author": {"id": 20, "username": "ada"}, "assignees": [], "milestone": {"id": 3, "title": "m"}}]
            """#)
        api.on(issues, ["page": "2"], #"[{"id": 2, "iid": 2, "title": "two", "labels": [], "updated_at": "2024-12-30T10:00:00.250Z"}]"#)
        let releases = "\(base)/projects/7/releases"
        api.on(releases, #"[{"tag_name": "v1", "name": "1.0", "description": "d", "released_at": "2024-12-01T10:00:00.000Z", "author": {"id": 20}}]"#)
        let fixture = try await api.fixture(
            "gitlab", "auth.token = { credential = \"t\" }\nresources = [\"issues\", \"releases\"]", with: "projects = [\"group/project\"]")
        #expect(try await fixture.sync("gitlab/projects").isComplete)
        let first = try await fixture.sync("gitlab/issues")
        #expect(first.isComplete && first.pages == 2 && first.counts.inserted == 2, "\(first)")
        #expect(fixture.transport.requests.allSatisfy { $0.headers["Authorization"] == ["Bearer secret"] })
        api.on(
            issues, ["updated_after": "2024-12-30T09:55:00.25Z"],
            #"[{"id": 2, "iid": 2, "title": "dos", "labels": [], "updated_at": "2024-12-31T10:00:00Z"}]"#)
        let second = try await fixture.sync("gitlab/issues")
        #expect(second.outcome == .succeeded && second.counts.updated == 1, "\(second)")
        #expect(try await fixture.values("title", of: "GitLabIssue") == ["dos", "one"])
        #expect(try await fixture.sync("gitlab/releases").isComplete)
        #expect(try await fixture.values("projectID", of: "GitLabRelease") == ["7"])
        api.on(issues, status: 403, #"{"message": "403 Forbidden"}"#)
        let refused = try await fixture.sync("gitlab/issues")
        #expect(refused.outcome == .failed && refused.httpStatus == 403, "\(refused)")
        try await fixture.end()
    }

    // MARK: Stripe

    @Test func chargesOfStripeAreListedByTheLastId() async throws {
        let charges = "https://api.stripe.com/v1/charges"
        func list(_ records: String, more: Bool = false) -> String {
            #"{"object": "list", "url": "/v1/charges", "has_more": \#(more), "data": [\#(records)]}"#
        }
        func charge(_ id: Int, _ more: String = "") -> String {
            #"{"id": "ch_\#(id)", "object": "charge", "amount": 1099, "currency": "eur", "created": \#(1_735_500_000 + id), "status": "succeeded"\#(more)}"#
        }
        api.on(
            charges, ["starting_after": nil, "created[gte]": nil, "limit": "100"],
            list(charge(3, #", "customer": "cus_1", "invoice": null"#) + "," + charge(2), more: true))
        api.on(charges, ["starting_after": "ch_2", "created[gte]": nil], list(charge(1)))
        let fixture = try await api.fixture("stripe", "auth.token = { credential = \"t\" }\nresources = [\"charges\"]")
        let first = try await fixture.sync("stripe/charges")
        #expect(first.isComplete && first.pages == 2 && first.counts.inserted == 3, "\(first)")
        let head = try #require(fixture.transport.requests.first?.headers)
        #expect(head["Authorization"] == ["Bearer secret"] && head["Stripe-Version"] == ["2024-06-20"])
        #expect(try await fixture.values("id", of: "StripeCharge", where: "customer.id == 'cus_1'") == ["ch_3"])
        api.on(charges, ["created[gte]": "1735500003", "starting_after": nil], list(charge(4) + "," + charge(3)))
        let second = try await fixture.sync("stripe/charges")
        #expect(second.outcome == .succeeded && second.pages == 1 && second.counts.inserted == 1, "\(second)")
        // Once a day everything is listed, since what is older may have changed.
        fixture.clock.advance(by: .seconds(86_400))
        api.on(charges, ["starting_after": nil, "created[gte]": nil], list(charge(4) + "," + charge(3, #", "refunded": true"#), more: true))
        api.on(charges, ["starting_after": "ch_3", "created[gte]": nil], list(charge(2) + "," + charge(1)))
        let full = try await fixture.sync("stripe/charges")
        #expect(full.isComplete && full.counts.updated >= 1, "\(full)")
        #expect(try await fixture.values("id", of: "StripeCharge", where: "refunded == YES") == ["ch_3"])
        api.on(charges, status: 401, #"{"error": {"type": "invalid_request_error", "message": "Invalid API Key provided"}}"#)
        let refused = try await fixture.sync("stripe/charges")
        #expect(refused.outcome == .failed && refused.httpStatus == 401 && refused.error?.contains("secret") == false, "\(refused)")
        #expect(try await fixture.values("id", of: "StripeCharge").count == 4)
        try await fixture.end()
    }
}
