import Synchronization

/// Primary keys that no store was asked for: of objects that are made before there is a store, or while it cannot be written.
///
/// They lie far above anything a store counts up to, in blocks that lie somewhere each, since such a key may reach a file where those of an earlier
/// process are.
enum UnreservedKeys {
    private static let stock = Mutex<Range<Int64>>(0..<0)
    private static let bits = 20

    static func next() -> Int64 {
        stock.withLock { keys in
            if keys.isEmpty {
                let first = (1 << 62) | (Int64.random(in: 0..<(1 << 41)) << bits)
                keys = first..<first + (1 << bits)
            }
            defer { keys = keys.dropFirst() }
            return keys.lowerBound
        }
    }

    /// Up to which key a store counts that has taken this one: others of its block may be on their way.
    static func lastTaken(with key: Int64) -> Int64 { key < 1 << 62 ? key : key | (1 << bits - 1) }
}
