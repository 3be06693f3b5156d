import CZlib
import NIOHTTP1
import SyncConfiguration

/// Takes a body as it arrives: checks every limit before it takes a byte, decompresses on the way, and hands on the pieces.
struct BodyDecoder {
    /// Below this size a high ratio means nothing.
    private static let ratioThreshold = 1 << 20

    private let limits: HTTPConfiguration
    private let announced: Int?
    private let gunzip: Gunzip?
    private let excerptSize: Int
    /// Bytes taken off the wire so far.
    private(set) var received = 0
    /// Bytes handed on so far.
    private var size = 0
    /// The beginning of the body, for an error message.
    private(set) var excerpt: [UInt8] = []

    /// Prepares for the body that a head announces.
    /// - Parameter excerpt: how many bytes of its beginning are kept.
    /// - Throws: `FetchError` if the head alone shows that the body will not be accepted.
    init(headers: HTTPHeaders, limits: HTTPConfiguration, excerpt: Int) throws {
        self.limits = limits
        excerptSize = excerpt
        announced = try Self.announcedLength(headers)
        switch try Self.coding(headers) {
        case .identity: gunzip = nil
        case .gzip: gunzip = try Gunzip()
        }
        if let announced, announced > limits.maxBodyCompressed.bytes {
            throw FetchError(.tooLarge(.compressedBody), detail: "\(announced) bytes announced, \(limits.maxBodyCompressed) allowed")
        }
        if let announced, gunzip == nil, announced > limits.maxBody.bytes {
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
        guard let gunzip else { return try hand(bytes, to: sink) }
        try gunzip.append(bytes) { try hand($0, to: sink) }
    }

    /// Says that nothing more comes.
    /// - Throws: `FetchError` of the class `shortBody` if it was not the whole body.
    func finish() throws {
        if let announced, received < announced {
            throw FetchError(.shortBody, detail: "\(received) of \(announced) bytes")
        }
        try gunzip?.finish()
    }

    private mutating func hand(_ bytes: UnsafeRawBufferPointer, to sink: Gunzip.Sink) throws {
        size += bytes.count
        guard size <= limits.maxBody.bytes else {
            throw FetchError(.tooLarge(.body), detail: "more than \(limits.maxBody)")
        }
        // Divided, because the product could overflow.
        if size > Self.ratioThreshold, size / max(received, 1) >= limits.maxRatio, size > limits.maxRatio * received {
            throw FetchError(.tooLarge(.ratio), detail: "\(size) bytes from \(received), \(limits.maxRatio) to 1 allowed")
        }
        if excerpt.count < excerptSize { excerpt.append(contentsOf: bytes.prefix(excerptSize - excerpt.count)) }
        try sink(bytes)
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

/// Decompresses gzip as it arrives (RFC 1952), in pieces of at most 64 KiB, so that the receiver can stop at any byte.
///
/// Several members in one body are decompressed one after the other, as the format allows, up to a number that no honest server needs. Bytes after
/// the last member that do not begin another one are refused.
final class Gunzip {
    /// What the pieces are handed to; it throws to stop.
    typealias Sink = (UnsafeRawBufferPointer) throws -> Void

    private static let mostMembers = 64
    private static let pieceSize = 65_536

    private let stream: UnsafeMutablePointer<z_stream>
    private let piece: UnsafeMutableRawBufferPointer
    private var members = 0
    private var isInsideMember = false

    init() throws {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        piece = .allocate(byteCount: Self.pieceSize, alignment: 16)
        // 16 + 15: gzip framing only, the largest window.
        let result = inflateInit2_(stream, 16 + 15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard result == Z_OK else {
            throw FetchError(.corruptBody, detail: "zlib cannot be set up (\(result))")
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        piece.deallocate()
    }

    /// Takes the next compressed bytes.
    /// - Throws: `FetchError` of the classes `corruptBody` and `tooLarge`, and what `sink` throws.
    func append(_ input: UnsafeRawBufferPointer, to sink: Sink) throws {
        guard let start = input.baseAddress, !input.isEmpty else { return }
        precondition(input.count <= Int(UInt32.max), "compressed bytes are handed over in pieces")
        // zlib does not write to its input; its declaration only lacks the const.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: start.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(input.count)
        defer {
            stream.pointee.next_in = nil
            stream.pointee.avail_in = 0
        }
        var isOutputFull = false
        while stream.pointee.avail_in > 0 || isOutputFull {
            if !isInsideMember { try beginMember() }
            stream.pointee.next_out = piece.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = UInt32(piece.count)
            let result = inflate(stream, Z_NO_FLUSH)
            let produced = piece.count - Int(stream.pointee.avail_out)
            if produced > 0 { try sink(UnsafeRawBufferPointer(rebasing: piece[..<produced])) }
            isOutputFull = stream.pointee.avail_out == 0
            switch result {
            case Z_OK: break
            case Z_BUF_ERROR: return  // needs more input
            case Z_STREAM_END:
                isInsideMember = false
                isOutputFull = false
            default:
                let reason = stream.pointee.msg.map { String(cString: $0) } ?? "zlib error \(result)"
                throw FetchError(.corruptBody, detail: members > 1 ? "after gzip member \(members - 1): \(reason)" : reason)
            }
        }
    }

    private func beginMember() throws {
        guard members < Self.mostMembers else {
            throw FetchError(.tooLarge(.gzipMembers), detail: "more than \(Self.mostMembers)")
        }
        if members > 0 { inflateReset(stream) }
        members += 1
        isInsideMember = true
    }

    /// Says that nothing more comes.
    /// - Throws: `FetchError` of the class `shortBody` if the compressed data are not complete.
    func finish() throws {
        guard members > 0, !isInsideMember else {
            throw FetchError(.shortBody, detail: "the gzip data is cut short")
        }
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
