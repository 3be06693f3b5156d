import Foundation
import JSONReader

/// The compact form: a mark, the number of the version, for each run how far it begins after the end of the one before (the first: after 0) and how
/// many keys follow its first one, and a check sum. The numbers take seven bits a byte, the lowest first; the top bit says that another byte follows.
///
/// Files of earlier versions hold another form: one such number for each key, its difference from the one before, and nothing else. It is still read.
/// The two cannot be taken for each other: the earlier form never began with the mark, a zero in two bytes, since it gave each number no more bytes
/// than it needs; and this form ends with a byte whose top bit is set, which the earlier one takes for damage.
extension KeyRuns {
    private static let mark: [UInt8] = [0x80, 0x00]
    private static let version: UInt8 = 1
    private static let sumLength = 4

    /// Reads the compact form, or that of earlier versions; nil if it is damaged, or of a later version.
    init?(_ data: Data) {
        let runs = data.withUnsafeBytes { bytes in
            bytes.starts(with: Self.mark) ? Self.runs(bytes) : Self.runsOfSingleKeys(bytes)
        }
        guard let runs else { return nil }
        self = runs
    }

    var data: Data {
        var bytes = Self.mark + [Self.version], last: Int64 = 0
        func append(_ number: Int64) {
            var rest = UInt64(bitPattern: number)
            while rest >= 0x80 {
                bytes.append(UInt8(rest & 0x7f) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }
        for run in runs {
            append(run.lowerBound &- last)
            append(run.upperBound &- run.lowerBound)
            last = run.upperBound
        }
        let sum = bytes.withUnsafeBytes(Self.sum)
        for shift in 0..<Self.sumLength { bytes.append(UInt8(truncatingIfNeeded: sum >> (8 * shift))) }
        return Data(bytes)
    }

    /// The highest bit is always set.
    private static func sum(_ bytes: UnsafeRawBufferPointer) -> UInt32 { UInt32(truncatingIfNeeded: JSONHash(of: bytes).low) | 0x8000_0000 }

    private static func runs(_ bytes: UnsafeRawBufferPointer) -> KeyRuns? {
        let begin = mark.count + 1, end = bytes.count - sumLength
        guard end >= begin, bytes[mark.count] == version else { return nil }
        let stored = bytes[end...].reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
        guard stored == sum(UnsafeRawBufferPointer(rebasing: bytes[..<end])) else { return nil }
        var runs: [ClosedRange<Int64>] = [], lower: Int64?
        let isWhole = numbers(bytes[begin..<end]) { number in
            guard let begin = lower else {
                let last = runs.last?.upperBound, begin = (last ?? 0) &+ number
                if let last, begin <= last || begin - 1 == last { return false }
                lower = begin
                return true
            }
            let end = begin &+ number
            guard end >= begin else { return false }
            runs.append(begin...end)
            lower = nil
            return true
        }
        return isWhole && lower == nil ? KeyRuns(ascending: runs) : nil
    }

    private static func runsOfSingleKeys(_ bytes: UnsafeRawBufferPointer) -> KeyRuns? {
        var collector = KeyCollector(), last: Int64 = 0
        let isWhole = numbers(bytes[...]) { number in
            last &+= number
            collector.add(last)
            return true
        }
        return isWhole ? collector.keys : nil
    }

    /// Calls `body` with each number, until it returns false. Returns whether all were read, and nothing but numbers.
    private static func numbers(_ bytes: Slice<UnsafeRawBufferPointer>, _ body: (Int64) -> Bool) -> Bool {
        var value: UInt64 = 0, shift: UInt64 = 0
        for byte in bytes {
            guard shift < 64 else { return false }
            value |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 != 0 {
                shift += 7
                continue
            }
            guard body(Int64(bitPattern: value)) else { return false }
            value = 0
            shift = 0
        }
        return shift == 0
    }
}
