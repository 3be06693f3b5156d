import Foundation
import Synchronization

/// Reading, the same from the stores as they are and from a state of them.
extension RoutingChannel {
    package func fetch(_ plan: FetchPlan) throws -> [FetchedRow] { try asking { try found(plan) } }

    private func found(_ plan: FetchPlan) throws -> [FetchedRow] {
        let asked = try readers(for: plan)
        var found: [FetchedRow]
        if asked.count == 1 {
            found = try asked[0].fetch(plan)
        } else {
            // Several stores: each answers without a window, and the window is cut from the whole.
            var open = plan
            open.limit = 0
            open.offset = 0
            open = open.orderable
            found = try asked.flatMap { try $0.fetch(open) }
            let reader = CheckedReader(self)
            found = RowOrdering(plan.sort, reader: reader).sorted(found)
            try reader.check()
            found = plan.windowed(found)
        }
        if plan.includesRows { rowCache.add(found) }
        return found
    }

    package func count(_ plan: FetchPlan) throws -> Int {
        try asking {
            let asked = try readers(for: plan)
            return asked.count == 1 ? try asked[0].count(plan) : try found(plan).count
        }
    }

    package func dictionaries(_ table: DictionaryPlan, _ plan: FetchPlan) throws -> [[AttributeValue]]? {
        try asking {
            let asked = try readers(for: plan)
            return asked.count == 1 ? try asked[0].dictionaries(table, plan) : nil
        }
    }

    package func rowInMemory(_ id: NSManagedObjectID) -> RowLookup {
        rowCache[id].map { .row($0) } ?? .unknown
    }

    package func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot] {
        var result: [NSManagedObjectID: RowSnapshot] = [:]
        var missing: [NSManagedObjectID] = []
        for id in ids {
            if case .row(let row) = rowInMemory(id) { result[id] = row } else { missing.append(id) }
        }
        if missing.isEmpty { return result }
        let rows = try storedRows(for: missing)
        rowCache.add(rows.map { FetchedRow(id: $0.key, row: $0.value) })
        result.merge(rows) { _, new in new }
        return result
    }

    /// The rows that the stores hold, past the cache.
    func storedRows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot] {
        try asking {
            var result: [NSManagedObjectID: RowSnapshot] = [:]
            for (store, ids) in grouped(ids) {
                guard let rows = try reader(of: store)?.rows(for: ids) else { continue }
                if result.isEmpty { result = rows } else { result.merge(rows) { _, new in new } }
            }
            return result
        }
    }

    package func relatedIDs(_ key: RelationshipKey) throws -> [NSManagedObjectID] {
        try asking {
            guard let reader = ownStore(of: key.owner).flatMap({ reader(of: $0) }) else { return [] }
            if let known = rowCache.relations[key] { return known }
            return try reader.relatedIDs(key)
        }
    }

    package func prefetch(
        _ keys: [RelationshipKey], remembering: Set<RelationshipKey>
    ) throws -> [RelationshipKey: [NSManagedObjectID]] {
        try asking { try members(keys, remembering: remembering) }
    }

    private func members(_ keys: [RelationshipKey], remembering: Set<RelationshipKey>) throws -> [RelationshipKey: [NSManagedObjectID]] {
        var groups: [ObjectIdentifier: (NSPersistentStore, [RelationshipKey])] = [:]
        var result: [RelationshipKey: [NSManagedObjectID]] = [:]
        for key in keys {
            result[key] = []
            guard let store = ownStore(of: key.owner) else { continue }
            groups[ObjectIdentifier(store), default: (store, [])].1.append(key)
        }
        let stamp = rowCache.relations.stamp
        for (store, keys) in groups.values {
            for (key, members) in try reader(of: store)?.related(keys) ?? [:] {
                rowCache.add(members)
                result[key] = members.map(\.id)
            }
        }
        rowCache.relations.remember(result.filter { remembering.contains($0.key) }, stamp: stamp)
        return result
    }

    package func objects(of entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]) throws -> [UniqueKey: FetchedRow] {
        let found = try asking {
            var result: [UniqueKey: FetchedRow] = [:]
            for reader in try stores(keeping: entity).compactMap({ reader(of: $0) }) {
                result.merge(try reader.objects(of: entity, constraint: constraint, keys: keys)) { first, _ in first }
            }
            return result
        }
        rowCache.add(found.values)
        return found
    }

    private func readers(for plan: FetchPlan) throws -> [any StoreReading] {
        try stores(keeping: plan.entity).compactMap { plan.asks($0.identity) ? reader(of: $0) : nil }
    }

    private func stores(keeping entity: NSEntityDescription) throws -> [NSPersistentStore] {
        let all = persistentStores
        guard !all.isEmpty else {
            throw NSError.coreData(.coreData, "The coordinator has no persistent stores; add one before fetching or saving.")
        }
        let asked = all.filter { $0.keeps(entity) }
        guard !asked.isEmpty else {
            throw NSError.coreData(.coreData, "No store of the coordinator keeps entity \(entity.name ?? "?").")
        }
        return asked
    }

    private func grouped(_ ids: [NSManagedObjectID]) -> [(NSPersistentStore, [NSManagedObjectID])] {
        var groups: [ObjectIdentifier: (NSPersistentStore, [NSManagedObjectID])] = [:]
        for id in ids {
            guard let store = ownStore(of: id) else { continue }
            groups[ObjectIdentifier(store), default: (store, [])].1.append(id)
        }
        return Array(groups.values)
    }
}

