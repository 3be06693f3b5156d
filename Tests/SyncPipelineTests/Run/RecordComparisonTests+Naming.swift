import OpenCoreData
import Testing

@testable import SyncPipeline

extension RecordComparisonTests {
    // MARK: Records that name others

    /// People name their team by its key; a team that is not listed any more is deleted at once.
    private static func teams(match: String = "key", members: String = "") -> String {
        ScriptedAPI.configuration(
            ScriptedAPI.resource("people", of: "Person", listing),
            ScriptedAPI.resource(
                "teams", of: "Team", "deletion = { detect = \"snapshot\", action = \"delete\", confirm_runs = 1, max_fraction = 1.0 }"),
            entities: """
                \(ScriptedAPI.entities())
                [entity.Person.relationships]
                team = { to = "Team", match = "\(match)", inverse = "members" }
                [entity.Team]
                key = ["id"]
                [entity.Team.attributes]
                id = { type = "int64", optional = false }
                [entity.Team.relationships]
                members = { to = "Person", many = true, inverse = "team"\(members) }
                """)
    }

    private static let members = #"{"id": 1, "team": 7}, {"id": 2, "team": 8}"#
    private static let renamed = #"{"id": 1, "team": 7}, {"id": 2, "team": 8, "name": "b"}"#

    /// The team of each person that has one.
    private static func membersOf(_ fixture: PipelineFixture) async throws -> [String] {
        try await fixture.document.withWorker { worker in
            try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).compactMap { person in
                (person.value(forKey: "team") as? NSManagedObject)?.value(forKey: "id").map { "\(person.value(forKey: "id") ?? 0) in \($0)" }
            }.sorted()
        }
    }

    @Test func recordsThatNameOthersByTheirKeyAreCompared() async throws {
        let fixture = try await api.fixture(Self.teams(members: ", read = false"))
        serve(Self.members)
        try await fixture.sync("api/people")
        try await spoil(1, in: fixture)
        serve(Self.renamed)
        #expect(try await fixture.sync("api/people").counts.updated == 1)
        #expect(try await Self.rows(fixture) == ["1 spoilt nil", "2 b nil"])
        #expect(try await Self.membersOf(fixture) == ["1 in 7", "2 in 8"])
        try await fixture.end()
    }

    // The objects that they hold may have changed elsewhere; or the list of a team says who is in it.
    @Test(arguments: [("auto", ", read = false"), ("key", "")]) func recordsThatSayMoreThanTheirRowAreAllRead(match: String, members: String)
        async throws
    {
        let fixture = try await api.fixture(Self.teams(match: match, members: members))
        serve(Self.members)
        try await fixture.sync("api/people")
        try await spoil(1, in: fixture)
        serve(Self.renamed)
        try await fixture.sync("api/people")
        #expect(try await Self.rows(fixture) == ["1 nil nil", "2 b nil"])
        try await fixture.end()
    }

    // Who has a desk says it of both.
    @Test func recordsOfWhichTheOtherSideIsOneObjectAreAllRead() async throws {
        let fixture = try await api.fixture(
            Self.teams(members: ", read = false").replacing("inverse = \"members\"", with: "inverse = \"member\"")
                .replacing("members = { to = \"Person\", many = true,", with: "member = { to = \"Person\","))
        serve(Self.members)
        try await fixture.sync("api/people")
        try await spoil(1, in: fixture)
        serve(Self.renamed)
        try await fixture.sync("api/people")
        #expect(try await Self.rows(fixture) == ["1 nil nil", "2 b nil"])
        try await fixture.end()
    }

    @Test func aRecordNamesWhatWasRemovedAnew() async throws {
        let fixture = try await api.fixture(Self.teams(members: ", read = false"))
        api.set("/teams", #"[{"id": 7}, {"id": 8}]"#)
        try await fixture.sync("api/teams")
        serve(Self.members)
        try await fixture.sync("api/people")
        api.set("/teams", #"[{"id": 8}]"#)
        #expect(try await fixture.sync("api/teams").counts.deleted == 1)
        #expect(try await Self.membersOf(fixture) == ["2 in 8"])
        serve(Self.renamed)
        try await fixture.sync("api/people")
        #expect(try await Self.membersOf(fixture) == ["1 in 7", "2 in 8"])
        try await fixture.end()
    }

    // Its team goes after the record was read, and before it is saved.
    @Test(.timeLimit(.minutes(60))) func aNewRecordNamesWhatIsRemovedMeanwhile() async throws {
        let fixture = try await api.fixture(
            Self.teams(members: ", read = false").replacing("version = 1", with: "version = 1\n[defaults.limits]\nmax_run_time = \"9h\""))
        api.set("/teams", #"[{"id": 7}, {"id": 8}]"#)
        try await fixture.sync("api/teams")
        api.set("/teams", #"[{"id": 8}]"#)
        serve(Self.members)
        let hold = ParseHold(fixture.pipeline, resource: "people", at: .saving)
        async let people = fixture.sync("api/people")
        await hold.isReached()
        #expect(try await fixture.sync("api/teams").counts.deleted == 1)
        hold.letGo()
        #expect(try await people.isComplete)
        #expect(try await Self.membersOf(fixture) == ["1 in 7", "2 in 8"])
        try await fixture.end()
    }

    // The team goes while the page is read of which a record was left out that names it.
    @Test(.timeLimit(.minutes(60))) func whatWasForgottenWhileAPageCameIsFetchedAsAWhole() async throws {
        // Its run waits while another begins, an hour later.
        let fixture = try await api.fixture(
            Self.teams(members: ", read = false").replacing("version = 1", with: "version = 1\n[defaults.limits]\nmax_run_time = \"9h\""))
        api.set("/teams", #"[{"id": 7}, {"id": 8}]"#)
        try await fixture.sync("api/teams")
        serve(Self.members)
        try await fixture.sync("api/people")
        api.set("/teams", #"[{"id": 8}]"#)
        serve(Self.renamed)
        let hold = ParseHold(fixture.pipeline, resource: "people", at: .writing)
        async let people = fixture.sync("api/people")
        await hold.isReached()
        #expect(try await fixture.sync("api/teams").counts.deleted == 1)
        hold.letGo()
        #expect(try await people.isComplete)
        #expect(try await Self.membersOf(fixture) == ["1 in 7", "2 in 8"])
        try await fixture.end()
    }
}
