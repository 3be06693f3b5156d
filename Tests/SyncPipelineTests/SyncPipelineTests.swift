import Foundation
import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// The pipeline's promises, over a real document and a transport without a network.
@Suite struct SyncPipelineTests {
    private static let people = """
        version = 1
        [daemon]
        contact = "test@localhost"
        [defaults.schedule]
        every = "1h"
        [[source]]
        name = "api"
        base_url = "https://api.example"
          [[source.resource]]
          name = "people"
          entity = "Person"
          path = "/people"
          pages = { kind = "link-header" }
          deletion = { detect = "snapshot", confirm_runs = 1, max_fraction = 0.5 }
        [entity.Person]
        key = ["id"]
        [entity.Person.attributes]
        id = { type = "int64", optional = false }
        name = { type = "string" }
        [entity.Person.relationships]
        boss = { to = "Person", path = "$.boss_id", match = "key" }
        team = { to = "Team", match = "embedded" }
        tags = { to = "Tag", many = true, match = "embedded" }
        [entity.Team]
        key = ["id"]
        [entity.Team.attributes]
        id = { type = "int64", optional = false }
        title = { type = "string" }
        [entity.Tag]
        key = ["name"]
        [entity.Tag.attributes]
        name = { type = "string", optional = false }
        """

    private static func json(_ body: String, etag: String? = nil, next: String? = nil) -> StubTransport.Answer {
        var headers: HTTPHeaders = ["Content-Type": "application/json"]
        if let etag { headers.add(name: "ETag", value: etag) }
        if let next { headers.add(name: "Link", value: "<\(next)>; rel=\"next\"") }
        return .response(status: 200, headers: headers, body: Array(body.utf8))
    }

    @Test func recordsBecomeRowsWithTheirRelationships() async throws {
        let fixture = try await PipelineFixture(Self.people) { _, _ in
            Self.json(
                """
                [{"id": 1, "name": "Ada", "boss_id": 2, "team": {"id": 7, "title": "Engines"}, "tags": [{"name": "a"}, {"name": "b"}]},
                 {"id": 2, "name": "Bo", "boss_id": null, "team": {"id": 7}, "tags": [{"name": "b"}]}]
                """)
        }
        let reports = try await fixture.sync()
        #expect(reports.map(\.outcome) == [.succeeded])
        #expect(reports.first?.counts.inserted == 2)
        #expect(try await fixture.values("name", of: "Person") == ["Ada", "Bo"])
        // A forward reference: Bo came after Ada, who names him.
        #expect(try await fixture.values("name", of: "Person", where: "boss.name == 'Bo'") == ["Ada"])
        // The short form of the team does not wipe its title.
        #expect(try await fixture.values("title", of: "Team") == ["Engines"])
        #expect(try await fixture.values("name", of: "Tag") == ["a", "b"])
        #expect(try await fixture.values("name", of: "Person", where: "ANY tags.name == 'b'") == ["Ada", "Bo"])
        try await fixture.end()
    }

    @Test func anObjectThatIsOnlyNamedYetNeedsNothingButItsKey() async throws {
        let strict = Self.people.replacing("name = { type = \"string\" }", with: "name = { type = \"string\", optional = false }")
        let bodies = [
            #"[{"id": 1, "name": "Ada", "boss_id": 2, "team": {"id": 7}}]"#,
            #"[{"id": 1, "name": "Ada", "boss_id": 2}, {"id": 2, "name": "Bo"}, {"id": 3}]"#,
        ]
        let fixture = try await PipelineFixture(strict) { _, index in Self.json(bodies[min(index, 1)]) }
        let first = try #require(try await fixture.sync().first)
        #expect(first.outcome == .succeeded, "\(first.error ?? "")")
        #expect(try await fixture.values("id", of: "Person", where: "cisternStub == YES") == ["2"])
        // A record is held to what is required of it.
        let second = try #require(try await fixture.sync().first)
        #expect(second.counts.inserted == 1 && second.counts.quarantined == 1)
        #expect(try await fixture.values("name", of: "Person") == ["Ada", "Bo"])
        #expect(try await fixture.values("id", of: "Person", where: "cisternStub == YES") == [])
        try await fixture.end()
    }

