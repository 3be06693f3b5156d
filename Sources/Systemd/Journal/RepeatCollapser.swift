/// Decides which of many equal messages are worth an entry: the 1st, 2nd, 4th, 8th … of each kind.
///
/// A value without a clock. The owner keeps one, asks before each entry, and resets a kind when the trouble is over.
public struct RepeatCollapser: Sendable {
    public enum Decision: Sendable, Equatable {
        /// Write it; it is the `count`-th of its kind.
        case say(count: Int)
        case keepQuiet
    }

    private let capacity: Int
    private var counts: [String: (count: Int, lastSeen: Int)] = [:]
    private var clock = 0

    /// - Parameter capacity: how many kinds are told apart. Past it, the kind not seen for longest is forgotten and starts anew.
    public init(capacity: Int = 256) {
        precondition(capacity > 0, "a collapser remembers at least one kind")
        self.capacity = capacity
    }

    /// - Parameter kind: equal for messages that say the same, such as "github/issues timeout".
    public mutating func record(_ kind: String) -> Decision {
        clock += 1
        let count = (counts[kind]?.count ?? 0) + 1
        if count == 1, counts.count == capacity, let oldest = counts.min(by: { $0.value.lastSeen < $1.value.lastSeen }) {
            counts[oldest.key] = nil
        }
        counts[kind] = (count, clock)
        return count & (count - 1) == 0 ? .say(count: count) : .keepQuiet
    }

    /// The trouble is over: the next one of this kind is a first one again. Returns how often it occurred.
    @discardableResult
    public mutating func reset(_ kind: String) -> Int {
        counts.removeValue(forKey: kind)?.count ?? 0
    }
}
