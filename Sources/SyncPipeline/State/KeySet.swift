import Foundation

/// A set of primary keys, and its compact form: differences of sorted keys, seven bits a byte. What a page vouches for: one value per page,
/// not a write per row.
struct KeySet: Hashable, Sendable {
    var keys: Set<Int64>

    init(_ keys: some Sequence<Int64> = []) { self.keys = Set(keys) }

    /// Reads the compact form; nil if it is damaged.
    init?(_ data: Data) {
        var keys: Set<Int64> = []
        var last: Int64 = 0, value: UInt64 = 0, shift: UInt64 = 0
        for byte in data {
            guard shift < 64 else { return nil }
            value |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 != 0 {
                shift += 7
                continue
            }
            last &+= Int64(bitPattern: value)
            keys.insert(last)
            value = 0
            shift = 0
        }
        guard shift == 0 else { return nil }
        self.keys = keys
    }

    var data: Data {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(keys.count * 2)
        var last: Int64 = 0
        for key in keys.sorted() {
            var difference = UInt64(bitPattern: key &- last)
            last = key
            while difference >= 0x80 {
                bytes.append(UInt8(difference & 0x7f) | 0x80)
                difference >>= 7
            }
            bytes.append(UInt8(difference))
        }
        return Data(bytes)
    }
}

/// How often each missing key was missed in a row: key sets by count.
struct MissingKeys: Hashable, Sendable {
    var counts: [Int64: Int] = [:]

    init() {}

    /// Reads the compact form: for each count its number and its keys' length, then the keys.
    init(_ data: Data) {
        var rest = data[...]
        while rest.count >= 8 {
            let count = Int(Self.number(rest.prefix(4))), length = Int(Self.number(rest.dropFirst(4).prefix(4)))
            rest = rest.dropFirst(8)
            guard length <= rest.count, let set = KeySet(Data(rest.prefix(length))) else { return }
            for key in set.keys { counts[key] = count }
            rest = rest.dropFirst(length)
        }
    }

    var data: Data {
        var result = Data()
        for (count, group) in Dictionary(grouping: counts, by: \.value).sorted(by: { $0.key < $1.key }) {
            let keys = KeySet(group.map(\.key)).data
            for number in [UInt32(count), UInt32(keys.count)] {
                withUnsafeBytes(of: number.littleEndian) { result.append(contentsOf: $0) }
            }
            result.append(keys)
        }
        return result
    }

    private static func number(_ bytes: Data) -> UInt32 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
