import CZlib

/// Compresses what is handed to it piece by piece, without any frame (RFC 1951), as `Gunzip` with `Framing.none` reads it.
final class Deflater {
    private static let pieceSize = 65_536
    /// Bodies are texts, and whoever fetches them waits.
    private static let level: Int32 = 3

    private let stream: UnsafeMutablePointer<z_stream>
    private let piece: UnsafeMutableRawBufferPointer

    /// Nil: zlib has no memory for it.
    init?() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        piece = .allocate(byteCount: Self.pieceSize, alignment: 16)
        let result = deflateInit2_(
            stream, Self.level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard result == Z_OK else { return nil }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
        piece.deallocate()
    }

    /// Takes the next bytes. Throws what `sink` throws.
    func append(_ input: UnsafeRawBufferPointer, to sink: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        guard let start = input.baseAddress, !input.isEmpty else { return }
        precondition(input.count <= Int(UInt32.max), "bytes to compress are handed over in pieces")
        // zlib does not write to its input; its declaration only lacks the const.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: start.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(input.count)
        defer {
            stream.pointee.next_in = nil
            stream.pointee.avail_in = 0
        }
        try run(Z_NO_FLUSH, to: sink)
    }

    /// Says that nothing more comes. Throws what `sink` throws.
    func finish(to sink: (UnsafeRawBufferPointer) throws -> Void) rethrows { try run(Z_FINISH, to: sink) }

    private func run(_ flush: Int32, to sink: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        repeat {
            stream.pointee.next_out = piece.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = UInt32(piece.count)
            // With a stream that was set up and room to write there is nothing that could fail.
            _ = deflate(stream, flush)
            let produced = piece.count - Int(stream.pointee.avail_out)
            if produced > 0 { try sink(UnsafeRawBufferPointer(rebasing: piece[..<produced])) }
        } while stream.pointee.avail_out == 0
    }
}
