import Foundation
import OpenCoreData
import SyncReports
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// What runs that ask for what has changed leave alone, and what they do for others.
extension IncrementRunTests {
    // Only what says from where on can be what the server does not take.
    @Test func aRequestThatIsRefusedLaterIsNoCursorThatIs() async throws {
        for id in 1...4 { api.put(id, at: begin - 100) }
        api.change { $0.pageSize = 2 }
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\""))
        try await fixture.sync("api/people")
        let before = try await cursor(fixture), count = fixture.transport.requests.count
        api.change { $0.refused = [count + 1] }
        for id in 1...4 { api.put(id, at: begin, name: "new") }
        #expect(try await fixture.sync("api/people").outcome == .failed)
        #expect(try await cursor(fixture) == before)
        #expect(!fixture.events.contains { if case .cursorRejected = $0 { true } else { false } })
        try await fixture.end()
    }

    @Test func aRunWhoseRecordsAreNoGoodComesNoFurther() async throws {
        api.put(1, 2, at: begin - 100)
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\""))
        try await fixture.sync("api/people")
        let before = try await cursor(fixture)
        api.put(3, at: begin)
        api.change { $0.spoilt = [1, 2, 3] }
        #expect(try await fixture.sync("api/people").outcome == .failed)
        #expect(try await cursor(fixture) == before)
        api.change { $0.spoilt = [] }
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == api.live)
        try await fixture.end()
    }

    @Test func aRunThatGotPartOfAPageComesNoFurther() async throws {
        api.put(1, at: begin - 100)
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\"", "success = [200, 206]"))
        try await fixture.sync("api/people")
        let before = try await cursor(fixture)
        api.put(2, at: begin)
        api.change { $0.status = 206 }
        #expect(try await fixture.sync("api/people").outcome == .incomplete)
        #expect(try await cursor(fixture) == before)
        try await fixture.end()
    }

    // What is looked at once more is older than what is known.
    @Test func aRunInOrderNotesNothingThatIsKnown() async throws {
        for id in 1...6 { api.put(id, at: begin - 1000 + Double(id)) }
        api.change { state in
            state.pageSize = 2
            state.order = { ($0.changed ?? 0, $0.id) < ($1.changed ?? 0, $1.id) }
        }
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\", order = \"asc\", lookback = \"1h\""))
        try await fixture.sync("api/people")
        let before = try await cursor(fixture), count = fixture.transport.requests.count
        api.put(1, 2, at: begin - 2000, name: "new")
        api.change { $0.broken = [count + 1] }
        #expect(try await fixture.sync("api/people").outcome == .failed)
        #expect(try await cursor(fixture) == before)
        try await fixture.end()
    }

    // Deletions are held: they are still when a run has found that nothing was changed.
    @Test func heldDeletionsStayHeld() async throws {
        for id in 1...4 { api.put(id, at: begin - 100) }
        let toml = ChangingAPI.people("since = \"since\"", deletion: "snapshot").replacingOccurrences(
            of: "max_fraction = 1.0", with: "max_fraction = 0.1")
        let fixture = try await api.fixture(toml)
        try await fixture.sync("api/people")
        api.remove(1, 2)
        try await fixture.sync("api/people", full: true)
        let held = await fixture.pipeline.status().resources.first
        #expect(held?.heldDeletes == 2 && held?.guardName != nil)
        api.put(3, at: begin)
        #expect(try await fixture.sync("api/people").outcome == .succeeded)
        let status = await fixture.pipeline.status().resources.first
        #expect(status?.heldDeletes == 2 && status?.guardName == held?.guardName)
        try await fixture.end()
    }

    @Test func tombstonesArePurgedByAnyRun() async throws {
        api.put(1, 2, at: begin - 100)
        let toml = ChangingAPI.people("since = \"since\", full_every = \"240h\"", deletion: "snapshot").replacingOccurrences(
            of: "max_fraction = 1.0", with: "max_fraction = 1.0, purge_after = \"2d\"")
        let fixture = try await api.fixture(toml)
        try await fixture.sync("api/people")
        api.remove(1)
        #expect(try await fixture.sync("api/people", full: true).counts.deleted == 1)
        #expect(try await fixture.values("id", of: "Person") == ["1", "2"])
        fixture.clock.advance(by: .seconds(49 * 3600))
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .succeeded && !report.isComplete, "\(report)")
        #expect(try await fixture.values("id", of: "Person") == ["2"])
        try await fixture.end()
    }

    @Test func theRowsOfAResourceAreAllThatItHas() async throws {
        for id in 1...4 { api.put(id, at: begin - 100 - Double(id)) }
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\""))
        try await fixture.sync("api/people")
        api.put(5, at: begin)
        try await fixture.sync("api/people")
        let rows = try await fixture.document.withWorker { worker in
            try ResourceTable.row(of: ResourceScope(source: "api", resource: "people"), in: worker).rows
        }
        #expect(rows == 5)
        try await fixture.end()
    }

    // People go with their team. When it is back, nobody has changed: whoever lists them has to ask for everything.
    @Test func rowsThatWentWithOthersAreAskedForAgain() async throws {
        let pages = ScriptedAPI()
        pages.set("/teams", #"[{"id": 1}, {"id": 2}]"#)
        pages.set("/people", #"[{"id": 1, "team": 1, "at": "2024-12-31T00:00:00Z"}, {"id": 2, "team": 2, "at": "2024-12-31T00:00:00Z"}]"#)
        pages.set("/people?since=2024-12-31T00%3A00%3A00Z", "[]")
        let fixture = try await pages.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource("teams", of: "Team", "deletion = { detect = \"snapshot\", confirm_runs = 1, max_fraction = 1.0 }"),
                ScriptedAPI.resource("people", of: "Person", "incremental = { field = \"$.at\", since = \"since\" }"),
                entities: ScriptedAPI.teams(onDelete: "cascade")))
        try await fixture.sync("api/teams")
        try await fixture.sync("api/people")
        pages.set("/teams", #"[{"id": 1}]"#)
        try await fixture.sync("api/teams")
        #expect(try await fixture.live() == ["1"])
        pages.set("/teams", #"[{"id": 1}, {"id": 2}]"#)
        try await fixture.sync("api/teams")
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    // A part's objects go with its parent, and come back with it.
    @Test func partsThatWentWithOthersAreAskedForAgain() async throws {
        let pages = ScriptedAPI()
        pages.set("/teams", #"[{"id": 1}, {"id": 2}]"#)
        for team in 1...2 { pages.set("/people?team=\(team)", #"[{"id": \#(team), "at": "2024-12-31T00:00:00Z"}]"#) }
        for team in 1...2 { pages.set("/people?team=\(team)&since=2024-12-31T00%3A00%3A00Z", "[]") }
        let fixture = try await pages.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource("teams", of: "Team", "deletion = { detect = \"snapshot\", confirm_runs = 1, max_fraction = 1.0 }"),
                ScriptedAPI.resource(
                    "people", of: "Person",
                    """
                    for_each = { resource = "teams", as = "team" }
                    params = { team = "{team.id}" }
                    set = { team = "{team}" }
                    incremental = { field = "$.at", since = "since" }
                    """), entities: ScriptedAPI.teams(onDelete: "cascade")))
        try await fixture.sync()
        pages.set("/teams", #"[{"id": 1}]"#)
        try await fixture.sync()
        #expect(try await fixture.live() == ["1"])
        pages.set("/teams", #"[{"id": 1}, {"id": 2}]"#)
        try await fixture.sync()
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }
}
