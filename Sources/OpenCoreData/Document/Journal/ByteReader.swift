import Foundation

/// Reads what a `ByteWriter` wrote. Whatever the bytes are, it throws and never traps.
struct ByteReader {
    /// The bytes end early, or make no sense.
    struct Malformed: Error {}

    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    var isAtEnd: Bool { position == bytes.endIndex }
    var rest: ArraySlice<UInt8> { bytes[position...] }

    mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
        guard count >= 0, count <= bytes.endIndex - position else { throw Malformed() }
        defer { position += count }
        return bytes[position..<position + count]
    }

    mutating func byte() throws -> UInt8 {
        guard position < bytes.endIndex else { throw Malformed() }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func fixed<T: FixedWidthInteger>(_ type: T.Type = T.self) throws -> T {
        let raw = try take(MemoryLayout<T>.size)
        return T(littleEndian: raw.withUnsafeBytes { $0.loadUnaligned(as: T.self) })
    }

    mutating func number() throws -> UInt64 {
        var result: UInt64 = 0
        for shift in stride(from: 0, to: 70, by: 7) {
            let next = try byte()
            result |= UInt64(next & 0x7F) << UInt64(shift)
            if next & 0x80 == 0 { return result }
        }
        throw Malformed()
    }

    /// A count of things of at least one byte each.
    mutating func count() throws -> Int {
        guard let count = Int(exactly: try number()), count <= bytes.endIndex - position else { throw Malformed() }
        return count
    }

    mutating func string() throws -> String { String(decoding: try take(try count()), as: UTF8.self) }
    mutating func data() throws -> Data { Data(try take(try count())) }
}
