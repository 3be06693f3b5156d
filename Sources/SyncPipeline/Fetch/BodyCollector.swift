import NIOHTTP1
import SyncConfiguration

/// Puts a body together from what arrives: checks every cap before it takes a byte, decompresses on the way, and leaves the room behind
/// the last byte that the parser needs.
struct BodyCollector {
    /// Bytes that may be read behind the end of a collected body.
    static let padding = 64

    /// Below this size a high ratio is no sign of anything.
    private static let ratioThreshold = 1 << 20

    private let limits: HTTPConfiguration
    private let announced: Int?
    private let gunzip: Gunzip?
    /// Bytes taken off the wire so far.
    private(set) var received = 0
    private var body: [UInt8] = []

    /// Prepares for the body that a head announces.
    /// - Throws: `FetchError` if the head alone shows that the body will not be accepted.
    init(headers: HTTPHeaders, limits: HTTPConfiguration) throws {
        self.limits = limits
        announced = try Self.announcedLength(headers)
        switch try Self.coding(headers) {
        case .identity: gunzip = nil
        case .gzip: gunzip = try Gunzip()
        }
        let compressedLimit = limits.maxBodyCompressed.bytes
        if let announced, announced > compressedLimit {
            throw FetchError(.tooLarge(.compressedBody), detail: "\(announced) bytes announced, \(limits.maxBodyCompressed) allowed")
        }
        if let announced, gunzip == nil, announced > limits.maxBody.bytes {
            throw FetchError(.tooLarge(.body), detail: "\(announced) bytes announced, \(limits.maxBody) allowed")
        }
        let expected = announced.map { gunzip == nil ? $0 : 4 * $0 } ?? 16_384
        body.reserveCapacity(min(expected, limits.maxBody.bytes) + Self.padding)
    }

    /// Takes the next bytes off the wire.
    /// - Throws: `FetchError` as soon as a cap is passed.
    mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
        received += bytes.count
        guard received <= limits.maxBodyCompressed.bytes else {
            throw FetchError(.tooLarge(.compressedBody), detail: "more than \(limits.maxBodyCompressed)")
        }
        if let announced, received > announced {
            throw FetchError(.malformed, detail: "more than the \(announced) bytes that were announced")
        }
        guard let gunzip else { return try take(bytes) }
        try gunzip.append(bytes) { try take($0) }
    }

    /// The whole body, with at least `padding` bytes of room behind it.
    /// - Throws: `FetchError` of the class `shortBody` if it is not the whole body.
    mutating func finish() throws -> [UInt8] {
        if let announced, received < announced {
            throw FetchError(.shortBody, detail: "\(received) of \(announced) bytes")
        }
        try gunzip?.finish()
        makeRoom(for: 0)
        return body
    }

    /// What there is so far, for an error message; at most `count` bytes.
    func excerpt(_ count: Int) -> [UInt8] {
        Array(body.prefix(count))
    }

    private mutating func take(_ bytes: UnsafeRawBufferPointer) throws {
        let size = body.count + bytes.count
        guard size <= limits.maxBody.bytes else {
            throw FetchError(.tooLarge(.body), detail: "more than \(limits.maxBody)")
        }
        // Divided, because the product could overflow.
        if size > Self.ratioThreshold, size / max(received, 1) >= limits.maxRatio, size > limits.maxRatio * received {
            throw FetchError(.tooLarge(.ratio), detail: "\(size) bytes from \(received), \(limits.maxRatio) to 1 allowed")
        }
        makeRoom(for: bytes.count)
        body.append(contentsOf: bytes)
    }

    /// Grows by half, not to the double, and never beyond what a body may have.
    private mutating func makeRoom(for count: Int) {
        let needed = body.count + count + Self.padding
        guard body.capacity < needed else { return }
        let comfortable = min(body.capacity + body.capacity / 2, limits.maxBody.bytes + Self.padding)
        body.reserveCapacity(max(needed, comfortable))
    }

    // MARK: Headers

    private enum Coding { case identity, gzip }

    private static func coding(_ headers: HTTPHeaders) throws -> Coding {
        let codings = headers[canonicalForm: "Content-Encoding"].map { $0.lowercased() }.filter { !$0.isEmpty && $0 != "identity" }
        switch codings.count {
        case 0: return .identity
        case 1 where codings[0] == "gzip" || codings[0] == "x-gzip": return .gzip
        default: throw FetchError(.refused(.contentEncoding(codings.joined(separator: ", "))))
        }
    }

    private static func announcedLength(_ headers: HTTPHeaders) throws -> Int? {
        guard !headers.contains(name: "Transfer-Encoding") else { return nil }
        let lengths = Set(headers[canonicalForm: "Content-Length"].map(String.init))
        guard let length = lengths.first else { return nil }
        guard lengths.count == 1, let count = Int(length), count >= 0, length.utf8.allSatisfy({ (48...57).contains($0) }) else {
            throw FetchError(.malformed, detail: "Content-Length “\(lengths.sorted().joined(separator: ", "))”")
        }
        return count
    }
}
