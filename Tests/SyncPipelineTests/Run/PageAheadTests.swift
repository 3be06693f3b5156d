import Foundation
import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// A page is fetched while the one before it is parsed, where it is known that there is one.
@Suite struct PageAheadTests {
    private let api = ScriptedAPI()
    private let linked = ScriptedAPI.people("pages = { kind = \"link-header\" }")
    private let numbered = ScriptedAPI.people("pages = { kind = \"page\", param = \"page\", size = 2, size_param = \"size\" }")

    private static func next(_ path: String) -> HTTPHeaders { ["Link": "<\(path)>; rel=\"next\""] }

    private func paths(_ fixture: PipelineFixture, since count: Int = 0) -> [String] {
        fixture.transport.requests.dropFirst(count).map { "\($0.address.url.path)\($0.address.url.query.map { "?\($0)" } ?? "")" }
    }

    @Test(.timeLimit(.minutes(60))) func itIsAskedForWhileTheOneBeforeIsParsed() async throws {
        api.set("/people", "[{\"id\": 1}]", headers: Self.next("/people?page=2"))
        api.set("/people?page=2", "[{\"id\": 2}]")
        let isAsked = DispatchSemaphore(value: 0)
        let fixture = try await PipelineFixture(linked) { [api] request, _ in
            if request.address.url.query != nil { isAsked.signal() }
            return api.answer(request)
        }
        let isFirst = Atomic<Bool>(true)
        fixture.pipeline.parseProbe.withLock {
            // The first page is not through before the second is asked for.
            $0 = ParseProbe(batchSize: 10) { _, _ in if isFirst.exchange(false, ordering: .relaxed) { isAsked.wait() } }
        }
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.pages == 2 && paths(fixture) == ["/people", "/people?page=2"])
        try await fixture.end()
    }

    // A short form inside of a record of the page before has other values than the record itself.
    @Test func anAnswerOfNotModifiedIsNotBelievedWhereThePageBeforeBroughtDoubt() async throws {
        api.set("/people", "[{\"id\": 1, \"name\": \"a\"}]", etag: "\"1\"", headers: Self.next("/people?page=2"))
        api.set("/people?page=2", "[{\"id\": 2, \"name\": \"b\"}]", etag: "\"2\"")
        let fixture = try await api.fixture(
            ScriptedAPI.people(
                "pages = { kind = \"link-header\" }",
                attributes: "[entity.Person.relationships]\nboss = { to = \"Person\", match = \"embedded\" }"))
        try await fixture.sync()
        api.set(
            "/people", "[{\"id\": 1, \"name\": \"a\", \"boss\": {\"id\": 2, \"name\": \"x\"}}]", etag: "\"3\"", headers: Self.next("/people?page=2"))
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete)
        #expect(try await fixture.values("name", of: "Person") == ["a", "b"])
        #expect(paths(fixture, since: 2) == ["/people", "/people?page=2", "/people?page=2"])
        #expect(fixture.transport.requests.suffix(2).map { $0.headers.contains(name: "If-None-Match") } == [true, false])
        try await fixture.end()
    }

    // A row is missing and has waited for another listing for a day: no page is asked for with conditions, and none twice.
    @Test func aListingThatIsReadAnewIsAskedForOnce() async throws {
        api.set("/people", "[{\"id\": 1}]", etag: "\"1\"", headers: Self.next("/people?page=2"))
        api.set("/people?page=2", "[{\"id\": 2}, {\"id\": 3}]", etag: "\"2\"")
        let fixture = try await api.fixture(
            ScriptedAPI.people("pages = { kind = \"link-header\" }", deletion: "confirm_runs = 2, max_fraction = 1.0"))
        try await fixture.sync()
        api.set("/people?page=2", "[{\"id\": 2}]", etag: "\"3\"")
        try await fixture.sync()
        fixture.clock.advance(by: .seconds(86_400))
        let before = fixture.transport.requests.count
        #expect(try await fixture.sync().first?.counts.deleted == 1)
        #expect(paths(fixture, since: before) == ["/people", "/people?page=2"])
        #expect(fixture.transport.requests.dropFirst(before).allSatisfy { !$0.headers.contains(name: "If-None-Match") })
        try await fixture.end()
    }

    @Test func nobodyIsAskedForAPageThatWillNotBeRead() async throws {
        api.set("/people?page=1&size=2", "[{\"id\": 1}, {\"id\": 2}]")
        api.set("/people?page=2&size=2", "[{\"id\": 3}]")
        api.set("/people?page=3&size=2", "[]")
        let fixture = try await api.fixture(numbered)
        for run in 0..<2 {
            #expect(try await fixture.sync().first?.isComplete == true)
            #expect(paths(fixture, since: run * 3) == (1...3).map { "/people?page=\($0)&size=2" })
        }
        try await fixture.end()
    }

    @Test(
        .timeLimit(.minutes(60)),
        arguments: [
            ("pages = { kind = \"cursor\", path = \"$.next\" }", "/people", "/people?cursor=abc"),
            ("pages = { kind = \"page\", size_param = \"\", stop = { has_more = \"$.more\" } }", "/people?page=1", "/people?page=2"),
            ("pages = { kind = \"offset\", limit_param = \"\", stop = { has_more = \"$.more\" } }", "/people?offset=0", "/people?offset=1"),
            ("pages = { kind = \"body-link\", path = \"$.next\" }", "/people", "/abc"),
            ("pages = { kind = \"body-link\", path = \"$.next\", stop = { last = \"$.last\" } }", "/people", "/abc"),
            ("pages = { kind = \"keyset\", from = \"$.id\", stop = { has_more = \"$.more\" } }", "/people", "/people?after=1"),
        ]) func whatTheBodySaysAroundItsRecordsLeadsOnBeforeTheyAreRead(pages: String, first: String, second: String) async throws
    {
        api.set(first, #"{"next": "abc", "more": true, "last": false, "data": [{"id": 1}]}"#)
        api.set(second, #"{"next": null, "more": false, "last": true, "data": [{"id": 2}]}"#)
        let isAsked = DispatchSemaphore(value: 0)
        let fixture = try await PipelineFixture(ScriptedAPI.people("records = \"$.data\"\n\(pages)")) { [api] request, _ in
            if request.address.description.hasSuffix(second) { isAsked.signal() }
            return api.answer(request)
        }
        let isFirst = Atomic<Bool>(true)
        fixture.pipeline.parseProbe.withLock {
            $0 = ParseProbe(batchSize: 10) { _, _ in if isFirst.exchange(false, ordering: .relaxed) { isAsked.wait() } }
        }
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && paths(fixture) == [first, second])
        try await fixture.end()
    }

    // What the second page would have answered never comes.
    @Test(.timeLimit(.minutes(60))) func itIsGivenUpWhereTheRunEndsBeforeIt() async throws {
        api.set("/people", "[{\"id\": 1}, ", headers: Self.next("/people?page=2"))
        let fixture = try await PipelineFixture(linked) { [api] request, _ in request.address.url.query == nil ? api.answer(request) : .silence }
        #expect(try await fixture.sync().first?.outcome == .failed)
        // Nothing waits for the answer any more.
        #expect(fixture.clock.deadlines.allSatisfy { $0 >= SyncInstant(sinceOrigin: .seconds(3660)) })
        try await fixture.end()
    }

    @Test(.timeLimit(.minutes(60))) func aStopDoesNotWaitForIt() async throws {
        api.set("/people", "[{\"id\": 1}]", headers: Self.next("/people?page=2"))
        let fixture = try await PipelineFixture(linked) { [api] request, _ in request.address.url.query == nil ? api.answer(request) : .silence }
        fixture.clock.advance(by: .seconds(3600))
        try await fixture.pipeline.sync(nil, cause: .control, wait: false)
        await fixture.told { events in events.contains { if case .pageSaved = $0 { true } else { false } } }
        await fixture.pipeline.stop(grace: .zero)
        #expect(fixture.reports.map(\.outcome) == [.cancelled])
        try await fixture.end()
    }

    @Test func aLinkBackIsNotAskedForAhead() async throws {
        api.set("/people", "[{\"id\": 1}]", headers: Self.next("/people?page=2"))
        api.set("/people?page=2", "[{\"id\": 2}]", headers: Self.next("/people"))
        let fixture = try await api.fixture(linked)
        #expect(try await fixture.sync().first?.outcome == .failed)
        #expect(paths(fixture) == ["/people", "/people?page=2"])
        try await fixture.end()
    }
}
