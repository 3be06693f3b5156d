import Foundation

/// Two objects with one unique key: found when a child's changes are pushed, long before the store would object.
extension NSManagedObjectContext {
    /// A pushed object whose key another object already has, here or in a parent.
    struct KeyTwin {
        let id: NSManagedObjectID
        let owner: NSManagedObjectID
        let constraint: Int
        let key: UniqueKey
        /// The pushed change.
        let change: PendingRow
        /// The values of the owner.
        let ownerRow: RowSnapshot?
        /// Whether the owner is of the same push.
        let isPushed: Bool
        /// Whether the owner is a new object of the same push.
        let isNewToo: Bool
    }

    /// One key that a pushed object will have.
    private struct Claim {
        let id: NSManagedObjectID
        let constraint: Int
        let key: UniqueKey
        let change: PendingRow
        /// False for an object that has had the key before.
        let isNew: Bool
    }

    /// Within the chain's lock.
    func keyTwins(of changes: ChangeSet) -> [KeyTwin] {
        guard mayHaveTwins(changes) else { return [] }
        var twins: [KeyTwin] = []
        for (constraint, claims) in Self.claims(in: changes) {
            // Of several new objects in one push that is the owner which was made first.
            var firstNew: [UniqueKey: NSManagedObjectID] = [:], firstOld = firstNew
            for claim in claims {
                func note(_ first: inout NSManagedObjectID?) { first = first.map { $0.key < claim.id.key ? $0 : claim.id } ?? claim.id }
                if claim.change.kind == .inserted { note(&firstNew[claim.key]) } else { note(&firstOld[claim.key]) }
            }
            for claim in claims where claim.isNew {
                let known = owner(of: claim.key, constraint).flatMap { owner in
                    // An owner that this push deletes or renames gives the key up.
                    guard let pushed = changes[owner] else { return owner }
                    return pushed.kind == .deleted || pushed.row.flatMap { owner.layout.constraints[constraint.number].key(of: $0) } != claim.key
                        ? nil : owner
                }
                // New objects of one push that have one key are one before they meet another's.
                let isNew = claim.change.kind == .inserted
                let other = isNew ? firstNew[claim.key].flatMap { $0 == claim.id ? nil : $0 } : nil
                let pushed = other ?? (isNew || known == nil ? firstOld[claim.key] : nil)
                guard let owner = pushed ?? known, owner != claim.id else { continue }
                twins.append(
                    KeyTwin(
                        id: claim.id, owner: owner, constraint: claim.constraint, key: claim.key, change: claim.change,
                        ownerRow: changeInChain(of: owner)?.row ?? changes[owner]?.row, isPushed: pushed != nil, isNewToo: other != nil))
            }
        }
        func rank(_ twin: KeyTwin) -> (Int, Int, Int, Int64) { (twin.isNewToo ? 0 : 1, twin.constraint, twin.id.layout.number, twin.id.key) }
        return twins.sorted { rank($0) < rank($1) }
    }

    /// Whether a key of the push may be another's. Hardly ever is one: that is found with one look at each key that is new.
    private func mayHaveTwins(_ changes: ChangeSet) -> Bool {
        if mayHaveTwinsOfBlocks(changes) { return true }
        var claimed: [UniquenessConstraint: Set<UniqueKey>] = [:], keepsKeys = false
        for entityChanges in changes.entities.values {
            for constraint in entityChanges.entity.layout.constraints {
                // Taken out, so that it is not copied.
                var keys = claimed.removeValue(forKey: constraint) ?? []
                for (id, change) in entityChanges.loose {
                    if change.kind == .deleted { continue }
                    guard let key = constraint.newKey(of: change) else {
                        keepsKeys = true
                        continue
                    }
                    if keys.isEmpty { keys.reserveCapacity(entityChanges.loose.count) }
                    guard keys.insert(key).inserted else { return true }
                    if let owner = owner(of: key, constraint), owner != id { return true }
                }
                if !keys.isEmpty { claimed[constraint] = keys }
            }
        }
        if claimed.isEmpty || !keepsKeys { return false }
        // Those that keep their keys.
        for entityChanges in changes.entities.values {
            for constraint in entityChanges.entity.layout.constraints {
                guard let keys = claimed[constraint] else { continue }
                for (_, change) in entityChanges.loose where change.kind != .deleted && constraint.newKey(of: change) == nil {
                    if let key = change.row.flatMap({ constraint.key(of: $0) }), keys.contains(key) { return true }
                }
            }
        }
        return false
    }

    /// The same of rows in blocks, which have the keys that they came with. Among those of one importer there are no twins; where there are not many more other
    /// rows of their entity than those, one look at each says whether it is one.
    private func mayHaveTwinsOfBlocks(_ changes: ChangeSet) -> Bool {
        for part in changes.entities.values where !part.blocks.isEmpty {
            var seen: Set<ObjectIdentifier> = [], known: [BlockKeys] = [], others: [UInt64] = []
            let count = part.blocks.reduce(0) { $0 + $1.count }
            func add(_ part: EntityChanges) -> Bool {
                guard let hashes = part.looseHashes(besides: count) else { return false }
                others += hashes
                for block in part.blocks where seen.insert(ObjectIdentifier(block.uniqueKeys)).inserted { known.append(block.uniqueKeys) }
                return true
            }
            guard add(part) else { return true }
            let mine = known.count
            for context in sequence(first: self, next: \.parent) {
                for layer in [context.level.pending, context.level.saving].compactMap({ $0?.entities[part.entity.number] }) {
                    guard add(layer) else { return true }
                }
            }
            if !others.isEmpty, known.contains(where: { $0.contains(anyOf: others) }) { return true }
            for number in 0..<mine {
                if known.dropFirst(number + 1).contains(where: { known[number].mayShare(with: $0) }) { return true }
            }
        }
        return false
    }

