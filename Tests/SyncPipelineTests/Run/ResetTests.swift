import Foundation
import NIOHTTP1
import OpenCoreData
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// What is forgotten when somebody asks for it, and what becomes of a run that is under way.
@Suite struct ResetTests {
    let api = ChangingAPI()
    /// 2025-01-01, when the clock of a fixture starts.
    let begin = 1_735_689_600.0
    private let people = "api/people"

    private func row(_ fixture: PipelineFixture) async throws -> (cursor: String?, fullAt: Date?, listing: BodyDigest?) {
        try await fixture.document.withWorker { worker in
            let row = try ResourceTable.row(of: ResourceScope(source: "api", resource: "people"), in: worker)
            return (row.cursor, row.fullAt, row.listing)
        }
    }

    @Test func withoutItsCursorTheNextRunAsksForEverything() async throws {
        api.put(1, 2, 3, at: begin - 100)
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\"", deletion: "snapshot"))
        try await fixture.sync(people)
        try await fixture.sync(people)
        #expect(api.asked().last?.hasPrefix("since=") == true)
        try await fixture.pipeline.reset(people, [.cursor])
        #expect(try await row(fixture).cursor == nil)
        #expect(try await row(fixture).fullAt == nil)
        api.remove(3)
        let report = try await fixture.sync(people)
        #expect(api.asked().first == "page=1")
        // A complete run like any other: what it does not list is gone, and nothing else.
        #expect(report.isComplete && report.counts.deleted == 1, "\(report)")
        #expect(try await fixture.live() == ["1", "2"])
        #expect(try await row(fixture).cursor != nil)
        try await fixture.end()
    }

    @Test func withoutItsValidatorsEachPageIsAskedForWithoutConditionsAndMappedAgain() async throws {
        api.put(1, 2, 3, at: begin - 100)
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\", full_every = \"1h\"", deletion: "snapshot"))
        try await fixture.sync(people)
        #expect(try await fixture.sync(people).notModifiedPages > 0)
        let count = fixture.transport.requests.count
        try await fixture.pipeline.reset("api", [.validators])
        #expect(try await row(fixture).listing == nil)
        let again = try await fixture.sync(people)
        #expect(again.notModifiedPages == 0 && again.counts.unchanged == 3 && again.counts.deleted == 0, "\(again)")
        #expect(fixture.transport.requests.dropFirst(count).allSatisfy { $0.headers.first(name: "If-None-Match") == nil })
        // From then on they are known again.
        #expect(try await fixture.sync(people).notModifiedPages > 0)
        #expect(try await fixture.live() == ["1", "2", "3"])
        try await fixture.end()
    }

    @Test func aResourceThatHasNeverRunHasNothingToForget() async throws {
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\""))
        try await fixture.pipeline.reset(people, [.cursor, .validators])
        await #expect(throws: SyncError.self) { try await fixture.pipeline.reset("api/teams", [.cursor]) }
        #expect(try await fixture.sync(people).outcome == .succeeded)
        try await fixture.end()
    }

    // A run in order notes after each page how far it has come: the page that is being saved when somebody has that forgotten must not bring it back.
    @Test(arguments: [ParseProbe.Stage.lookingUp, .writing, .saving]) func aRunThatIsUnderWayWritesNothingOverWhatIsForgotten(
        stage: ParseProbe.Stage
    ) async throws {
        for id in 1...6 { api.put(id, at: begin - 1000 + Double(id)) }
        api.change { state in
            state.pageSize = 2
            state.order = { ($0.changed ?? 0, $0.id) < ($1.changed ?? 0, $1.id) }
        }
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\", order = \"asc\""))
        try await fixture.sync(people)
        for id in 7...12 { api.put(id, at: begin + Double(id)) }
        let hold = ParseHold(fixture.pipeline, resource: "people", at: stage), pipeline = fixture.pipeline
        fixture.clock.advance(by: .seconds(3600))
        let waiting = Task { try await pipeline.sync("api/people", cause: .control, wait: true) }
        await hold.isReached()
        _ = api.asked()
        // It has told the machine when this returns, and waits for the run.
        let reset = Task.immediate { try await pipeline.reset("api/people", [.cursor, .validators]) }
        hold.letGo()
        try await reset.value
        #expect(fixture.reports.last?.outcome == .cancelled)
        #expect(try await row(fixture).cursor == nil)
        // Who waited gets the run that makes up for it.
        fixture.clock.advance(by: .seconds(3600))
        let report = try #require(try await waiting.value.first)
        #expect(report.outcome == .succeeded && report.isComplete, "\(report)")
        let first = api.asked().last(where: { $0.hasSuffix("page=1") })
        #expect(first == "page=1")
        #expect(try await fixture.live() == api.live)
        try await fixture.end()
    }

    @Test func afterAStopNothingIsForgotten() async throws {
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\""))
        await fixture.pipeline.stop(grace: .zero)
        await #expect(throws: SyncError.stopping) { try await fixture.pipeline.reset("api/people", [.cursor]) }
        try await fixture.end()
    }

    // What is forgotten of a resource is forgotten of each of its parts: each has a cursor and pages of its own.
    @Test func thePartsOfAResourceForgetWithIt() async throws {
        let fixture = try await api.fixture(
            ChangingAPI.people("since = \"since\"", "for_each = { values = [\"a\", \"b\"], as = \"part\" }\nparams = { part = \"{part}\" }"))
        func cursors() async throws -> [Bool] {
            try await fixture.document.withWorker { worker in
                try ResourceTable.parts(of: ResourceScope(source: "api", resource: "people"), in: worker).map { $0.cursor != nil }
            }
        }
        api.put(1, at: begin - 100)
        try await fixture.sync(people)
        #expect(try await cursors() == [true, true])
        try await fixture.pipeline.reset(people, [.cursor])
        #expect(try await cursors() == [false, false])
        try await fixture.end()
    }
}
