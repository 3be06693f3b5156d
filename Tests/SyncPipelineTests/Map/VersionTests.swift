import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Records that are older than their rows (`version_field`).
@Suite struct VersionTests {
    private let api = ScriptedAPI()

    private static func entities(type: String = "int64") -> String {
        """
        [entity.Person]
        key = ["id"]
        version_field = "rev"
        [entity.Person.attributes]
        id = { type = "int64", optional = false }
        name = { type = "string" }
        rev = { type = "\(type)" }
        [entity.Person.relationships]
        team = { to = "Team", match = "auto", inverse = "people" }
        tags = { to = "Tag", many = true, match = "keys" }
        [entity.Team]
        key = ["id"]
        version_field = "rev"
        [entity.Team.attributes]
        id = { type = "int64", optional = false }
        name = { type = "string" }
        rev = { type = "int64" }
        [entity.Team.relationships]
        people = { to = "Person", many = true, match = "keys", inverse = "team" }
        [entity.Tag]
        key = ["id"]
        [entity.Tag.attributes]
        id = { type = "string", optional = false }
        """
    }

    private func fixture(_ resources: String..., type: String = "int64") async throws -> PipelineFixture {
        try await api.fixture(
            ScriptedAPI.configuration(
                resources.joined(), defaults: "[defaults.retry]\nattempts = 1", entities: Self.entities(type: type)))
    }

