import Foundation
import NIOCore
import NIOHTTP1
import SyncPipeline

/// Answers requests with files: `http://127.0.0.1/NAME` is the file registered under NAME. A file that ends in `.gz` is sent as gzip content.
struct FileTransport: HTTPTransport {
    let files: [String: URL]

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let file = files[request.address.url.lastPathComponent] else {
            return HTTPResponse(status: 404, headers: [:], body: HTTPBody(Chunks(handle: nil)))
        }
        var headers: HTTPHeaders = ["Content-Type": "application/json"]
        if file.pathExtension == "gz" { headers.add(name: "Content-Encoding", value: "gzip") }
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
        headers.add(name: "Content-Length", value: "\(size)")
        return HTTPResponse(status: 200, headers: headers, body: HTTPBody(Chunks(handle: try FileHandle(forReadingFrom: file))))
    }

    func shutdown() async {}
}

/// A file in pieces of 256 KiB.
private struct Chunks: AsyncSequence, Sendable {
    let handle: FileHandle?

    struct AsyncIterator: AsyncIteratorProtocol {
        let handle: FileHandle?

        mutating func next() async throws -> ByteBuffer? {
            guard let data = try handle?.read(upToCount: 256 << 10), !data.isEmpty else { return nil }
            return ByteBuffer(bytes: data)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(handle: handle) }
}
