import Foundation

/// A property list in binary form (`bplist00`), read without trust: whatever the bytes are, it is read or it is nil. Foundation's own reader does not
/// show the references of keyed archives, and the program ends at some lists.
struct BinaryPropertyList {
    enum Value {
        case null
        case bool(Bool)
        case integer(Int64)
        case real(Double)
        /// Seconds since 2001.
        case date(Double)
        case data(Data)
        case string(String)
        /// A reference of a keyed archive: a place in its list of objects.
        case reference(Int)
        /// Numbers of values.
        case array([Int])
        case dictionary([(key: Int, value: Int)])
    }

    let values: [Value]
    /// The number of the value that holds the others.
    let top: Int

    init?(_ data: Data) {
        let bytes = [UInt8](data)
        guard bytes.count >= 40, bytes.starts(with: Array("bplist00".utf8)) else { return nil }
        var reader = Reader(bytes: bytes, end: bytes.count - 32)
        let trailer = bytes.count - 32
        let offsetSize = Int(bytes[trailer + 6])
        reader.referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(reader.referenceSize), let count = reader.big(8, at: trailer + 8, upTo: bytes.count),
            let top = reader.big(8, at: trailer + 16, upTo: bytes.count), let table = reader.big(8, at: trailer + 24, upTo: bytes.count),
            // Each takes a byte at least, and one of the table.
            count > 0, count <= bytes.count, top < count, table <= trailer, count <= (trailer - table) / offsetSize
        else { return nil }
        reader.count = count
        var values: [Value] = []
        values.reserveCapacity(count)
        for number in 0..<count {
            guard let offset = reader.big(offsetSize, at: table + number * offsetSize, upTo: trailer), let value = reader.value(at: offset) else {
                return nil
            }
            values.append(value)
        }
        self.values = values
        self.top = top
    }

    /// What a dictionary has under a key that is a string; nil for what is none.
    func entry(_ key: String, of value: Value) -> Value? {
        guard case .dictionary(let pairs) = value else { return nil }
        for pair in pairs {
            if case .string(key) = values[pair.key] { return values[pair.value] }
        }
        return nil
    }

    private struct Reader {
        let bytes: [UInt8]
        /// Where the values end.
        let end: Int
        var referenceSize = 1
        var count = 0

        /// A number of so many bytes, the highest first; nil where it is not there, or is no `Int`.
        func big(_ size: Int, at offset: Int, upTo end: Int) -> Int? {
            guard offset >= 0, size <= end - offset else { return nil }
            var number: UInt64 = 0
            for byte in bytes[offset..<offset + size] { number = number << 8 | UInt64(byte) }
            return Int(exactly: number)
        }

        func value(at offset: Int) -> Value? {
            guard offset >= 8, offset < end else { return nil }
            let marker = bytes[offset], low = Int(marker & 0x0F)
            switch marker >> 4 {
            case 0x0:
                switch marker {
                case 0x00: return .null
                case 0x08: return .bool(false)
                case 0x09: return .bool(true)
                default: return nil
                }
            case 0x1: return integer(at: offset).map { .integer($0.value) }
            case 0x2:
                guard low == 2 || low == 3, let bits = raw(1 << low, at: offset + 1) else { return nil }
                return .real(low == 2 ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))) : Double(bitPattern: bits))
            case 0x3: return low == 3 ? raw(8, at: offset + 1).map { .date(Double(bitPattern: $0)) } : nil
            case 0x4: return span(at: offset, width: 1).map { .data(Data(bytes[$0])) }
            case 0x5: return span(at: offset, width: 1).map { .string(String(decoding: bytes[$0], as: UTF8.self)) }
            case 0x6:
                guard let span = span(at: offset, width: 2) else { return nil }
                let units = stride(from: span.lowerBound, to: span.upperBound, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
                return .string(String(decoding: units, as: UTF16.self))
            case 0x8: return big(low + 1, at: offset + 1, upTo: end).map { .reference($0) }
            case 0xA, 0xC: return numbers(at: offset, each: 1).map { .array($0) }
            case 0xD:
                guard let all = numbers(at: offset, each: 2) else { return nil }
                return .dictionary((0..<all.count / 2).map { (key: all[$0], value: all[all.count / 2 + $0]) })
            default: return nil
            }
        }

        private func raw(_ size: Int, at offset: Int) -> UInt64? {
            guard size <= end - offset else { return nil }
            return bytes[offset..<offset + size].reduce(0) { $0 << 8 | UInt64($1) }
        }

        /// An integer and how many bytes it takes with its marker. Those of sixteen bytes are of eight with a sign before them.
        private func integer(at offset: Int) -> (value: Int64, size: Int)? {
            guard offset < end, bytes[offset] >> 4 == 1 else { return nil }
            let size = 1 << Int(bytes[offset] & 0x0F)
            guard size <= 16, size <= end - offset - 1, let bits = raw(min(size, 8), at: offset + 1 + max(0, size - 8)) else { return nil }
            return (Int64(bitPattern: bits), size + 1)
        }

        /// Where the bytes of a value of some length lie: so many, each of that width.
        private func span(at offset: Int, width: Int) -> Range<Int>? {
            var length = Int(bytes[offset] & 0x0F), start = offset + 1
            if length == 0x0F {
                guard let long = integer(at: start), let exact = Int(exactly: long.value), exact >= 0 else { return nil }
                length = exact
                start += long.size
            }
            guard start <= end, length <= (end - start) / width else { return nil }
            return start..<start + length * width
        }

        private func numbers(at offset: Int, each: Int) -> [Int]? {
            guard let span = span(at: offset, width: referenceSize * each) else { return nil }
            var numbers: [Int] = []
            numbers.reserveCapacity(span.count / referenceSize)
            for place in stride(from: span.lowerBound, to: span.upperBound, by: referenceSize) {
                guard let number = big(referenceSize, at: place, upTo: end), number < count else { return nil }
                numbers.append(number)
            }
            return numbers
        }
    }
}
