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
