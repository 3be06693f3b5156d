import NIOHTTP1
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// What becomes of what was remembered when the configuration says that a body means something else now.
@Suite struct MappingChangeTests {
    private let api = ScriptedAPI()

    private func reload(_ fixture: PipelineFixture, _ toml: String) async throws {
        let texts = ConfigurationTexts(["/cisternd.toml": toml])
        try await fixture.pipeline.reload(try ConfigurationReader(path: "/cisternd.toml", files: texts).configuration())
    }

    @Test(arguments: [
        ("records = \"$.a\"", "records = \"$.b\""),
        ("records = \"$.b\"\npages = { kind = \"cursor\", path = \"$.next\" }", "records = \"$.b\""),
        ("records = \"$.b\"", "records = \"$.b\"\nlimits = { max_string = \"1KiB\" }"),
        ("records = \"$.b\"", "records = \"$.b\"\nheaders = { Accept-Language = \"de\" }"),
    ])
    func whatDecidesWhatABodyBecomesMakesItReadAgain(before: String, after: String) async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(before, deletion: "confirm_runs = 2"))
        api.set("/people", #"{"a": [{"id": 1}], "b": [{"id": 2}]}"#, etag: "\"1\"")
        try await fixture.sync()
        #expect(try await fixture.sync().first?.notModifiedPages == 1)
        try await reload(fixture, ScriptedAPI.people(after, deletion: "confirm_runs = 2"))
        #expect(try await fixture.sync().first?.notModifiedPages == 0)
        #expect(try await fixture.live().contains("2"))
        #expect(try await fixture.sync().first?.notModifiedPages == 1)
        try await fixture.end()
    }

    // Its bytes are the same, and mean something else.
    @Test func aRecordIsReadAgainUnderAnotherMapping() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people())
        api.set("/people", #"[{"id": 1, "name": "a", "title": "b"}]"#)
        try await fixture.sync()
        try await reload(
            fixture, ScriptedAPI.people().replacing("name = { type = \"string\"", with: "name = { path = \"$.title\", type = \"string\""))
        try await fixture.sync()
        #expect(try await fixture.values("name", of: "Person") == ["b"])
        try await fixture.end()
    }

    @Test func membershipIsBoundToItsEntity() async throws {
        func configuration(_ entity: String) -> String {
            ScriptedAPI.people().replacing("entity = \"Person\"", with: "entity = \"\(entity)\"")
                + """

                [entity.Robot]
                key = ["id"]
                [entity.Robot.attributes]
                id = { type = "int64", optional = false }
                """
        }
        let fixture = try await api.fixture(configuration("Person"))
        api.set("/people", #"[{"id": 1}, {"id": 2}]"#)
        try await fixture.sync()
        try await reload(fixture, configuration("Robot"))
        // Robots have the primary keys that the persons had.
        api.set("/people", #"[{"id": 7}, {"id": 8}, {"id": 9}]"#)
        try await fixture.sync()
        try await reload(fixture, configuration("Person"))
        api.set("/people", #"[{"id": 3}]"#)
        try await fixture.sync()
        #expect(try await fixture.live("Person") == ["1", "2", "3"])
        #expect(try await fixture.live("Robot") == ["7", "8", "9"])
        try await fixture.end()
    }

    @Test func aFullSyncAsksWithoutConditions() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people())
        api.set("/people", #"[{"id": 1}]"#, etag: "\"1\"")
        try await fixture.sync()
        let report = try await fixture.sync("api/people", full: true)
        #expect(report.outcome == .succeeded && report.notModifiedPages == 0 && report.counts.unchanged == 1)
        #expect(fixture.transport.requests.last?.headers.first(name: "If-None-Match") == nil)
        // The next one is conditional again.
        #expect(try await fixture.sync("api/people").notModifiedPages == 1)
        try await fixture.end()
    }
}
