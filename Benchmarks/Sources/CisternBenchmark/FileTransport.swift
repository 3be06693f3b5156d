import Foundation
import NIOCore
import NIOHTTP1
import SyncPipeline

/// Answers requests with files: `http://127.0.0.1/NAME` is the file registered under NAME. A file that ends in `.gz` is sent as gzip content.
struct FileTransport: HTTPTransport {
    let files: [String: URL]

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let file = files[request.address.url.lastPathComponent] else {
            return HTTPResponse(status: 404, headers: [:], body: HTTPBody(Chunks(file: nil)))
        }
        var headers: HTTPHeaders = ["Content-Type": "application/json"]
        if file.pathExtension == "gz" { headers.add(name: "Content-Encoding", value: "gzip") }
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
        headers.add(name: "Content-Length", value: "\(size)")
        return HTTPResponse(status: 200, headers: headers, body: HTTPBody(Chunks(file: try OpenFile(file))))
    }

    func shutdown() async {}
}

/// A file that is open for reading.
private final class OpenFile: Sendable {
    let descriptor: Int32

    init(_ file: URL) throws {
        descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }
}

/// A file in pieces of 256 KiB, read into the buffers that are handed out.
private struct Chunks: AsyncSequence, Sendable {
    let file: OpenFile?

    struct AsyncIterator: AsyncIteratorProtocol {
        let file: OpenFile?

        mutating func next() async throws -> ByteBuffer? {
            guard let file else { return nil }
            var buffer = ByteBuffer()
            let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 256 << 10) {
                Swift.max(0, read(file.descriptor, $0.baseAddress, $0.count))
            }
            return count > 0 ? buffer : nil
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(file: file) }
}
