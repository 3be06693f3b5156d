import NIOHTTP1
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

@Suite struct PageFactsTests {
    private func facts(
        _ headers: HTTPHeaders, kind: PaginationConfiguration.Kind = .linkHeader(relation: "next"), cursor: String? = nil,
        _ change: @escaping (inout ResourceConfiguration) -> Void = { _ in }
    ) async throws -> PageFacts {
        let settings = try Fixture.settings("https://a.example/v1/items", secrets: Fixture.secret("topsecret"), change)
        let transport = StubTransport(.response(status: 200, headers: headers, body: [0x5B, 0x5D]))
        let environment = FetchEnvironment(settings: settings, transport: transport, clock: ManualClock())
        guard case .page(let page) = await PageFetch(PageRequest(address: settings.first), environment: environment).run() else {
            throw Unexpected()
        }
        return PageFacts(page: page, pagination: PaginationConfiguration(kind), settings: settings, records: 2, cursor: cursor)
    }

    private func link(_ target: String, rel: String = "next") -> HTTPHeaders { ["Link": "<\(target)>; rel=\"\(rel)\""] }

    @Test func nextLinksAreMadeAbsolute() async throws {
        #expect(try await facts(link("?page=2")).nextLink == "https://a.example/v1/items?page=2")
        #expect(try await facts(link("/x", rel: "more"), kind: .linkHeader(relation: "more")).nextLink == "https://a.example/x")
        #expect(try await facts(link("/x", rel: "prev")).nextLink == nil)
        #expect(try await facts(link("/x"), kind: .none).nextLink == "https://a.example/x")
    }

    // N5, N9, R10
    @Test(arguments: ["https://b.example/x", "http://a.example/x", "http://127.0.0.1/", "https://u@a.example/", "file:///x", ""])
    func nextLinksStayWithTheirOrigin(target: String) async throws {
        let facts = try await facts(link(target))
        #expect(facts.nextLink == nil)
        #expect(facts.refusedLink != nil)
    }

    @Test func theReachOfNextLinksIsConfigured() async throws {
        #expect(try await facts(link("https://b.example/x")) { $0.http.nextLinks = .any }.nextLink == "https://b.example/x")
        #expect(try await facts(link("http://a.example/x")) { $0.http.nextLinks = .any }.refusedLink != nil)
        #expect(try await facts(link("/x")) { $0.http.nextLinks = .none }.refusedLink != nil)
    }

    @Test func aRequestThatSendsSomethingHasNoNextLinkToAnotherOrigin() async throws {
        func sending(_ target: String, _ reach: HTTPConfiguration.Reach, inBody: Bool) async throws -> PageFacts {
            let kind = inBody ? Self.bodyLink : .linkHeader(relation: "next")
            return try await facts(inBody ? [:] : link(target), kind: kind, cursor: inBody ? target : nil) {
                ($0.method, $0.body) = (.post, .json(.object([])))
                $0.http.nextLinks = reach
            }
        }
        for inBody in [false, true] {
            for reach in [HTTPConfiguration.Reach.any, .sameOrigin] {
                let facts = try await sending("https://b.example/x", reach, inBody: inBody)
                #expect(facts.nextLink == nil && facts.cursor == nil)
                #expect(facts.refusedLink?.contains("what the request sends is not for that") == true, "\(facts)")
            }
            #expect(try await sending("https://b.example/x", .none, inBody: inBody).refusedLink?.contains("not followed") == true)
            let same = try await sending("/x", .any, inBody: inBody)
            #expect((inBody ? same.cursor : same.nextLink) == "https://a.example/x" && same.refusedLink == nil)
        }
    }

    @Test func aNextLinkIsRidOfTheKeyItEchoes() async throws {
        let facts = try await facts(link("/x?k=topsecret&page=2")) {
            $0.authentication = .apiKey(.init(name: "k", in: .query, value: .credential("t")))
        }
        #expect(facts.nextLink == "https://a.example/x?page=2")
    }

    @Test func differentNextLinksAreNoticed() async throws {
        let headers = HTTPHeaders([("Link", "</a>; rel=next"), ("Link", "</b>; rel=next")])
        #expect(try await facts(headers).hasConflictingLinks)
        #expect(try await !facts(link("/a")).hasConflictingLinks)
    }

    // MARK: Links in the body

    private static let bodyLink = PaginationConfiguration.Kind.bodyLink(path: "$.paging.next")

    @Test func aLinkInTheBodyIsMadeAbsolute() async throws {
        #expect(try await facts([:], kind: Self.bodyLink, cursor: "?page=2").cursor == "https://a.example/v1/items?page=2")
        #expect(try await facts([:], kind: Self.bodyLink, cursor: "https://a.example/x").cursor == "https://a.example/x")
        let end = try await facts([:], kind: Self.bodyLink, cursor: "")
        #expect(end.cursor == nil && end.refusedLink == nil)
        // What the header says is kept apart.
        let both = try await facts(link("/h"), kind: Self.bodyLink, cursor: "/b")
        #expect(both.cursor == "https://a.example/b" && both.nextLink == "https://a.example/h")
    }

