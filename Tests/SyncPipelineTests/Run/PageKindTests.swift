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

    // MARK: Links in the body

    private static let linked = ScriptedAPI.people("records = \"$.items\"\npages = { kind = \"body-link\", path = \"$.paging.next\" }")

    private func set(_ path: String, _ items: String, next: String, etag: String? = nil) {
        api.set(path, #"{"items": [\#(items)], "paging": {"next": \#(next)}}"#, etag: etag)
    }

    @Test(arguments: ["null", "\"\""]) func aLinkInTheBodyLeadsThroughAListing(end: String) async throws {
        set("/people", #"{"id": 1}"#, next: #""/people?page=2""#, etag: "\"1\"")
        set("/people?page=2", #"{"id": 2}"#, next: #""https://api.example/people?page=3""#, etag: "\"2\"")
        set("/people?page=3", #"{"id": 3}"#, next: end, etag: "\"3\"")
        let fixture = try await api.fixture(Self.linked)
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.pages == 3, "\(report)")
        #expect(try await fixture.live() == ["1", "2", "3"])
        let again = try #require(try await fixture.sync().first)
        #expect(again.isComplete && again.notModifiedPages == 3, "\(again)")
        #expect(paths(fixture, since: 3) == ["/people", "/people?page=2", "/people?page=3"])
        try await fixture.end()
    }

    @Test(arguments: [#"{"href": "/people?page=2"}"#, #"["/people?page=2"]"#, "true", "7"])
    func aLinkInTheBodyThatIsNoTextIsNoEnd(link: String) async throws {
        set("/people", #"{"id": 1}"#, next: link, etag: "\"1\"")
        let fixture = try await api.fixture(Self.linked)
        for _ in 1...2 {
            let report = try #require(try await fixture.sync().first)
            #expect(report.outcome == .incomplete, "\(report)")
            #expect(report.error?.contains("the next link at $.paging.next cannot be read") == true, "\(report.error ?? "")")
        }
        try await fixture.end()
    }

    private static let related = ScriptedAPI.people("records = \"$.items\"\npages = { kind = \"body-link\", path = \"$.links\", rel = \"next\" }")

    private func set(_ path: String, _ items: String, links: String, etag: String? = nil) {
        api.set(path, #"{"links": \#(links), "items": [\#(items)]}"#, etag: etag)
    }

    @Test(arguments: [
        #"[{"rel": "self", "href": "/people"}, {"rel": "next", "href": "/people?page=2"}]"#,
        #"[{"url": "/people?page=2", "relation": "Next"}, {"relation": "next", "url": "/people?page=3"}]"#,
        #"[{"rel": "last next", "uri": "/people?page=2", "more": {"rel": "x"}}]"#, #"{"rel": "next", "href": "/people?page=2"}"#,
    ])
    func theLinkOfTheRelationLeadsOn(links: String) async throws {
        set("/people", #"{"id": 1}"#, links: links, etag: "\"1\"")
        set("/people?page=2", #"{"id": 2}"#, links: #"[{"rel": "prev", "href": "/people"}]"#, etag: "\"2\"")
        let fixture = try await api.fixture(Self.related)
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.pages == 2, "\(report)")
        #expect(try await fixture.live() == ["1", "2"])
        let again = try #require(try await fixture.sync().first)
        #expect(again.isComplete && again.notModifiedPages == 2, "\(again)")
        try await fixture.end()
    }

    @Test(arguments: ["[]", "null", #"[{"rel": "nextish", "href": "/people?page=2"}]"#, #"[{"rel": "next", "href": ""}]"#, #"[{"href": "/a"}]"#])
    func aListWithoutTheLinkIsTheEnd(links: String) async throws {
        set("/people", #"{"id": 1}"#, links: links)
        let fixture = try await api.fixture(Self.related)
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.pages == 1, "\(report)")
        try await fixture.end()
    }

    @Test(arguments: [#""/people?page=2""#, "7", #"[{"rel": "next"}]"#, #"[{"rel": "next", "href": 7}]"#, #"["next"]"#])
    func linksThatCannotBeReadAreNoEnd(links: String) async throws {
        set("/people", #"{"id": 1}"#, links: links, etag: "\"1\"")
        let fixture = try await api.fixture(Self.related)
        for _ in 1...2 {
            let report = try #require(try await fixture.sync().first)
            #expect(report.outcome == .incomplete, "\(report)")
            #expect(report.error?.contains("the next link at $.links cannot be read") == true, "\(report.error ?? "")")
        }
        try await fixture.end()
    }

    // Neither does it become one by a page that was not modified.
    @Test func aRefusedLinkInTheBodyIsNoEnd() async throws {
        let fixture = try await api.fixture(Self.linked)
        set("/people", #"{"id": 1}, {"id": 2}"#, next: "null")
        try await fixture.sync()
        set("/people", #"{"id": 1}"#, next: #""https://other.example/people?page=2""#, etag: "\"1\"")
        for _ in 1...2 {
            let report = try #require(try await fixture.sync().first)
            #expect(report.outcome == .incomplete && report.counts.deleted == 0, "\(report)")
            #expect(report.error?.contains("https://other.example") == true, "\(report.error ?? "")")
        }
        #expect(fixture.transport.requests.allSatisfy { $0.address.origin.host == "api.example" })
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    @Test func aLinkBackInTheBodyFailsTheRun() async throws {
        set("/people", #"{"id": 1}"#, next: #""/people?page=2""#)
        set("/people?page=2", #"{"id": 2}"#, next: #""/people""#)
        let fixture = try await api.fixture(Self.linked)
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed && report.error?.contains("repeat_guard") == true, "\(report)")
        #expect(paths(fixture) == ["/people", "/people?page=2"])
        try await fixture.end()
    }

    // MARK: Keysets

    private static let sorted = ScriptedAPI.people("pages = { kind = \"keyset\", from = \"$.id\" }")

    @Test func theLastRecordLeadsThroughAListing() async throws {
        api.set("/people", #"[{"id": 1}, {"id": 2}]"#, etag: "\"1\"")
        api.set("/people?after=2", #"[{"id": 3}, {"id": 4}]"#, etag: "\"2\"")
        api.set("/people?after=4", "[]", etag: "\"3\"")
        let fixture = try await api.fixture(Self.sorted), all = ["/people", "/people?after=2", "/people?after=4"]
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.pages == 3, "\(report)")
        #expect(try await fixture.live() == ["1", "2", "3", "4"])
        let again = try #require(try await fixture.sync().first)
        #expect(again.isComplete && again.notModifiedPages == 3, "\(again)")
        // The last record is as it was: nothing but its text is there to lead on.
        api.set("/people", #"[{"id": 1, "name": "Ada"}, {"id": 2}]"#, etag: "\"4\"")
        let changed = try #require(try await fixture.sync().first)
        #expect(changed.isComplete && changed.notModifiedPages == 2 && changed.counts.updated == 1, "\(changed)")
        #expect(paths(fixture) == all + all + all)
        try await fixture.end()
    }

    @Test(arguments: ["", ", \"at\": null", ", \"at\": true", ", \"at\": {\"on\": 2}", ", \"at\": \"\""])
    func aLastRecordWithoutItsValueIsNoEnd(value: String) async throws {
        let fixture = try await api.fixture(ScriptedAPI.people("pages = { kind = \"keyset\", from = \"$.at\" }"))
        api.set("/people", #"[{"id": 1, "at": 1}, {"id": 2, "at": 2}]"#)
        api.set("/people?after=2", "[]")
        #expect(try await fixture.sync().first?.isComplete == true)
        api.set("/people", #"[{"id": 3\#(value)}]"#, etag: "\"1\"")
        // Neither does it become one when the page was not modified.
        for run in 0...1 {
            let report = try #require(try await fixture.sync().first)
            #expect(report.outcome == .incomplete && report.notModifiedPages == run, "\(report)")
            #expect(report.error?.contains("$.at") == true, "\(report.error ?? "")")
        }
        #expect(try await fixture.live() == ["1", "2", "3"])
        try await fixture.end()
    }

    // Its bodies differ.
    @Test func aServerThatDoesNotHeedTheLastRecordFailsTheRun() async throws {
        api.set("/people", #"[{"id": 1}, {"id": 2}]"#)
        api.set("/people?after=2", #"[{"id": 1, "name": "Ada"}, {"id": 2}]"#)
        let fixture = try await api.fixture(Self.sorted)
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed && report.error?.contains("repeat_guard") == true, "\(report)")
        #expect(paths(fixture) == ["/people", "/people?after=2"])
        try await fixture.end()
    }
}
