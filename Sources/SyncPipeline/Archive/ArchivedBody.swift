import Dispatch
import Foundation
import Glibc
import NIOCore
import NIOHTTP1
import SyncConfiguration

/// A file of the archive is not what was written, or cannot be read.
struct DamagedBody: Error, CustomStringConvertible {
    let path: String
    let reason: String

    var description: String { "\(path): \(reason)" }
}

/// An archived body, to be read once more.
struct ArchivedBody: Sendable {
    let path: String
    let head: ArchivedHead
    private let file: OpenFile
    private let start: Int
    private let length: Int
    private let checksum: UInt32

    /// Closed with the last who reads it.
    private final class OpenFile: Sendable {
        let descriptor: Int32

        init(_ path: String) { descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }

        deinit { if descriptor >= 0 { close(descriptor) } }

        /// Nil: not all of it is there.
        func read(_ count: Int, at offset: Int) -> [UInt8]? {
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { room, filled in
                while filled < count, let base = room.baseAddress {
                    let got = pread(descriptor, base + filled, count - filled, off_t(offset + filled))
                    if got < 0, errno == EINTR { continue }
                    if got <= 0 { break }
                    filled += got
                }
            }
            return bytes.count == count ? bytes : nil
        }
    }

    /// Opens it. Throws `DamagedBody`.
    init(_ path: String) throws(DamagedBody) {
        func damaged(_ reason: String) -> DamagedBody { DamagedBody(path: path, reason: reason) }
        let file = OpenFile(path), magic = BodyFile.magic.count, beginning = magic + 8
        guard file.descriptor >= 0 else { throw damaged(BodyFile.reason) }
        var facts = stat()
        guard fstat(file.descriptor, &facts) == 0 else { throw damaged(BodyFile.reason) }
        let size = Int(facts.st_size)
        guard size >= beginning + BodyFile.endSize, let first = file.read(beginning, at: 0), Array(first[..<magic]) == BodyFile.magic else {
            throw damaged("it is no archived body")
        }
        let count = Int(BodyFile.number(first[magic..<(magic + 4)], UInt32.self)), sum = BodyFile.number(first[(magic + 4)...], UInt32.self)
        guard count <= BodyFile.longestHead, size >= beginning + count + BodyFile.endSize, let text = file.read(count, at: beginning),
            text.withUnsafeBytes({ BodyFile.checksum($0) }) == sum, let head = try? JSONDecoder().decode(ArchivedHead.self, from: Data(text))
        else { throw damaged("its head is damaged") }
        let start = beginning + count, length = size - start - BodyFile.endSize
        guard let end = file.read(BodyFile.endSize, at: size - BodyFile.endSize), BodyFile.number(end[4...], UInt64.self) == UInt64(length) else {
            throw damaged("it is cut short")
        }
        (self.path, self.file, self.head, self.start, self.length) = (path, file, head, start, length)
        checksum = BodyFile.number(end[..<4], UInt32.self)
    }

    /// Reads the page once more, as if the server had just sent it. Makes no request, and needs no credential.
    ///
    /// - Throws: `DamagedBody` where the file is not what was written; `FetchError` where the body is no page by the rules of today.
    func page(_ settings: FetchSettings, clock: any SyncClock, spool: SpoolPlace) async throws -> FetchedPage {
        let address: HTTPAddress
        do { address = try HTTPAddress(head.address) } catch { throw DamagedBody(path: path, reason: "its address cannot be used: \(error)") }
        try await verify()
        let exchange = Exchange(
            transport: NoTransport(), settings: settings, clock: clock, cookies: nil, spool: spool, knownRecords: { nil })
        let response = try await exchange.read(
            HTTPResponse(status: head.status, headers: head.fields, body: HTTPBody(Buffers(body: self))), from: address)
        if let verdict = response.verdict, verdict.meaning != .ignore {
            throw FetchError(verdict.failure, detail: verdict.words(settings.redactor), url: settings.redactor.redact(address), status: head.status)
        }
        guard let content = response.content else {
            throw FetchError(.status(head.status), url: settings.redactor.redact(address), status: head.status)
        }
        let validators =
            head.method == RequestMethod.get.rawValue
            ? ConditionalGET(headers: response.headers, bodyDigest: content.digest, receivedAt: head.receivedAt)
            : ConditionalGET(etag: nil, lastModified: nil, bodyDigest: content.digest)
        var page = FetchedPage(
            address: address, status: response.status, headers: response.headers, content: content, validators: validators,
            received: response.received, duration: .zero, attempts: 0, pacing: ServerPacing(headers: [:], now: clock.wallTime))
        page.ignored = response.verdict?.words(settings.redactor)
        return page
    }

    /// All bodies are read on it: not on threads that run tasks.
    private static let queue = DispatchQueue(label: "archive.read", qos: .utility)

    private func verify() async throws {
        try await withCheckedThrowingContinuation { continuation in
            Self.queue.async { continuation.resume(with: Result { try check() }) }
        }
    }

    /// Reads all of it, to see whether it is what was written.
    private func check() throws(DamagedBody) {
        var done = 0, sum: UInt32 = 0
        while done < length {
            guard let piece = file.read(min(1 << 16, length - done), at: start + done) else {
                throw DamagedBody(path: path, reason: "it cannot be read")
            }
            done += piece.count
            sum = piece.withUnsafeBytes { BodyFile.checksum($0, after: sum) }
        }
        guard sum == checksum else { throw DamagedBody(path: path, reason: "its bytes are not those that were written") }
    }

    /// The bytes as they came off the wire.
    private struct Buffers: AsyncSequence, Sendable {
        let body: ArchivedBody

        /// So small that what it may be decompressed to needs little memory.
        private static let pieceSize = 4096

        struct AsyncIterator: AsyncIteratorProtocol {
            private let body: ArchivedBody
            private var inflater: Gunzip?
            private var done = 0

            fileprivate init(_ body: ArchivedBody) { self.body = body }

            mutating func next() async throws -> ByteBuffer? {
                if body.head.isDeflated, inflater == nil { inflater = try Gunzip(.none) }
                while done < body.length {
                    guard let piece = body.file.read(Swift.min(Buffers.pieceSize, body.length - done), at: body.start + done) else {
                        throw DamagedBody(path: body.path, reason: "it cannot be read")
                    }
                    done += piece.count
                    guard let inflater else { return ByteBuffer(bytes: piece) }
                    var plain = ByteBuffer()
                    do {
                        try piece.withUnsafeBytes { bytes in try inflater.append(bytes) { plain.writeBytes($0) } }
                    } catch {
                        throw DamagedBody(path: body.path, reason: "\(error)")
                    }
                    if plain.readableBytes > 0 { return plain }
                }
                return nil
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body) }
    }
}

/// What a replay asks through: nobody.
private final class NoTransport: HTTPTransport {
    func send(_ request: HTTPRequest) async throws -> HTTPResponse { throw FetchError(.malformed, detail: "a replay makes no request") }

    func shutdown() async {}
}
