import Foundation

/// Batch requests: into the stores that keep the objects, all or nothing, past the contexts and past the rows that are remembered.
extension NSPersistentStoreCoordinator {
    /// Throws what a store says; then nothing of the request is in any, unless one of several stores could not commit when another had (134040).
    func execute(_ plan: BatchPlan) throws -> BatchOutcome {
        var written: [NSPersistentStore] = []
        defer { for store in written { postRemoteChange(of: store) } }
        return try queue.sync {
            let (plan, asked) = try places(of: plan)
            for store in asked { try check(store, for: plan) }
            let run = BatchRun(plan, in: asked)
            // Members that were fetched ahead count until something is committed.
            defer { if !run.written.isEmpty { rowCache.relations.removeAll() } }
            defer { if !run.derived.isEmpty { rowCache.removeDerived(run.derived) } }
            defer { written = run.written }
            return try run.outcome()
        }
    }

    /// Throws 134030 for a store that can't be written, or not now.
    private func check(_ store: NSPersistentStore, for plan: BatchPlan) throws {
        if store.isReadOnly {
            throw NSError.coreData(
                .persistentStoreSave, "\(url(for: store).path) was opened read-only; it can't execute \(Swift.type(of: plan.request)).")
        }
        try store.asking.check(store)
    }

    /// In which stores it is carried out. What is cut out of the whole of several stores is found before.
    private func places(of plan: BatchPlan) throws -> (BatchPlan, [NSPersistentStore]) {
        let asked = try stores(for: plan)
        guard case .delete(.found(var search)) = plan.work, asked.count > 1, search.limit > 0 || search.offset > 0 else { return (plan, asked) }
        search.affectedStores = asked.map(\.identity)
        var named = plan
        named.work = .delete(.ids(try fetch(search).map(\.id)))
        return (named, try stores(for: named))
    }

    private func stores(for plan: BatchPlan) throws -> [NSPersistentStore] {
        let wanted = plan.affectedStores
        func isWanted(_ store: NSPersistentStore) -> Bool { wanted?.contains { $0.isSame(as: store.identity) } ?? true }
        func keeping(_ entity: NSEntityDescription) throws -> [NSPersistentStore] {
            let found = persistentStores.filter { isWanted($0) && $0.keeps(entity) }
            if !found.isEmpty { return found }
            throw NSError.coreData(
                .coreData,
                persistentStores.isEmpty
                    ? "The coordinator has no persistent stores; add one before executing a batch request."
                    : "No store of the coordinator\(wanted == nil ? "" : " that the request names") keeps entity \(entity.name ?? "?").")
        }
        switch plan.work {
        case .insert(let insert):
            let found = try keeping(insert.entity)
            // As for new objects; where none can be written, the first says so.
            return [found.first { !$0.isReadOnly } ?? found[0]]
        case .update(let update): return try keeping(update.plan.entity)
        case .delete(.found(let search)): return try keeping(search.entity).filter { search.asks($0.identity) }
        case .delete(.ids(let ids)):
            var found: [NSPersistentStore] = []
            for id in ids {
                guard let store = ownStore(of: id), isWanted(store), !found.contains(where: { $0 === store }) else { continue }
                found.append(store)
            }
            return found
        }
    }
}

/// One batch request in several stores: carried out in all of them before it counts in any.
private final class BatchRun {
    private let plan: BatchPlan
    private let stores: [NSPersistentStore]
    private var result = BatchOutcome()
    /// Where it counts.
    private(set) var written: [NSPersistentStore] = []
    var derived: [NSManagedObjectID] { result.derived }

    init(_ plan: BatchPlan, in stores: [NSPersistentStore]) {
        self.plan = plan
        // One order, so that two processes can't wait for each other.
        self.stores = stores.sorted { $0.placeInTurn < $1.placeInTurn }
    }

    func outcome() throws -> BatchOutcome {
        do {
            try prepare(stores[...], [])
        } catch {
            if written.isEmpty { throw error }
            let missing = stores.filter { store in !written.contains { $0 === store } }
            throw NSError.incompleteBatch(written, missing: missing, because: error)
        }
        return result
    }

    private func prepare(_ rest: ArraySlice<NSPersistentStore>, _ prepared: [(NSPersistentStore, any PreparedBatch)]) throws {
        guard let store = rest.first else {
            for (store, batch) in prepared {
                result.add(try batch.commit())
                written.append(store)
            }
            return
        }
        try store.prepare(plan) { try prepare(rest.dropFirst(), prepared + [(store, $0)]) }
    }
}
