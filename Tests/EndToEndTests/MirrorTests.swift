import Foundation
import SyncReports
import SyncTestSupport
import Testing

/// The examples about GitHub and Stripe, with servers that act like these and change at random: whatever was done there, the rows come to what the server
/// has. `CISTERN_SEED` repeats a run.
@Suite struct MirrorTests {
    private static let rounds = 1...3

    private static let github = [
        "repository": "SELECT id, fullName FROM GitHubRepository",
        "label": "SELECT id, name, repository FROM GitHubLabel",
        "milestone": "SELECT id, title, repository FROM GitHubMilestone",
        "issue": "SELECT id, repository, title, state, user, milestone FROM GitHubIssue",
        "labels": "SELECT GitHubIssue, GitHubLabel FROM GitHubIssue_labels",
        "assignees": "SELECT GitHubIssue, GitHubUser FROM GitHubIssue_assignees",
    ]

    // One of the twenty repositories is not there, and one is called otherwise by now: that stops none of the others.
    @Test(.timeLimit(.minutes(60))) func issuesOfTwentyRepositoriesAreWhatTheServerHasAfterEveryPoll() async throws {
        let seed = SeededRandom.seed, shop = try Workshop()
        defer { shop.close() }
        let names = try Mirror.text(of: "github").matches(of: /"(swift-[a-z0-9-]+)"/).map { String($0.1) }
        try #require(names.count == 20)
        let server = try await shop.server("hub.py", names)
        let mirror = try await Mirror(shop, of: "github", source: "github", at: server, queries: Self.github)
        try await mirror.expectAllAfterListing("seed \(seed), at first")

        // What is as it was costs no more than a request, and is asked for by what has changed.
        var asked = server.requests.count
        var runs = try await shop.sync()
        #expect(runs["github/labels"]?.notModifiedPages == 19 && runs["github/milestones"]?.notModifiedPages == 19, "\(runs)")
        let issues = server.requests.dropFirst(asked).compactMap(\.path).filter { $0.contains("/issues") }
        #expect(issues.contains { $0.contains("since=2025-") } && !issues.contains { $0.contains("page=2") }, "\(issues)")

        var history = try await mirror.truth()
        for round in Self.rounds {
            let words = "seed \(seed), round \(round)"
            try await server.tell("change", ["seed": Int(seed) + round, "count": 25])
            runs = try await shop.sync()
            #expect(runs.values.allSatisfy { $0.outcome == .succeeded }, "\(words): \(runs)")
            // What has changed is there. What is gone is still as it was.
            let truth = try await mirror.truth(), rows = try await mirror.rows()
            history.formUnion(truth)
            #expect(truth.subtracting(rows).sorted() == [], "\(words)")
            #expect(rows.subtracting(history).sorted() == [], "\(words): nobody has said so")
            try await mirror.expectAllAfterListing(words)
        }

        // Things change while lists are read, and no request is left for a moment.
        asked = server.requests.count
        try await server.tell("limit")
        try await server.tell("watch", ["seed": Int(seed), "every": 3])
        runs = try await shop.sync()
        #expect(runs.values.allSatisfy { $0.outcome == .succeeded }, "seed \(seed): \(runs)")
        #expect(server.requests.dropFirst(asked).count { $0.status == 403 } == 1)
        try await server.tell("watch", ["seed": Int(seed), "every": 0])
        runs = try await shop.sync()
        let lacking = try await mirror.truth().subtracting(mirror.rows())
        #expect(lacking.sorted() == [], "seed \(seed): changed while it was read")
        try await mirror.expectAllAfterListing("seed \(seed), in the end")

        let statuses = server.requests.compactMap(\.status)
        #expect(statuses.contains(301) && statuses.contains(304) && statuses.contains(404), "\(Set(statuses))")
        #expect(
            try await shop.sql("SELECT resource, partition FROM cistern_status WHERE state <> 'ok'") == ["repositories|\(names[19])"], "seed \(seed)")
        try await mirror.end()
    }

    /// A customer that is gone is as good as none: a charge may have said so of it.
    private static let customer = "CASE WHEN customer IN (SELECT id FROM StripeCustomer WHERE NOT deleted) THEN customer END"

    private static let stripe = [
        "customer": "SELECT id, email, name, balance FROM StripeCustomer WHERE NOT deleted",
        "charge": "SELECT id, amount, status, \(customer) FROM StripeCharge",
        "subscription": "SELECT id, status, \(customer) FROM StripeSubscription",
        "item": "SELECT id, quantity, price, subscription FROM StripeSubscriptionItem WHERE subscription IS NOT NULL",
    ]

    @Test(.timeLimit(.minutes(60))) func listsInsideOfOthersAreWhatTheServerHasAfterEveryListing() async throws {
        let seed = SeededRandom.seed, shop = try Workshop()
        defer { shop.close() }
        let server = try await shop.server("till.py")
        let mirror = try await Mirror(shop, of: "stripe", source: "stripe", at: server, path: "/v1", queries: Self.stripe)
        try await mirror.expectAllAfterListing("seed \(seed), at first")
        // There are more items than subscriptions show.
        #expect(try await shop.number("SELECT count(*) FROM StripeSubscription WHERE hasMoreItems") ?? 0 > 0)

        func keys(_ rows: Set<String>) -> Set<String> {
            Set(rows.filter { !$0.hasPrefix("item:") }.map { String($0.prefix { $0 != "|" }) })
        }
        for round in Self.rounds {
            let words = "seed \(seed), round \(round)", asked = server.requests.count
            try await server.tell("change", ["seed": Int(seed) + round, "count": 25])
            let runs = try await shop.sync()
            #expect(runs.values.allSatisfy { $0.outcome == .succeeded }, "\(words): \(runs)")
            #expect(server.requests.dropFirst(asked).contains { $0.path?.contains("gte") == true }, "\(words)")
            // What is new is there; what else has changed, and what is gone, a listing shows.
            let truth = try await mirror.truth(), rows = try await mirror.rows()
            #expect(keys(truth).subtracting(keys(rows)).sorted() == [], "\(words)")
            try await mirror.expectAllAfterListing(words)
        }

        // What the server says would pass does, and so does its limit.
        for status in [409, 429] {
            try await server.tell("busy", ["status": status])
            let runs = try await shop.sync()
            #expect(runs.values.allSatisfy { $0.outcome == .succeeded } && server.requests.contains { $0.status == status }, "\(status): \(runs)")
        }

        // A page that begins after what is gone is an error, and the service's word for it is the run's. Nothing is lost by it.
        try await server.tell("watch", ["seed": Int(seed), "every": 2])
        let runs = try await shop.sync(isFull: true)
        for (name, run) in runs where run.outcome != .succeeded {
            #expect(run.httpStatus == 400 && run.error?.contains("No such object") == true, "seed \(seed), \(name): \(run)")
        }
        try await server.tell("watch", ["seed": Int(seed), "every": 0])
        _ = try await shop.sync()
        try await mirror.expectAllAfterListing("seed \(seed), in the end")
        try await mirror.end()
    }
}
