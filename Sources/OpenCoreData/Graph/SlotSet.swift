/// A set of slot numbers: which values of a row changed. One word up to 64 slots, an array beyond; no array at all while nothing is beyond.
package struct SlotSet: Hashable, Sendable {
    private var word: UInt64 = 0
    private var more: [UInt64]?

    package init() {}

    package init(_ slots: some Sequence<Int>) {
        for slot in slots { insert(slot) }
    }

    package var isEmpty: Bool { word == 0 && (more?.allSatisfy { $0 == 0 } ?? true) }

    package func contains(_ slot: Int) -> Bool {
        if slot < 64 { return word & (1 << UInt64(slot)) != 0 }
        guard let more else { return false }
        let index = slot / 64 - 1
        return index < more.count && more[index] & (1 << UInt64(slot % 64)) != 0
    }

    package mutating func insert(_ slot: Int) {
        if slot < 64 {
            word |= 1 << UInt64(slot)
        } else {
            let index = slot / 64 - 1
            grow(to: index + 1)
            more?[index] |= 1 << UInt64(slot % 64)
        }
    }

    package mutating func remove(_ slot: Int) {
        if slot < 64 {
            word &= ~(1 << UInt64(slot))
        } else {
            let index = slot / 64 - 1
            if index < more?.count ?? 0 { more?[index] &= ~(1 << UInt64(slot % 64)) }
        }
    }

    package mutating func formUnion(_ other: SlotSet) {
        word |= other.word
        guard let others = other.more else { return }
        grow(to: others.count)
        for (index, bits) in others.enumerated() { more?[index] |= bits }
    }

    private mutating func grow(to count: Int) {
        var words = more ?? []
        more = nil
        while words.count < count { words.append(0) }
        more = words
    }

    /// Calls `body` with each slot, ascending.
    package func forEach(_ body: (Int) throws -> Void) rethrows {
        var bits = word
        while bits != 0 {
            try body(bits.trailingZeroBitCount)
            bits &= bits - 1
        }
        guard let more else { return }
        for (index, extra) in more.enumerated() {
            var bits = extra
            while bits != 0 {
                try body((index + 1) * 64 + bits.trailingZeroBitCount)
                bits &= bits - 1
            }
        }
    }

    package var slots: [Int] {
        var result: [Int] = []
        forEach { result.append($0) }
        return result
    }
}
