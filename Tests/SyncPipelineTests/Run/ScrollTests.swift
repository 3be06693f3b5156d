import Foundation
import NIOHTTP1
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Lists that one cursor leads through from beginning to end, as those of Crossref and Elasticsearch do: page after page is asked for in the same words.
@Suite struct ScrollTests {
    /// What the pages hold, the last one empty; a request without a cursor begins anew.
    private final class Scroll: Sendable {
        private let state: Mutex<(pages: [[Int]], place: Int)>

        init(_ pages: [[Int]]) { state = Mutex((pages, 0)) }

        func set(_ pages: [[Int]]) { state.withLock { $0.pages = pages } }

        func answer(_ request: HTTPRequest) -> StubTransport.Answer {
            let ids = state.withLock { state in
                state.place = request.address.url.query == nil ? 0 : state.place + 1
                return state.place < state.pages.count ? state.pages[state.place] : []
            }
            let items = ids.map { "{\"id\": \($0)}" }.joined(separator: ", "), etag = "\"\(ids)\""
            if request.headers.first(name: "If-None-Match") == etag { return .response(status: 304, headers: ["ETag": etag]) }
            return .response(
                status: 200, headers: ["Content-Type": "application/json", "ETag": etag],
                body: Array("{\"items\": [\(items)], \"next\": \"scroll\"}".utf8))
        }
    }

    private func fixture(_ scroll: Scroll) async throws -> PipelineFixture {
        try await PipelineFixture(ScriptedAPI.people("records = \"$.items\"\npages = { kind = \"cursor\", path = \"$.next\" }")) { request, _ in
            scroll.answer(request)
        }
    }

    @Test func allPagesOfAScrollAreReadRunAfterRun() async throws {
        let scroll = Scroll([[1, 2], [3, 4], [5, 6], [7]]), fixture = try await fixture(scroll)
        for _ in 1...3 {
            let report = try #require(try await fixture.sync().first)
            #expect(report.outcome == .succeeded && report.isComplete && report.pages == 5, "\(report)")
            #expect(try await fixture.live() == ["1", "2", "3", "4", "5", "6", "7"])
        }
        scroll.set([[1, 2], [3, 4], [7, 8]])
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.counts.deleted == 2 && report.counts.inserted == 1)
        #expect(try await fixture.live() == ["1", "2", "3", "4", "7", "8"])
        try await fixture.end()
    }

    // What is gone is said page after page, and all pages but the first go by one name.
    @Test func aScrollOfWhatIsGoneTakesNothingBackOfWhatItSays() async throws {
        let scroll = Scroll([[1, 2], [3], [4]])
        let keys = "records = \"$.items\"\npages = { kind = \"cursor\", path = \"$.next\" }\ndeletion = { detect = \"records\", max_count = 4 }"
        let fixture = try await PipelineFixture(
            ScriptedAPI.configuration(ScriptedAPI.resource("people"), ScriptedAPI.resource("deleted", of: "Person", keys))
        ) { request, _ in
            if request.address.url.path == "/deleted" { return scroll.answer(request) }
            let people = (1...9).map { "{\"id\": \($0)}" }.joined(separator: ", ")
            return .response(status: 200, headers: ["Content-Type": "application/json"], body: Array("[\(people)]".utf8))
        }
        try await fixture.sync("api/people")
        #expect(try await fixture.sync("api/deleted").counts.deleted == 4)
        #expect(try await fixture.live() == ["5", "6", "7", "8", "9"])
        // What was held and is not said any more is taken back, as from any other list.
        scroll.set([[1], [5, 6], [7, 8, 9]])
        #expect(try await fixture.sync("api/deleted").counts.deleted == 0)
        scroll.set([[1], [9], [8]])
        #expect(try await fixture.sync("api/deleted").counts.deleted == 2)
        #expect(try await fixture.live() == ["5", "6", "7"])
        try await fixture.end()
    }

    // The words of a request say nothing about which page it is: what a page came with must not be sent for another.
    @Test func nothingIsRememberedOfAPageWhoseRequestWasMadeBefore() async throws {
        let fixture = try await fixture(Scroll([[1], [2], [3]]))
        for _ in 1...2 { try await fixture.sync() }
        let known = fixture.transport.requests.filter { $0.address.url.query != nil }.compactMap { $0.headers.first(name: "If-None-Match") }
        #expect(known.isEmpty)
        try await fixture.end()
    }

    @Test func aScrollThatBringsTheSamePageAgainFailsTheRun() async throws {
        let fixture = try await fixture(Scroll([[1], [2], [2]]))
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed && report.error?.contains("repeat_guard") == true, "\(report)")
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    @Test func aPageWhoseRowALaterAnswerHasWrittenIsReadAsAWholeTheNextTime() async throws {
        let pages = Mutex<(bodies: [String], place: Int)>(([], 0))
        let fixture = try await PipelineFixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource("people", of: "Person", "records = \"$.items\"\npages = { kind = \"cursor\", path = \"$.next\" }"))
        ) { request, _ in
            let items = pages.withLock { state in
                state.place = request.address.url.query == nil ? 0 : state.place + 1
                return state.place < state.bodies.count ? state.bodies[state.place] : ""
            }
            return .response(
                status: 200, headers: ["Content-Type": "application/json"], body: Array(#"{"items": [\#(items)], "next": "scroll"}"#.utf8))
        }
        func read(_ bodies: String...) async throws -> [String] {
            pages.withLock { $0.bodies = bodies }
            #expect(try await fixture.sync().first?.outcome == .succeeded)
            return try await fixture.values("name", of: "Person", where: "id == 1")
        }
        #expect(try await read(#"{"id": 1, "name": "a"}, {"id": 2}"#, #"{"id": 3}"#, #"{"id": 1, "name": "b"}"#, #"{"id": 4}"#) == ["b"])
        #expect(try await read(#"{"id": 1, "name": "a"}, {"id": 2, "name": "c"}"#, #"{"id": 3}"#) == ["a"])
        try await fixture.end()
    }
}
