import Foundation
import NIOCore
import NIOHTTP1
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// The real transport against servers that break the rules, over real sockets.
@Suite(.serialized, .timeLimit(.minutes(60))) struct LoopbackTests: LoopbackTesting {
    // MARK: Plain exchanges

    @Test func aPageComesOverTheWire() async throws {
        let body = "[{\"id\": 1}]"
        let response = Fixture.response(body, headers: [("ETag", "\"v1\"")])
        try await with({ _, _ in [.send(response), .keepAlive] }) { server, transport in
            for _ in 0..<3 {
                guard case .page(let page) = try await fetch(server.url("/items?x=1"), transport) else { throw Unexpected() }
                #expect(try page.content.digest == Fixture.content(Array(body.utf8)).digest)
                #expect(page.validators?.etag == "\"v1\"")
            }
            #expect(server.requests.map(\.line) == Array(repeating: "GET /items?x=1 HTTP/1.1", count: 3))
            #expect(server.connectionCount == 1)
            #expect(server.requests[0].headers["host"] == "127.0.0.1:\(server.port)")
            #expect(server.requests[0].headers["accept-encoding"] == "gzip")
        }
    }

    @Test(arguments: [HTTPConfiguration.Cookies.run, .off]) func cookiesGoBackUnlessTheyAreOff(kept: HTTPConfiguration.Cookies) async throws {
        let jar = RunCookies(), response = Fixture.response("[]", headers: [("Set-Cookie", "sid=1; Path=/")])
        try await with({ _, _ in [.send(response), .keepAlive] }) { server, transport in
            for _ in 0..<2 {
                guard case .page = try await fetch(server.url(), transport, cookies: jar, { $0.http.cookies = kept }) else { throw Unexpected() }
            }
            #expect(server.requests.map { $0.headers["cookie"] } == [nil, kept == .run ? "sid=1" : nil])
        }
    }

    @Test func withoutCompressionTheBodyIsAskedForAsItIsAndMayBeCompressedNevertheless() async throws {
        let body = "[{\"id\": 1}]", packed = Fixture.gzip(Array(body.utf8))
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
        try await with({ _, _ in [.send(Array(head.utf8) + packed), .keepAlive] }) { server, transport in
            let outcome = try await fetch(server.url(), transport) { $0.http.acceptEncoding = [] }
            guard case .page(let page) = outcome else { throw Unexpected() }
            #expect(try page.content.digest == Fixture.content(Array(body.utf8)).digest)
            #expect(server.requests[0].headers["accept-encoding"] == "identity")
        }
    }

    @Test func gzipAndChunksAreTakenApart() async throws {
        let text = Array("[\(String(repeating: "1234567890,", count: 20_000))0]".utf8)
        let packed = Fixture.gzip(text)
        var chunked = Array(head("Content-Encoding: gzip", "Transfer-Encoding: chunked").utf8)
        for start in stride(from: 0, to: packed.count, by: 100) {
            let chunk = packed[start..<min(start + 100, packed.count)]
            chunked += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
        }
        chunked += Array("0\r\n\r\n".utf8)
        try await with({ [chunked] _, _ in [.send(chunked), .keepAlive] }) { server, transport in
            guard case .page(let page) = try await fetch(server.url(), transport) else { throw Unexpected() }
            #expect(try page.content.digest == Fixture.content(text).digest)
            #expect(page.received == packed.count)
        }
    }

    @Test func conditionsGoOverTheWireByteForByte() async throws {
        try await with({ _, _ in [.send(Array("HTTP/1.1 304 Not Modified\r\nETag: W/\"ü \"\r\n\r\n".utf8)), .keepAlive] }) { server, transport in
            let known = ConditionalGET(etag: "W/\"ü \"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
            for _ in 0..<2 {
                guard case .notModified = try await fetch(server.url(), transport, validators: known) else { throw Unexpected() }
            }
            #expect(server.requests[1].headers["if-none-match"] == "W/\"ü \"")
            #expect(server.requests[1].headers["if-modified-since"] == "Sun, 06 Nov 1994 08:49:37 GMT")
            #expect(server.connectionCount == 1)
        }
    }

    // MARK: Slowness

    // N2
    @Test func aSlowBodyEndsInTime() async throws {
        let body = Array(repeating: UInt8(ascii: " "), count: 100_000)
        let start = Array(head("Content-Length: \(body.count)").utf8)
        try await with({ _, _ in [.send(start), .drip(body, every: .milliseconds(50))] }) { server, transport in
            for (expected, change) in [
                (FetchError.Limit.total, { (http: inout HTTPConfiguration) in http.totalTimeout = .milliseconds(600) }),
                (.speed, { $0.minSpeed = MinimumSpeed(perSecond: .bytes(1000), over: .milliseconds(400)) }),
                (.idle, { $0.idleTimeout = .milliseconds(20) }),
            ] {
                let outcome = try await fetch(server.url(), transport) { change(&$0.http) }
                #expect(outcome.error?.kind == .timeout(expected))
            }
            await server.allConnectionsClosed()
        }
    }

    // N2
    @Test func aHeadThatNeverEndsEndsInTime() async throws {
        let endless = Array("HTTP/1.1 200 OK\r\nX-Slow: ".utf8) + Array(repeating: UInt8(ascii: "x"), count: 100_000)
        try await with({ request, _ in request.target == "/hang" ? [.hang] : [.drip(endless, every: .milliseconds(20))] }) { server, transport in
            for path in ["/hang", "/drip"] {
                let outcome = try await fetch(server.url(path), transport) {
                    $0.http.connectTimeout = .milliseconds(100)
                    $0.http.firstByteTimeout = .milliseconds(300)
                }
                #expect(outcome.error?.kind == .timeout(.firstByte), "\(path)")
            }
            await server.allConnectionsClosed()
        }
    }

    // N2
    @Test func aConnectionClosedUnderUsIsRetried() async throws {
        let response = Fixture.response("[1]")
        try await with({ _, index in index == 1 ? [.reset] : [.send(response), .keepAlive] }) { server, transport in
            guard case .page = try await fetch(server.url(), transport) else { throw Unexpected() }
            let outcome = try await fetch(server.url(), transport) {
                $0.retry.attempts = 2
                $0.retry.base = .milliseconds(1)
            }
            guard case .page(let page) = outcome else { throw Unexpected() }
            #expect(page.attempts == 2)
        }
    }

    @Test func cancellingClosesTheConnection() async throws {
        let start = Array(head("Content-Length: 1000").utf8)
        try await with({ request, _ in request.target == "/body" ? [.send(start), .hang] : [.hang] }) { server, transport in
            for (index, path) in ["/head", "/body"].enumerated() {
                let url = server.url(path)
                let task = Task { try await fetch(url, transport) }
                await server.requests(atLeast: index + 1)
                task.cancel()
                guard case .cancelled = try await task.value else { throw Unexpected() }
                await server.allConnectionsClosed()
            }
        }
    }

    // MARK: Framing

    // N3
    @Test(arguments: [
        ("Content-Length: 3", "[1, 2]"), ("Content-Length: 3\r\nContent-Length: 6", "[1, 2]"), ("Content-Length: -6", "[1, 2]"),
        ("Content-Length: 6\r\nTransfer-Encoding: chunked", "[1, 2]"), ("Transfer-Encoding: chunked", "zz\r\n[1, 2]\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", "ffffffffffffffffff\r\n"), ("Transfer-Encoding: chunked", "6\r\n[1, 2]xx0\r\n\r\n"),
    ])
    func framingThatLiesIsNoPage(fields: String, body: String) async throws {
        let response = Array((head(fields) + body).utf8)
        try await with({ _, _ in [.send(response), .close] }) { server, transport in
            let outcome = try await fetch(server.url(), transport)
            if case .page(let page) = outcome {
                // A body that is longer than announced ends where it was announced to.
                #expect(fields == "Content-Length: 3")
                #expect(try page.content.digest == Fixture.content(Array("[1,".utf8)).digest)
            } else {
                #expect(outcome.error != nil)
            }
        }
    }

    @Test func whatIsNotHTTPIsMalformed() async throws {
        try await with({ _, _ in [.send(Array("SSH-2.0-OpenSSH_9.2\r\n\r\n".utf8)), .close] }) { server, transport in
            let outcome = try await fetch(server.url(), transport)
            #expect(outcome.error?.kind == .malformed)
        }
    }

    // MARK: Redirects

    // N4, R10
    @Test func noCredentialReachesASecondServer() async throws {
        // It keeps its connections: a request on one that is just being closed gets no answer.
        let second = try await RawHTTPServer(.send(Fixture.response("[]")), .keepAlive)
        let target = second.url("/items")
        let redirect = Array("HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n".utf8)
        try await with({ _, _ in [.send(redirect), .keepAlive] }) { server, transport in
            let kinds = AuthenticationConfiguration.carrying(.credential("t"))
            for authentication in kinds {
                let outcome = try await fetch(server.url(), transport, cookies: RunCookies(), secrets: Fixture.secret("topsecret")) {
                    $0.authentication = authentication
                    $0.http.redirects = .any
                    $0.headers = [HeaderField(name: "X-Api-Key-2", value: "topsecret")]
                }
                guard case .page(let page) = outcome else { throw Unexpected() }
                #expect(page.address.description == target)
            }
            #expect(server.requests.allSatisfy { $0.headers.values.contains { $0.contains("topsecret") } })
            #expect(second.requests.count == kinds.count)
            #expect(second.requests.allSatisfy { !"\($0.headers)\($0.line)".contains("topsecret") })
            let refused = try await fetch(server.url(), transport)
            let other = try HTTPAddress(target).origin
            #expect(refused.error?.kind == .refused(.otherOrigin(other)))
        }
        await second.shutdown()
    }

    // N4
    @Test func hopsAreCountedAndBadOnesRefused() async throws {
        let script: @Sendable (RawHTTPServer.Request, Int) -> [RawHTTPServer.Step] = { request, _ in
            let hops = request.target.split(separator: "/").last.flatMap { Int($0) }
            let location: String?
            switch (request.target.split(separator: "/").first ?? "", hops) {
            case ("hops", 0?): return [.send(Fixture.response("[]")), .keepAlive]
            case ("hops", let hops?): location = "/hops/\(hops - 1)"
            case ("loop", _): location = request.target == "/loop/a" ? "/loop/b" : "/loop/a"
            case ("file", _): location = "file:///etc/passwd"
            case ("gopher", _): location = "gopher://127.0.0.1/"
            case ("user", _): location = "http://u:p@127.0.0.1/"
            case ("empty", _): location = ""
            case ("zone", _): location = "http://[fe80::1%25lo]/"
            default: location = nil
            }
            let field = location.map { "Location: \($0)\r\n" } ?? ""
            return [.send(Array("HTTP/1.1 307 Moved\r\n\(field)Content-Length: 2\r\n\r\n..".utf8)), .keepAlive]
        }
        try await with(script) { server, transport in
            guard case .page(let page) = try await fetch(server.url("/hops/3"), transport) else { throw Unexpected() }
            #expect(page.address.url.path == "/hops/0")
            for hops in [4, 11] {
                #expect(try await fetch(server.url("/hops/\(hops)"), transport).error?.kind == .refused(.tooManyRedirects(3)))
            }
            for (path, refusal) in [
                ("/loop/a", Refusal.redirectLoop), ("/file/", .scheme("file")), ("/gopher/", .scheme("gopher")),
                ("/user/", .userInformation), ("/empty/", .emptyAddress), ("/none/", .missingLocation),
            ] {
                #expect(try await fetch(server.url(path), transport).error?.kind == .refused(refusal), "\(path)")
            }
            guard case .refused = try await fetch(server.url("/zone/"), transport) else { throw Unexpected() }
            #expect(server.connectionCount == 1)
        }
    }

    // MARK: Addresses

    // N5
    @Test func aNameThatLeadsToThisMachineIsRefusedBeforeAnyRequest() async throws {
        var options = TransportOptions.test
        options.allowsPrivateNetworks = false
        let response = Fixture.response("[]")
        try await with({ _, _ in [.send(response), .keepAlive] }, options: options) { server, transport in
            // The name is judged by no one before the connection stands; the transport looks at the address it leads to.
            for host in ["localhost", "127.0.0.1", "2130706433", "0x7f.1"] {
                let request = HTTPRequest(address: try HTTPAddress("http://\(host):\(server.port)/"), headers: [:])
                let error = await #expect(throws: FetchError.self) { _ = try await transport.send(request) }
                #expect(error?.kind == .refused(.privateAddress("127.0.0.1")), "\(host)")
            }
            #expect(server.requests.isEmpty)
            await server.connections(atLeast: 4)
            await server.allConnectionsClosed()
        }
    }

    // N5
    @Test func addressesInPlainSightAreRefusedWithoutAConnection() async throws {
        let response = Fixture.response("[]")
        try await with({ _, _ in [.send(response), .keepAlive] }) { server, transport in
            for url in [server.url(), "http://localhost:\(server.port)/", "http://0177.0.0.1:\(server.port)/"] {
                guard case .refused(let error) = try await fetch(url, transport, { $0.http.allowPrivateNetworks = .refuse }),
                    case .refused(.privateAddress) = error.kind
                else { throw Unexpected() }
            }
            #expect(server.connectionCount == 0)
            // auto: the configured address names the machine itself, so it is meant.
            guard case .page = try await fetch(server.url(), transport) else { throw Unexpected() }
        }
    }

    // MARK: Connecting

    @Test func aRefusedConnectionIsNamed() async throws {
        let server = try await RawHTTPServer(.close)
        let url = server.url()
        await server.shutdown()
        let transport = try await AsyncHTTPClientTransport(.test)
        #expect(try await fetch(url, transport).error?.kind == .connect)
        await transport.shutdown()
    }

    // N7
    @Test func aNameThatDoesNotExistIsNamed() async throws {
        let transport = try await AsyncHTTPClientTransport(.test)
        let kind = try await fetch("http://cistern-does-not-exist.invalid/", transport) { $0.http.allowPrivateNetworks = .allow }.error?.kind
        // Without a resolver the machine cannot tell that a name does not exist.
        #expect(kind == .dnsNotFound || kind == .dnsTemporary)
        await transport.shutdown()
    }

    // N6
    @Test func plainTextWhereTLSIsExpectedIsNamed() async throws {
        let server = try await RawHTTPServer(greeting: Array("220 mail.example ready\r\n".utf8))
        let transport = try await AsyncHTTPClientTransport(.test)
        #expect(try await fetch("https://127.0.0.1:\(server.port)/", transport).error?.kind == .tls)
        await transport.shutdown()
        await server.shutdown()
    }

    @Test func aServerThatNeverAgreesOnTLSTimesOut() async throws {
        var options = TransportOptions.test
        options.connectTimeout = .milliseconds(300)
        // A TLS greeting has no empty line in it, so the server just waits.
        try await with({ _, _ in [.hang] }, options: options) { server, transport in
            let outcome = try await fetch("https://127.0.0.1:\(server.port)/", transport)
            #expect(outcome.error?.kind == .timeout(.connect))
        }
    }
}
