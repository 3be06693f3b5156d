import NIOHTTP1
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// What records make of rows that are there already.
@Suite struct RecordMapperTests {
    private static let configuration = ScriptedAPI.configuration(
        ScriptedAPI.resource("people"),
        entities: ScriptedAPI.entities(
            """
            [entity.Person.relationships]
            boss = { to = "Person", match = "embedded" }
            tags = { to = "Tag", many = true }
            [entity.Tag]
            key = ["name"]
            [entity.Tag.attributes]
            name = { type = "string", optional = false }
            """))

    private static func fixture(_ bodies: String...) async throws -> PipelineFixture {
        try await PipelineFixture(configuration) { _, index in
            .response(status: 200, headers: ["Content-Type": "application/json"], body: Array(bodies[min(index, bodies.count - 1)].utf8))
        }
    }

    @Test func aRecordThatIsWhatItWasAgainTakesItsListBack() async throws {
        let long = #"[{"id": 1, "tags": ["a", "b"]}]"#
        let fixture = try await Self.fixture(long, #"[{"id": 1, "tags": ["a"]}]"#, long)
        try await fixture.sync()
        #expect(try await fixture.sync().map(\.counts.updated) == [1])
        #expect(try await fixture.values("id", of: "Person", where: "ANY tags.name == 'b'") == [])
        try await fixture.sync()
        #expect(try await fixture.values("id", of: "Person", where: "ANY tags.name == 'b'") == ["1"])
        try await fixture.end()
    }

    @Test func anObjectThatWasEmbeddedFirstIsCompleteWithItsOwnRecord() async throws {
        let fixture = try await Self.fixture(
            #"[{"id": 1, "boss": {"id": 2, "name": "Bo"}}]"#, #"[{"id": 1, "boss": {"id": 2, "name": "Bo"}}, {"id": 2, "name": "Bo"}]"#)
        try await fixture.sync()
        #expect(try await fixture.values("id", of: "Person", where: "cisternHash == nil") == ["2"])
        try await fixture.sync()
        #expect(try await fixture.values("id", of: "Person", where: "cisternHash == nil") == [])
        #expect(try await fixture.values("id", of: "Person", where: "cisternStub == YES") == [])
        try await fixture.end()
    }
}
