import Foundation
import SyncConfiguration
import SyncTestSupport
import TestTraits
import Testing

@testable import SyncPipeline

/// Responses that are small on the wire, or never end, and would fill the memory. Each test is a process of its own, so that the memory is that of
/// its exchanges alone.
@Suite(.timeLimit(.minutes(60))) struct BombTests: LoopbackTesting {
    // N3
    @Test(.longProcess) func bombsAreRefusedEarlyAndWithoutMemory() async {
        await #expect(processExitsWith: .success) { try await BombTests().fetchBombs() }
    }

    private func fetchBombs() async throws {
        let gzip = head("Content-Encoding: gzip")
        let bomb = Fixture.bomb(of: 256 << 20)
        let double = Fixture.gzip(bomb)
        let plain = head()
        let script: @Sendable (RawHTTPServer.Request, Int) -> [RawHTTPServer.Step] = { request, _ in
            switch request.target {
            case "/ratio": [.send(Array(gzip.utf8) + bomb), .close]
            case "/twice": [.send(Array(gzip.utf8) + double), .close]
            case "/named-twice": [.send(Array(head("Content-Encoding: gzip, gzip").utf8) + double), .close]
            case "/members": [.send(Array(gzip.utf8)), .flood(Fixture.gzip([]))]
            case "/endless": [.send(Array(plain.utf8)), .flood(Array(repeating: UInt8(ascii: " "), count: 65_536))]
            case "/announced": [.send(Array(head("Content-Length: 2147483648").utf8)), .hang]
            case "/headers": [.send(Array("HTTP/1.1 200 OK\r\n".utf8)), .flood(Array("X-A: b\r\n".utf8))]
            case "/header": [.send(Array("HTTP/1.1 200 OK\r\nX-A: ".utf8)), .flood(Array(repeating: UInt8(ascii: "x"), count: 65_536))]
            case "/trailers":
                [.send(Array((head("Transfer-Encoding: chunked") + "2\r\n[]\r\n0\r\n").utf8)), .flood(Array("X-A: b\r\n".utf8))]
            case "/chunks":
                [.send(Array(head("Transfer-Encoding: chunked").utf8)), .flood(Array(String(repeating: "1\r\n \r\n", count: 10_000).utf8))]
            default: [.close]
            }
        }
        let expected: [(String, [FetchError.Kind])] = [
            ("/ratio", [.tooLarge(.ratio)]), ("/named-twice", [.refused(.contentEncoding("gzip, gzip"))]),
            ("/members", [.tooLarge(.gzipMembers)]), ("/endless", [.tooLarge(.compressedBody)]),
            ("/announced", [.tooLarge(.compressedBody)]), ("/headers", [.tooLarge(.header)]), ("/header", [.tooLarge(.header)]),
            ("/trailers", [.tooLarge(.header), .malformed, .shortBody]), ("/chunks", [.tooLarge(.compressedBody)]),
        ]
        try await with(script) { server, transport in
            let before = Fixture.peakMemory()
            for (path, kinds) in expected {
                let outcome = try await fetch(server.url(path), transport) {
                    // One byte at a time takes long enough for a part of the cap.
                    if path == "/chunks" { $0.http.maxBodyCompressed = .kibibytes(256) }
                }
                let kind = outcome.error?.kind
                #expect(kind.map(kinds.contains) == true, "\(path): \(outcome)")
                #expect(Fixture.peakMemory() - before < Fixture.memoryOfABomb, "\(path)")
            }
            // A bomb in a bomb is unpacked once only, and is no JSON then.
            guard case .page(let page) = try await fetch(server.url("/twice"), transport) else { throw Unexpected() }
            #expect(try page.content.digest == Fixture.content(bomb).digest)
            await server.allConnectionsClosed()
        }
    }

    // N2, N3
    @Test(.longProcess) func endlessChunksAndEarlyHintsEndInTimeAndWithoutMemory() async {
        await #expect(processExitsWith: .success) { try await BombTests().fetchWithoutEnd() }
    }

    private func fetchWithoutEnd() async throws {
        let start = Array(head("Transfer-Encoding: chunked").utf8)
        let script: @Sendable (RawHTTPServer.Request, Int) -> [RawHTTPServer.Step] = { request, _ in
            switch request.target {
            case "/hints": [.flood(Array("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".utf8))]
            case "/continue": [.send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)), .hang]
            case "/extension": [.send(start + Array("1;".utf8)), .flood(Array(repeating: UInt8(ascii: "x"), count: 65_536))]
            default: [.send(start), .hang]
            }
        }
        try await with(script) { server, transport in
            let before = Fixture.peakMemory()
            for path in ["/hints", "/continue", "/extension", "/chunks"] {
                let outcome = try await fetch(server.url(path), transport) { $0.http.totalTimeout = .milliseconds(500) }
                guard case .failed(let error) = outcome else {
                    Issue.record("\(path): \(outcome)")
                    continue
                }
                #expect([.timeout(.total), .malformed, .reset].contains(error.kind), "\(path): \(error)")
                #expect(Fixture.peakMemory() - before < Fixture.memoryOfABomb, "\(path)")
            }
            await server.allConnectionsClosed()
        }
    }
}
