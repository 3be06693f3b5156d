import Foundation
import Synchronization

/// Saving: into the stores that the changes belong to, all or nothing.
extension NSPersistentStoreCoordinator {
    /// Throws `StoreConflict`, what a store says, and `PartlySaved` where a part is committed when the rest fails; otherwise nothing is.
    @discardableResult
    package func receive(_ changes: ChangeSet, from sender: SaveSender) throws -> ReceivedChanges {
        var written: [NSPersistentStore] = [], received = ReceivedChanges()
        defer { for store in written { postRemoteChange(of: store) } }
        do {
            // One save after the other: what the cache holds must not depend on who comes back from the store first.
            try queue.sync {
                try run(try self.save(changes, origin: sender.origin), &written, computed: &received.computed)
                if let journaled = changes.journaled { pushRecorder.withLock { $0 }?.didCommit(through: journaled.upperBound) }
            }
        } catch let partly as PartlySaved {
            followers.tell(ChangedObjectIDs(partly.committed.naming(received.computed)), anywhere: true, except: sender.follower)
            throw partly
        }
        followers.tell(ChangedObjectIDs(changes.naming(received.computed)), anywhere: true, except: sender.follower)
        return received
    }

    package func add(_ follower: any ChannelFollower) {
        followers.add(follower as AnyObject, anywhere: true) { [weak follower] _, changes in follower?.hear(of: changes) }
    }

    package func remove(_ follower: any ChannelFollower) { followers.remove(follower) }

    /// Writes the metadata that was set since it was written last. Without any no store is asked, and nobody is waited for.
    func saveMetadata() throws {
        guard persistentStores.contains(where: \.hasMetadataToWrite) else { return }
        var written: [NSPersistentStore] = []
        defer { for store in written { postRemoteChange(of: store) } }
        var computed: [NSManagedObjectID: ComputedRow] = [:]
        try queue.sync { try run(StoresSave(withMetadata([]), journaled: nil, conflict: nil), &written, computed: &computed) }
    }

    private func run(_ save: StoresSave, _ written: inout [NSPersistentStore], computed: inout [NSManagedObjectID: ComputedRow]) throws {
        let outcome = Result { try save.run() }
        for (part, saved) in save.committed {
            if !part.changes.isEmpty || part.changes.watched.isEmpty { written.append(part.store) }
            for changes in part.changes.entities.values {
                for (id, pending) in changes.loose {
                    guard pending.kind != .deleted, let version = saved.version(of: id, pending.kind) else { continue }
                    pending.row?.stamp(version: version)
                    id.makePermanent()
                }
                for block in changes.blocks { block.didCommit { saved.version(of: $0, .inserted) } }
            }
            rowCache.commit(part.changes, saved)
            computed.merge(saved.computed) { _, new in new }
        }
        if case .failure(let error) = outcome { throw save.failure(error) }
    }

    /// The parts of a save, and an empty one for each store that has metadata to write and no part.
    private func withMetadata(_ parts: [StoresSave.Part]) -> [StoresSave.Part] {
        let others = persistentStores.filter { store in
            store.hasMetadataToWrite && !parts.contains { $0.store === store }
        }
        return others.map { StoresSave.Part(store: $0, changes: ChangeSet()) } + parts
    }

    private static func checkWritable(_ store: NSPersistentStore, _ changes: ChangeSet) throws {
        guard store.isReadOnly, !changes.isEmpty else { return }
        let place = store.url.map { $0.isFileURL ? $0.path : $0.absoluteString } ?? "The store \(store.identifier ?? "")"
        throw NSError.coreData(.persistentStoreSave, "\(place) was opened read-only, or closed for writing; nothing was saved.")
    }

    /// Splits a change set by the stores its objects live in. An object without a store yet goes to the first that keeps its entity.
    private func save(_ changes: ChangeSet, origin: SaveOrigin) throws -> StoresSave {
        let all = persistentStores
        guard !all.isEmpty else {
            throw NSError.coreData(
                .coreData,
                "This context's coordinator has no persistent stores; it can't perform a save. Nothing was lost: add a store and save again.")
        }
        func place(_ id: NSManagedObjectID) throws -> NSPersistentStore {
            if let store = ownStore(of: id) { return store }
            guard id.storeIdentity.uuid == nil, let store = store(for: id.entity) else {
                throw NSError.coreData(.persistentStoreSave, "No store that can be written keeps \(id).")
            }
            id.bind(to: store.identity)
            return store
        }
        if all.count == 1 {
            // In this order: a block that somebody opens meanwhile is looked at in both ways, not in none.
            for block in changes.blocks where block.isSealed && !block.store.isSame(as: all[0].identity) {
                throw NSError.coreData(.persistentStoreSave, "No store that can be written keeps new objects of \(block.layout.entity.name ?? "?").")
            }
            try changes.forEachUnsealed { id, _ in _ = try place(id) }
            try Self.checkWritable(all[0], changes)
            var part = changes
            part.origin = origin
            return StoresSave([StoresSave.Part(store: all[0], changes: part)], journaled: changes.journaled, conflict: nil)
        }
        var parts: [ObjectIdentifier: StoresSave.Part] = [:]
        func change(_ store: NSPersistentStore, _ body: (inout ChangeSet) -> Void) {
            body(&parts[ObjectIdentifier(store), default: StoresSave.Part(store: store, changes: ChangeSet())].changes)
        }
        try changes.forEach { id, pending in
            let store = try place(id)
            change(store) { $0.set(id, pending) }
        }
        for (key, pairs) in changes.pairs {
            let store = try place(key.owner)
            // No row can name both.
            for id in pairs.added where try place(id) !== store {
                throw NSError.leadsElsewhere("\(key.owner.entity.name ?? "?").\(key.relationship.name)", to: id)
            }
            change(store) { $0.pairs[key] = pairs }
        }
        for (key, order) in changes.orders {
            let store = try place(key.owner)
            change(store) { $0.orders[key] = order }
        }
        var conflicts: [StoreConflict.VersionConflict] = []
        for (id, row) in changes.watched {
            guard let store = ownStore(of: id) else { continue }
            if !store.isReadOnly {
                change(store) { $0.watched[id] = row }
                continue
            }
            // It takes no save, and this one writes nothing to it.
            let stored = try store.rows(for: [id])[id]
            if stored?.version != row.version { conflicts.append(StoreConflict.VersionConflict(id: id, stored: stored)) }
        }
        for part in parts.values { try Self.checkWritable(part.store, part.changes) }
        var result = withMetadata(Array(parts.values))
        // A merge policy dropped all of it: it is settled, and that has to be known after a crash, too.
        if result.isEmpty, changes.journaled != nil, let store = all.first(where: { !$0.isReadOnly }) {
            result = [StoresSave.Part(store: store, changes: ChangeSet())]
        }
        for index in result.indices { result[index].changes.origin = origin }
        return StoresSave(result, journaled: changes.journaled, conflict: conflicts.isEmpty ? nil : .versions(conflicts))
    }
}

extension NSPersistentStore {
    /// Whether metadata was set that the next save writes.
    fileprivate var hasMetadataToWrite: Bool { hasUnsavedMetadata && !isReadOnly }
}
