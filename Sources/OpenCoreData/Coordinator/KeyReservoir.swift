import Synchronization

/// Primary keys handed out in memory, from blocks that a store took out of circulation. An inserted object gets its key here, so that an ID
/// costs nothing and never changes (GB8). Gaps are allowed.
final class KeyReservoir: Sendable {
    private struct Block: Sendable {
        let store: StoreIdentity
        let root: NSEntityDescription
        var next: Int64
        var end: Int64
        var size: Int
    }

    /// By number of the entity. Entities of one tree have blocks of their own out of the tree's keys.
    private let blocks = Mutex<[Int: Block]>([:])

    /// A key for a new object of an entity and the store it belongs to, if there is one in stock.
    func next(for entity: NSEntityDescription) -> (key: Int64, store: StoreIdentity)? {
        blocks.withLock { blocks in
            guard let index = blocks.index(forKey: entity.number) else { return nil }
            guard blocks.values[index].next < blocks.values[index].end else { return nil }
            defer { blocks.values[index].next += 1 }
            return (blocks.values[index].next, blocks.values[index].store)
        }
    }

    /// A key for a new object of an entity, from `store`.
    func key(for entity: NSEntityDescription, in store: NSPersistentStore) -> Int64 {
        blocks.withLock { blocks in
            var block =
                blocks[entity.number] ?? Block(store: store.identity, root: entity.rootEntity, next: 0, end: 0, size: 512)
            if block.next >= block.end {
                block.size = min(block.size * 2, 1 << 16)
                // It may just have given its place to another.
                let store = store.identity.store as? NSPersistentStore ?? store
                // A store that can't be written just now (full, busy) must not fail an insert: that is said when the object is saved.
                guard let range = try? store.reserveKeys(for: block.root, count: block.size) else { return UnreservedKeys.next() }
                block.next = range.lowerBound
                block.end = range.upperBound
            }
            defer {
                block.next += 1
                blocks[entity.number] = block
            }
            return block.next
        }
    }

    /// Runs `body` while nobody takes keys. The keys in stock stay where they are.
    func pausing<T>(_ body: () throws -> T) rethrows -> T {
        try blocks.withLock { _ in try body() }
    }

    /// Gives unused keys back when a store is closed.
    func release(to store: NSPersistentStore) {
        blocks.withLock { blocks in
            // The block that was reserved last goes first: only the end of what was handed out can be given back.
            for (number, block) in blocks.sorted(by: { $0.value.end > $1.value.end }) where block.store === store.identity {
                blocks[number] = nil
                if block.next < block.end { store.releaseKeys(for: block.root, unused: block.next..<block.end) }
            }
        }
    }
}