    @Test(arguments: ["https://b.example/x", "http://a.example/x", "http://127.0.0.1/", "https://u@a.example/", "file:///x", " "])
    func aLinkInTheBodyStaysWithItsOrigin(target: String) async throws {
        let facts = try await facts([:], kind: Self.bodyLink, cursor: target)
        #expect(facts.cursor == nil)
        #expect(facts.refusedLink != nil)
    }

    @Test func theReachOfALinkInTheBodyIsConfigured() async throws {
        let other = "https://b.example/x"
        #expect(try await facts([:], kind: Self.bodyLink, cursor: other) { $0.http.nextLinks = .any }.cursor == other)
        #expect(try await facts([:], kind: Self.bodyLink, cursor: "http://a.example/x") { $0.http.nextLinks = .any }.refusedLink != nil)
        #expect(try await facts([:], kind: Self.bodyLink, cursor: "/x") { $0.http.nextLinks = .none }.refusedLink != nil)
    }

    @Test func aLinkInTheBodyIsRidOfTheKeyItEchoes() async throws {
        let facts = try await facts([:], kind: Self.bodyLink, cursor: "/x?k=topsecret&page=2") {
            $0.authentication = .apiKey(.init(name: "k", in: .query, value: .credential("t")))
        }
        #expect(facts.cursor == "https://a.example/x?page=2")
    }

    // The link of the header is no part of it, whether the header comes with the answer or not.
    @Test(arguments: [[:], ["Link": "</h>; rel=next"]] as [HTTPHeaders])
    func anUnmodifiedPageLeadsOnByTheLinkInItsBody(headers: HTTPHeaders) async throws {
        let pagination = PaginationConfiguration(Self.bodyLink), (page, settings) = try await unmodified(headers)
        let next = "https://a.example/v1/items?page=2"
        var known = PageFacts(records: 5, digest: BodyDigest(of: "a"), cursor: next)
        known.nextLink = headers.isEmpty ? nil : "https://a.example/h"
        #expect(known.renewed(by: page, pagination: pagination, settings: settings)?.cursor == next)
    }

    // It may be allowed now, or be allowed no more.
    @Test func anUnmodifiedPageWhoseLinkIsRefusedIsReadAgain() async throws {
        let pagination = PaginationConfiguration(Self.bodyLink), (page, settings) = try await unmodified([:])
        var refused = PageFacts(records: 5, digest: BodyDigest(of: "a"))
        refused.refusedLink = "leads to another origin"
        #expect(refused.renewed(by: page, pagination: pagination, settings: settings) == nil)
        let allowed = PageFacts(records: 5, digest: BodyDigest(of: "a"), cursor: "https://b.example/x")
        #expect(allowed.renewed(by: page, pagination: pagination, settings: settings) == nil)
    }

    // MARK: Cursors

    /// A page that is answered 304, with these headers.
    private func unmodified(_ headers: HTTPHeaders) async throws -> (UnmodifiedPage, FetchSettings) {
        let settings = try Fixture.settings("https://a.example/v1/items")
        let environment = FetchEnvironment(
            settings: settings, transport: StubTransport(.response(status: 304, headers: headers, body: [])), clock: ManualClock())
        let known = ConditionalGET(etag: "\"v1\"", lastModified: nil)
        let fetch = PageFetch(PageRequest(address: settings.first), validators: known, environment: environment)
        guard case .notModified(let page) = await fetch.run() else { throw Unexpected() }
        return (page, settings)
    }

    @Test(arguments: [([:], "5"), (["X-Next": "7"], "7"), (["X-Next": ""], nil)] as [(HTTPHeaders, String?)])
    func anUnmodifiedPageLeadsOnAsItsCursorSays(headers: HTTPHeaders, cursor: String?) async throws {
        let pagination = PaginationConfiguration(.cursor(.init(from: .header("X-Next"))))
        let (page, settings) = try await unmodified(headers)
        let full = PageFacts(records: 5, digest: BodyDigest(of: "a"), cursor: "5")
        #expect(full.renewed(by: page, pagination: pagination, settings: settings)?.cursor == cursor)
        // The last page leads on since then: it has to be read again.
        let last = PageFacts(records: 5, digest: BodyDigest(of: "a"))
        #expect((last.renewed(by: page, pagination: pagination, settings: settings) == nil) == (cursor == "7"))
    }

    @Test func cursorsComeFromTheHeaderOrTheBody() async throws {
        let header = PaginationConfiguration.Kind.cursor(.init(from: .header("X-Next")))
        #expect(try await facts(["X-Next": "abc"], kind: header, cursor: "ignored").cursor == "abc")
        #expect(try await facts(["X-Next": ""], kind: header).cursor == nil)
        let path = PaginationConfiguration.Kind.cursor(.init(from: .path(.root)))
        #expect(try await facts([:], kind: path, cursor: "xyz").cursor == "xyz")
        #expect(try await facts([:], kind: path, cursor: "").cursor == nil)
    }
}
