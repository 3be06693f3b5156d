import NIOCore
import NIOHTTP1
import SyncConfiguration
import SyncPipeline
import Synchronization

/// What went through recording transports, in order. Of requests nothing is kept: they hold secrets.
final class Recording: Sendable {
    struct Response: Sendable {
        let status: Int
        let headers: [(name: String, value: String)]
        let body: [UInt8]
    }

    private let kept = Mutex<[Response]>([])

    var responses: [Response] { kept.withLock { $0 } }

    func keep(_ response: Response) { kept.withLock { $0.append(response) } }
}

/// A transport that keeps what comes through another one. Bodies come as they are: it asks for none that is compressed.
final class RecordingTransport: HTTPTransport {
    /// The headers that say anything to the pipeline.
    private static let names: Set<String> = [
        "etag", "last-modified", "link", "content-type", "retry-after", "location", "cache-control", "expires", "age", "x-poll-interval",
    ]

    private let transport: any HTTPTransport
    private let recording: Recording

    init(_ transport: any HTTPTransport, into recording: Recording) {
        self.transport = transport
        self.recording = recording
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var request = request
        request.headers.replaceOrAdd(name: "Accept-Encoding", value: "identity")
        let response = try await transport.send(request)
        if let encoding = response.headers.first(name: "Content-Encoding"), encoding.lowercased() != "identity" {
            throw FetchError(.malformed, detail: "the server compresses (\(encoding)) what was asked for as it is, and cannot be recorded")
        }
        var body: [UInt8] = []
        for try await buffer in response.body {
            body += buffer.readableBytesView
            guard body.count < ConfigurationReader.maxFileSize.bytes else {
                throw FetchError(.malformed, detail: "the page is too large for a test: a file of tests holds \(ConfigurationReader.maxFileSize)")
            }
        }
        let headers = response.headers.filter { Self.isKept($0.name) }.map { (name: $0.name, value: $0.value) }
        recording.keep(Recording.Response(status: response.status, headers: headers, body: body))
        return HTTPResponse(status: response.status, headers: response.headers, body: HTTPBody(bytes: body))
    }

    func shutdown() async { await transport.shutdown() }

    private static func isKept(_ name: String) -> Bool {
        let name = name.lowercased()
        return names.contains(name) || name.hasPrefix("ratelimit") || name.hasPrefix("x-ratelimit")
    }
}
