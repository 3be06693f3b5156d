import Foundation
import NIOHTTP1
import OpenCoreData
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Archived bodies that are mapped once more: what comes of it, and what stays as it was.
@Suite struct ReplayTests {
    private let api = ScriptedAPI()
    private static let paged = "pages = { kind = \"page\", size_param = \"\" }\nschema = { raw = \"last\" }"
    private static let kept = "schema = { raw = \"last\" }"

    private func reload(_ fixture: PipelineFixture, _ toml: String) async throws {
        try await fixture.pipeline.reload(try PipelineFixture.configuration(toml))
    }

    private func replay(_ fixture: PipelineFixture, _ scope: String? = "api/people") async throws -> RunReport {
        try #require(try await fixture.pipeline.replay(scope, wait: true).first)
    }

    /// The files of the archive.
    private func files(_ fixture: PipelineFixture) -> [String] {
        let folder = fixture.folder.appendingPathComponent(BodyArchive.folderName).path
        let all = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return all.filter { $0.hasSuffix(".body") || $0.hasSuffix(".new") }.sorted().map { "\(folder)/\($0)" }
    }

    /// The same with names that come from another field.
    private func mended(_ toml: String) -> String {
        toml.replacing("name = { type = \"string\"", with: "name = { path = \"$.title\", type = \"string\"")
    }

    private func setPages() {
        api.set("/people?page=1", #"[{"id": 1, "title": "a"}, {"id": 2, "title": "b"}]"#, etag: "\"1\"")
        api.set("/people?page=2", #"[{"id": 3, "title": "c"}]"#, etag: "\"2\"")
        api.set("/people?page=3", "[]", etag: "\"3\"")
    }

    // What the archive is for: nobody is asked, and the next poll asks as if everything had been fetched under the new rules.
    @Test func aMappingIsMendedWithoutAskingTheServer() async throws {
        let toml = ScriptedAPI.people(Self.paged), fixture = try await api.fixture(toml)
        setPages()
        #expect(try await fixture.sync("api/people").isComplete)
        #expect(try await fixture.values("name", of: "Person") == ["nil", "nil", "nil"])
        try await reload(fixture, mended(toml))
        let asked = fixture.transport.requests.count, report = try await replay(fixture)
        #expect(report.outcome == .succeeded && report.cause == .replay && report.pages == 3 && report.counts.updated == 3, "\(report)")
        #expect(report.counts.deleted == 0 && !report.isComplete)
        #expect(try await fixture.values("name", of: "Person") == ["a", "b", "c"])
        #expect(fixture.transport.requests.count == asked)
        let next = try await fixture.sync("api/people")
        #expect(next.isComplete && next.notModifiedPages == 3 && next.counts.deleted == 0, "\(next)")
        #expect(try await fixture.values("name", of: "Person") == ["a", "b", "c"])
        try await fixture.end()
    }

    // Without the archive the same change has every page asked for without conditions.
    @Test func aReplayUnderTheSameMappingChangesNothing() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(Self.paged))
        setPages()
        try await fixture.sync("api/people")
        let before = await fixture.pipeline.status().resources.first
        let report = try await replay(fixture)
        #expect(report.outcome == .succeeded && report.counts.changes == 0 && report.counts.unchanged == 3, "\(report)")
        let after = await fixture.pipeline.status().resources.first
        #expect(after?.nextPollAt == before?.nextPollAt && after?.lastSuccess == before?.lastSuccess && after?.completeAt == before?.completeAt)
        #expect(after?.lastReport == before?.lastReport)
        #expect(try await fixture.sync("api/people").notModifiedPages == 3)
        try await fixture.end()
    }

