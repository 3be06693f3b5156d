import NIOCore
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Heads that the client under the transport cannot take: what a server sends must never be able to end the process.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ResponseHeadCheckTests: LoopbackTesting {
    private typealias Step = RawHTTPServer.Step

    /// What follows a status line.
    private static let rests = [
        "\r\n", "Content-Length: 0\r\n\r\n", "Content-Length: 2\r\n\r\n[]", "Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n",
        "Connection: upgrade\r\nUpgrade: h2c\r\n\r\n[]",
    ]

    // N8
    @Test(arguments: rests.indices) func everyStatusIsAnAnswerOrAnError(rest: Int) async throws {
        let script: @Sendable (RawHTTPServer.Request, Int) -> [Step] = { request, _ in
            [.send(Array("HTTP/1.1 \(request.target.dropFirst()) Status\r\nContent-Type: application/json\r\n\(Self.rests[rest])".utf8)), .close]
        }
        try await with(script) { server, transport in
            for status in 0...999 {
                let digits = String(repeating: "0", count: 3 - "\(status)".count) + "\(status)"
                let outcome = try await fetch(server.url("/\(digits)"), transport)
                if status < 100 || status == 101 { #expect(outcome.error?.kind == .malformed, "\(digits): \(outcome)") }
                if !(200..<300).contains(status) { #expect(outcome.error != nil, "\(digits)") }
            }
        }
    }

    @Test func interimResponsesAreSkippedUpToALimit() async throws {
        let script: @Sendable (RawHTTPServer.Request, Int) -> [Step] = { request, _ in
            let count = Int(request.target.dropFirst()) ?? 0
            let interim = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n", count: count)
            return [.send(Array(interim.utf8) + Fixture.response("[1]")), .keepAlive]
        }
        try await with(script) { server, transport in
            // Twice, because the count begins anew with each answer of a connection.
            for _ in 0..<2 {
                guard case .page = try await fetch(server.url("/\(ResponseHeadCheck.mostInterimHeads)"), transport) else { throw Unexpected() }
            }
            #expect(server.connectionCount == 1)
            let outcome = try await fetch(server.url("/\(ResponseHeadCheck.mostInterimHeads + 1)"), transport)
            #expect(outcome.error?.kind == .malformed)
            await server.allConnectionsClosed()
        }
    }

    @Test(arguments: ["100 Continue", "102 Processing", "103 Early Hints", "199 Other"])
    func endlessInterimResponsesAreRefused(line: String) async throws {
        let interim = Array("HTTP/1.1 \(line)\r\n\r\n".utf8)
        try await with({ _, _ in [.flood(interim)] }) { server, transport in
            let outcome = try await fetch(server.url(), transport)
            #expect(outcome.error?.kind == .malformed)
            await server.allConnectionsClosed()
        }
    }

    /// Sequences that the client's state machine has a trap for, or that come close to one. Each is followed by an exchange that must work.
    @Test(arguments: [
        // More answers than questions: at once, later, interim ones.
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]HTTP/1.1 099 Nothing\r\nContent-Length: 2\r\n\r\n[]",
        "HTTP/1.1 204 None\r\nContent-Length: 2\r\n\r\n[]", "HTTP/1.1 304 Same\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]garbage", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n[]HTTP/1.1 0",
        // An interim head with a body, with trailers, of another version, with the end of the connection.
        "HTTP/1.1 100 Continue\r\nContent-Length: 2\r\n\r\n[]", "HTTP/1.1 100 Continue\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n",
        "HTTP/1.0 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\n\r\n[]", "HTTP/1.1 100 Continue\r\nConnection: close\r\n\r\nHTTP/1.1 099 x\r\n\r\n[]",
        // Another protocol, asked for by nobody.
        "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\u{1}\u{2}",
        "HTTP/1.1 101 Switching\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        // Versions and numbers there are none of.
        "HTTP/0.9 200 OK\r\n\r\n[]", "HTTP/2.0 200 OK\r\n\r\n[]", "HTTP/9.9 099 OK\r\n\r\n[]", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 1000 OK\r\n\r\n",
        "HTTP/1.1 -01 OK\r\n\r\n", "HTTP/1.1  OK\r\n\r\n", "HTTP/1.1 99999999999999999999 OK\r\n\r\n", "HTTP/1.1 000\r\n\r\n", "HTTP/1.1\r\n\r\n",
        // Fields without names, without values, folded; trailers; an end in their middle.
        "HTTP/1.1 200 OK\r\nX:\r\nY: \r\n\r\n[]", "HTTP/1.1 200 OK\r\n: x\r\n\r\n[]", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n[]",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA:\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTrailer-without-end",
    ])
    func noSequenceOfAnswersIsATrap(text: String) async throws {
        let healthy = Fixture.response("[1]")
        for end in [Step.close, .keepAlive, .reset] {
            try await with({ request, _ in request.target == "/good" ? [.send(healthy), .close] : [.send(Array(text.utf8)), end] }) {
                server, transport in
                for _ in 0..<3 {
                    _ = try await fetch(server.url("/bad"), transport) {
                        $0.http.connectTimeout = .milliseconds(50)
                        $0.http.firstByteTimeout = .milliseconds(50)
                        $0.http.idleTimeout = .milliseconds(100)
                    }
                }
                // On a connection of its own: what the bad one left on its connection may answer this one.
                var options = TransportOptions.test
                options.connectionsPerHost = 1
                let other = try await AsyncHTTPClientTransport(options)
                guard case .page = try await fetch(server.url("/good"), other) else { throw Unexpected() }
                await other.shutdown()
            }
        }
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 000 x\r\n\r\n", "x"])
    func anAnswerBeforeTheQuestionIsNoTrap(greeting: String) async throws {
        let server = try await RawHTTPServer(greeting: Array(greeting.utf8)) { _, _ in [.send(Fixture.response("[1]")), .keepAlive] }
        let transport = try await AsyncHTTPClientTransport(.test)
        for _ in 0..<20 { _ = try await fetch(server.url(), transport) }
        await transport.shutdown()
        await server.shutdown()
    }
}
