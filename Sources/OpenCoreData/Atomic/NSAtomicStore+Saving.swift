import Foundation

/// A change set, on its way into nodes and rows.
extension NSAtomicStore {
    /// Checks the changes and gets the references of new objects. When the save is committed, the nodes are changed and written.
    func write(_ changes: ChangeSet, _ body: (any PreparedSave) throws -> Void) throws {
        guard !isReadOnly else {
            throw NSError.coreData(.persistentStoreSave, "The store \(identifier ?? "?") was opened read-only; nothing can be saved to it.")
        }
        guard changes.journaled == nil else {
            throw NSError.coreData(
                .persistentStoreSave, "The store \(identifier ?? "?") can't note what it has of a push journal. Turn pushJournaling off.")
        }
        try order.sync { () throws in
            try withContext { context in
                try rows.prepare(changes) { prepared in
                    context.chain.withLock { context.level.pending = changes }
                    let inserted = changes.ids(.inserted).sorted { $0.key < $1.key }
                    try obtainReferences(for: inserted, context)
                    try body(UnwrittenSave { [self] in try carryOut(changes, inserted: inserted, prepared, context) })
                }
            }
        }
    }

    /// A context for one call. In `order`.
    private func withContext<T>(_ body: (NSManagedObjectContext) throws -> T) throws -> T {
        guard let coordinator = persistentStoreCoordinator else {
            throw NSError.coreData(.persistentStoreOperation, "The store \(identifier ?? "?") has been removed from its coordinator.")
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.name = "NSAtomicStore"
        context.persistentStoreCoordinator = coordinator
        context.registry.log.silence()
        return try context.performAndWait { () throws -> T in try body(context) }
    }

    private func carryOut(
        _ changes: ChangeSet, inserted: [NSManagedObjectID], _ prepared: any PreparedSave, _ context: NSManagedObjectContext
    ) throws -> SavedRows {
        let generation = kept.generation, temporary = inserted.filter(\.isTemporaryID)
        let before = nodes, caches = nodes.mapValues { $0.propertyCache?.mutableCopy() as? NSMutableDictionary }
        // To the store they are permanent, as their references are.
        for id in temporary { id.makePermanent() }
        do {
            let new = inserted.map { (id: $0, object: context.object(with: $0)) }
            addCacheNodes(Set(new.map { newCacheNode(for: $0.object) }))
            for (id, _) in new where nodes[id] == nil {
                throw NSError.coreData(.persistentStoreOperation, "newCacheNode(for:) of \(Swift.type(of: self)) made no node for \(id).")
            }
            let deleted = Set(changes.ids(.deleted))
            var updated = Set(changes.ids(.updated))
            for key in changes.changedToManys where !deleted.contains(key.owner) { updated.insert(key.owner) }
            let gone = Set(deleted.compactMap { nodes[$0] })
            if !gone.isEmpty { willRemoveCacheNodes(gone) }
            for id in deleted { nodes[id] = nil }
            for id in inserted.map(\.self) + updated.subtracting(inserted).sorted(by: { $0.key < $1.key }) {
                if let node = nodes[id] { updateCacheNode(node, from: context.object(with: id)) }
            }
            try save()
        } catch {
            nodes = before
            for (id, cache) in caches { nodes[id]?.propertyCache = cache }
            for id in temporary { id.makeTemporary() }
            throw error
        }
        let saved = try prepared.commit()
        kept.didSave(generation)
        references.noteStored(inserted.lazy.map(\.key))
        references.noteDeleted(changes.ids(.deleted).lazy.map(\.key))
        return saved
    }

    // MARK: References

    /// For objects that get permanent IDs before they are saved.
    func obtainedReferences(for rows: [(id: NSManagedObjectID, row: RowSnapshot?)]) throws {
        try order.sync { () throws in
            try withContext { context in
                var changes = ChangeSet()
                for (id, row) in rows { changes.set(id, PendingRow(kind: .inserted, row: row)) }
                let pending = changes
                context.chain.withLock { context.level.pending = pending }
                try obtainReferences(for: rows.map(\.id).sorted { $0.key < $1.key }, context)
            }
        }
    }

    /// Asks what the store calls these new objects. Those that it was asked about before keep what they have.
    private func obtainReferences(for ids: [NSManagedObjectID], _ context: NSManagedObjectContext) throws {
        var given: [Int64] = []
        do {
            for id in ids {
                switch references.state(of: id.key) {
                case .stored?, .missing?, .reserved?: continue
                case .deleted?:
                    guard references.rebind(id.key) else {
                        throw refused("\(id) can't be written again: the store has given its reference to another object.")
                    }
                case nil:
                    let told = newReferenceObject(for: context.object(with: id))
                    guard let reference = ReferenceText.value(told) else {
                        throw refused("It returned \(told) of type \(Swift.type(of: told)), which is no number, string or data.")
                    }
                    guard references.bind(reference, id.entity, to: id.key) == id.key else {
                        throw refused("It returned \(told) for a new object of \(id.entity.name ?? "?"), which stands for another one.")
                    }
                    given.append(id.key)
                }
            }
        } catch {
            references.release(given)
            throw error
        }
    }

    private func refused(_ why: String) -> NSError {
        .coreData(.persistentStoreOperation, "newReferenceObject(for:) of the store \(Swift.type(of: self)) gave no usable reference. \(why)")
    }
}
