import Foundation
import Synchronization

/// Reading, the same from the stores as they are and from a state of them.
extension RoutingChannel {
    package func fetch(_ plan: FetchPlan) throws -> [FetchedRow] { try asking { try found(plan) } }

    private func found(_ plan: FetchPlan) throws -> [FetchedRow] {
        let asked = try readers(for: plan), stamp = rowCache.derivedStamp
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
        if plan.includesRows { rowCache.add(found, asOf: stamp) }
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
        let stamp = rowCache.derivedStamp, rows = try storedRows(for: missing)
        rowCache.add(rows.map { FetchedRow(id: $0.key, row: $0.value) }, asOf: stamp)
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
        let stamp = rowCache.relations.stamp, derivedStamp = rowCache.derivedStamp
        for (store, keys) in groups.values {
            for (key, members) in try reader(of: store)?.related(keys) ?? [:] {
                rowCache.add(members, asOf: derivedStamp)
                result[key] = members.map(\.id)
            }
        }
        rowCache.relations.remember(result.filter { remembering.contains($0.key) }, stamp: stamp)
        return result
    }

    package func objects(of entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]) throws -> [UniqueKey: FetchedRow] {
        let stamp = rowCache.derivedStamp
        let found = try asking {
            var result: [UniqueKey: FetchedRow] = [:]
            for reader in try stores(keeping: entity).compactMap({ reader(of: $0) }) {
                result.merge(try reader.objects(of: entity, constraint: constraint, keys: keys)) { first, _ in first }
            }
            return result
        }
        rowCache.add(found.values, asOf: stamp)
        return found
    }

    private func readers(for plan: FetchPlan) throws -> [any StoreReading] {
        try stores(keeping: plan.entity).compactMap { plan.asks($0.identity) ? reader(of: $0) : nil }
    }

    /// How many of the rows with primary keys in these runs a plan finds among what is committed, without any row coming into memory.
    ///
    /// - Returns: nil where not one store alone keeps the entity, or it can't tell: then the rows have to be read.
    package func count(_ plan: FetchPlan, among runs: [ClosedRange<Int64>]) throws -> Int? {
        let stores = try stores(keeping: plan.entity)
        guard stores.count == 1, let store = stores[0] as? any CountingStore else { return nil }
        return try store.count(plan, among: runs)
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
}
