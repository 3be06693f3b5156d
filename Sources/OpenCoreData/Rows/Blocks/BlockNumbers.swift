/// The number of the block that a unique key is in, by the key's hash. It keeps 40 bits of each hash and takes seven to ten bytes a key, so a hash that is
/// not there may seem to be: whoever finds one looks at the hashes of the block.
struct BlockNumbers: Sendable {
    /// Grows by itself, so that no two copies of all keys are there at a time.
    fileprivate struct Segment {
        /// Of each hash some bits; 0: nothing is there.
        var prints: [UInt32] = []
        var blocks: [UInt16] = []
        var used = 0
    }

    private var segments = Array(repeating: Segment(), count: 256)

    /// How many blocks there can be.
    static let limit = Int(UInt16.max) + 1

    /// What is kept of a hash beside its segment; 0 stands for nothing.
    private static func print(_ hash: UInt64) -> UInt32 { max(1, UInt32(truncatingIfNeeded: hash)) }
    private static func segment(_ hash: UInt64) -> Int { Int(hash >> 56) }

    mutating func insert(_ hash: UInt64, block: UInt16) { segments[Self.segment(hash)].insert(Self.print(hash), block) }

    /// Calls `body` with the number of each block that a key with this hash may be in, until it says true.
    ///
    /// - Returns: whether it said true.
    @inline(__always)
    func contains(_ hash: UInt64, where body: (UInt16) -> Bool) -> Bool { segments[Self.segment(hash)].contains(Self.print(hash), where: body) }
}

extension BlockNumbers.Segment {
    /// Where a print stands, if nothing stood in its way. In the order of the prints, whatever the capacity is.
    private func home(_ print: UInt32) -> Int { Int((UInt64(print) * UInt64(prints.count)) >> 32) }

    fileprivate mutating func insert(_ print: UInt32, _ block: UInt16) {
        if (used + 1) * 5 > prints.count * 4 { grow() }
        used += 1
        put(print, block)
    }

    private mutating func put(_ print: UInt32, _ block: UInt16) {
        var place = home(print)
        while prints[place] != 0 {
            place += 1
            if place == prints.count { place = 0 }
        }
        prints[place] = print
        blocks[place] = block
    }

    private mutating func grow() {
        let former = self, capacity = max(16, prints.count * 5 / 4 + 1)
        prints = Array(repeating: 0, count: capacity)
        blocks = Array(repeating: 0, count: capacity)
        for place in former.prints.indices where former.prints[place] != 0 { put(former.prints[place], former.blocks[place]) }
    }

    @inline(__always)
    func contains(_ print: UInt32, where body: (UInt16) -> Bool) -> Bool {
        if prints.isEmpty { return false }
        return prints.withUnsafeBufferPointer { prints in
            var place = Int((UInt64(print) * UInt64(prints.count)) >> 32)
            while prints[place] != 0 {
                if prints[place] == print, body(blocks[place]) { return true }
                place += 1
                if place == prints.count { place = 0 }
            }
            return false
        }
    }
}
