import Foundation
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Whole runs through listings of each kind.
@Suite struct PageKindTests {
    private let api = ScriptedAPI()

    private func paths(_ fixture: PipelineFixture, since count: Int = 0) -> [String] {
        fixture.transport.requests.dropFirst(count).map { "\($0.address.url.path)\($0.address.url.query.map { "?\($0)" } ?? "")" }
    }

    // MARK: Offsets

    // The server sends two records at most, whatever it is asked for. One of them is no good.
    @Test func noRecordIsLeftOutWhereAServerSendsFewerThanItIsAskedFor() async throws {
        api.set("/people?offset=0&limit=10", #"[{"id": 1}, {"id": "two"}]"#, etag: "\"1\"")
        api.set("/people?offset=2&limit=10", #"[{"id": 3}, {"id": 4}]"#, etag: "\"2\"")
        api.set("/people?offset=4&limit=10", #"[{"id": 5}]"#, etag: "\"3\"")
        api.set("/people?offset=5&limit=10", "[]", etag: "\"4\"")
        let fixture = try await api.fixture(
            ScriptedAPI.people("pages = { kind = \"offset\", limit = 10 }\nlimits = { max_bad_fraction = 1.0 }"))
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.pages == 4 && report.counts.quarantined == 1, "\(report)")
        #expect(try await fixture.live() == ["1", "3", "4", "5"])
        // Pages that were not modified lead on by the records that they had.
        let again = try #require(try await fixture.sync().first)
        #expect(again.isComplete && again.notModifiedPages == 4, "\(again)")
        #expect(paths(fixture) == paths(fixture, since: 4) + paths(fixture, since: 4))
        try await fixture.end()
    }
}
