import Foundation
import NIOCore
import NIOHTTP1
import SyncPipeline

/// Answers `…?page=N&size=COUNT` with records of a file: an array with a record on each line.
struct PageTransport: HTTPTransport {
    private let bytes: Data
    /// Where each record starts, and where the last one ends.
    private let lines: [Int]

    init(_ file: URL) throws {
        let bytes = try Data(contentsOf: file, options: .alwaysMapped)
        self.bytes = bytes
        let ends = bytes.withUnsafeBytes { bytes in bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") } }
        lines = ends.dropLast().map { $0 + 1 }
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let items = URLComponents(url: request.address.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        func number(_ name: String) -> Int { items.first { $0.name == name }.flatMap { $0.value.flatMap { Int($0) } } ?? 1 }
        let first = (number("page") - 1) * number("size"), last = min(first + number("size"), lines.count - 1)
        var body = ByteBuffer(string: "[")
        if first < last {
            // Without the comma and the end of the line.
            let end = last < lines.count - 1 ? lines[last] - 2 : lines[last] - 1
            body.writeBytes(bytes[lines[first]..<end])
        }
        body.writeString("]")
        let headers: HTTPHeaders = ["Content-Type": "application/json", "Content-Length": "\(body.readableBytes)"]
        return HTTPResponse(status: 200, headers: headers, body: HTTPBody(OnePiece(bytes: body)))
    }

    func shutdown() async {}
}

/// A body that comes as a whole.
private struct OnePiece: AsyncSequence, Sendable {
    let bytes: ByteBuffer

    struct AsyncIterator: AsyncIteratorProtocol {
        var bytes: ByteBuffer?

        mutating func next() async throws -> ByteBuffer? { bytes.take() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: bytes) }
}
