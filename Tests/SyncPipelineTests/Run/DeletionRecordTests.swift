import Foundation
import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Records that say that their objects are gone.
@Suite struct DeletionRecordTests {
    let api = ScriptedAPI()

    /// One resource `/people` of the entity Person, whose records say what is gone.
    static func people(_ keys: String = "path = \"$.deleted\"", _ more: String = "", detect: String = "field", attributes: String = "") -> String {
        let deletion = "deletion = { detect = \"\(detect)\"\(keys.isEmpty ? "" : ", \(keys)") }"
        return ScriptedAPI.configuration(
            ScriptedAPI.resource("people", of: "Person", "\(deletion)\n\(more)"), defaults: "[defaults.retry]\nattempts = 1",
            entities: ScriptedAPI.entities(attributes))
    }

    /// Lists a page, and what becomes of it.
    @discardableResult
    func list(_ body: String, _ fixture: PipelineFixture, etag: String? = nil) async throws -> RunReport {
        api.set("/people", body, etag: etag)
        return try await fixture.sync("api/people")
    }

    @Test func aRecordThatSaysItIsDeletedMakesATombstone() async throws {
        let fixture = try await api.fixture(Self.people(attributes: "mail = { type = \"string\", optional = false }"))
        try await list(#"[{"id": 1, "mail": "a"}, {"id": 2, "mail": "b", "deleted": false}]"#, fixture)
        #expect(try await fixture.live() == ["1", "2"])
        // It needs no more than the key.
        let report = try await list(#"[{"id": 1, "mail": "a"}, {"id": 2, "deleted": true}]"#, fixture)
        #expect(report.counts.deleted == 1 && report.counts.quarantined == 0 && report.outcome == .succeeded, "\(report)")
        #expect(try await fixture.live() == ["1"])
        #expect(try await fixture.values("mail", of: "Person") == ["a", "b"])
        // Once more, and beside another change: it is gone already.
        let again = try await list(#"[{"id": 1, "mail": "c"}, {"id": 2, "deleted": true}]"#, fixture)
        #expect(again.counts.deleted == 0 && again.counts.updated == 1, "\(again)")
        try await fixture.end()
    }

    @Test func noRowIsMadeToBeDeleted() async throws {
        let fixture = try await api.fixture(Self.people())
        try await list(#"[{"id": 7, "deleted": true}, {"id": 1}, {"id": 8, "deleted": true}]"#, fixture)
        #expect(try await fixture.values("id", of: "Person") == ["1"])
        try await list(#"[{"id": 9, "deleted": true}, {"id": 9, "deleted": true}]"#, fixture)
        #expect(try await fixture.values("id", of: "Person") == ["1"])
        try await fixture.end()
    }

    // It is the very record that the row is remembered to be.
    @Test(arguments: ["tombstone", "delete"])
    func whatComesBackAsItWasIsThereAgain(action: String) async throws {
        let fixture = try await api.fixture(Self.people("path = \"$.deleted\", action = \"\(action)\"", "records = \"$.items\""))
        let before = #"{"items": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}]}"#
        for round in 1...3 {
            #expect(try await list(before, fixture, etag: "\"1\"").outcome == .succeeded)
            #expect(try await fixture.values("name", of: "Person", where: "cisternDeletedAt == nil") == ["Ada", "Bo"], "\(round)")
            let report = try await list(#"{"items": [{"id": 1, "deleted": true}, {"id": 2, "name": "Bo"}]}"#, fixture, etag: "\"2\"")
            #expect(report.counts.deleted == 1, "\(round)")
            #expect(try await fixture.live() == ["2"], "\(round)")
            #expect(try await fixture.values("id", of: "Person").count == (action == "delete" ? 1 : 2), "\(round)")
        }
        try await fixture.end()
    }

    // MARK: Order

    @Test func ofTwoRecordsOfOneObjectTheLaterCounts() async throws {
        let fixture = try await api.fixture(Self.people("path = \"$.deleted\"", "records = \"$.items\""))
        func list(_ items: String) async throws -> [String] {
            try await self.list("{\"items\": [\(items)]}", fixture)
            return try await fixture.live()
        }
        #expect(try await list(#"{"id": 1}, {"id": 2}"#) == ["1", "2"])
        // Those that were left out since they had not changed come before and after the one that says it.
        #expect(try await list(#"{"id": 1}, {"id": 2}, {"id": 1, "deleted": true}"#) == ["2"])
        #expect(try await list(#"{"id": 1}, {"id": 2}, {"id": 3}, {"id": 1, "deleted": true}"#) == ["2", "3"])
        #expect(try await list(#"{"id": 1}, {"id": 2}, {"id": 3}"#) == ["1", "2", "3"])
        #expect(try await list(#"{"id": 1, "deleted": true}, {"id": 1}, {"id": 2}, {"id": 3}"#) == ["1", "2", "3"])
        #expect(try await list(#"{"id": 1, "deleted": true}, {"id": 1}, {"id": 2}, {"id": 4}"#) == ["1", "2", "3", "4"])
        #expect(try await list(#"{"id": 1, "deleted": true}, {"id": 2}"#) == ["2", "3", "4"])
        #expect(try await list(#"{"id": 1, "deleted": true}, {"id": 2}, {"id": 5}"#) == ["2", "3", "4", "5"])
        try await fixture.end()
    }

    @Test func ofTwoPagesTheLaterCounts() async throws {
        let fixture = try await api.fixture(Self.people("path = \"$.deleted\"", "pages = { kind = \"page\", size_param = \"\" }"))
        func list(_ first: String, _ second: String) async throws -> [String] {
            api.set("/people?page=1", first, etag: "\"\(BodyDigest(of: first))\"")
            api.set("/people?page=2", second, etag: "\"\(BodyDigest(of: second))\"")
            api.set("/people?page=3", "[]")
            #expect(try await fixture.sync("api/people").outcome == .succeeded)
            return try await fixture.live()
        }
        #expect(try await list(#"[{"id": 1}]"#, #"[{"id": 2}]"#) == ["1", "2"])
        #expect(try await list(#"[{"id": 1}]"#, #"[{"id": 1, "deleted": true}, {"id": 2}]"#) == ["2"])
        #expect(try await list(#"[{"id": 1}, {"id": 3}]"#, #"[{"id": 1, "deleted": true}, {"id": 2}]"#) == ["2", "3"])
        #expect(try await list(#"[{"id": 1, "deleted": true}]"#, #"[{"id": 1}]"#) == ["1", "2", "3"])
        #expect(try await list(#"[{"id": 1, "deleted": true}, {"id": 4}]"#, #"[{"id": 1}]"#) == ["1", "2", "3", "4"])
        #expect(try await list(#"[{"id": 1, "deleted": true}]"#, #"[{"id": 2}]"#) == ["2", "3", "4"])
        try await fixture.end()
    }

    // What it says is gone had no row when it was read, or has another one now.
    @Test(arguments: ["tombstone", "delete"]) func aLaterPageCountsAlsoWhereOnlyTheEarlierOneHasChanged(action: String) async throws {
        let fixture = try await api.fixture(
            Self.people("path = \"$.deleted\", action = \"\(action)\"", "pages = { kind = \"page\", size_param = \"\" }"))
        let second = #"[{"id": 1, "deleted": true}, {"id": 2}]"#
        api.set("/people?page=2", second, etag: "\"2\"")
        api.set("/people?page=3", "[]")
        for first in [#"[{"id": 3}]"#, #"[{"id": 1}, {"id": 3}]"#, #"[{"id": 1}, {"id": 3}]"#, #"[{"id": 1, "name": "a"}, {"id": 3}]"#] {
            api.set("/people?page=1", first, etag: "\"\(BodyDigest(of: first))\"")
            #expect(try await fixture.sync("api/people").outcome == .succeeded)
            #expect(try await fixture.live() == ["2", "3"], "\(first)")
        }
        try await fixture.end()
    }

    // They travel in blocks while their page arrives: those around one that is gone, too, and one that comes after it was said to be gone.
    @Test func aLargeFirstPageLeavesOutWhatIsGone() async throws {
        let records = (1...3000).map { id in
            id % 500 == 0 ? "{\"id\": \(id - 1), \"deleted\": true}" : id % 700 == 0 ? "{\"id\": \(id + 1), \"deleted\": true}" : "{\"id\": \(id)}"
        }
        let expected = (1...3000).filter { $0 % 500 != 0 && $0 % 700 != 0 && ($0 + 1) % 500 != 0 }.map { "\($0)" }.sorted()
        let fixture = try await api.fixture(Self.people())
        try await list("[\(records.joined(separator: ","))]", fixture)
        #expect(try await fixture.live() == expected)
        try await list("[\(records.dropLast(1000).joined(separator: ","))]", fixture)
        #expect(try await fixture.live() == expected)
        try await fixture.end()
    }

    // Wherever both stand: what a record holds is no record of its own.
    @Test(arguments: [1, 1000]) func whatARecordHoldsTakesNoDeletionBack(batch: Int) async throws {
        let relationships = "[entity.Person.relationships]\nboss = { to = \"Person\", match = \"embedded\" }"
        let pages = "pages = { kind = \"page\", size_param = \"\" }"
        let held = #"{"id": 2, "boss": {"id": 1, "name": "Bea"}}"#, gone = #"{"id": 1, "deleted": true}"#
        for (first, second) in [
            ("[\(gone), \(held)]", "[]"), ("[\(held), \(gone)]", "[]"), ("[\(gone)]", "[\(held)]"), ("[\(held)]", "[\(gone)]"),
        ] {
            let api = ScriptedAPI(), fixture = try await api.fixture(Self.people("path = \"$.deleted\"", pages, attributes: relationships))
            fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: batch) }
            api.set("/people?page=3", "[]")
            func list(_ first: String, _ second: String) async throws -> [String] {
                api.set("/people?page=1", first)
                api.set("/people?page=2", second)
                #expect(try await fixture.sync("api/people").outcome == .succeeded)
                return try await fixture.live()
            }
            // On one page it need not have had a row.
            if second == "[]" { #expect(try await list(first, second) == ["2"], "\(first) \(second)") }
            #expect(try await list(#"[{"id": 1}, {"id": 2}]"#, "[]") == ["1", "2"], "\(first) \(second)")
            #expect(try await list(first, second) == ["2"], "\(first) \(second)")
            // Its own record brings it back.
            #expect(try await list("[\(gone), \(held), {\"id\": 1}]", "[]") == ["1", "2"], "\(first) \(second)")
            try await fixture.end()
        }
    }

    // MARK: Guards

    @Test func moreThanTheGuardAllowsAreHeldUntilTheyAreAccepted() async throws {
        let fixture = try await api.fixture(Self.people("path = \"$.deleted\", max_count = 2"))
        try await list(#"[{"id": 1}, {"id": 2}, {"id": 3}, {"id": 4}, {"id": 5}]"#, fixture)
        // All but one at once: how large a share they are does not matter.
        #expect(try await list(#"[{"id": 4, "deleted": true}, {"id": 5, "deleted": true}]"#, fixture).counts.deleted == 2)
        let held = try await list(#"[{"id": 1, "deleted": true}, {"id": 2, "deleted": true}, {"id": 3, "deleted": true}]"#, fixture)
        #expect(held.counts.deleted == 0 && held.outcome == .succeeded, "\(held)")
        #expect(try await fixture.live() == ["1", "2", "3"])
        #expect(fixture.events.contains { if case .deletesHeld(_, _, 3, _, "max_count = 2") = $0 { true } else { false } })
        #expect(await fixture.pipeline.status().resources.first?.heldDeletes == 3)
        // They wait, whatever the next page is about.
        #expect(try await list(#"[{"id": 6}]"#, fixture).counts.deleted == 0)
        #expect(await fixture.pipeline.status().resources.first?.heldDeletes == 3)
        // One of them comes back, and the others are few enough.
        #expect(try await list(#"[{"id": 2}]"#, fixture).counts.deleted == 2)
        #expect(try await fixture.live() == ["2", "6"])
        try await fixture.end()
    }

    @Test func heldDeletionsGoWhenTheyAreAccepted() async throws {
        let fixture = try await api.fixture(Self.people("path = \"$.deleted\", max_count = 1"))
        try await list(#"[{"id": 1}, {"id": 2}, {"id": 3}, {"id": 4}]"#, fixture)
        let bad = #"[{"id": 1, "deleted": true}, {"id": 2, "deleted": true}, {"id": 3, "deleted": true}, {"id": 4}]"#
        #expect(try await list(bad, fixture, etag: "\"1\"").counts.deleted == 0)
        // The page has not changed, and they are held all the same.
        #expect(try await fixture.sync("api/people").notModifiedPages == 1)
        #expect(await fixture.pipeline.status().resources.first?.heldDeletes == 3)
        // One of them comes back.
        try await list(#"[{"id": 1}, {"id": 2, "deleted": true}, {"id": 3, "deleted": true}, {"id": 4}]"#, fixture)
        #expect(await fixture.pipeline.status().resources.first?.heldDeletes == 2)
        let ended = fixture.reports.count
        try await fixture.pipeline.acceptDeletes("api/people")
        fixture.clock.advance(by: .seconds(3600))
        try await fixture.finished(ended + 1)
        #expect(try await fixture.live() == ["1", "4"])
        #expect(await fixture.pipeline.status().resources.first?.heldDeletes == 0)
        // What was accepted was that, and nothing later.
        try await list(#"[{"id": 1, "deleted": true}, {"id": 4, "deleted": true}]"#, fixture)
        #expect(try await fixture.live() == ["1", "4"])
        try await fixture.end()
    }

    @Test func whatTheModelDeniesStaysUntilItNeedNot() async throws {
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource("teams", of: "Team", "deletion = { detect = \"field\", path = \"$.deleted\" }"),
                ScriptedAPI.resource("people"), entities: ScriptedAPI.teams(onDelete: "deny")))
        api.set("/teams", #"[{"id": 1}, {"id": 2}]"#)
        api.set("/people", #"[{"id": 5, "team": 2}]"#)
        try await fixture.sync("api/teams")
        try await fixture.sync("api/people")
        api.set("/teams", #"[{"id": 1, "deleted": true}, {"id": 2, "deleted": true}]"#)
        try await fixture.sync("api/teams")
        #expect(try await fixture.live("Team") == ["2"])
        #expect(fixture.events.contains { if case .deletesHeld(_, _, 1, _, "on_delete = \"deny\" of Team.people") = $0 { true } else { false } })
        // Nobody needs it any more, and what it said counts still.
        api.set("/people", #"[{"id": 5}]"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.sync("api/teams").counts.deleted == 1)
        #expect(try await fixture.live("Team") == [])
        try await fixture.end()
    }

    @Test func whatARowOwnsGoesWithItAndIsPurgedWithIt() async throws {
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource("teams", of: "Team", "deletion = { detect = \"field\", path = \"$.deleted\", purge_after = \"2h\" }"),
                ScriptedAPI.resource("people"), entities: ScriptedAPI.teams(onDelete: "cascade")))
        api.set("/teams", #"[{"id": 1}, {"id": 2}]"#)
        api.set("/people", #"[{"id": 5, "team": 2}, {"id": 6, "team": 1}]"#, etag: "\"1\"")
        try await fixture.sync("api/teams")
        try await fixture.sync("api/people")
        api.set("/teams", #"[{"id": 1}, {"id": 2, "deleted": true}]"#, etag: "\"1\"")
        try await fixture.sync("api/teams")
        #expect(try await fixture.live("Team") == ["1"])
        #expect(try await fixture.live() == ["6"])
        for _ in 1...3 { try await fixture.sync("api/teams") }
        #expect(try await fixture.values("id", of: "Team") == ["1"])
        #expect(try await fixture.values("id", of: "Person") == ["6"])
        try await fixture.end()
    }
}