    @Test func aBadRecordIsSetAsideAndTheOthersStay() async throws {  // R11
        let fixture = try await PipelineFixture(Self.people) { _, _ in
            Self.json(#"[{"id": 1, "name": "Ada"}, {"name": "nobody"}, {"id": "x"}, {"id": 4, "name": "Di"}]"#)
        }
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .succeeded)
        #expect(report.counts.quarantined == 2)
        #expect(try await fixture.values("name", of: "Person") == ["Ada", "Di"])
        let entries = try await fixture.pipeline.quarantine()
        #expect(entries.map(\.raw).sorted() == [#"{"id": "x"}"#, #"{"name": "nobody"}"#])
        #expect(entries.allSatisfy { !$0.reason.isEmpty })
        try await fixture.end()
    }

    @Test func aSyntaxErrorInTheLastByteLeavesNothing() async throws {  // R1
        let fixture = try await PipelineFixture(Self.people) { _, _ in Self.json(#"[{"id": 1, "name": "Ada"}, {"id": 2}"#) }
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed)
        #expect(report.error?.contains("api/people: page 1") == true)
        #expect(try await fixture.values("name", of: "Person") == [])
        try await fixture.end()
    }

    @Test func aPageThatIsNotModifiedIsNeitherParsedNorWritten() async throws {  // R7, R16
        let fixture = try await PipelineFixture(Self.people) { request, _ in
            if request.headers.first(name: "If-None-Match") == "\"v1\"" { return .response(status: 304) }
            return Self.json(#"[{"id": 1, "name": "Ada"}]"#, etag: "\"v1\"")
        }
        try await fixture.sync()
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .succeeded && report.isComplete)
        #expect(report.notModifiedPages == 1)
        #expect(fixture.document.unsavedChangeCount == 0)
        #expect(fixture.transport.requests.count == 2)
        #expect(try await fixture.values("name", of: "Person") == ["Ada"])
        try await fixture.end()
    }

    @Test func linksAreFollowedThroughPagesThatDidNotChange() async throws {
        let fixture = try await PipelineFixture(Self.people) { request, _ in
            let isSecond = request.address.url.query == "page=2"
            let etag = isSecond ? "\"two\"" : "\"one\""
            if request.headers.first(name: "If-None-Match") == etag { return .response(status: 304) }
            return isSecond
                ? Self.json(#"[{"id": 2, "name": "Bo"}]"#, etag: etag)
                : Self.json(#"[{"id": 1, "name": "Ada"}]"#, etag: etag, next: "https://api.example/people?page=2")
        }
        #expect(try await fixture.sync().first?.pages == 2)
        let report = try #require(try await fixture.sync().first)
        #expect(report.pages == 2 && report.notModifiedPages == 2 && report.isComplete)
        #expect(fixture.transport.requests.count == 4)
        try await fixture.end()
    }

    @Test func aPageThatIsAsItWasAndLeadsOnNowIsFollowed() async throws {
        let hasMore = Mutex(false)
        let fixture = try await PipelineFixture(Self.people) { request, _ in
            if request.address.url.query == "page=2" { return Self.json(#"[{"id": 2, "name": "Bo"}]"#, etag: "\"two\"") }
            return Self.json(#"[{"id": 1, "name": "Ada"}]"#, next: hasMore.withLock { $0 } ? "https://api.example/people?page=2" : nil)
        }
        #expect(try await fixture.sync().first?.pages == 1)
        #expect(try await fixture.sync().first?.notModifiedPages == 1)
        hasMore.withLock { $0 = true }
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.counts.inserted == 1)
        #expect(try await fixture.values("name", of: "Person") == ["Ada", "Bo"])
        #expect(try await fixture.sync().first?.notModifiedPages == 2)
        try await fixture.end()
    }

    @Test func whatACompleteListNoLongerNamesBecomesATombstone() async throws {  // R6
        let bodies = [
            #"[{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}]"#, #"[{"id": 1, "name": "Ada"}]"#, #"[{"id": 1}, {"id": 2, "name": "Bo"}]"#,
        ]
        let fixture = try await PipelineFixture(Self.people) { _, index in Self.json(bodies[min(index, 2)]) }
        try await fixture.sync()
        let second = try #require(try await fixture.sync().first)
        #expect(second.counts.deleted == 1)
        #expect(try await fixture.values("name", of: "Person", where: "cisternDeletedAt == nil") == ["Ada"])
        // It comes back when the list names it again.
        try await fixture.sync()
        #expect(try await fixture.values("id", of: "Person", where: "cisternDeletedAt == nil") == ["1", "2"])
        try await fixture.end()
    }

    @Test func anIncompleteListRemovesNothing() async throws {  // R5, R6
        let fixture = try await PipelineFixture(Self.people) { request, index in
            if index == 0 { return Self.json(#"[{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}]"#) }
            // The second time the list is cut: its next page fails.
            if request.address.url.query == "page=2" { return .response(status: 404) }
            return Self.json(#"[{"id": 1, "name": "Ada"}]"#, next: "https://api.example/people?page=2")
        }
        try await fixture.sync()
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed && !report.isComplete)
        #expect(try await fixture.values("name", of: "Person", where: "cisternDeletedAt == nil") == ["Ada", "Bo"])
        try await fixture.end()
    }

    @Test func deletionsAboveAGuardWaitForSomebodyToAcceptThem() async throws {  // R6
        let fixture = try await PipelineFixture(Self.people) { _, index in
            Self.json(index == 0 ? #"[{"id": 1}, {"id": 2}, {"id": 3}, {"id": 4}]"# : #"[{"id": 1}]"#)
        }
        try await fixture.sync()
        try await fixture.sync()
        #expect(try await fixture.values("id", of: "Person", where: "cisternDeletedAt == nil").count == 4)
        #expect(await fixture.pipeline.status().resources.first?.heldDeletes == 3)
        #expect(await fixture.pipeline.status().resources.first?.health == .degraded)
        fixture.clock.advance(by: .seconds(3600))
        try await fixture.pipeline.acceptDeletes("api/people")
        // It has begun already; who waits has it saved, and gets the run after it.
        async let next = fixture.pipeline.sync(nil, cause: .control, wait: true)
        await fixture.told { $0.reports.count == 3 }
        fixture.clock.advance(by: .seconds(60))
        _ = try await next
        #expect(try await fixture.values("id", of: "Person", where: "cisternDeletedAt == nil") == ["1"])
        try await fixture.end()
    }

    @Test func onlyWhatChangedIsWritten() async throws {  // R16
        let fixture = try await PipelineFixture(Self.people) { _, index in
            Self.json(#"[{"id": 1, "name": "Ada"}, {"id": 2, "name": "\#(index == 0 ? "Bo" : "Bob")"}]"#)
        }
        try await fixture.sync()
        let report = try #require(try await fixture.sync().first)
        #expect(report.counts.updated == 1 && report.counts.unchanged == 1 && report.counts.inserted == 0)
        #expect(try await fixture.values("name", of: "Person") == ["Ada", "Bob"])
        try await fixture.end()
    }

    @Test func aRunThatWasReportedIsOnDisk() async throws {  // R2
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cistern-\(UUID().uuidString)")
        let fixture = try await PipelineFixture(Self.people, folder: folder) { _, _ in Self.json(#"[{"id": 1, "name": "Ada"}]"#, etag: "\"v1\"") }
        try await fixture.sync()
        await fixture.pipeline.stop(grace: .zero)
        // The first document is not closed: what a second one reads was committed.
        let again = try await PipelineFixture(Self.people, folder: folder) { _, _ in .response(status: 304) }
        #expect(try await again.values("name", of: "Person") == ["Ada"])
        // The checkpoint came with the rows (decision: the checkpoint is data).
        let report = try #require(try await again.sync().first)
        #expect(report.notModifiedPages == 1)
        #expect(again.transport.requests.first?.headers.first(name: "If-None-Match") == "\"v1\"")
        try await again.end()
    }

    @Test func aParkedResourceIsNotAskedSooner() async throws {  // R9
        let fixture = try await PipelineFixture(Self.people) { _, _ in .response(status: 429, headers: ["Retry-After": "7200"]) }
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .parked)
        let next = try #require(report.nextPollAt)
        #expect(next >= fixture.clock.wallTime.addingTimeInterval(7199))
        try await fixture.end()
    }

    @Test func anUnknownScopeIsRefusedWithTheKnownOnes() async throws {
        let fixture = try await PipelineFixture(Self.people) { _, _ in .response(status: 304) }
        await #expect(throws: SyncError.unknownScope("nothing", known: ["api/people"])) {
            try await fixture.pipeline.sync("nothing", cause: .control, wait: false)
        }
        try await fixture.end()
    }
}
