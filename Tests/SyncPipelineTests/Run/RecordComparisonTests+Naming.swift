import Dispatch
import OpenCoreData
import Synchronization
import Testing

@testable import SyncPipeline

extension RecordComparisonTests {
    // MARK: Records that name others

    /// People name their team by its key; a team that is not listed any more is deleted at once. A run may wait while others begin, an hour later each.
    private static func teams(match: String = "key", members: String = "") -> String {
        ScriptedAPI.configuration(
            ScriptedAPI.resource("people", of: "Person", listing),
            ScriptedAPI.resource(
                "teams", of: "Team", "deletion = { detect = \"snapshot\", action = \"delete\", confirm_runs = 1, max_fraction = 1.0 }"),
            defaults: "[defaults.limits]\nmax_run_time = \"9h\"",
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

    // The objects that they hold may have changed elsewhere; the list of a team says who is in it; or the other side says which one is its.
    @Test(arguments: [
        teams(match: "auto", members: ", read = false"), teams(),
        teams(members: ", read = false").replacing("inverse = \"members\"", with: "inverse = \"member\"")
            .replacing("members = { to = \"Person\", many = true,", with: "member = { to = \"Person\","),
    ]) func recordsThatSayMoreThanTheirRowAreAllRead(configuration: String) async throws {
        let fixture = try await api.fixture(configuration)
        serve(Self.members)
        try await fixture.sync("api/people")
        try await spoil(1, in: fixture)
        serve(Self.renamed)
        try await fixture.sync("api/people")
        #expect(try await Self.rows(fixture) == ["1 nil nil", "2 b nil"])
        try await fixture.end()
    }

    @Test func aRecordNamesWhatWasRemovedAnew() async throws {
        let fixture = try await oneTeamLess(readsPeople: true)
        #expect(try await fixture.sync("api/teams").counts.deleted == 1)
        #expect(try await Self.membersOf(fixture) == ["2 in 8"])
        try await expectsAllToBeRead(fixture)
    }

    /// Two teams and their people, of which the first has gone from the list of teams; the rows are as they were.
    private func oneTeamLess(readsPeople: Bool) async throws -> PipelineFixture {
        let fixture = try await api.fixture(Self.teams(members: ", read = false"))
        api.set("/teams", #"[{"id": 7}, {"id": 8}]"#)
        try await fixture.sync("api/teams")
        serve(Self.members)
        if readsPeople { try await fixture.sync("api/people") }
        api.set("/teams", #"[{"id": 8}]"#)
        return fixture
    }

    /// A change of another record brings back who was in the team.
    private func expectsAllToBeRead(_ fixture: PipelineFixture) async throws {
        serve(Self.renamed + #", {"id": 3}"#)
        try await fixture.sync("api/people")
        #expect(try await Self.membersOf(fixture) == ["1 in 7", "2 in 8"])
        try await fixture.end()
    }

    // Its team goes after the record was read, and before it is saved.
    @Test(.timeLimit(.minutes(60))) func aRecordWhoseTeamGoesBeforeItIsSavedIsReadAgain() async throws {
        let fixture = try await oneTeamLess(readsPeople: false)
        let hold = ParseHold(fixture.pipeline, resource: "people", at: .saving)
        async let people = fixture.sync("api/people")
        await hold.isReached()
        #expect(try await fixture.sync("api/teams").counts.deleted == 1)
        hold.letGo()
        #expect(try await people.counts.inserted == 2)
        #expect(try await Self.membersOf(fixture) == ["2 in 8"])
        try await expectsAllToBeRead(fixture)
    }

    // The page is saved after the removal has looked for pages, and before it is saved itself.
    @Test(.timeLimit(.minutes(60))) func aRecordThatIsSavedWhileItsTeamGoesIsReadAgain() async throws {
        let fixture = try await oneTeamLess(readsPeople: false)
        let (conclusions, conclusion) = AsyncStream<Void>.makeStream(), mayGo = DispatchSemaphore(value: 0)
        fixture.pipeline.parseProbe.withLock {
            $0 = ParseProbe(
                batchSize: 1000,
                concludes: { scope in
                    guard scope.resource == "teams" else { return }
                    conclusion.yield()
                    mayGo.wait()
                })
        }
        async let teams = fixture.sync("api/teams")
        for await _ in conclusions { break }
        async let people = fixture.pipeline.sync("api/people", cause: .control, wait: true)
        await fixture.told { events in events.contains { if case .pageSaved(let page) = $0 { page.scope.resource == "people" } else { false } } }
        mayGo.signal()
        #expect(try await teams.counts.deleted == 1)
        _ = try await people
        #expect(try await Self.membersOf(fixture) == ["2 in 8"])
        fixture.pipeline.parseProbe.withLock { $0 = nil }
        try await expectsAllToBeRead(fixture)
    }

    // The team goes while the page is read of which a record was left out that names it.
    @Test(.timeLimit(.minutes(60))) func whatWasForgottenWhileAPageCameIsFetchedAsAWhole() async throws {
        let fixture = try await oneTeamLess(readsPeople: true)
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
