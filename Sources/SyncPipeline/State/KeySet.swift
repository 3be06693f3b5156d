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