    private static let people = ScriptedAPI.resource(
        "people", of: "Person", #"deletion = { detect = "snapshot", confirm_runs = 1, max_fraction = 1.0 }"#)

    @discardableResult
    private func list(_ body: String, _ fixture: PipelineFixture, etag: String? = nil) async throws -> RunReport {
        api.set("/people", body, etag: etag)
        return try await fixture.sync("api/people")
    }

    @Test func anOlderRecordChangesNothingAndItsRowStays() async throws {
        let fixture = try await fixture(Self.people)
        try await list(#"[{"id": 1, "name": "Ada", "rev": 2, "tags": ["a"]}, {"id": 2, "name": "Bo", "rev": 1}]"#, fixture)
        let report = try await list(
            #"[{"id": 1, "name": "Old", "rev": 1, "team": 7, "tags": ["b", "c"]}, {"id": 2, "name": "Bob", "rev": 2}]"#, fixture)
        #expect(report.counts.updated == 1 && report.counts.unchanged == 1 && report.counts.deleted == 0 && report.isComplete, "\(report)")
        #expect(try await fixture.values("name", of: "Person", where: "cisternDeletedAt == nil") == ["Ada", "Bob"])
        #expect(try await fixture.values("rev", of: "Person") == ["2", "2"])
        #expect(try await fixture.values("id", of: "Person", where: "ANY tags.id == 'a'") == ["1"])
        // Nothing is made of what it names.
        #expect(try await fixture.values("id", of: "Tag") == ["a"])
        #expect(try await fixture.values("id", of: "Team") == [])
        try await fixture.end()
    }

    @Test func theRecordOfTheRowIsRecognisedAfterAnOlderOneCame() async throws {
        let fixture = try await fixture(Self.people)
        let newer = #"[{"id": 1, "name": "Ada", "rev": 2}]"#, older = #"[{"id": 1, "name": "Old", "rev": 1}]"#
        try await list(newer, fixture)
        for round in 1...3 {
            let late = try await list(older, fixture), again = try await list(newer, fixture)
            #expect(late.counts.unchanged == 1 && again.counts.unchanged == 1, "\(round): \(late), \(again)")
            #expect(try await fixture.values("name", of: "Person") == ["Ada"], "\(round)")
        }
        #expect(try await list(#"[{"id": 1, "name": "Ada L.", "rev": 3}]"#, fixture).counts.updated == 1)
        try await fixture.end()
    }

    @Test func equalVersionsAndRecordsWithoutOneAreWritten() async throws {
        let fixture = try await fixture(Self.people)
        try await list(#"[{"id": 1, "name": "a", "rev": 2}]"#, fixture)
        try await list(#"[{"id": 1, "name": "b", "rev": 2}]"#, fixture)
        #expect(try await fixture.values("name", of: "Person") == ["b"])
        try await list(#"[{"id": 1, "name": "c", "rev": null}]"#, fixture)
        #expect(try await fixture.values("name", of: "Person") == ["c"])
        // Its row has none now.
        try await list(#"[{"id": 1, "name": "d", "rev": 1}]"#, fixture)
        #expect(try await fixture.values("name", of: "Person") == ["d"])
        try await fixture.end()
    }

    // The row is no longer what the record of that version was.
    @Test func aRecordWithoutAVersionKeepsNoneOfAnother() async throws {
        let people = ScriptedAPI.resource("people", of: "Person", #"schema = { missing_field = "keep" }"#), fixture = try await fixture(people)
        try await list(#"[{"id": 1, "name": "a", "rev": 5}]"#, fixture)
        try await list(#"[{"id": 1, "name": "b"}]"#, fixture)
        #expect(try await fixture.values("rev", of: "Person") == ["nil"])
        try await list(#"[{"id": 1, "rev": 4}]"#, fixture)
        #expect(try await fixture.values("rev", of: "Person") == ["4"])
        #expect(try await fixture.values("name", of: "Person") == ["b"])
        try await fixture.end()
    }

    @Test(arguments: [
        ("date", "\"2026-01-02T00:00:00Z\"", "\"2026-01-01T23:59:59.5Z\""), ("decimal", "10.01", "9.99"), ("string", "\"b\"", "\"a~\""),
        ("int16", "0", "-1"), ("string", "\"10\"", "\"1\""),
    ])
    func versionsOfEveryTypeHaveAnOrder(type: String, newer: String, older: String) async throws {
        let fixture = try await fixture(Self.people, type: type)
        func record(_ version: String, _ name: String) -> String { #"[{"id": 1, "name": "\#(name)", "rev": \#(version)}]"# }
        try await list(record(newer, "new"), fixture)
        try await list(record(older, "old"), fixture)
        #expect(try await fixture.values("name", of: "Person") == ["new"])
        try await fixture.end()
    }

    @Test(arguments: [1, 1000]) func ofTwoRecordsOfOnePageTheNewerCounts(batchSize: Int) async throws {
        let fixture = try await fixture(Self.people)
        fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: batchSize) }
        for (round, order) in [[3, 2], [4, 5], [7, 6, 7]].enumerated() {
            let records = order.map { #"{"id": 1, "name": "v\#($0)", "rev": \#($0), "tags": ["t\#($0)"]}"# }.joined(separator: ", ")
            let newest = order.max() ?? 0
            for _ in 1...2 {
                #expect(try await list("[\(records)]", fixture).counts.deleted == 0)
                #expect(try await fixture.values("name", of: "Person", where: "cisternDeletedAt == nil") == ["v\(newest)"], "\(round)")
                #expect(try await fixture.values("id", of: "Person", where: "ANY tags.id == 't\(newest)'") == ["1"], "\(round)")
            }
        }
        try await fixture.end()
    }

    @Test func anObjectInsideARecordIsComparedAsWell() async throws {
        let fixture = try await fixture(Self.people)
        try await list(#"[{"id": 1, "rev": 1, "team": {"id": 5, "name": "new", "rev": 9}}]"#, fixture)
        try await list(#"[{"id": 1, "rev": 2, "team": {"id": 5, "name": "old", "rev": 8}}]"#, fixture)
        #expect(try await fixture.values("name", of: "Team") == ["new"])
        // What an older record holds is as old as it is.
        try await list(#"[{"id": 1, "rev": 1, "team": {"id": 5, "name": "other"}}]"#, fixture)
        #expect(try await fixture.values("name", of: "Team") == ["new"])
        try await list(#"[{"id": 1, "rev": 3, "team": {"id": 5, "name": "newest", "rev": 10}}]"#, fixture)
        #expect(try await fixture.values("name", of: "Team") == ["newest"])
        try await fixture.end()
    }

    // The short form in another record is newer, and its row had no record of its own, or has none any more.
    @Test(arguments: [true, false]) func aPageOfOlderRecordsIsNotReadEachTime(isFirst: Bool) async throws {
        let fixture = try await fixture(Self.people, ScriptedAPI.resource("teams", of: "Team"))
        api.set("/teams", #"[{"id": 5, "name": "five", "rev": 8}]"#, etag: "\"1\"")
        if isFirst { try await fixture.sync("api/teams") }
        try await list(#"[{"id": 1, "rev": 1, "team": {"id": 5, "rev": 9}}]"#, fixture)
        #expect(try await fixture.sync("api/teams").notModifiedPages == 0)
        for _ in 1...2 { #expect(try await fixture.sync("api/teams").notModifiedPages == 1) }
        #expect(try await fixture.values("rev", of: "Team") == ["9"])
        // One that is as new counts.
        api.set("/teams", #"[{"id": 5, "name": "5", "rev": 9}]"#, etag: "\"2\"")
        try await fixture.sync("api/teams")
        #expect(try await fixture.values("name", of: "Team") == ["5"])
        #expect(try await fixture.sync("api/teams").notModifiedPages == 1)
        try await fixture.end()
    }

    @Test func aListSaysWhoseMemberAnOlderRecordIs() async throws {
        let fixture = try await fixture(Self.people, ScriptedAPI.resource("teams", of: "Team"))
        try await list(#"[{"id": 1, "name": "Ada", "rev": 2, "team": 5}]"#, fixture)
        api.set("/teams", #"[{"id": 6, "rev": 1, "people": [1]}]"#)
        try await fixture.sync("api/teams")
        #expect(try await fixture.values("id", of: "Person", where: "team.id == 6") == ["1"])
        // An older list says nothing.
        api.set("/teams", #"[{"id": 6, "rev": 0, "people": []}]"#)
        try await fixture.sync("api/teams")
        #expect(try await fixture.values("id", of: "Person", where: "team.id == 6") == ["1"])
        try await fixture.end()
    }

    @Test func anOlderRecordProvesThatItsObjectIsThere() async throws {
        let fixture = try await fixture(Self.people)
        try await list(#"[{"id": 1, "name": "Ada", "rev": 2}, {"id": 2, "rev": 1}]"#, fixture)
        try await list(#"[{"id": 2, "rev": 1}]"#, fixture)
        #expect(try await fixture.live() == ["2"])
        try await list(#"[{"id": 1, "name": "Old", "rev": 1}, {"id": 2, "rev": 1}]"#, fixture)
        #expect(try await fixture.live() == ["1", "2"])
        #expect(try await fixture.values("name", of: "Person", where: "id == 1") == ["Ada"])
        try await fixture.end()
    }

    @Test func anOlderRecordThatSaysItsObjectIsGoneIsNotBelieved() async throws {
        let fixture = try await fixture(
            ScriptedAPI.resource("people", of: "Person", #"deletion = { detect = "field", path = "$.deleted" }"#))
        try await list(#"[{"id": 1, "rev": 2}, {"id": 2, "rev": 2}, {"id": 3, "rev": 2}]"#, fixture)
        let report = try await list(
            #"[{"id": 1, "rev": 1, "deleted": true}, {"id": 2, "rev": 3, "deleted": true}, {"id": 3, "deleted": true}]"#, fixture)
        #expect(report.counts.deleted == 2, "\(report)")
        #expect(try await fixture.live() == ["1"])
        try await fixture.end()
    }

    @Test func twoResourcesThatMakeOneRowAtTheSameTimeLeaveTheNewerRecord() async throws {
        for round in 1...20 {
            let api = ScriptedAPI()
            let fixture = try await api.fixture(
                ScriptedAPI.configuration(
                    ScriptedAPI.resource("old"), ScriptedAPI.resource("new"), defaults: "[defaults.retry]\nattempts = 1", entities: Self.entities()))
            func records(_ version: Int) -> String {
                "[" + (1...50).map { #"{"id": \#($0), "name": "v\#(version)", "rev": \#(version)}"# }.joined(separator: ", ") + "]"
            }
            api.set("/old", records(1))
            api.set("/new", records(2))
            let reports = try await fixture.sync()
            #expect(reports.allSatisfy { $0.outcome == .succeeded }, "\(reports)")
            #expect(Set(try await fixture.values("name", of: "Person")) == ["v2"], "\(round)")
            try await fixture.end()
        }
    }
}
