import Foundation
import NIOHTTP1
import SyncConfiguration
import SyncReports
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// What is told of exchanges, and what never is. // R10
@Suite(.serialized, .timeLimit(.minutes(60))) struct TracedExchangeTests: LoopbackTesting {
    /// Keeps what it hears.
    private final class Tracer: ExchangeTracing {
        private let heard = Mutex<[TracedExchange]>([])
        let isTracing: Bool

        init(isTracing: Bool = true) { self.isTracing = isTracing }

        var all: [TracedExchange] { heard.withLock { $0 } }

        func trace(_ exchange: TracedExchange) { heard.withLock { $0.append(exchange) } }
    }

    private static let secret = "top/Secret+key=1"
    private static let scope = ResourceScope(source: "api", resource: "items")

    /// Fetches a page, and has what goes over the wire told.
    private func fetch(
        _ url: String, _ transport: any HTTPTransport, to tracer: Tracer, _ change: (inout ResourceConfiguration) -> Void = { _ in }
    ) async throws -> FetchOutcome {
        let settings = try Fixture.settings(url, secrets: Fixture.secret(Self.secret)) {
            $0.retry.attempts = 1
            $0.http.waitLong()
            change(&$0)
        }
        var environment = FetchEnvironment(settings: settings, transport: transport, clock: SystemClock())
        environment.listener = ExchangeListener(tracer: tracer, scope: Self.scope)
        return await PageFetch(PageRequest(address: settings.first), environment: environment).run()
    }

    @Test func anExchangeIsToldWithWhatIsHarmless() async throws {
        let response = Fixture.response("[1, 2]", headers: [("ETag", "\"v1\""), ("X-Session", "abc"), ("Set-Cookie", "sid=1")])
        try await with({ _, _ in [.send(response), .close] }) { server, transport in
            let tracer = Tracer()
            guard case .page = try await fetch(server.url("/items?page=1"), transport, to: tracer) else { throw Unexpected() }
            let told = try #require(tracer.all.first)
            #expect(tracer.all.count == 1)
            #expect(told.scope == Self.scope && told.attempt == 1 && told.method == "GET" && told.sent == 0)
            #expect(told.address == server.url("/items?page=1") && told.status == 200 && told.received == 6 && told.error == nil)
            #expect(told.requestFields.contains { $0.name == "Accept-Encoding" && $0.value == "gzip" })
            #expect(told.responseFields.contains { $0.name == "ETag" && $0.value == "\"v1\"" })
            for name in ["X-Session", "Set-Cookie"] {
                #expect(told.responseFields.contains { $0.name == name && $0.value == "[redacted]" }, "\(name)")
            }
        }
    }

    @Test func whereNobodyLooksNothingIsTold() async throws {
        try await with({ _, _ in [.send(Fixture.response("[]")), .close] }) { server, transport in
            let tracer = Tracer(isTracing: false)
            guard case .page = try await fetch(server.url(), transport, to: tracer) else { throw Unexpected() }
            #expect(tracer.all.isEmpty)
        }
    }

    @Test func nothingThatIdentifiesARequestIsTold() async throws {
        let forms = [
            Self.secret, Self.secret.lowercased(), "top%2FSecret%2Bkey%3D1", "top/Secret%2Bkey%3D1", "top\\/Secret+key=1",
            Data(Self.secret.utf8).base64EncodedString(), Data("u:\(Self.secret)".utf8).base64EncodedString(),
        ]
        // A server that says again what it was sent, in harmless places, and fails.
        let echo: @Sendable (RawHTTPServer.Request, Int) -> [RawHTTPServer.Step] = { request, _ in
            let said = request.headers["authorization"] ?? request.headers["k"] ?? request.headers["cookie"] ?? ""
            // Nobody takes the connection for one that stays open: each request has one of its own.
            let headers = [
                ("Connection", "close"), ("ETag", "\"\(said)\""), ("Server", Self.secret), ("X-K", said), ("Location", request.target),
                ("Link", request.target),
            ]
            return [.send(Fixture.response("{\"said\": \"\(said)\"}", status: 400, headers: headers)), .close]
        }
        try await with(echo) { server, transport in
            for authentication in AuthenticationConfiguration.carrying(.credential("t")) {
                let tracer = Tracer(), before = server.requests.count
                _ = try await fetch(server.url("/items?page=1"), transport, to: tracer) { resource in
                    resource.authentication = authentication
                    resource.secretHeaders = [SecretField(name: "User-Agent", value: .secret(.credential("t")))]
                    resource.secretParameters = [SecretField(name: "q", value: .secret(.credential("t")))]
                    resource.headers = [HeaderField(name: "X-Api-Key-2", value: Self.secret)]
                }
                let requests = server.requests.dropFirst(before), text = tracer.all.map { "\($0)" }.joined(separator: "\n")
                #expect(requests.count == 1 && tracer.all.count == 1, "\(authentication)")
                for form in forms { #expect(!text.contains(form), "\(form) of \(authentication) in \(text)") }
                for request in requests {
                    // Signatures and nonces are no secrets that were configured.
                    for name in ["authorization", "k", "cookie", "x-nonce", "x-time"] {
                        if let value = request.headers[name] { #expect(!text.contains(value), "\(name) of \(authentication)") }
                    }
                    let value = try HTTPAddress(server.url(request.target)).parameter("k")
                    if let value { #expect(!text.contains(value), "k of \(authentication)") }
                }
            }
        }
    }

    @Test func eachAttemptIsTold() async throws {
        try await with({ _, number in [.send(Fixture.response("[]", status: number == 0 ? 500 : 200)), .close] }) { server, transport in
            let tracer = Tracer()
            let outcome = try await fetch(server.url(), transport, to: tracer) { resource in
                resource.retry.attempts = 2
                resource.retry.base = .milliseconds(1)
            }
            guard case .page = outcome else { throw Unexpected() }
            #expect(tracer.all.map(\.status) == [500, 200] && tracer.all.map(\.attempt) == [1, 2])
        }
    }

    @Test func eachHopIsToldAndWhyTheLastOneFailed() async throws {
        let redirect = Array("HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n".utf8)
        let cut = Array("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n[1".utf8)
        try await with({ request, _ in request.target == "/next" ? [.send(cut), .close] : [.send(redirect), .keepAlive] }) { server, transport in
            let tracer = Tracer()
            let outcome = try await fetch(server.url("/first"), transport, to: tracer)
            #expect(outcome.error?.kind == .shortBody)
            let told = tracer.all
            #expect(told.map(\.status) == [302, 200])
            #expect(told.map(\.address) == [server.url("/first"), server.url("/next")])
            #expect(told.first?.error == nil && told.last?.error != nil)
        }
    }

    @Test func aRunTellsEachRequestAndWhatItWasFor() async throws {
        let tracer = Tracer()
        let fixture = try await PipelineFixture(ScriptedAPI.people("pages = { kind = \"page\" }"), tracer: tracer) { request, _ in
            TokenFixture.ok(request.address.parameter("page") == "1" ? #"[{"id": 1}]"# : "[]")
        }
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        #expect(tracer.all.count == fixture.transport.requests.count && tracer.all.count >= 2)
        #expect(Set(tracer.all.map { "\($0.scope)" }) == Set(fixture.reports.map { "\($0.scope)" }))
        try await fixture.end()
    }
}
