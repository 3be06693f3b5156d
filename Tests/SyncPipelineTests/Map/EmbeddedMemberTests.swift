import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Objects inside of records that cannot be told by a key, and keys that go by their usual name.
@Suite struct EmbeddedMemberTests {
    private let api = ScriptedAPI()

    private static let configuration =
        ScriptedAPI.people() + """

            [entity.Person.relationships]
            boss = { to = "Person", match = "embedded" }
            tags = { to = "Tag", many = true, match = "embedded" }
            [entity.Tag]
            key = ["name"]
            [entity.Tag.attributes]
            name = { type = "string", optional = false }
            weight = { type = "int32" }
            """

    @Test func aMemberWithoutAKeyIsReportedAndItsOwnerKept() async throws {
        let fixture = try await api.fixture(Self.configuration)
        api.set("/people", #"[{"id": 1, "name": "Ada", "tags": [{"name": "a"}, {"weight": 2}]}]"#)
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .succeeded && report.counts.inserted == 1 && report.counts.quarantined == 1, "\(report.error ?? "")")
        #expect(try await fixture.values("name", of: "Person", where: "ANY tags.name == 'a'") == ["Ada"])
        let entry = try #require(try await fixture.pipeline.quarantine().first)
        #expect(entry.raw == #"{"weight": 2}"# && entry.reason.contains("Tag has no name"), "\(entry)")
        try await fixture.end()
    }

    @Test func aMemberThatCannotBeToldTakesNobodyOutOfItsList() async throws {
        let fixture = try await api.fixture(Self.configuration)
        api.set("/people", #"[{"id": 1, "name": "Ada", "tags": [{"name": "a"}, {"name": "b"}]}]"#)
        try await fixture.sync()
        api.set("/people", #"[{"id": 1, "name": "Ada", "tags": [{"name": "c"}, {"nom": "b"}]}]"#)
        try await fixture.sync()
        for tag in ["a", "b", "c"] {
            #expect(try await fixture.values("name", of: "Person", where: "ANY tags.name == '\(tag)'") == ["Ada"], "\(tag)")
        }
        try await fixture.end()
    }

    @Test func aMemberWithAKeyAndABadValueStaysAMember() async throws {
        let fixture = try await api.fixture(Self.configuration)
        api.set("/people", #"[{"id": 1, "name": "Ada", "tags": [{"name": "a", "weight": "x"}], "boss": {"name": "Bo"}}]"#)
        let report = try #require(try await fixture.sync().first)
        #expect(report.counts.inserted == 1 && report.counts.quarantined == 2)
        #expect(try await fixture.values("name", of: "Person", where: "ANY tags.name == 'a'") == ["Ada"])
        try await fixture.end()
    }

    @Test func aToOneThatCannotBeToldStaysWhatItWas() async throws {
        let fixture = try await api.fixture(Self.configuration)
        api.set("/people", #"[{"id": 1, "name": "Ada", "boss": {"id": 2, "name": "Bo"}}]"#)
        try await fixture.sync()
        api.set("/people", #"[{"id": 1, "name": "Ada L.", "boss": {"name": "Bo"}}]"#)
        try await fixture.sync()
        #expect(try await fixture.values("name", of: "Person", where: "boss.name == 'Bo'") == ["Ada L."])
        try await fixture.end()
    }

    @Test func theKeyRemoteIDAnswersToTheJSONKeyID() async throws {
        let fixture = try await api.fixture(
            ScriptedAPI.people().replacing("key = [\"id\"]\n", with: "").replacing("id = { type", with: "remoteID = { type"))
        api.set("/people", #"[{"id": 1}, {"remoteID": 2}, {"remote_id": 3}]"#)
        try await fixture.sync()
        #expect(try await fixture.values("remoteID", of: "Person") == ["1", "2", "3"])
        try await fixture.end()
    }
}
