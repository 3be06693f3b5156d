import Foundation
import NIOHTTP1
import Secrets
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// How POSTs are judged, made again and led elsewhere.
@Suite(.timeLimit(.minutes(60))) struct PostFetchTests: LoopbackTesting {
    private static let url = "https://a.example/search"
    private static let body = RequestBody.json(.object([.init("q", .text("a"))]))

    /// A fetch with no waits between its attempts.
    private func fetch(
        _ transport: StubTransport, validators: ConditionalGET? = nil, _ change: (inout ResourceConfiguration) -> Void = { _ in }
    ) throws -> PageFetch {
        let settings = try Fixture.settings(Self.url) {
            $0.method = .post
            $0.body = Self.body
            change(&$0)
        }
        return PageFetch(
            PageRequest(method: .post, address: settings.first, body: Self.body), validators: validators, recognisesUnmodified: validators != nil,
            environment: FetchEnvironment(settings: settings, transport: transport, clock: ManualClock(), random: RandomSource { 0 }))
    }

    private static let ok = StubTransport.Answer.response(
        status: 200, headers: ["Content-Type": "application/json", "ETag": "\"v1\"", "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"],
        body: Array("[1]".utf8))

    // MARK: Conditions

    @Test func noConditionsGoWithAPOST() async throws {
        let known = ConditionalGET(etag: "\"v1\"", lastModified: "Mon, 01 Jan 2024 00:00:00 GMT")
        let transport = StubTransport(Self.ok)
        guard case .page(let page) = await (try fetch(transport, validators: known)).run() else { throw Unexpected() }
        #expect(transport.requests[0].headers["If-None-Match"] == [] && transport.requests[0].headers["If-Modified-Since"] == [])
        // What comes with the answer is not kept either.
        #expect(page.validators == ConditionalGET(etag: nil, lastModified: nil, bodyDigest: page.content.digest))
        let refused = await (try fetch(StubTransport(.response(status: 304)), validators: known)).run()
        #expect(refused.error?.kind == .refused(.unexpectedStatus(304)))
    }

    @Test func aPOSTsPageIsKnownByItsContent() async throws {
        let known = try ConditionalGET(etag: nil, lastModified: nil, bodyDigest: Fixture.content(Array("[1]".utf8)).digest)
        guard case .notModified(let page) = await (try fetch(StubTransport(Self.ok), validators: known)).run() else { throw Unexpected() }
        #expect(page.evidence == .body)
        let other = ConditionalGET(etag: nil, lastModified: nil, bodyDigest: BodyDigest(of: "other"))
        guard case .page = await (try fetch(StubTransport(Self.ok), validators: other)).run() else { throw Unexpected() }
    }

    // MARK: Attempts

    private static let mayHaveArrived: [StubTransport.Answer] = [
        .failure(FetchError(.reset)), .failure(FetchError(.timeout(.firstByte))), .failure(FetchError(.shortBody)), .response(status: 503),
    ]

    @Test(arguments: mayHaveArrived.indices) func aPOSTThatMayHaveArrivedIsMadeAgainOnlyWhereThatIsSaid(number: Int) async throws {
        let transport = StubTransport(Self.mayHaveArrived[number], Self.ok)
        guard case .failed = await (try fetch(transport)).run() else { throw Unexpected() }
        #expect(transport.requests.count == 1)
        let again = StubTransport(Self.mayHaveArrived[number], Self.ok)
        guard case .page(let page) = await (try fetch(again) { $0.isIdempotent = true }).run() else { throw Unexpected() }
        #expect(page.attempts == 2 && again.requests.map { $0.body?.revealed() } == Array(repeating: #"{"q":"a"}"#, count: 2))
        // Whoever repeats nothing repeats no POST.
        let never = StubTransport(Self.mayHaveArrived[number], Self.ok)
        guard case .failed = await (try fetch(never) { ($0.isIdempotent, $0.retry.methods) = (true, [.head]) }).run() else { throw Unexpected() }
    }

    @Test(arguments: [FetchError.Kind.connect, .timeout(.connect), .dnsTemporary]) func aPOSTOfWhichNothingWasSentIsMadeAgain(kind: FetchError.Kind)
        async throws
    {
        let transport = StubTransport(.failure(FetchError(kind)), Self.ok)
        guard case .page(let page) = await (try fetch(transport)).run() else { throw Unexpected() }
        #expect(page.attempts == 2)
        guard case .failed = await (try fetch(StubTransport(.failure(FetchError(kind)), Self.ok)) { $0.retry.methods = [] }).run() else {
            throw Unexpected()
        }
    }

    // The request before it was answered: by a server that may have done something.
    @Test(arguments: [FetchError.Kind.connect, .timeout(.connect), .dnsTemporary])
    func aPOSTThatWasLedToWhereNobodyIsIsNotMadeAgain(kind: FetchError.Kind) async throws {
        let moved = StubTransport.Answer.response(status: 307, headers: ["Location": "/v2/search"])
        let transport = StubTransport(moved, .failure(FetchError(kind)), Self.ok)
        guard case .failed(let error) = await (try fetch(transport)).run() else { throw Unexpected() }
        #expect(error.kind == kind && error.attempts == 1 && transport.requests.count == 2)
        let again = StubTransport(moved, .failure(FetchError(kind)), Self.ok)
        guard case .page(let page) = await (try fetch(again) { $0.isIdempotent = true }).run() else { throw Unexpected() }
        #expect(page.attempts == 2 && again.requests.count == 3)
    }

    @Test func aPOSTWhoseTokenHasEndedIsMadeOnceMore() async throws {
        let settings = try Fixture.settings(Self.url, secrets: Fixture.secret("topsecret")) {
            ($0.method, $0.body) = (.post, Self.body)
            $0.authentication = .oauth2(TokenFixture.client)
        }
        let transport = StubTransport(Self.ok, .response(status: 401), Self.ok, .response(status: 401))
        let fetch = PageFetch(
            PageRequest(method: .post, address: settings.first, body: Self.body),
            environment: FetchEnvironment(settings: settings, transport: transport, clock: ManualClock()))
        for count in [1, 3] {
            guard case .page = await fetch.run() else { throw Unexpected() }
            #expect(transport.requests.count == count)
        }
        #expect(transport.requests.map { $0.body?.revealed() } == Array(repeating: #"{"q":"a"}"#, count: 3))
        guard case .authenticationRejected = await fetch.run() else { throw Unexpected() }
        #expect(transport.requests.count == 5)
    }

    @Test func aPOSTThatIsNotMadeAgainStillObeysTheServer() async throws {
        let transport = StubTransport(.response(status: 429, headers: ["Retry-After": "10"]))
        guard case .failed(let error) = await (try fetch(transport)).run() else { throw Unexpected() }
        #expect(error.notBefore != nil && transport.requests.count == 1)
    }

    // MARK: Redirects

    @Test(arguments: [307, 308]) func aRedirectThatKeepsThePOSTKeepsItsBody(status: Int) async throws {
        let transport = StubTransport(.response(status: status, headers: ["Location": "/v2/search"]), Self.ok)
        guard case .page(let page) = await (try fetch(transport)).run() else { throw Unexpected() }
        #expect(page.address.description == "https://a.example/v2/search")
        #expect(transport.requests.map(\.method) == [.post, .post])
        #expect(transport.requests[1].body?.revealed() == transport.requests[0].body?.revealed())
        #expect(transport.requests[1].headers["Content-Type"] == ["application/json"])
    }

    @Test(arguments: [301, 302, 303]) func aRedirectThatWouldMakeAGETIsRefused(status: Int) async throws {
        let transport = StubTransport(.response(status: status, headers: ["Location": "/v2/search"]), Self.ok)
        guard case .refused(let error) = await (try fetch(transport)).run() else { throw Unexpected() }
        #expect(error.kind == .refused(.redirectOfPOST(status)) && transport.requests.count == 1)
        #expect("\(error)".contains("would make a GET of a POST"), "\(error)")
    }

    @Test(arguments: [HTTPConfiguration.Reach.any, .sameOrigin])
    func whatAPOSTSendsStaysWithItsOrigin(reach: HTTPConfiguration.Reach) async throws {
        let moved = StubTransport.Answer.response(status: 307, headers: ["Location": "https://b.example/search"])
        let transport = StubTransport(moved, Self.ok), other = try HTTPAddress("https://b.example/").origin
        guard case .refused(let error) = await (try fetch(transport) { $0.http.redirects = reach }).run() else { throw Unexpected() }
        #expect(error.kind == .refused(.contentForOtherOrigin(other)) && transport.requests.count == 1)
        #expect("\(error)".contains("leads to another origin, https://b.example, and what the request sends is not for that"), "\(error)")
    }

    @Test func aPOSTThatSendsNothingMayBeLedToAnotherOrigin() async throws {
        let settings = try Fixture.settings(Self.url) { ($0.method, $0.http.redirects) = (.post, .any) }
        let transport = StubTransport(.response(status: 307, headers: ["Location": "https://b.example/search"]), Self.ok)
        let fetch = PageFetch(
            PageRequest(method: .post, address: settings.first),
            environment: FetchEnvironment(settings: settings, transport: transport, clock: ManualClock()))
        guard case .page = await fetch.run() else { throw Unexpected() }
        #expect(transport.requests.map(\.address.origin.host) == ["a.example", "b.example"])
    }

    // MARK: Over the wire

    @Test func aBodyComesOverTheWireWithItsLength() async throws {
        let moved = Array("HTTP/1.1 307 Moved\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n".utf8)
        try await with({ request, _ in [.send(request.target == "/here" ? moved : Fixture.response("[]")), .keepAlive] }) { server, transport in
            let long = String(repeating: "ü", count: 100_000),
                bodies: [RequestBody?] = [
                    Self.body, .form([.init(name: "q", value: "a b")]), .json(.object([.init("q", .text(long))])), nil,
                ]
            for body in bodies {
                let settings = try Fixture.settings(server.url("/here")) { $0.http.waitLong() }
                let environment = FetchEnvironment(settings: settings, transport: transport, clock: SystemClock())
                let request = PageRequest(method: .post, address: settings.first, body: body)
                guard case .page = await PageFetch(request, environment: environment).run() else { throw Unexpected() }
            }
            let requests = server.requests
            #expect(requests.map(\.method) == Array(repeating: "POST", count: 8))
            #expect(requests.map(\.target) == Array(repeating: ["/here", "/there"], count: 4).flatMap { $0 })
            for (index, body) in bodies.enumerated() {
                let content = RequestContent(body)
                for request in requests[2 * index...2 * index + 1] {
                    #expect(request.body == content.bytes)
                    #expect(request.headers["content-length"] == "\(content.bytes.count)")
                    #expect(request.headers["content-type"] == (content.isEmpty ? nil : content.mediaType))
                    #expect(request.headers["transfer-encoding"] == nil)
                }
            }
            #expect(server.connectionCount == 1)
        }
    }
}
