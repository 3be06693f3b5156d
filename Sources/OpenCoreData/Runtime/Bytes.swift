import Foundation

/// Puts numbers and strings into bytes, little-endian.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    init(reserving count: Int = 0) { bytes.reserveCapacity(count) }

    mutating func byte(_ value: UInt8) { bytes.append(value) }

    mutating func fixed<T: FixedWidthInteger>(_ value: T) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Seven bits a byte, the lowest first.
    mutating func number(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func number(_ value: Int) { number(UInt64(value)) }

    mutating func string(_ value: String) {
        var value = value
        value.withUTF8 { utf8 in
            number(utf8.count)
            bytes.append(contentsOf: utf8)
        }
    }

    mutating func data(_ value: Data) {
        number(value.count)
        bytes.append(contentsOf: value)
    }

    mutating func append(_ more: [UInt8]) { bytes.append(contentsOf: more) }
}

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
