import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Texts that become something else before they are read, and values that are too long.
@Suite struct TransformTests {
    private static let entities = """
        [entity.Team]
        key = ["id"]
        [entity.Team.attributes]
        id = { type = "string", optional = false, transform = ["trim", "lower"] }
        name = { type = "string" }
        [entity.Team.relationships]
        people = { to = "Person", many = true, inverse = "team" }
        [entity.Person]
        key = ["id"]
        [entity.Person.attributes]
        id = { type = "int64", optional = false }
        name = { type = "string", transform = ["trim", "empty-to-null", "truncate:3"] }
        age = { type = "int32", transform = ["trim", "empty-to-null"] }
        note = { type = "string", max = "4B" }
        page = { type = "uri", max = "20B" }
        born = { type = "date", transform = "trim" }
        [entity.Person.relationships]
        team = { to = "Team", match = "key", inverse = "people" }
        """

    private func fixture(_ api: ScriptedAPI, _ resources: String...) async throws -> PipelineFixture {
        try await api.fixture(ScriptedAPI.configuration(resources.joined(), entities: Self.entities))
    }

    @Test func textsAreTransformedBeforeTheyAreRead() async throws {
        let api = ScriptedAPI(), fixture = try await fixture(api, ScriptedAPI.resource("people"))
        api.set(
            "/people",
            #"[{"id": 1, "name": "  Grace ", "age": " 42 ", "born": " 1906-12-09 "}, {"id": 2, "name": "  ", "age": ""}, {"id": 3, "name": 12345, "age": 7}]"#
        )
        let report = try await fixture.sync("api/people")
        #expect(report.counts.inserted == 3 && report.counts.quarantined == 0)
        #expect(try await fixture.values("name", of: "Person") == ["12345", "Gra", "nil"])
        #expect(try await fixture.values("age", of: "Person") == ["42", "7", "nil"])
        #expect(try await fixture.values("born", of: "Person").filter { $0.hasPrefix("1906-12-09") }.count == 1)
        try await fixture.end()
    }

    @Test func whoNamesAnObjectByItsKeyMeansTheTransformedOne() async throws {
        let api = ScriptedAPI()
        let fixture = try await fixture(api, ScriptedAPI.resource("people"), ScriptedAPI.resource("teams", of: "Team"))
        api.set("/people", #"[{"id": 1, "team": "RED "}, {"id": 2, "team": "red"}, {"id": 3, "team": " Red"}]"#)
        api.set("/teams", #"[{"id": "Red", "name": "the red"}]"#)
        try await fixture.sync()
        #expect(try await fixture.values("id", of: "Team") == ["red"])
        #expect(try await fixture.values("name", of: "Team") == ["the red"])
        #expect(try await fixture.values("id", of: "Person", where: "team.id == 'red'") == ["1", "2", "3"])
        try await fixture.end()
    }

    @Test func aValueThatIsTooLongSetsItsRecordAside() async throws {
        let api = ScriptedAPI(), fixture = try await fixture(api, ScriptedAPI.resource("people"))
        api.set(
            "/people",
            #"[{"id": 1, "note": "abcd"}, {"id": 2, "note": "abcde"}, {"id": 3, "note": "üüü"}, {"id": 4, "page": "https://a.example/bcdefgh"}, {"id": 5}]"#
        )
        let report = try await fixture.sync("api/people")
        #expect(report.counts.inserted == 2 && report.counts.quarantined == 3)
        #expect(try await fixture.live() == ["1", "5"])
        let reasons = fixture.events.compactMap { if case .quarantined(_, _, _, _, let first) = $0 { first } else { nil } }
        #expect(reasons.first?.contains("note: \"abcde\" has 5 bytes, more than max = \"4B\"") == true, "\(reasons)")
        try await fixture.end()
    }
}