extension NSPersistentStoreCoordinator: RoutingChannel {
    package var endOfChain: NSPersistentStoreCoordinator? { self }

    package func reader(of store: NSPersistentStore) -> (any StoreReading)? { store }

    /// Asks again where a store gave its place to another meanwhile: the answer, or the error, may be that of a store that has left.
    package func asking<T>(_ body: () throws -> T) throws -> T {
        while true {
            let moves = storeMoves.load(ordering: .acquiring)
            let answer = Result { try body() }
            if storeMoves.load(ordering: .acquiring) == moves { return try answer.get() }
        }
    }

    package func receive(_ changes: ChangeSet, from sender: NSManagedObjectContext) throws {
        var written: [NSPersistentStore] = []
        defer { for store in written { postRemoteChange(of: store) } }
        // The sender is on its queue, so it can be asked.
        let origin = SaveOrigin(author: sender.transactionAuthor, contextName: sender.name)
        // One save after the other: what the cache holds must not depend on who comes back from the store first.
        try queue.sync {
            for (store, var part) in try withMetadata(byStore(changes)) {
                part.origin = origin
                let saved = try store.save(part)
                if !part.isEmpty || part.watched.isEmpty { written.append(store) }
                for (id, version) in saved.versions {
                    part[id]?.row?.stamp(version: version)
                    id.makePermanent()
                }
                rowCache.commit(part, saved.versions)
            }
            if let journaled = changes.journaled { pushRecorder.withLock { $0 }?.didCommit(through: journaled.upperBound) }
        }
        subscribers.announce(ChangedObjectIDs(changes), except: sender)
    }

    /// Writes the metadata that was set since it was written last. Without any no store is asked, and nobody is waited for.
    func saveMetadata() throws {
        guard persistentStores.contains(where: \.hasMetadataToWrite) else { return }
        var written: [NSPersistentStore] = []
        defer { for store in written { postRemoteChange(of: store) } }
        try queue.sync {
            for (store, part) in withMetadata([]) {
                _ = try store.save(part)
                written.append(store)
            }
        }
    }

    /// The parts of a save, and an empty one for each store that has metadata to write and no part.
    ///
    /// The empty ones come first: one of them that fails fails the save before any object is written. After them it would say of objects that are
    /// committed that they are not.
    private func withMetadata(_ parts: [(NSPersistentStore, ChangeSet)]) -> [(NSPersistentStore, ChangeSet)] {
        let others = persistentStores.filter { store in
            store.hasMetadataToWrite && !parts.contains { $0.0 === store }
        }
        return others.map { ($0, ChangeSet()) } + parts
    }

    /// Splits a change set by the stores its objects live in. An object without a store yet goes to the first that keeps its entity.
    private func byStore(_ changes: ChangeSet) throws -> [(NSPersistentStore, ChangeSet)] {
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
            try changes.forEach { id, _ in _ = try place(id) }
            return [(all[0], changes)]
        }
        var parts: [ObjectIdentifier: (NSPersistentStore, ChangeSet)] = [:]
        try changes.forEach { id, pending in
            let store = try place(id)
            parts[ObjectIdentifier(store), default: (store, ChangeSet())].1.set(id, pending)
        }
        for (key, pairs) in changes.pairs {
            let store = try place(key.owner)
            parts[ObjectIdentifier(store), default: (store, ChangeSet())].1.pairs[key] = pairs
        }
        for (key, order) in changes.orders {
            let store = try place(key.owner)
            parts[ObjectIdentifier(store), default: (store, ChangeSet())].1.orders[key] = order
        }
        for (id, row) in changes.watched {
            guard let store = ownStore(of: id) else { continue }
            if !store.isReadOnly {
                parts[ObjectIdentifier(store), default: (store, ChangeSet())].1.watched[id] = row
                continue
            }
            // It takes no save, and this one writes nothing to it.
            let stored = try store.rows(for: [id])[id]
            if stored?.version != row.version { throw StoreConflict.versions([StoreConflict.VersionConflict(id: id, stored: stored)]) }
        }
        // What only has to be checked comes before anything is written.
        var result = parts.values.filter { $0.1.isEmpty }
        // Then what may fail for reasons of its own, as a server does, before what is written here: nothing is written then.
        result += parts.values.filter { !$0.1.isEmpty && $0.0.identity.references != nil }
        result += parts.values.filter { !$0.1.isEmpty && $0.0.identity.references == nil }
        // A merge policy dropped all of it: it is settled, and that has to be known after a crash, too.
        if result.isEmpty, changes.journaled != nil, let store = all.first(where: { !$0.isReadOnly }) { result = [(store, ChangeSet())] }
        // Whoever reads the mark in a store takes all of the save for committed, so it goes with the part that is written last.
        if !result.isEmpty { result[result.count - 1].1.journaled = changes.journaled }
        return result
    }
}

extension NSPersistentStore {
    /// Whether metadata was set that the next save writes.
    fileprivate var hasMetadataToWrite: Bool { hasUnsavedMetadata && !isReadOnly }
}
