import Synchronization

/// The unique keys of the rows that one importer makes in blocks, as hashes: whoever finds a hash here has to look closer, and whoever does not need not.
///
/// A key is announced before anybody knows whether its row is new. Then it is *added*, with the row's primary key, or *withdrawn*. Who asks for it between
/// the two makes a row of its own for it: that is noted, and the importer must not add it any more.
package final class BlockKeys: Sendable {
    private enum State {
        case announced, asked, withdrawn
        case added(Int64)
    }

    private struct Table {
        private struct Entry {
            /// 0 is the hash of nothing.
            var hash: UInt64 = 0
            /// A primary key, or one of the states without, which are no keys.
            private var code: Int64 = .min

            private static let announced = Int64.min + 1
            private static let asked = Int64.min + 2

            var state: State {
                get {
                    switch code {
                    case .min: .withdrawn
                    case Self.announced: .announced
                    case Self.asked: .asked
                    default: .added(code)
                    }
                }
                set {
                    code =
                        switch newValue {
                        case .withdrawn: .min
                        case .announced: Self.announced
                        case .asked: Self.asked
                        case .added(let key): key
                        }
                }
            }

            var isWithdrawn: Bool { code == .min }
        }

        private var entries: [Entry] = []
        /// How many hashes there are, withdrawn ones included.
        private var used = 0

        /// Where a hash stands, or would stand.
        private func index(of hash: UInt64) -> Int {
            let mask = entries.count - 1
            var index = Int(truncatingIfNeeded: hash) & mask
            while entries[index].hash != 0, entries[index].hash != hash { index = (index + 1) & mask }
            return index
        }

        subscript(hash: UInt64) -> State? {
            if entries.isEmpty { return nil }
            let entry = entries[index(of: hash)]
            return entry.hash == 0 || entry.isWithdrawn ? nil : entry.state
        }

        mutating func set(_ hash: UInt64, to state: State) {
            if (used + 1) * 4 > entries.count * 3 { grow() }
            let index = index(of: hash)
            if entries[index].hash == 0 { used += 1 }
            entries[index].hash = hash
            entries[index].state = state
        }

        private mutating func grow() {
            let former = entries
            entries = Array(repeating: Entry(), count: max(64, former.count * 2))
            used = 0
            for entry in former where entry.hash != 0 && !entry.isWithdrawn {
                entries[index(of: entry.hash)] = entry
                used += 1
            }
        }

        /// Those that are not withdrawn.
        var all: [UInt64] { entries.lazy.filter { $0.hash != 0 && !$0.isWithdrawn }.map(\.hash) }
    }

    private let table = Mutex(Table())

    /// - Returns: false if one of them is here already, or is there twice; then none is announced.
    func announce(_ hashes: [UInt64]) -> Bool {
        table.withLock { table in
            for (number, hash) in hashes.enumerated() {
                if table[hash] == nil {
                    table.set(hash, to: .announced)
                    continue
                }
                for hash in hashes[..<number] { table.set(hash, to: .withdrawn) }
                return false
            }
            return true
        }
    }

    func withdraw(_ hashes: [UInt64]) {
        table.withLock { table in for hash in hashes { table.set(hash, to: .withdrawn) } }
    }

    /// The rows with these keys, which were announced, are in a block.
    ///
    /// - Parameter first: the primary key of the first of them; those of the others follow.
    /// - Returns: false if somebody has asked for one of them meanwhile; then none is added.
    func add(_ hashes: [UInt64], first: Int64) -> Bool {
        table.withLock { table in
            let areFree = hashes.allSatisfy { hash in
                if case .announced? = table[hash] { return true }
                return false
            }
            guard areFree else { return false }
            for (number, hash) in hashes.enumerated() { table.set(hash, to: .added(first + Int64(number))) }
            return true
        }
    }

    /// Somebody asks for a key: the primary key of the row that may have it. Nil where there is none yet: what is announced now will not be added.
    func ask(for hash: UInt64) -> Int64? {
        table.withLock { table in
            switch table[hash] {
            case .added(let key)?: return key
            case .announced?: table.set(hash, to: .asked)
            case .asked?, .withdrawn?, nil: break
            }
            return nil
        }
    }

    /// The primary key of the row that may have a key, for who only wants to know.
    func primaryKey(of hash: UInt64) -> Int64? {
        table.withLock { table in
            if case .added(let key)? = table[hash] { return key }
            return nil
        }
    }

    func contains(anyOf hashes: [UInt64]) -> Bool {
        table.withLock { table in hashes.contains { table[$0] != nil } }
    }

    /// The hashes of those that are announced or added.
    var all: [UInt64] { table.withLock { $0.all } }
}