    private static func claims(in changes: ChangeSet) -> [UniquenessConstraint: [Claim]] {
        var result: [UniquenessConstraint: [Claim]] = [:]
        for entityChanges in changes.entities.values {
            for constraint in entityChanges.entity.layout.constraints {
                for (id, change) in entityChanges.rows where change.kind != .deleted {
                    guard let key = change.row.flatMap({ constraint.key(of: $0) }) else { continue }
                    let isNew = constraint.newKey(of: change) != nil
                    result[constraint, default: []].append(Claim(id: id, constraint: constraint.number, key: key, change: change, isNew: isNew))
                }
            }
        }
        return result.filter { $0.value.contains(where: \.isNew) }
    }

    private func owner(of key: UniqueKey, _ constraint: UniquenessConstraint) -> NSManagedObjectID? {
        var context: NSManagedObjectContext? = self
        while let current = context {
            if current.level.hasChanges, let id = current.level.owner(of: key, constraint) {
                // A level nearer to us may have deleted it since, or given it another key.
                guard let nearest = changeInChain(of: id), nearest.kind != .deleted,
                    nearest.row.flatMap({ id.layout.constraints[constraint.number].key(of: $0) }) == key
                else { return nil }
                return id
            }
            context = current.parent
        }
        return nil
    }

    /// Makes each new object that has a key of another's one object with it, by the root's merge policy. Within the chain's lock.
    ///
    /// An object that others know already stays what it is: where it was given a key of another's, what was changed of it goes to the owner as the policy
    /// says, and it keeps the values that it had.
    func unifyTwins(_ admission: inout Admission) throws {
        var twins = keyTwins(of: admission.changes)
        if !twins.isEmpty, admission.changes.deletedCount > 0 {
            // Who goes with what is deleted has no key any more, and brings nothing to the one who has it.
            try settleDeletions(&admission)
            twins = keyTwins(of: admission.changes)
        }
        if twins.isEmpty { return }
        let policy = root.mergePolicy
        guard policy.mergeType != .errorMergePolicyType else { throw TwinsRefused(twins: twins) }
        var settled: Set<NSManagedObjectID> = [], identities: [NSManagedObjectID: NSManagedObjectID] = [:]
        func last(_ id: NSManagedObjectID) -> NSManagedObjectID {
            var result = id
            while let next = identities[result] { result = next }
            return result
        }
        for twin in twins {
            let owner = last(twin.owner)
            guard owner != twin.id, let mine = admission.changes[twin.id], settled.insert(twin.id).inserted else { continue }
            if mine.kind == .inserted {
                identities[twin.id] = owner
                admission.changes.set(twin.id, nil)
            } else {
                // Its to-manys may have changed, which stays.
                admission.changes.set(twin.id, mine.base.map { PendingRow(kind: .updated, row: $0, base: $0) })
                admission.corrected.insert(twin.id)
            }
            admission.corrected.insert(owner)
            let current = changeInChain(of: owner)
            if let pushed = admission.changes[owner] {
                admission.changes.set(owner, pushed.unified(with: mine, by: twin.isNewToo ? nil : policy))
            } else if let current {
                let empty = PendingRow(kind: .updated, row: current.row, base: current.row)
                let merged = empty.unified(with: mine, by: policy)
                if merged.row !== current.row { admission.changes.set(owner, merged) }
            }
        }
        let owners = identities.mapValues(last)
        admission.changes = admission.changes.replacing(owners)
        // Whose members changed counts as changed, though its row did not.
        let related = admission.changes.pairs.owners
        for owner in Set(owners.values) where related.contains(owner) && admission.changes[owner] == nil {
            guard let row = changeInChain(of: owner)?.row else { continue }
            admission.changes.set(owner, PendingRow(kind: .updated, row: row, base: row))
        }
        admission.identities.merge(owners) { $1 }
    }
}

extension PendingRow {
    /// This change of the owner of a key, with what another object that turned out to be the same brings.
    ///
    /// - Parameter policy: what decides where both have set a value; nil, for two new objects of one save: this one's stays.
    func unified(with other: PendingRow, by policy: NSMergePolicy?) -> PendingRow {
        guard let row, let theirs = other.row else { return self }
        var merged: (row: RowSnapshot, changed: SlotSet)?
        if let policy {
            if other.kind == .inserted {
                merged = policy.merged(other, over: row)
            } else if [.mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType].contains(policy.mergeType) {
                merged = row.overlaid(with: theirs, other.changed)
            }
        } else {
            var missing = SlotSet()
            other.changed.forEach { if !changed.contains($0) { missing.insert($0) } }
            merged = row.overlaid(with: theirs, missing)
        }
        guard let merged else { return self }
        var slots = changed
        slots.formUnion(merged.changed)
        return PendingRow(kind: kind, row: merged.row, changed: slots, base: base)
    }
}

/// The merge policy lets two objects of one key be no one object. The sender of the changes says so, as it knows its objects.
struct TwinsRefused: Error {
    let twins: [NSManagedObjectContext.KeyTwin]
}

extension NSError {
    static func constraintConflict(_ twins: [NSManagedObjectContext.KeyTwin], from sender: NSManagedObjectContext) -> NSError {
        typealias Side = NSConstraintConflict.Side
        let conflicts = twins.map { twin in
            let mine = Side(twin.id, twin.change), owner = Side(twin.owner, twin.ownerRow)
            return NSConstraintConflict(
                constraint: twin.constraint, key: twin.key, conflicting: twin.isPushed ? [owner, mine] : [mine],
                database: twin.isPushed ? nil : owner, in: sender)
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
