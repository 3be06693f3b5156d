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

/// What is remembered about rows missing from listings: how often in a row each was missing, up to which listing that was judged, and which were
/// removed for it.
struct MissingKeys: Hashable, Sendable {
    /// How far the listings were judged.
    struct Judgement: Hashable, Sendable {
        /// The number of the last run whose listing counted: only pages that were read after it can say anything new.
        var run: Int64
        /// When a listing counted for all rows that were missing, or their being missing began.
        var time: Date
    }

    var counts: [Int64: Int] = [:]
    /// Nil: nothing is missing.
    var judged: Judgement?
    /// Tombstones, by the time they were made, in whole seconds.
    var tombstones: [Int64: KeySet] = [:]

    init() {}

    /// A time as tombstones are sorted by.
    static func second(_ time: Date) -> Int64 {
        // Another program may have stored any number. One that is not a time never counts as long ago, so that nothing is purged because of it.
        Int64(exactly: time.timeIntervalSinceReferenceDate.rounded(.down)) ?? .max
    }

    /// Whether a row waits for another listing, and the last one that counted is a day old: servers that always answer "not modified" never produce
    /// another one by themselves.
    func waitsForAnotherListing(confirmRuns: Int, now: Date) -> Bool {
        guard let judged, counts.values.contains(where: { $0 < confirmRuns }) else { return false }
        return now.timeIntervalSince(judged.time) >= 86_400
    }

    /// These rows are not missing any more.
    mutating func forget(_ keys: Set<Int64>) {
        for key in keys { counts[key] = nil }
        if counts.isEmpty { judged = nil }
    }

    /// Whether tombstones were made at `cutoff` or before.
    func hasTombstones(until cutoff: Date) -> Bool { tombstones.keys.contains { $0 <= Self.second(cutoff) } }

    /// The groups of the compact form that are no counts.
    private enum Group {
        static let tombstones: UInt32 = 0
        static let judgement = UInt32.max
    }

    /// Reads the compact form: groups of a number, a length, and so many bytes. The number is how often the keys that follow were missed, or says
    /// that something else follows.
    init(_ data: Data) {
        var rest = data[...]
        while rest.count >= 8 {
            let group = UInt32(Self.number(rest.prefix(4))), length = Int(Self.number(rest.dropFirst(4).prefix(4)))
            rest = rest.dropFirst(8)
            guard length <= rest.count else { return }
            let content = rest.prefix(length)
            rest = rest.dropFirst(length)
            switch group {
            case Group.judgement:
                guard length == 16 else { return }
                judged = Judgement(
                    run: Int64(bitPattern: Self.number(content.prefix(8))),
                    time: Date(timeIntervalSinceReferenceDate: Double(Int64(bitPattern: Self.number(content.suffix(8))))))
            case Group.tombstones:
                guard length >= 8, let keys = KeySet(Data(content.dropFirst(8))) else { return }
                tombstones[Int64(bitPattern: Self.number(content.prefix(8)))] = keys
            default:
                guard let keys = KeySet(Data(content)) else { return }
                for key in keys.keys { counts[key] = Int(group) }
            }
        }
    }

    /// Nil if there is nothing to remember.
    var data: Data? {
        var result = Data()
        func append(_ group: UInt32, _ content: Data) {
            for number in [group, UInt32(content.count)] { withUnsafeBytes(of: number.littleEndian) { result.append(contentsOf: $0) } }
            result.append(content)
        }
        func bytes(_ numbers: Int64...) -> Data {
            numbers.reduce(into: Data()) { data, number in withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) } }
        }
        if let judged { append(Group.judgement, bytes(judged.run, Self.second(judged.time))) }
        for (time, keys) in tombstones.sorted(by: { $0.key < $1.key }) { append(Group.tombstones, bytes(time) + keys.data) }
        for (count, group) in Dictionary(grouping: counts, by: \.value).sorted(by: { $0.key < $1.key }) {
            append(UInt32(count), KeySet(group.map(\.key)).data)
        }
        return result.isEmpty ? nil : result
    }

    private static func number(_ bytes: Data) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
