import Foundation

/// Two objects with one unique key: found when a child's changes are pushed, long before the store would object.
extension NSManagedObjectContext {
    /// A pushed object whose key another object already has at this level or below.
    struct KeyTwin {
        let id: NSManagedObjectID
        let owner: NSManagedObjectID
        let constraint: Int
        let key: UniqueKey
        /// The pushed change.
        let change: PendingRow
        /// The values of the owner.
        let ownerRow: RowSnapshot?
    }

    /// Within the chain's lock.
    func keyTwins(of changes: ChangeSet) -> [KeyTwin] {
        var twins: [KeyTwin] = []
        // Nothing unsaved here or below: nobody to share a key with.
        var below: NSManagedObjectContext? = self
        while let context = below, !context.level.hasChanges { below = context.parent }
        guard below != nil else { return [] }
        for entityChanges in changes.entities.values {
            let constraints = entityChanges.entity.layout.constraints
            if constraints.isEmpty { continue }
            for (id, change) in entityChanges.rows where change.kind != .deleted {
                guard let row = change.row else { continue }
                for (number, slots) in constraints.enumerated() {
                    if change.kind == .updated && !slots.contains(where: { change.changed.contains($0) }) { continue }
                    guard let key = UniqueKey(row, slots: slots),
                        let owner = owner(of: key, entity: entityChanges.entity, constraint: number), owner != id
                    else { continue }
                    // An owner that this push deletes or renames gives the key up.
                    if let pushed = changes[owner], pushed.kind == .deleted || pushed.row.flatMap({ UniqueKey($0, slots: slots) }) != key {
                        continue
                    }
                    twins.append(
                        KeyTwin(
                            id: id, owner: owner, constraint: number, key: key, change: change, ownerRow: changeInChain(of: owner)?.row))
                }
            }
        }
        return twins
    }

    private func owner(of key: UniqueKey, entity: NSEntityDescription, constraint: Int) -> NSManagedObjectID? {
        var context: NSManagedObjectContext? = self
        while let current = context {
            if current.level.hasChanges, let id = current.level.owner(of: key, entity: entity, constraint: constraint) {
                // A level nearer to us may have deleted it since.
                if let nearest = changeInChain(of: id), nearest.kind == .deleted { return nil }
                return id
            }
            context = current.parent
        }
        return nil
    }

    /// Makes each twin one object with the owner of its key, by the merge policy. Within the chain's lock.
    func unify(_ twins: [KeyTwin], in changes: ChangeSet, policy: NSMergePolicy) -> ChangeSet {
        var result = changes
        var identities: [NSManagedObjectID: NSManagedObjectID] = [:]
        for twin in twins {
            guard identities[twin.id] == nil, let mine = result[twin.id] else { continue }
            identities[twin.id] = twin.owner
            result.set(twin.id, nil)
            // The push may change the owner itself, or have other twins of it.
            if let pushed = result[twin.owner], let row = pushed.row {
                guard let merged = policy.merged(mine, over: row) else { continue }
                var changed = pushed.changed
                changed.formUnion(merged.changed)
                result.set(twin.owner, PendingRow(kind: pushed.kind, row: merged.row, changed: changed, base: pushed.base))
                continue
            }
            guard let stored = changeInChain(of: twin.owner)?.row, let merged = policy.merged(mine, over: stored) else { continue }
            let kind: ChangeKind = level.pending[twin.owner]?.kind == .inserted ? .inserted : .updated
            result.set(twin.owner, PendingRow(kind: kind, row: merged.row, changed: merged.changed, base: kind == .updated ? stored : nil))
        }
        return result.replacing(identities)
    }
}

extension ChangeSet {
    /// The same changes with some objects called by another identity wherever they are named.
    func replacing(_ identities: [NSManagedObjectID: NSManagedObjectID]) -> ChangeSet {
        guard !identities.isEmpty else { return self }
        var result = self
        forEach { id, change in
            guard let row = change.row else { return }
            var copy: RowSnapshot?
            for slot in row.layout.toOneSlots {
                guard let target = row[slot].objectID, let other = identities[target] else { continue }
                if copy == nil { copy = row.copy() }
                copy?.update(slot, to: .objectID(other))
            }
            if let copy { result.set(id, PendingRow(kind: change.kind, row: copy, changed: change.changed, base: change.base)) }
        }
        func renamed(_ id: NSManagedObjectID) -> NSManagedObjectID { identities[id] ?? id }
        result.pairs = [:]
        for (key, changes) in pairs {
            var mine = result.pairs[RelationshipKey(owner: renamed(key.owner), toMany: key.toMany)] ?? PairChanges()
            for id in changes.removed { mine.remove(renamed(id)) }
            for id in changes.added { mine.add(renamed(id)) }
            result.pairs[RelationshipKey(owner: renamed(key.owner), toMany: key.toMany)] = mine
        }
        result.orders = [:]
        for (key, order) in orders {
            result.orders[RelationshipKey(owner: renamed(key.owner), toMany: key.toMany)] = order.map(renamed)
        }
        return result
    }
}

extension NSError {
    static func constraintConflict(_ twins: [NSManagedObjectContext.KeyTwin], from sender: NSManagedObjectContext) -> NSError {
        let conflicts = twins.map { twin in
            NSConstraintConflict(
                constraint: twin.constraint, key: twin.key, conflicting: [NSConstraintConflict.Side(twin.id, twin.change)],
                database: NSConstraintConflict.Side(twin.owner, twin.ownerRow), in: sender)
        }
        return constraintConflict(conflicts, name: sender.diagnosticName)
    }

    static func constraintConflict(_ conflicts: [NSConstraintConflict], name: String? = nil) -> NSError {
        let first = conflicts.first.map(\.sentence) ?? ""
        return .coreData(
            .managedObjectConstraintMerge,
            "The save\(name.map { " of \($0)" } ?? "") was refused: \(conflicts.count) of its objects have a unique key that another object has. \(first)",
            userInfo: [NSPersistentStoreSaveConflictsErrorKey: conflicts])
    }
}
