import CZlib
import Foundation

/// Bytes with their length and checksums before them, so that it is known if they were not written to their end, or are not what was written.
///
///     u32 length   u32 CRC-32 of the bytes   u32 CRC-32 of these eight bytes   the bytes
///
/// The length has a checksum of its own: a damaged one that leads beyond the file's end would look like bytes that were never written.
enum SealedBytes {
    static let overhead = 12

    enum Contents {
        case whole(ArraySlice<UInt8>)
        /// They end early: they were being written when the process ended.
        case torn
        /// Not what was written.
        case damaged
    }

    /// Writes two pieces as one.
    static func write(_ first: [UInt8], _ second: [UInt8] = [], to writer: inout ByteWriter) {
        var prefix = ByteWriter(reserving: overhead)
        prefix.fixed(UInt32(first.count + second.count))
        prefix.fixed(checksum(second, after: checksum(first)))
        prefix.fixed(checksum(prefix.bytes))
        writer.append(prefix.bytes)
        writer.append(first)
        writer.append(second)
    }

    static func read(_ reader: inout ByteReader) -> Contents {
        guard let prefix = try? reader.take(8), let seal: UInt32 = try? reader.fixed() else { return .torn }
        var fields = ByteReader(prefix)
        guard checksum(prefix) == seal, let length: UInt32 = try? fields.fixed(), let expected: UInt32 = try? fields.fixed() else {
            return .damaged
        }
        guard let bytes = try? reader.take(Int(length)) else { return .torn }
        return checksum(bytes) == expected ? .whole(bytes) : .damaged
    }

    private static func checksum(_ bytes: some ContiguousBytes, after earlier: UInt32 = 0) -> UInt32 {
        bytes.withUnsafeBytes { bytes in
            // Without an address zlib answers what it begins with, whatever was before.
            guard let start = bytes.baseAddress else { return earlier }
            return UInt32(truncatingIfNeeded: crc32_z(uLong(earlier), start.assumingMemoryBound(to: Bytef.self), bytes.count))
        }
    }
}
