import Synchronization

/// Primary keys handed out in memory, from blocks that a store took out of circulation. An inserted object gets its key here, so that an ID
/// costs nothing and never changes (GB8). Gaps are allowed.
final class KeyReservoir: Sendable {
    private struct Block: Sendable {
        let store: StoreIdentity
        let root: NSEntityDescription
        var next: Int64
        var end: Int64
        /// How many there were.
        var size: Int
        /// Whether the store was asked for them.
        var isReserved = true
    }

    /// Keys of a tree that are free in several stores, so that a new object may be assigned to any of them.
    private struct Shared: Sendable {
        let root: ObjectIdentifier
        let keys: Range<Int64>
        let stores: [StoreIdentity]
    }

    private let shared = Mutex<[Shared]>([])

    /// By number of the entity. Entities of one tree have blocks of their own out of the tree's keys.
    private let blocks = Mutex<[Int: Block]>([:])

    /// A key for a new object of an entity and the store it belongs to, if there is one in stock.
    func next(for entity: NSEntityDescription) -> (key: Int64, store: StoreIdentity)? {
        blocks.withLock { blocks in
            guard let index = blocks.index(forKey: entity.number) else { return nil }
            guard blocks.values[index].next < blocks.values[index].end,
                !blocks.values[index].store.isClosedForWriting.load(ordering: .acquiring)
            else { return nil }
            defer { blocks.values[index].next += 1 }
            return (blocks.values[index].next, blocks.values[index].store)
        }
    }

    /// A key for a new object of an entity, from `store`.
    ///
    /// - Parameter others: the stores that the object may be assigned to: the key is free there as well.
    func key(for entity: NSEntityDescription, in store: NSPersistentStore, beside others: [NSPersistentStore] = []) -> Int64 {
        blocks.withLock { blocks in
            var block =
                blocks[entity.number].flatMap { $0.store.isClosedForWriting.load(ordering: .acquiring) ? nil : $0 }
                ?? Block(store: store.identity, root: entity.rootEntity, next: 0, end: 0, size: 0)
            if block.next >= block.end {
                let wanted = min(max(block.size * 2, 1024), 1 << 16)
                // It may just have given its place to another.
                let store = store.identity.store as? NSPersistentStore ?? store
                // A store that can't be written just now (full, busy) must not fail an insert: that is said when the object is saved. Nor is it asked
                // again for the next object, which would wait as long.
                let reserved = try? reserve(block.root, wanted, in: store, beside: others)
                let range = reserved ?? UnreservedKeys.take(wanted)
                block.isReserved = reserved != nil
                block.size = range.count
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

    /// That many keys in a row for new objects of an entity, from a store that alone keeps it; nil where it can't give them just now.
    func keys(_ count: Int, for entity: NSEntityDescription, in store: NSPersistentStore) -> Range<Int64>? {
        blocks.withLock { _ in
            // It may just have given its place to another.
            let store = store.identity.store as? NSPersistentStore ?? store
            guard !store.identity.isClosedForWriting.load(ordering: .acquiring) else { return nil }
            return try? store.reserveKeys(for: entity.rootEntity, count: count)
        }
    }

    private func reserve(
        _ root: NSEntityDescription, _ count: Int, in store: NSPersistentStore, beside others: [NSPersistentStore]
    ) throws -> Range<Int64> {
        if others.isEmpty || store.identity.references != nil {
            return try store.readyKeys(for: root, atMost: count) ?? store.reserveKeys(for: root, count: count)
        }
        // One that can't be read or written just now (full, busy) gets none of these keys, and the insert goes on without it.
        let asked = others.compactMap { other in (try? other.largestKey(for: root)).map { (store: other, largest: $0) } }
        let largest = asked.map(\.largest).max() ?? 0
        if try store.largestKey(for: root) < largest { try store.raiseLargestKey(for: root, to: largest) }
        var range = try store.reserveKeys(for: root, count: count)
        // What a store keeps ready for its next saves may be among what another has given out by now.
        for _ in 0..<16 where range.lowerBound <= largest {
            guard let next = try? store.reserveKeys(for: root, count: count) else { break }
            range = next
        }
        let keys = range.lowerBound...range.upperBound - 1
        let free = asked.map(\.store).filter { (try? $0.takeKeys(keys, for: root)) == true }
        shared.withLock { $0.append(Shared(root: ObjectIdentifier(root), keys: range, stores: [store.identity] + free.map(\.identity))) }
        return range
    }

    /// Whether the key of a new object is free in a store, and nobody else will be given it.
    func takes(_ id: NSManagedObjectID, _ store: NSPersistentStore) -> Bool {
        let root = id.entity.rootEntity, identity = store.identity
        let isShared = shared.withLock { shared in
            shared.contains { part in
                part.root == ObjectIdentifier(root) && part.keys.contains(id.key) && part.stores.contains { $0 === identity }
            }
        }
        if isShared || UnreservedKeys.contains(id.key) { return true }
        // Beyond all that the store has given out: then it gives this one out.
        return (try? store.takeKeys(id.key...id.key, for: root)) == true
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
                if block.next < block.end, block.isReserved { store.releaseKeys(for: block.root, unused: block.next..<block.end) }
            }
        }
    }
}
