import Foundation

/// CRC-32 (the polynomial of Ethernet, reflected), eight bytes at a time.
enum Checksum {
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for index in 0..<256 {
            var value = UInt32(index)
            for _ in 0..<8 { value = value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
            tables[index] = value
        }
        for place in 256..<8 * 256 { tables[place] = (tables[place - 256] >> 8) ^ tables[Int(tables[place - 256] & 0xFF)] }
        return tables
    }()

    static func crc32(_ bytes: some ContiguousBytes, after earlier: UInt32 = 0) -> UInt32 {
        tables.withUnsafeBufferPointer { tables in
            bytes.withUnsafeBytes { bytes in
                var crc = ~earlier, at = 0
                while bytes.count - at >= 8 {
                    let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)) ^ UInt64(crc)
                    crc = 0
                    for byte in 0..<8 { crc ^= tables[(7 - byte) * 256 + Int((word >> UInt64(8 * byte)) & 0xFF)] }
                    at += 8
                }
                while at < bytes.count {
                    crc = tables[Int((crc ^ UInt32(bytes[at])) & 0xFF)] ^ (crc >> 8)
                    at += 1
                }
                return ~crc
            }
        }
    }
}
