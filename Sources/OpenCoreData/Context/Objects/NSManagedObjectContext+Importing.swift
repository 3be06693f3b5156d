import Foundation

/// Changing rows without making objects of them: for importers, whose values go from the token straight into the row. On the context's queue.
///
/// What is recorded here is unsaved like any other change: children see it, `save()` hands it on, `rollback()` forgets it. An object that is
/// registered already follows. Inverses of a one-to-many need nothing: the foreign key in the row is their only truth; the pairs of a
/// many-to-many are kept on both sides by `setMembers`.
extension NSManagedObjectContext {
    /// Makes a row a new object of this context, not saved yet, under an ID that `makeID(for:)` gave.
    ///
    /// - Parameter set: the slots that were set on purpose; the others hold defaults.
    package func insertRow(_ id: NSManagedObjectID, _ row: RowSnapshot, set: SlotSet) {
        checkQueue()
        hasImportedRows = true
        chain.withLock { _ = level.record(id, PendingRow(kind: .inserted, row: row, changed: set)) }
    }

    /// Replaces the values of an object. `base` is the row that the change started from.
    package func updateRow(_ id: NSManagedObjectID, to row: RowSnapshot, changed: SlotSet, base: RowSnapshot) {
        checkQueue()
        hasImportedRows = true
        let now: PendingRow? = chain.withLock {
            level.record(id, PendingRow(kind: .updated, row: row, changed: changed, base: base))
            return level.change(of: id)
        }
        if let now, let object = registry[id] {
            object.take(now)
            registry.retain(object)
        }
    }

    /// Replaces the members of a to-many that is kept as pairs. `before` are the members until now: empty for a new object.
    package func setMembers(of key: RelationshipKey, from before: [NSManagedObjectID], to ids: [NSManagedObjectID]) {
        checkQueue()
        let relationship = key.relationship
        let had = Set(before), wanted = Set(ids)
        chain.withLock {
            if relationship.inverseRelationship?.isToMany ?? true {
                let gone = had.subtracting(wanted), new = wanted.subtracting(had)
                if !(gone.isEmpty && new.isEmpty) {
                    level.pending.pairs.change(key) { pairs in
                        for id in gone { pairs.remove(id) }
                        for id in new { pairs.add(id) }
                    }
                }
                for id in gone { if let back = relationship.key(of: id) { level.pending.pairs.change(back) { $0.remove(key.owner) } } }
                for id in new { if let back = relationship.key(of: id) { level.pending.pairs.change(back) { $0.add(key.owner) } } }
            }
            if relationship.isOrdered && ids != before { level.pending.orders[key] = ids }
        }
        registry[key.owner]?.members[key.toMany] = nil
    }

    /// The current members of a to-many at this level.
    package func members(of key: RelationshipKey) throws -> [NSManagedObjectID] {
        checkQueue()
        return try relatedIDs(key)
    }

    /// Which objects have these keys, for the constraint of that number: one pass over each level's unsaved changes, then one query.
    package func find(
        _ entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]
    ) throws -> [UniqueKey: FetchedRow] {
        checkQueue()
        publish()
        return try objects(of: entity, constraint: constraint, keys: keys)
    }

    /// The object that a key led to when it was looked up before, if it has the key still as this context sees it; nil: look it up. Its row is as new
    /// as the row cache, so this is for rows that only this process writes.
    package func recall(_ entity: NSEntityDescription, constraint: Int, key: UniqueKey) throws -> FetchedRow? {
        guard let id = endOfChain?.lookups.id(key, entity.layout.constraints[constraint]), id.entity.isKindOf(entity: entity),
            let row = try currentRows([id])[id],
            row.layout.constraints[constraint].key(of: row) == key
        else { return nil }
        return FetchedRow(id: id, row: row)
    }

    /// Has `recall(_:constraint:key:)` begin at this object.
    package func remember(_ id: NSManagedObjectID, entity: NSEntityDescription, constraint: Int, key: UniqueKey) {
        endOfChain?.lookups.remember(id, for: key, entity.layout.constraints[constraint])
    }

    /// The current rows of these objects.
    package func currentRows(_ ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot] {
        checkQueue()
        publish()
        return try rows(for: ids)
    }

    /// How many of the rows with primary keys in these runs a plan finds, without any row coming into memory.
    ///
    /// - Returns: nil where something of these entities is unsaved between here and the store, or the store can't tell: then the rows have to be read.
    package func count(_ plan: FetchPlan, among runs: [ClosedRange<Int64>]) throws -> Int? {
        guard !chain.hasBeenPinned, let coordinator = endOfChain else { return nil }
        let isSaved = chain.withLock {
            sequence(first: self, next: \.parent).allSatisfy { context in
                [context.level.saving, context.level.pending].allSatisfy { $0?.hasRows(of: plan.members) != true }
            }
        }
        return isSaved ? try coordinator.count(plan, among: runs) : nil
    }

    /// Whether an object is new in this context, and not saved yet.
    package func hasInserted(_ id: NSManagedObjectID) -> Bool {
        checkQueue()
        return chain.withLock { level.change(of: id)?.kind == .inserted }
    }

    /// How many rows are unsaved in this context itself.
    package var unsavedRowCount: Int { chain.withLock { level.pending.rowCount } }
}
