import CZlib

/// Decompresses gzip (RFC 1952), or what is deflated without any frame (RFC 1951), as it arrives, in pieces of at most 64 KiB, so that the receiver can stop at
/// any byte.
///
/// Several members of gzip are decompressed one after the other, as the format allows, up to a number that no honest server needs. Bytes after
/// the last member that do not begin another one are refused.
final class Gunzip {
    /// What the pieces are handed to; it throws to stop.
    typealias Sink = (UnsafeRawBufferPointer) throws -> Void

    enum Framing {
        case gzip
        /// One stream, and nothing around it.
        case none
    }

    private static let pieceSize = 65_536

    private let framing: Framing
    private let mostMembers: Int
    private let stream: UnsafeMutablePointer<z_stream>
    private let piece: UnsafeMutableRawBufferPointer
    /// How many have begun.
    private(set) var members = 0
    private var isInsideMember = false

    init(_ framing: Framing = .gzip, mostMembers: Int = 64) throws {
        self.framing = framing
        self.mostMembers = framing == .gzip ? mostMembers : 1
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        piece = .allocate(byteCount: Self.pieceSize, alignment: 16)
        // 16 + 15: gzip framing only, the largest window; -15: no framing.
        let result = inflateInit2_(stream, framing == .gzip ? 16 + 15 : -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
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
        guard members < mostMembers else {
            if framing == .none { throw FetchError(.corruptBody, detail: "something follows the compressed data") }
            throw FetchError(.tooLarge(.gzipMembers), detail: "more than \(mostMembers)")
        }
        if members > 0 { inflateReset(stream) }
        members += 1
        isInsideMember = true
    }

    /// Says that nothing more comes.
    /// - Throws: `FetchError` of the class `shortBody` if the compressed data are not complete.
    func finish() throws {
        guard members > 0, !isInsideMember else {
            throw FetchError(.shortBody, detail: framing == .gzip ? "the gzip data is cut short" : "the compressed data is cut short")
        }
    }
}
