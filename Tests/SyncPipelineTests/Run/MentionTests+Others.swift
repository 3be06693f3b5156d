import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Testing

@testable import SyncPipeline

extension MentionTests {
    // MARK: Resources that list the same objects

    private static let staff = ScriptedAPI.resource(
        "people", of: "Person", "deletion = { detect = \"snapshot\", confirm_runs = 1, max_fraction = 1.0 }")

    // The one that lists them says what they are, at its next turn; and that stays as long as nobody says anything else.
    @Test func aRowThatWasMentionedOtherwiseIsReadOver() async throws {
        let fixture = try await api.fixture(Self.tickets(others: Self.staff))
        api.set("/people", #"[{"id": 7, "name": "Ada", "age": 40}, {"id": 8, "name": "Bo"}]"#, etag: "\"1\"")
        try await fixture.sync("api/people")
        set(#"{"id": 1, "author": 7}"#, users: #"[{"id": 7, "name": "Eve"}, {"id": 8, "name": "Bo"}]"#, etag: "\"1\"")
        try await fixture.sync("api/tickets")
        #expect(try await Self.people(fixture) == ["7 Eve 40", "8 Bo nil"])
        let over = try await fixture.sync("api/people")
        #expect(over.notModifiedPages == 0 && over.counts.updated == 1 && over.counts.unchanged == 1, "\(over)")
        #expect(try await Self.people(fixture) == ["7 Ada 40", "8 Bo nil"])
        // Both pages are as they were.
        for scope in ["api/tickets", "api/people", "api/tickets"] {
            #expect(try await fixture.sync(scope).notModifiedPages == 1, "\(scope)")
            #expect(try await Self.people(fixture) == ["7 Ada 40", "8 Bo nil"])
        }
        // A page that says it once more is read once more.
        set(#"{"id": 1, "author": 8}"#, users: #"[{"id": 7, "name": "Eve"}]"#, etag: "\"2\"")
        try await fixture.sync("api/tickets")
        #expect(try await Self.people(fixture) == ["7 Eve 40", "8 Bo nil"])
        try await fixture.sync("api/people")
        #expect(try await Self.people(fixture) == ["7 Ada 40", "8 Bo nil"])
        try await fixture.end()
    }

    @Test func aMentionThatSaysTheSameCastsNoDoubt() async throws {
        let fixture = try await api.fixture(Self.tickets(others: Self.staff))
        api.set("/people", #"[{"id": 7, "name": "Ada"}]"#, etag: "\"1\"")
        try await fixture.sync("api/people")
        set(#"{"id": 1, "author": 7}"#, users: #"[{"id": 7, "name": "Ada"}]"#)
        try await fixture.sync("api/tickets")
        #expect(try await fixture.sync("api/people").notModifiedPages == 1)
        try await fixture.end()
    }

    // Of the people that are compared record by record those that were mentioned otherwise are read all the same.
    @Test func aComparedRecordWhoseRowWasMentionedIsRead() async throws {
        let fixture = try await api.fixture(Self.tickets(others: Self.staff))
        let ada = #"{"id": 7, "name": "Ada"}"#
        api.set("/people", #"[\#(ada), {"id": 8, "name": "a"}]"#)
        try await fixture.sync("api/people")
        #expect(try await RecordComparisonTests.comparedPages(fixture) == 1)
        set(#"{"id": 1}"#, users: #"[{"id": 7, "name": "Eve"}]"#)
        try await fixture.sync("api/tickets")
        api.set("/people", #"[\#(ada), {"id": 8, "name": "b"}]"#)
        try await fixture.sync("api/people")
        #expect(try await Self.people(fixture) == ["7 Ada nil", "8 b nil"])
        try await fixture.end()
    }

    // Only what the listing has vouched for goes with it. A mention brings back what went, and does not keep it from going.
    @Test func whoListsTheObjectsDecidesWhenTheyGo() async throws {
        let fixture = try await api.fixture(Self.tickets(others: Self.staff))
        api.set("/people", #"[{"id": 7, "name": "Ada"}, {"id": 8}]"#)
        try await fixture.sync("api/people")
        set(#"{"id": 1, "author": 7}"#, users: #"[{"id": 7, "name": "Ada"}, {"id": 9, "name": "Guest"}]"#, etag: "\"1\"")
        try await fixture.sync("api/tickets")
        api.set("/people", #"[{"id": 8}]"#)
        #expect(try await fixture.sync("api/people").counts.deleted == 1)
        #expect(try await Self.people(fixture) == ["8 nil nil", "9 Guest nil"])
        // As long as the page is as it was, it says nothing.
        #expect(try await fixture.sync("api/tickets").notModifiedPages == 1)
        #expect(try await Self.people(fixture) == ["8 nil nil", "9 Guest nil"])
        set(#"{"id": 1, "author": 7}, {"id": 2}"#, users: #"[{"id": 7, "name": "Ada"}]"#, etag: "\"2\"")
        try await fixture.sync("api/tickets")
        #expect(try await Self.people(fixture) == ["7 Ada nil", "8 nil nil", "9 Guest nil"])
        for _ in 1...2 { #expect(try await fixture.sync("api/people").counts.deleted == 0) }
        #expect(try await Self.people(fixture) == ["7 Ada nil", "8 nil nil", "9 Guest nil"])
        try await fixture.end()
    }

    // Records hold badges that nobody else says anything of, until a page mentions them.
    @Test(arguments: [false, true]) func whatAnotherResourceMentionedOfWhatRecordsHoldIsReadOver(isRestarted: Bool) async throws {
        let team = """

            [entity.Team]
            key = ["id"]
            [entity.Team.attributes]
            id = { type = "int64", optional = false }
            """
        let alone = RecordComparisonTests.badges(reads: ", read = false") + team
        let teams = ScriptedAPI.resource("teams", of: "Team", "records = \"$.teams\"\nalso = [{ records = \"$.badges\", entity = \"Badge\" }]")
        let both = RecordComparisonTests.badges(teams, reads: ", read = false") + team
        var fixture = try await api.fixture(alone)
        func configure(_ toml: String) async throws {
            if isRestarted { fixture = try await restarted(fixture, toml) } else { try await Self.reload(fixture, toml) }
        }
        let one = #"{"id": 1, "badges": [{"id": 7, "color": "red"}]}"#
        api.set("/people", #"{"items": [\#(one), {"id": 2}]}"#)
        try await fixture.sync("api/people")
        #expect(try await RecordComparisonTests.comparedPages(fixture) == 1)
        try await configure(both)
        api.set("/teams", #"{"teams": [{"id": 3}], "badges": [{"id": 7, "color": "blue"}]}"#)
        try await fixture.sync("api/teams")
        #expect(try await fixture.values("color", of: "Badge") == ["blue"])
        try await configure(alone)
        api.set("/people", #"{"items": [\#(one), {"id": 2, "name": "b"}]}"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.values("color", of: "Badge") == ["red"])
        try await fixture.end()
    }

    // MARK: Changes of the configuration

    // What was read under another list, or of a resource without one, says nothing of this one, whatever the server says of its page.
    @Test(arguments: [
        ("", "also = [{ records = \"$.users\", entity = \"Person\" }]", ["7 Ada nil", "8 Bo nil"]),
        (
            "also = [{ records = \"$.none\", entity = \"Person\" }]", "also = [{ records = \"$.users\", entity = \"Person\" }]",
            ["7 Ada nil", "8 Bo nil"]
        ),
        (
            "also = [{ records = \"$.users\", entity = \"Person\", where = { path = \"$.kind\", equals = \"b\" } }]",
            "also = [{ records = \"$.users\", entity = \"Person\", where = { path = \"$.kind\", equals = \"a\" } }]", ["7 Ada nil", "8 Bo nil"]
        ),
        (
            "also = [{ records = \"$.map.*\", entity = \"Person\" }]", "also = [{ records = \"$.map.*\", entity = \"Person\", map_key = \"id\" }]",
            ["8 Bo nil", "9 Cy nil"]
        ),
    ])
    func anotherListReadsThePageAgain(before: String, after: String, people: [String]) async throws {
        api.set(
            "/tickets",
            #"""
            {"tickets": [{"id": 1, "author": 8}],
            "users": [{"id": 7, "name": "Ada", "kind": "a"}, {"id": 8, "name": "Bo", "kind": "a"}],
            "map": {"9": {"name": "Cy"}, "8": {"name": "Bo"}}}
            """#, etag: "\"1\"")
        let fixture = try await api.fixture(Self.tickets(before))
        try await fixture.sync("api/tickets")
        #expect(try await fixture.sync("api/tickets").notModifiedPages == 1)
        #expect(try await Self.people(fixture) == ["8 nil nil stub"])
        try await Self.reload(fixture, Self.tickets(after))
        let report = try await fixture.sync("api/tickets")
        #expect(report.isComplete && report.notModifiedPages == 0 && report.counts.unchanged == 1, "\(report)")
        #expect(try await Self.people(fixture) == people)
        #expect(try await fixture.sync("api/tickets").notModifiedPages == 1)
        // What was mentioned stays when nobody mentions it any more.
        try await Self.reload(fixture, Self.tickets(""))
        #expect(try await fixture.sync("api/tickets").notModifiedPages == 0)
        #expect(try await Self.people(fixture) == people)
        try await fixture.end()
    }

    // Records of a page from before it mentioned anything are not what they are compared with afterwards.
    @Test func whatIsKeptOfPagesIsForgottenOnceTheyMentionOthers() async throws {
        let badges = RecordComparisonTests.badges(reads: ", read = false")
        let also = badges.replacing("path = \"/people\"", with: "path = \"/people\"\nalso = [{ records = \"$.badges\", entity = \"Badge\" }]")
        let fixture = try await api.fixture(badges + "\n[defaults.retry]\nattempts = 1\n")
        func page(_ records: String, _ more: String = "") -> String { #"{"items": [\#(records)]\#(more)}"# }
        let two = #"{"id": 3, "badges": [{"id": 7, "color": "red"}]}"#
        api.set("/people", page(#"{"id": 1}"#), headers: ["Link": "</people?page=2>; rel=next"])
        api.set("/people?page=2", page(two + #", {"id": 4}"#))
        try await fixture.sync("api/people")
        #expect(try await RecordComparisonTests.comparedPages(fixture) == 2)
        // The run ends before it comes to the second page.
        try await Self.reload(fixture, also + "\n[defaults.retry]\nattempts = 1\n")
        api.set("/people", page(#"{"id": 1}"#, #", "badges": [{"id": 7, "color": "blue"}]"#), headers: ["Link": "</people?page=2>; rel=next"])
        api.set("/people?page=2", "", status: 500)
        #expect(try await fixture.sync("api/people").outcome == .failed)
        #expect(try await fixture.values("color", of: "Badge") == ["blue"])
        #expect(try await RecordComparisonTests.comparedPages(fixture) == 0)
        try await Self.reload(fixture, badges)
        api.set("/people?page=2", page(two + #", {"id": 4, "name": "d"}"#))
        try await fixture.sync("api/people")
        #expect(try await fixture.values("color", of: "Badge") == ["red"])
        try await fixture.end()
    }

    // A new process knows what the old one has read.
    @Test func aPageThatMentionsOthersIsRememberedAcrossARestart() async throws {
        let toml = Self.tickets()
        set(#"{"id": 1, "author": 7}"#, users: #"[{"id": 7, "name": "Ada"}]"#, etag: "\"1\"")
        var fixture = try await api.fixture(toml)
        try await fixture.sync("api/tickets")
        fixture = try await restarted(fixture, toml)
        let report = try await fixture.sync("api/tickets")
        #expect(report.isComplete && report.notModifiedPages == 1, "\(report)")
        #expect(try await Self.people(fixture) == ["7 Ada nil"])
        set(#"{"id": 1, "author": 7}"#, users: #"[{"id": 7, "name": "Eve"}]"#, etag: "\"2\"")
        try await fixture.sync("api/tickets")
        #expect(try await Self.people(fixture) == ["7 Eve nil"])
        #expect(try await Self.authors(fixture) == ["1 by 7"])
        try await fixture.end()
    }
}
