import OpenCoreData
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// What becomes of the rows around one that a listing let go of: the model's delete rules, for tombstones and for rows that are deleted.
@Suite struct DeleteRuleTests {  // R6
    private let api = ScriptedAPI()

    /// Teams and people: what becomes of the people of a team that goes. People know their team by its key.
    private static func configuration(_ rule: String, action: String = "tombstone", purgeAfter: String = "30d") -> String {
        ScriptedAPI.configuration(
            ScriptedAPI.resource(
                "teams", of: "Team",
                "deletion = { detect = \"snapshot\", action = \"\(action)\", confirm_runs = 1, max_fraction = 1.0, purge_after = \"\(purgeAfter)\" }"),
            ScriptedAPI.resource("people"),
            entities: ScriptedAPI.teams(onDelete: rule))
    }

    /// The keys of what a to-one of the rows of an entity names, tombstones or not.
    private func keys(_ relationship: String, of entity: String, _ fixture: PipelineFixture) async throws -> [String] {
        try await fixture.document.withWorker { worker in
            try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).compactMap { object in
                (object.value(forKey: relationship) as? NSManagedObject)?.value(forKey: "id").map { "\($0)" }
            }.sorted()
        }
    }

    /// Two teams and their people, and then the second team is not listed any more.
    private func oneTeamLess(_ configuration: String, people: String = #"[{"id": 5, "team": 1}, {"id": 6, "team": 2, "tasks": [{"id": 9}]}]"#)
        async throws -> (PipelineFixture, RunReport)
    {
        let fixture = try await api.fixture(configuration)
        api.set("/teams", #"[{"id": 1}, {"id": 2, "name": "Two"}]"#)
        api.set("/people", people, etag: "\"1\"")
        try await fixture.sync("api/teams")
        try await fixture.sync("api/people")
        api.set("/teams", #"[{"id": 1}]"#, etag: "\"2\"")
        return (fixture, try await fixture.sync("api/teams"))
    }

    @Test func cascadeMakesTombstonesOfWhatATombstoneOwned() async throws {
        let (fixture, report) = try await oneTeamLess(Self.configuration("cascade"))
        #expect(report.counts.deleted == 1)
        #expect(try await fixture.live("Team") == ["1"])
        #expect(try await fixture.live() == ["5"])
        #expect(try await fixture.live("Task") == [])
        // Nothing of them is lost.
        #expect(try await keys("team", of: "Person", fixture) == ["1", "2"])
        #expect(try await keys("person", of: "Task", fixture) == ["6"])
        try await fixture.end()
    }

    @Test func whatAPageStillNamesComesBackAlthoughThePageIsAsItWas() async throws {
        let (fixture, _) = try await oneTeamLess(Self.configuration("cascade"))
        #expect(try await fixture.sync("api/people").notModifiedPages == 0)
        #expect(try await fixture.live() == ["5", "6"])
        #expect(try await fixture.live("Task") == ["9"])
        // And stays: the team is gone already, and goes no second time.
        try await fixture.sync("api/teams")
        #expect(try await fixture.sync("api/people").notModifiedPages == 1)
        #expect(try await fixture.live() == ["5", "6"])
        try await fixture.end()
    }

    @Test func aTombstoneThatComesBackHasWhatItHad() async throws {
        for rule in ["nullify", "no-action"] {
            let (fixture, _) = try await oneTeamLess(Self.configuration(rule))
            #expect(try await fixture.live() == ["5", "6"], "\(rule)")
            api.set("/teams", #"[{"id": 1}, {"id": 2, "name": "Two"}]"#, etag: "\"3\"")
            try await fixture.sync("api/teams")
            #expect(try await fixture.live("Team") == ["1", "2"])
            #expect(try await fixture.sync("api/people").notModifiedPages == 1)
            #expect(try await keys("team", of: "Person", fixture) == ["1", "2"])
            try await fixture.end()
        }
    }

    @Test(arguments: ["tombstone", "delete"]) func denyHoldsTheDeletionBackAndSaysWhy(action: String) async throws {
        let (fixture, report) = try await oneTeamLess(Self.configuration("deny", action: action))
        #expect(report.outcome == .succeeded, "\(report.error ?? "")")
        #expect(report.counts.deleted == 0)
        #expect(try await fixture.live("Team") == ["1", "2"])
        let status = try #require(await fixture.pipeline.status().resources.first { $0.scope.resource == "teams" })
        #expect(status.heldDeletes == 1)
        #expect(status.guardName == "on_delete = \"deny\" of Team.people")
        // Nobody can accept it. It goes when nothing hangs on it any more.
        fixture.clock.advance(by: .seconds(3600))
        try await fixture.pipeline.acceptDeletes("api/teams")
        await fixture.told { $0.reports.count == 4 }
        #expect(try await fixture.live("Team") == ["1", "2"])
        api.set("/people", #"[{"id": 5, "team": 1}, {"id": 6}]"#, etag: "\"2\"")
        try await fixture.sync("api/people")
        api.set("/teams", #"[{"id": 1, "name": "One"}]"#, etag: "\"3\"")
        #expect(try await fixture.sync("api/teams").counts.deleted == 1)
        #expect(try await fixture.live("Team") == ["1"])
        try await fixture.end()
    }

    @Test func aTombstoneIsNotPurgedFromUnderWhatCameBack() async throws {
        for rule in ["cascade", "deny"] {
            let (fixture, _) = try await oneTeamLess(
                Self.configuration(rule, purgeAfter: "2h"), people: rule == "deny" ? "[]" : #"[{"id": 6, "team": 2}]"#)
            #expect(try await fixture.live("Team") == ["1"])
            api.set("/people", #"[{"id": 6, "team": 2}]"#, etag: "\"2\"")
            try await fixture.sync("api/people")
            for _ in 1...4 { #expect(try await fixture.sync("api/teams").outcome == .succeeded) }
            #expect(try await fixture.live() == ["6"], "\(rule)")
            #expect(try await fixture.values("id", of: "Team") == ["1", "2"], "\(rule)")
            // When nobody names it any more, it goes.
            api.set("/people", #"[{"id": 6, "team": 1}]"#, etag: "\"3\"")
            try await fixture.sync("api/people")
            #expect(try await fixture.sync("api/teams").outcome == .succeeded)
            #expect(try await fixture.values("id", of: "Team") == ["1"], "\(rule)")
            #expect(try await fixture.live() == ["6"], "\(rule)")
            try await fixture.end()
        }
    }

    @Test func whatWentWithATombstoneIsPurgedWithIt() async throws {
        let (fixture, _) = try await oneTeamLess(Self.configuration("cascade", purgeAfter: "2h"))
        api.set("/people", #"[{"id": 5, "team": 1}]"#, etag: "\"2\"")
        try await fixture.sync("api/people")
        for _ in 1...3 { try await fixture.sync("api/teams") }
        #expect(try await fixture.values("id", of: "Team") == ["1"])
        #expect(try await fixture.values("id", of: "Person") == ["5"])
        #expect(try await fixture.values("id", of: "Task") == [])
        try await fixture.end()
    }
}