    @Test func aPageThatHasNotChangedKeepsItsBody() async throws {
        let toml = ScriptedAPI.people(Self.paged), fixture = try await api.fixture(toml)
        setPages()
        try await fixture.sync("api/people")
        api.set("/people?page=2", #"[{"id": 3, "title": "d"}]"#, etag: "\"4\"")
        #expect(try await fixture.sync("api/people").notModifiedPages == 2)
        #expect(files(fixture).count == 3)
        try await reload(fixture, mended(toml))
        #expect(try await replay(fixture).outcome == .succeeded)
        #expect(try await fixture.values("name", of: "Person") == ["a", "b", "d"])
        try await fixture.end()
    }

    @Test func theListingsPagesAreTheArchives() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(Self.paged))
        setPages()
        try await fixture.sync("api/people")
        api.set("/people?page=1", #"[{"id": 1, "name": "a"}, {"id": 2}]"#, etag: "\"4\"")
        api.set("/people?page=2", "[]", etag: "\"5\"")
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1", "2"])
        #expect(files(fixture).count == 2)
        #expect(try await replay(fixture).outcome == .succeeded)
        // What was removed does not come back.
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    // MARK: What is not there

    @Test func aPageThatIsNotInTheArchiveIsNamedAndNothingIsDeleted() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(Self.paged))
        setPages()
        try await fixture.sync("api/people")
        try FileManager.default.removeItem(atPath: try #require(files(fixture).first { $0.contains("/1-2-") }))
        let report = try await replay(fixture)
        #expect(report.outcome == .incomplete && report.pages == 2, "\(report)")
        #expect(
            report.error?.hasPrefix(
                "1 of 3 pages are not in the archive as they were read last, the oldest GET https://api.example/people?page=2 of run 1, read at ")
                == true, "\(report.error ?? "")")
        #expect(try await fixture.live() == ["1", "2", "3"])
        // The one that was not mapped may say something newer than those that were.
        #expect(try await fixture.sync("api/people").notModifiedPages == 2)
        try await fixture.end()
    }

    @Test func aDamagedBodyIsNamedAndPassedOver() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(Self.paged))
        setPages()
        try await fixture.sync("api/people")
        let path = try #require(files(fixture).first { $0.contains("/1-1-") })
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[bytes.count - 15] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        let report = try await replay(fixture)
        #expect(report.outcome == .incomplete && report.pages == 2, "\(report)")
        let told = fixture.events.compactMap { if case .archiveFailed(_, let reason) = $0 { reason } else { nil } }
        #expect(told.count == 1 && told.first?.contains(path) == true, "\(told)")
        #expect(!files(fixture).contains(path))
        try await fixture.end()
    }

    // The disk may have lost what was not written through: then the store knows that a newer page was read.
    @Test func anOlderBodyBringsNothingBack() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(Self.kept))
        api.set("/people", #"[{"id": 1, "name": "old"}]"#, etag: "\"1\"")
        try await fixture.sync("api/people")
        let old = try Data(contentsOf: URL(fileURLWithPath: try #require(files(fixture).first)))
        api.set("/people", #"[{"id": 1, "name": "new"}]"#, etag: "\"2\"")
        try await fixture.sync("api/people")
        try old.write(to: URL(fileURLWithPath: try #require(files(fixture).first)))
        #expect(try await replay(fixture).outcome == .incomplete)
        #expect(try await fixture.values("name", of: "Person") == ["new"])
        try await fixture.end()
    }

    // A row that went with another one is in a body still.
    @Test func aPageWhoseRowsWentIsLeftToThePoll() async throws {
        let toml = ScriptedAPI.configuration(
            ScriptedAPI.resource(
                "teams", of: "Team", "deletion = { detect = \"snapshot\", confirm_runs = 1, max_fraction = 1.0, action = \"delete\" }"),
            ScriptedAPI.resource("people", of: "Person", Self.kept), entities: ScriptedAPI.teams(onDelete: "cascade"))
        let fixture = try await api.fixture(toml)
        api.set("/teams", #"[{"id": 1}, {"id": 2}]"#)
        api.set("/people", #"[{"id": 10, "team": 1}, {"id": 20, "team": 2}]"#)
        try await fixture.sync()
        api.set("/teams", #"[{"id": 2}]"#)
        try await fixture.sync("api/teams")
        #expect(try await fixture.live() == ["20"])
        let report = try await replay(fixture)
        #expect(report.outcome == .incomplete && report.pages == 0, "\(report)")
        #expect(try await fixture.live() == ["20"])
        #expect(try await fixture.live("Team") == ["2"])
        try await fixture.end()
    }

    // MARK: What could not be mapped

    @Test func whatCouldNotBeMappedIsMappedOnceItCan() async throws {
        let toml = ScriptedAPI.people("records = \"$.wrong\"\n" + Self.kept), fixture = try await api.fixture(toml)
        api.set("/people", #"{"right": [{"id": 1, "name": "a"}]}"#, etag: "\"1\"")
        #expect(try await fixture.sync("api/people").outcome == .failed)
        try await reload(fixture, toml.replacing("$.wrong", with: "$.right"))
        let asked = fixture.transport.requests.count
        #expect(try await replay(fixture).outcome == .succeeded)
        #expect(try await fixture.values("name", of: "Person") == ["a"])
        #expect(fixture.transport.requests.count == asked)
        #expect(files(fixture).map { $0.hasSuffix(".body") } == [true])
        #expect(try await fixture.sync("api/people").notModifiedPages == 1)
        try await fixture.end()
    }

    @Test func recordsThatWereSetAsideAreTakenOnceTheyFit() async throws {
        let toml = ScriptedAPI.people(Self.kept), fixture = try await api.fixture(toml)
        api.set("/people", #"[{"id": 1, "name": "a"}, {"id": 2, "age": "two"}]"#, etag: "\"1\"")
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1"])
        #expect(try await fixture.pipeline.quarantine().count == 1)
        try await reload(fixture, toml.replacing("age = { type = \"int32\" }", with: "age = { path = \"$.years\", type = \"int32\" }"))
        #expect(try await replay(fixture).counts.inserted == 1)
        #expect(try await fixture.live() == ["1", "2"])
        #expect(try await fixture.pipeline.quarantine().isEmpty)
        try await fixture.end()
    }

    @Test func aBodyThatCannotBeMappedFailsTheReplayAndLeavesTheRows() async throws {
        let toml = ScriptedAPI.people("records = \"$.a\"\n" + Self.kept), fixture = try await api.fixture(toml)
        api.set("/people", #"{"a": [{"id": 1, "name": "a"}]}"#)
        try await fixture.sync("api/people")
        try await reload(fixture, toml.replacing("$.a\"", with: "$.b\""))
        let report = try await replay(fixture)
        #expect(report.outcome == .failed && report.failure == .page, "\(report)")
        #expect(try await fixture.values("name", of: "Person") == ["a"])
        #expect(await fixture.pipeline.status().resources.first?.consecutiveFailures == 0)
        try await fixture.end()
    }

    // MARK: Kinds of resources

    @Test func partsAreMappedWithWhatIsSetOfThem() async throws {
        func toml(_ region: String) -> String {
            ScriptedAPI.configuration(
                """
                [[source.resource]]
                name = "people"
                entity = "Person"
                path = "/{region}/people"
                for_each = { values = ["eu", "us"], as = "region" }
                set = { name = "\(region)" }
                schema = { raw = "last" }

                """)
        }
        let fixture = try await api.fixture(toml("{region}"))
        api.set("/eu/people", #"[{"id": 1}]"#, etag: "\"1\"")
        api.set("/us/people", #"[{"id": 2}]"#, etag: "\"2\"")
        try await fixture.sync("api/people")
        try await reload(fixture, toml("in {region}"))
        let asked = fixture.transport.requests.count, report = try await replay(fixture)
        #expect(report.outcome == .succeeded && report.pages == 2, "\(report)")
        #expect(try await fixture.values("name", of: "Person") == ["in eu", "in us"])
        #expect(fixture.transport.requests.count == asked)
        #expect(try await fixture.sync("api/people").notModifiedPages == 2)
        try await fixture.end()
    }

    // Another day the same page is asked for by another address.
    @Test func aTimeInARequestIsTheTimeOfThen() async throws {
        let toml = ScriptedAPI.people("params = { day = \"{now:%F}\" }\n" + Self.kept)
        let fixture = try await PipelineFixture(toml, now: Date(timeIntervalSince1970: 1_800_000_000)) { request, _ in
            let body = "[{\"id\": 1, \"title\": \"\(request.address.url.query ?? "")\"}]"
            return .response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
        }
        try await fixture.sync("api/people")
        fixture.clock.advance(by: .seconds(86_400))
        try await reload(fixture, mended(toml))
        #expect(try await replay(fixture).outcome == .succeeded)
        #expect(try await fixture.values("name", of: "Person") == ["day=2027-01-15"])
        #expect(fixture.transport.requests.count == 1)
        try await fixture.end()
    }

    @Test func statusesThatMeanNothingAreArchivedToo() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people("empty_statuses = [404]\n" + Self.kept))
        try await fixture.sync("api/people")
        let report = try await replay(fixture)
        #expect(report.outcome == .succeeded && report.pages == 1, "\(report)")
        try await fixture.end()
    }

    // MARK: Beside polls

    @Test func whatIsPausedIsNotReplayed() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(Self.kept))
        api.set("/people", #"[{"id": 1}]"#)
        try await fixture.sync("api/people")
        try await fixture.pipeline.pause("api/people")
        #expect(try await fixture.pipeline.replay("api/people", wait: true).isEmpty)
        try await fixture.end()
    }

    @Test func withoutAnArchiveThereIsNothingToReplay() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people())
        await #expect(throws: SyncError.notKept("api/people")) { try await fixture.pipeline.replay("api/people", wait: true) }
        await #expect(throws: SyncError.notKept(nil)) { try await fixture.pipeline.replay(nil, wait: false) }
        try await fixture.end()
    }

    @Test func theArchiveGoesWhereItIsNoLongerWanted() async throws {
        let toml = ScriptedAPI.people(Self.kept), fixture = try await api.fixture(toml)
        api.set("/people", #"[{"id": 1}]"#)
        try await fixture.sync("api/people")
        #expect(files(fixture).count == 1)
        try await reload(fixture, toml.replacing("raw = \"last\"", with: "raw = \"none\""))
        #expect(files(fixture).isEmpty)
        try await fixture.sync("api/people", full: true)
        #expect(files(fixture).isEmpty)
        try await fixture.end()
    }

    @Test func anotherProcessFindsTheArchive() async throws {
        let toml = ScriptedAPI.people(Self.kept), fixture = try await api.fixture(toml)
        api.set("/people", #"[{"id": 1, "title": "a"}]"#, etag: "\"1\"")
        try await fixture.sync("api/people")
        await fixture.pipeline.stop(grace: .zero)
        try await fixture.document.close()
        let next = try await PipelineFixture(mended(toml), folder: fixture.folder) { _, _ in .response(status: 500) }
        #expect(try await replay(next).outcome == .succeeded)
        #expect(try await next.values("name", of: "Person") == ["a"])
        #expect(next.transport.requests.isEmpty)
        try await next.end()
    }
}
