import NIOHTTP1
import SyncConfiguration

/// Takes a body as it arrives: checks every limit before it takes a byte, decompresses on the way, takes it out of the file that it may be, and hands on the
/// pieces.
struct BodyDecoder {
    /// Below this size a high ratio means nothing.
    private static let ratioThreshold = 1 << 20

    private let limits: HTTPConfiguration
    private let announced: Int?
    private let isChunked: Bool
    private let gunzip: Gunzip?
    private let unpacker: (any BodyUnpacker)?
    private let excerptSize: Int
    /// Bytes taken off the wire so far.
    private(set) var received = 0
    /// Bytes of what HTTP has compressed, decompressed.
    private var decompressed = 0
    /// Bytes handed on so far.
    private var size = 0
    /// The beginning of the body, for an error message.
    private(set) var excerpt: [UInt8] = []
    /// The beginning of the file that the body should be, as it came.
    private(set) var packed: [UInt8] = []
    /// Why nothing can be unpacked: it may be something else than such a file.
    private(set) var damage: FetchError?
    private let readsOn: Bool

    /// Prepares for the body that a head announces.
    /// - Parameters:
    ///   - excerpt: how many bytes of its beginning are kept.
    ///   - unpacking: the file that it is; nil: it is what it says.
    ///   - place: where such a file waits that can't be read before it is complete.
    ///   - readsOn: whether of a body that cannot be unpacked as much is read as is kept, before that is said.
    /// - Throws: `FetchError` if the head alone shows that the body will not be accepted.
    init(
        headers: HTTPHeaders, limits: HTTPConfiguration, excerpt: Int, unpacking: Unpacking? = nil, place: SpoolPlace = SpoolPlace(),
        readsOn: Bool = false
    ) throws {
        self.limits = limits
        self.readsOn = readsOn
        excerptSize = excerpt
        announced = try Self.announcedLength(headers)
        isChunked = headers.contains(name: "Transfer-Encoding")
        switch try Self.coding(headers) {
        case .identity: gunzip = nil
        case .gzip: gunzip = try Gunzip()
        }
        switch unpacking {
        case nil: unpacker = nil
        case .gzip?: unpacker = try GzipFile(mayBeUnpacked: gunzip != nil)
        case .zip(let entry)?: unpacker = ZipFile(entry: entry, place: place)
        }
        if let announced, announced > limits.maxBodyCompressed.bytes {
            throw FetchError(.tooLarge(.compressedBody), detail: "\(announced) bytes announced, \(limits.maxBodyCompressed) allowed")
        }
        if let announced, gunzip == nil, unpacker == nil, announced > limits.maxBody.bytes {
            throw FetchError(.tooLarge(.body), detail: "\(announced) bytes announced, \(limits.maxBody) allowed")
        }
    }

    /// Takes the next bytes off the wire, and hands on what they hold.
    /// - Throws: `FetchError` as soon as a limit is exceeded, and what `sink` throws.
    mutating func decode(_ bytes: UnsafeRawBufferPointer, to sink: Gunzip.Sink) throws {
        received += bytes.count
        guard received <= limits.maxBodyCompressed.bytes else {
            throw FetchError(.tooLarge(.compressedBody), detail: "more than \(limits.maxBodyCompressed)")
        }
        if let announced, received > announced {
            throw FetchError(.malformed, detail: "more than the \(announced) bytes that were announced")
        }
        guard let gunzip else { return try unpack(bytes, to: sink) }
        try gunzip.append(bytes) { try unpack($0, to: sink) }
    }

    /// Whether a body that has been cut short would be noticed: its end is not only that of the connection. A member of gzip says where it ends, and not
    /// whether another one follows: a cut exactly between two of them is noticed where HTTP says how long the body is, or TLS that it is over, and
    /// nowhere else.
    var hasMarkedEnd: Bool { announced != nil || isChunked || gunzip != nil || unpacker != nil }

    /// Whether there may be more of what has ended: another member of gzip, with nothing but the end of the connection after those before.
    var mayLackMembers: Bool {
        guard announced == nil, !isChunked else { return false }
        return (gunzip?.members ?? (unpacker as? GzipFile)?.members ?? 0) > 1
    }

    /// Says that nothing more comes, and hands on what could not be before.
    /// - Throws: `FetchError` of the class `shortBody` if it was not the whole body; also as `decode` does.
    mutating func finish(to sink: Gunzip.Sink = { _ in }) throws {
        if let announced, received < announced {
            throw FetchError(.shortBody, detail: "\(received) of \(announced) bytes")
        }
        try gunzip?.finish()
        if let damage { throw damage }
        guard let unpacker else { return }
        do { try unpacker.finish { try hand($0, to: sink) } } catch let error as FetchError where error.kind == .corruptBody {
            damage = error
            throw error
        }
    }

    private mutating func unpack(_ bytes: UnsafeRawBufferPointer, to sink: Gunzip.Sink) throws {
        guard let unpacker else { return try hand(bytes, to: sink) }
        decompressed += bytes.count
        try check(decompressed)
        if packed.count < excerptSize { packed.append(contentsOf: bytes.prefix(excerptSize - packed.count)) }
        if damage == nil {
            do { try unpacker.take(bytes) { try hand($0, to: sink) } } catch let error as FetchError where error.kind == .corruptBody {
                damage = error
            }
        }
        if let damage, !readsOn || packed.count >= excerptSize { throw damage }
    }

    private mutating func hand(_ bytes: UnsafeRawBufferPointer, to sink: Gunzip.Sink) throws {
        size += bytes.count
        try check(size)
        if excerpt.count < excerptSize { excerpt.append(contentsOf: bytes.prefix(excerptSize - excerpt.count)) }
        try sink(bytes)
    }

    private func check(_ size: Int) throws {
        guard size <= limits.maxBody.bytes else {
            throw FetchError(.tooLarge(.body), detail: "more than \(limits.maxBody)")
        }
        // Divided, because the product could overflow.
        if size > Self.ratioThreshold, size / max(received, 1) >= limits.maxRatio, size > limits.maxRatio * received {
            throw FetchError(.tooLarge(.ratio), detail: "\(size) bytes from \(received), \(limits.maxRatio) to 1 allowed")
        }
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

/// The type of a body as its `Content-Type` header names it, without parameters: `application/json`.
public struct MediaType: Sendable, Hashable, CustomStringConvertible {
    /// Before the slash, in lower case.
    public let type: String
    /// After the slash, in lower case.
    public let subtype: String

    /// Reads a header value or a pattern; nil if it is not `type/subtype`.
    public init?(_ text: String) {
        let essence = text.prefix { $0 != ";" }
        let parts = essence.split(separator: "/", omittingEmptySubsequences: false).map { part in
            String(part.filter { $0 != " " && $0 != "\t" }).lowercased()
        }
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && !$0.contains(",") }) else { return nil }
        (type, subtype) = (parts[0], parts[1])
    }

    /// Whether this type fits a pattern such as `application/json`, `application/*+json` or `text/*`.
    public func matches(_ pattern: MediaType) -> Bool {
        Self.fits(type, pattern.type) && Self.fits(subtype, pattern.subtype)
    }

    /// `type/subtype`.
    public var description: String { "\(type)/\(subtype)" }

    private static func fits(_ text: String, _ pattern: String) -> Bool {
        let parts = pattern.split(separator: "*", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return text == pattern }
        // What the star stands for is not empty: "application/+json" is no type.
        return text.utf8.count > parts[0].utf8.count + parts[1].utf8.count && text.hasPrefix(parts[0]) && text.hasSuffix(parts[1])
    }
}
