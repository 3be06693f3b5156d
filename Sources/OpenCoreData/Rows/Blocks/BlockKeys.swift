import Synchronization

/// The unique keys of the rows that one importer makes in blocks, as hashes: whoever finds a hash here has to look closer, and whoever does not need not.
///
/// A key is announced before anybody knows whether its row is new. Then it is *added*, with the row's primary key, or *withdrawn*. Who asks for it between
/// the two makes a row of its own for it: that is noted, and the importer must not add it any more.
///
/// The hashes of the first rows are in memory. Of those of later blocks only `BlockNumbers` are; the hashes themselves wait where the rows do.
package final class BlockKeys: Sendable {
    private enum State {
        case announced, asked
        case added(Int64)
    }

    /// What is known of some keys.
    private struct Table {
        private struct Entry {
            /// 0 is the hash of nothing.
            var hash: UInt64 = 0
            /// A primary key, or one of the states without, which are no keys.
            var code: Int64 = Self.gone

            static let gone = Int64.min
            static let announced = gone + 1
            static let asked = gone + 2

            var state: State? {
                switch code {
                case Self.gone: nil
                case Self.announced: .announced
                case Self.asked: .asked
                default: .added(code)
                }
            }
        }

        private var entries: [Entry] = []
        /// How many places are taken, also by hashes that are gone.
        private var used = 0

        /// Where a hash stands, or would stand.
        private func index(of hash: UInt64) -> Int {
            let mask = entries.count - 1
            var index = Int(truncatingIfNeeded: hash) & mask
            while entries[index].hash != 0, entries[index].hash != hash { index = (index + 1) & mask }
            return index
        }

        subscript(hash: UInt64) -> State? {
            get { entries.isEmpty ? nil : entries[index(of: hash)].state }
            set {
                if (used + 1) * 4 > entries.count * 3 { makeRoom() }
                let index = index(of: hash)
                if entries[index].hash == 0 { used += 1 }
                entries[index].hash = hash
                entries[index].code =
                    switch newValue {
                    case nil: Entry.gone
                    case .announced?: Entry.announced
                    case .asked?: Entry.asked
                    case .added(let key)?: key
                    }
            }
        }

        /// Drops what is gone.
        private mutating func makeRoom() {
            let rest = entries.filter { $0.code != Entry.gone }
            var capacity = 64
            while capacity < rest.count * 2 + 1 { capacity *= 2 }
            entries = Array(repeating: Entry(), count: capacity)
            used = rest.count
            for entry in rest { entries[index(of: entry.hash)] = entry }
        }

        /// The hashes of those that are announced or added.
        var all: some Sequence<UInt64> { entries.lazy.filter { $0.code != Entry.gone }.map(\.hash) }
    }

    /// Keys that were added.
    private struct Block {
        let first: Int64
        /// In the order of the primary keys.
        let hashes: SpilledBytes

        /// The hashes. Throws where they wait in a file that can't be read.
        func withHashes<T>(_ body: (UnsafeBufferPointer<UInt64>) throws -> T) throws -> T {
            try hashes.withBytes { try body($0.assumingMemoryBound(to: UInt64.self)) }
        }

        /// The primary key of the row with this hash, if there is one. Where that can't be read: the first one. Whoever compares finds another key there, or
        /// a block that can't be read, either; what he makes then is found to be a twin when it is saved, since here each key may be there.
        func primaryKey(of hash: UInt64) -> Int64? {
            do {
                return try withHashes { $0.firstIndex(of: hash).map { first + Int64($0) } }
            } catch {
                return first
            }
        }
    }

    private struct Keys {
        var table = Table()
        /// How many of the table's keys were added.
        var addedInTable = 0
        var numbers = BlockNumbers()
        var blocks: [Block] = []

        /// What is known of a key.
        subscript(hash: UInt64) -> State? {
            if let known = table[hash] { return known }
            if blocks.isEmpty { return nil }
            var found: Int64?
            _ = numbers.contains(hash) { number in
                found = blocks[Int(number)].primaryKey(of: hash)
                return found != nil
            }
            return found.map { .added($0) }
        }

        mutating func add(_ hashes: [UInt64], first: Int64, copy: SpilledBytes?) {
            guard let copy else {
                addedInTable += hashes.count
                for (number, hash) in hashes.enumerated() { table[hash] = .added(first + Int64(number)) }
                return
            }
            let number = UInt16(blocks.count)
            blocks.append(Block(first: first, hashes: copy))
            for hash in hashes {
                table[hash] = nil
                numbers.insert(hash, block: number)
            }
        }
    }

    private let keys = Mutex(Keys())

    /// - Returns: false if one of them is here already, or is there twice; then none is announced.
    func announce(_ hashes: [UInt64]) -> Bool {
        keys.withLock { keys in
            for (number, hash) in hashes.enumerated() {
                if keys[hash] == nil {
                    keys.table[hash] = .announced
                    continue
                }
                for hash in hashes[..<number] { keys.table[hash] = nil }
                return false
            }
            return true
        }
    }

    /// Keys that were announced and will not be added.
    func withdraw(_ hashes: [UInt64]) {
        keys.withLock { keys in for hash in hashes { keys.table[hash] = nil } }
    }

    /// The rows with these keys, which were announced, are in a block.
    ///
    /// - Parameters:
    ///   - first: the primary key of the first of them; those of the others follow.
    ///   - copy: of hashes that are too many for the memory, made before.
    /// - Returns: false if somebody has asked for one of them meanwhile; then none is added.
    func add(_ hashes: [UInt64], first: Int64, copy: SpilledBytes?) -> Bool {
        keys.withLock { keys in
            let areFree = hashes.allSatisfy { hash in
                if case .announced? = keys.table[hash] { return true }
                return false
            }
            if areFree { keys.add(hashes, first: first, copy: copy) }
            return areFree
        }
    }

    /// A copy of hashes that are added next, which may be written to a file; nil where they stay in memory.
    func copy(of hashes: [UInt64], in spill: BlockSpill) -> SpilledBytes? {
        let areFew = keys.withLock { $0.addedInTable + hashes.count <= spill.limits.keys || $0.blocks.count == BlockNumbers.limit }
        return areFew ? nil : hashes.withUnsafeBytes { spill.bytes(copying: $0) }
    }

    /// Somebody asks for a key: the primary key of the row that may have it. Nil where there is none yet: what is announced now will not be added.
    func ask(for hash: UInt64) -> Int64? {
        keys.withLock { keys in
            switch keys[hash] {
            case .added(let key)?: return key
            case .announced?: keys.table[hash] = .asked
            case .asked?, nil: break
            }
            return nil
        }
    }

    /// The primary key of the row that may have a key, for who only wants to know.
    func primaryKey(of hash: UInt64) -> Int64? {
        keys.withLock { keys in
            if case .added(let key)? = keys[hash] { return key }
            return nil
        }
    }

    func contains(anyOf hashes: some Sequence<UInt64>) -> Bool {
        keys.withLock { keys in hashes.contains { keys[$0] != nil } }
    }

    /// Whether a key that is announced or added here may be so there, too.
    func mayShare(with other: BlockKeys) -> Bool {
        // Nobody waits for two of them at once.
        let (table, blocks) = keys.withLock { ($0.table, $0.blocks) }
        if other.contains(anyOf: table.all) { return true }
        return blocks.contains { block in (try? block.withHashes { other.contains(anyOf: $0) }) ?? true }
    }
}
