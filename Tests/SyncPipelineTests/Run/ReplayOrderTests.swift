import Foundation
import OpenCoreData
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// What is older never stays over what is newer after a replay, and what was removed does not come back.
@Suite struct ReplayOrderTests {
    private let api = ScriptedAPI()
    private static let kept = "schema = { raw = \"last\" }"
    private static let paged = "pages = { kind = \"page\", size_param = \"\" }"

    private func replay(_ fixture: PipelineFixture) async throws -> RunReport {
        try #require(try await fixture.pipeline.replay("api/people", wait: true).first)
    }

    private func reload(_ fixture: PipelineFixture, _ toml: String) async throws {
        try await fixture.pipeline.reload(try PipelineFixture.configuration(toml))
    }

    /// The file of the body of a page of a run.
    private func file(_ fixture: PipelineFixture, run: Int, page: Int) throws -> String {
        let folder = fixture.folder.appendingPathComponent(BodyArchive.folderName).path
        let all = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        let name = try #require(all.first { $0.contains("/\(run)-\(page)-") })
        return "\(folder)/\(name)"
    }

    private func damage(_ path: String) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[bytes.count - 15] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    // The boss is in no record of his own: only the pages that embed him say what he is called.
    @Test func whatAReplayDoesNotComeToIsReadByTheNextPoll() async throws {
        let toml = ScriptedAPI.people(
            Self.paged + "\n" + Self.kept, attributes: "[entity.Person.relationships]\nboss = { to = \"Person\", match = \"embedded\" }")
        let fixture = try await api.fixture(toml)
        api.set("/people?page=1", #"[{"id": 1, "boss": {"id": 9, "name": "old"}}]"#, etag: "\"1\"")
        api.set("/people?page=2", #"[{"id": 2}]"#, etag: "\"2\"")
        api.set("/people?page=3", "[]", etag: "\"3\"")
        try await fixture.sync("api/people")
        api.set("/people?page=2", #"[{"id": 2, "boss": {"id": 9, "name": "new"}}]"#, etag: "\"4\"")
        #expect(try await fixture.sync("api/people").notModifiedPages == 2)
        try damage(file(fixture, run: 2, page: 2))
        #expect(try await replay(fixture).outcome == .incomplete)
        #expect(try await fixture.sync("api/people").notModifiedPages == 2)
        #expect(try await fixture.values("name", of: "Person", where: "id == 9") == ["new"])
        try await fixture.end()
    }

    @Test func theBodiesOfAllPartsAreMappedInTheOrderInWhichTheyCame() async throws {
        let toml = ScriptedAPI.configuration(
            """
            [[source.resource]]
            name = "people"
            entity = "Person"
            path = "/{region}/people"
            for_each = { values = ["eu", "us"], as = "region" }
            schema = { raw = "last" }

            """)
        let fixture = try await api.fixture(toml)
        api.set("/eu/people", #"[{"id": 1, "name": "first"}]"#, etag: "\"1\"")
        api.set("/us/people", #"[{"id": 1, "name": "second"}]"#, etag: "\"2\"")
        try await fixture.sync("api/people")
        api.set("/eu/people", #"[{"id": 1, "name": "third"}]"#, etag: "\"3\"")
        try await fixture.sync("api/people")
        #expect(try await fixture.values("name", of: "Person") == ["third"])
        #expect(try await replay(fixture).pages == 2)
        #expect(try await fixture.values("name", of: "Person") == ["third"])
        try await fixture.end()
    }

    // Until that one is polled, as the manual says: its answer that nothing has changed would not mend it.
    @Test func aResourceThatWritesTheSameRowsIsReadByItsNextPoll() async throws {
        let toml = ScriptedAPI.configuration(
            ScriptedAPI.resource("people", of: "Person", Self.kept), ScriptedAPI.resource("staff", of: "Person"),
            ScriptedAPI.resource("teams", of: "Team"),
            entities: ScriptedAPI.entities() + "\n[entity.Team]\nkey = [\"id\"]\n"
                + "[entity.Team.attributes]\nid = { type = \"int64\", optional = false }\n")
        let fixture = try await api.fixture(toml)
        api.set("/people", #"[{"id": 1, "name": "old"}]"#, etag: "\"1\"")
        api.set("/staff", #"[{"id": 1, "name": "new"}]"#, etag: "\"2\"")
        api.set("/teams", #"[{"id": 1}]"#, etag: "\"3\"")
        for scope in ["api/people", "api/staff", "api/teams"] { try await fixture.sync(scope) }
        #expect(try await replay(fixture).outcome == .succeeded)
        #expect(try await fixture.sync("api/staff").notModifiedPages == 0)
        #expect(try await fixture.values("name", of: "Person") == ["new"])
        // Nobody else is asked for more than what has changed.
        #expect(try await fixture.sync("api/teams").notModifiedPages == 1)
        try await fixture.end()
    }

    @Test func whatTheMendedConfigurationDoesNotWantGoesWithTheNextPoll() async throws {
        let toml = ScriptedAPI.people(Self.kept), fixture = try await api.fixture(toml)
        api.set("/people", #"[{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]"#, etag: "\"1\"")
        try await fixture.sync("api/people")
        try await reload(fixture, ScriptedAPI.people(Self.kept + "\nfilter = [{ path = \"$.name\", equals = \"a\" }]"))
        #expect(try await replay(fixture).outcome == .succeeded)
        // A replay itself removes nothing.
        #expect(try await fixture.live() == ["1", "2"])
        let next = try await fixture.sync("api/people")
        #expect(next.notModifiedPages == 1 && next.counts.deleted == 1, "\(next)")
        #expect(try await fixture.live() == ["1"])
        try await fixture.end()
    }

    @Test func whatSomebodyHadForgottenStaysForgotten() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(Self.kept))
        api.set("/people", #"[{"id": 1, "name": "a"}]"#, etag: "\"1\"")
        try await fixture.sync("api/people")
        try await fixture.pipeline.reset("api/people", [.validators])
        #expect(try await replay(fixture).outcome == .succeeded)
        #expect(try await fixture.sync("api/people").notModifiedPages == 0)
        // Read since, it is known again, and stays so.
        #expect(try await replay(fixture).outcome == .succeeded)
        #expect(try await fixture.sync("api/people").notModifiedPages == 1)
        try await fixture.end()
    }

    // A page that could not be mapped, and that the next complete listing did without.
    @Test func whatACompleteListingDidWithoutDoesNotComeBack() async throws {
        let toml = ScriptedAPI.people("records = \"$.a\"\nschema = { raw = \"all\" }\n" + Self.paged), fixture = try await api.fixture(toml)
        api.set("/people?page=1", #"{"a": [{"id": 1}], "b": []}"#)
        api.set("/people?page=2", #"{"a": [{"id": 2}], "b": []}"#)
        api.set("/people?page=3", #"{"b": [{"id": 9}]}"#)
        #expect(try await fixture.sync("api/people").outcome == .failed)
        let path = try file(fixture, run: 1, page: 3), body = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(path.hasSuffix(".new"))
        api.set("/people?page=1", #"{"a": [{"id": 1, "name": "x"}], "b": []}"#)
        api.set("/people?page=2", #"{"a": [], "b": []}"#)
        #expect(try await fixture.sync("api/people").isComplete)
        #expect(!FileManager.default.fileExists(atPath: path))
        await fixture.pipeline.stop(grace: .zero)
        try await fixture.document.close()
        // As if the process had been killed before it went.
        try body.write(to: URL(fileURLWithPath: path))
        let next = try await PipelineFixture(toml.replacing("$.a\"", with: "$.b\""), folder: fixture.folder) { _, _ in .response(status: 500) }
        _ = try await replay(next)
        #expect(try await next.live() == ["1"])
        try await next.end()
    }
}
