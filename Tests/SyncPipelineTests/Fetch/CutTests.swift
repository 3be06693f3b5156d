import SyncTestSupport
import TestTraits
import Testing

@testable import SyncPipeline

/// Connections that break off behind some byte of an answer. // N1
@Suite(.timeLimit(.minutes(60))) struct CutTests: LoopbackTesting {
    @Test(arguments: [false, true])
    func everyCutOfALengthDelimitedResponseIsNoticed(isReset: Bool) async throws {
        try await cutEverywhere(Fixture.response("[{\"id\": 1}, {\"id\": 2}]"), isReset: isReset)
    }

    @Test(arguments: [false, true])
    func everyCutOfAChunkedResponseIsNoticed(isReset: Bool) async throws {
        let text = head("Transfer-Encoding: chunked") + "5\r\n[1, 2\r\n6;x=y\r\n, 3, 4\r\n1\r\n]\r\n0\r\nX-Trailer: z\r\n\r\n"
        try await cutEverywhere(Array(text.utf8), isReset: isReset)
    }

    @Test(arguments: ["length", "chunked", "close"])
    func everyCutOfACompressedResponseIsNoticed(framing: String) async throws {
        let packed = Fixture.gzip(Array("[{\"id\": 1}, {\"id\": 2}, {\"id\": 3}]".utf8))
        var response: [UInt8]
        switch framing {
        case "length": response = Array(head("Content-Encoding: gzip", "Content-Length: \(packed.count)").utf8) + packed
        case "chunked":
            response = Array(head("Content-Encoding: gzip", "Transfer-Encoding: chunked").utf8)
            response += Array("\(String(packed.count, radix: 16))\r\n".utf8) + packed + Array("\r\n0\r\n\r\n".utf8)
        default: response = Array(head("Content-Encoding: gzip").utf8) + packed
        }
        try await cutEverywhere(response, isReset: false)
    }

    /// Cuts the response behind each byte: only the whole may pass for a page.
    /// - Parameter step: after how many bytes it is cut again.
    private func cutEverywhere(_ response: [UInt8], step: Int = 1, isReset: Bool) async throws {
        let script: @Sendable (RawHTTPServer.Request, Int) -> [RawHTTPServer.Step] = { request, _ in
            let length = Int(request.target.dropFirst()) ?? 0
            return [.send(Array(response.prefix(length))), isReset ? .reset : .close]
        }
        try await with(script) { server, transport in
            for length in stride(from: 0, to: response.count, by: step) {
                let outcome = try await fetch(server.url("/\(length)"), transport)
                guard case .failed(let error) = outcome else {
                    Issue.record("cut behind byte \(length): \(outcome)")
                    continue
                }
                #expect([.reset, .shortBody].contains(error.kind), "cut behind byte \(length): \(error)")
            }
            guard !isReset else { return }  // a reset may overtake the last bytes
            guard case .page = try await fetch(server.url("/\(response.count)"), transport) else { throw Unexpected() }
        }
    }

    /// Answers of 64 KiB and more, each cut at some 171 places, 512 and more in all.
    @Test(arguments: ["length", "chunked", "gzip"]) func noCutOfALongResponseIsTakenForItsEnd(framing: String) async throws {
        var random = SeededNumbers(64), records: [String] = []
        for id in 0..<(framing == "gzip" ? 8000 : 2600) { records.append("{\"id\": \(id), \"name\": \"\(random.next(upTo: .max))\"}") }
        var body = Array("[\(records.joined(separator: ","))]".utf8)
        if framing == "gzip" { body = Fixture.gzip(body) }
        #expect(body.count >= 60_000)
        var response: [UInt8]
        switch framing {
        case "length": response = Array(head("Content-Length: \(body.count)").utf8) + body
        case "gzip": response = Array(head("Content-Encoding: gzip", "Content-Length: \(body.count)").utf8) + body
        default:
            response = Array(head("Transfer-Encoding: chunked").utf8)
            for start in stride(from: 0, to: body.count, by: 1000) {
                let chunk = body[start..<min(start + 1000, body.count)]
                response += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
            }
            response += Array("0\r\n\r\n".utf8)
        }
        try await cutEverywhere(response, step: response.count / 171, isReset: false)
    }
}
