import Foundation

/// Where a save meets rows that somebody else changed, or keys that somebody else has.
extension NSManagedObjectContext {
    /// Has an object checked at the next save although nothing of it changed: that its row is still the one this context read. For what a
    /// change was decided from.
    public func detectConflicts(for object: NSManagedObject) {
        checkQueue()
        if object.context !== self { Violation.otherContext("\(object.objectID)") }
        if object.isFaulted { object.fire() }
        if let base = object.base { watched[object.objectID] = base }
    }

    /// Hands changes one level down, the merge policy settling what it may.
    ///
    /// Towards a store `mergePolicy` is asked; towards a parent context `parentConflictPolicy`, if there is one.
    func handOver(_ changes: ChangeSet) throws -> SaveOutcome {
        let below = channel(to: "save")
        var outcome = SaveOutcome(changes: changes)
        var unchanged = watched
        try checkWatched(&unchanged, in: &outcome)
        try settlingConflicts(&outcome) { try below.receive($0, from: self) }
        watched = [:]
        return outcome
    }

    /// Tries to hand changes over until no conflict is left. Each round settles every conflict found; another writer may cause new ones, but
    /// not for ever.
    func settlingConflicts<T>(_ outcome: inout SaveOutcome, _ handOver: (ChangeSet) throws -> T) throws -> T {
        for _ in 0..<20 {
            do {
                return try handOver(outcome.changes)
            } catch let conflict as StoreConflict {
                try settle(conflict, in: &outcome)
                outcome.isSettled = true
                chain.withLock { level.saving = outcome.changes }
            }
        }
        throw NSError.coreData(.persistentStoreSave, "The store kept changing under this save; given up after 20 attempts. Nothing was written.")
    }

    private func checkWatched(_ watched: inout [NSManagedObjectID: RowSnapshot], in outcome: inout SaveOutcome) throws {
        watched = watched.filter { outcome.changes[$0.key] == nil }
        guard !watched.isEmpty, parent == nil, let coordinator = endOfChain else { return }
        let stored = try coordinator.storedRows(for: Array(watched.keys))
        let moved = watched.filter { stored[$0.key]?.version != $0.value.version }
        watched = [:]
        if moved.isEmpty { return }
        let conflicts = moved.map { id, base in
            NSMergeConflict(StoreConflict.VersionConflict(id: id, stored: stored[id]), base: base, change: nil, context: self)
        }
        try mergePolicy.resolve(mergeConflicts: conflicts)
        for conflict in conflicts {
            endOfChain?.rowCache.remove([conflict.sourceObjectID])
            if let change = changeMadeByPolicy(conflict) {
                outcome.changes.set(conflict.sourceObjectID, change)
            } else {
                outcome.refreshed.append(conflict.sourceObjectID)
            }
        }
    }

    /// The save failed after all: objects show what is unsaved again, as it was.
    func forgetDecisions() {
        for id in decided {
            guard let object = registry[id], let change = chain.withLock({ level.change(of: id) }) else { continue }
            object.take(change)
        }
        decided = []
    }

    /// Applies the policy. Throws 133020 or 133021 under the error policy.
    func settle(_ conflict: StoreConflict, in outcome: inout SaveOutcome) throws {
        switch conflict {
        case .versions(let conflicts): try settle(conflicts, in: &outcome)
        case .constraints(let conflicts): try settle(conflicts, in: &outcome)
        }
    }

    private func settle(_ found: [StoreConflict.VersionConflict], in outcome: inout SaveOutcome) throws {
        let conflicts = found.compactMap { conflict in
            outcome.changes[conflict.id].map { NSMergeConflict(conflict, base: $0.base, change: $0, context: self) }
        }
        try (parent == nil ? mergePolicy : parentConflictPolicy ?? mergePolicy).resolve(mergeConflicts: conflicts)
        for conflict in conflicts {
            let id = conflict.sourceObjectID
            outcome.settled.insert(id)
            if parent == nil {
                endOfChain?.rowCache.remove([id])
                if let stored = conflict.stored { endOfChain?.rowCache.add([FetchedRow(id: id, row: stored)]) }
            }
            outcome.changes.set(id, changeMadeByPolicy(conflict) ?? conflict.decision?.change)
            if outcome.changes[id] == nil { outcome.refreshed.append(id) }
        }
    }

    /// What a policy of one's own made of an object: what the object holds now, if the policy touched it or did not let a kind decide.
    private func changeMadeByPolicy(_ conflict: NSMergeConflict) -> PendingRow? {
        let object = registry[conflict.sourceObjectID]
        if let object, !object.isPublished, object.state != .deleted, let row = object.row {
            unpublished.removeAll { $0 === object }
            object.isPublished = true
            object.ownsRow = false
            return PendingRow.replacing(conflict.stored, with: row)
        }
        guard conflict.decision == nil, let change = conflict.change else { return nil }
        if change.kind == .deleted { return PendingRow(kind: .deleted, row: change.row, base: conflict.stored) }
        return change.row.map { PendingRow.replacing(conflict.stored, with: $0) }
    }

    private func settle(_ found: [StoreConflict.KeyConflict], in outcome: inout SaveOutcome) throws {
        try mergePolicy.resolve(
            mergeConflicts: found.map { conflict in
                NSConstraintConflict(KeyTwin(id: conflict.id, owner: conflict.owner, constraint: conflict.constraint, key: conflict.key), in: self)
            })
        // A policy that gave objects other keys has settled it: they are tried again as they are now.
        let touched = unpublished
        if !touched.isEmpty {
            for object in touched {
                guard let row = object.row, let change = outcome.changes[object.objectID] else { continue }
                object.isPublished = true
                object.ownsRow = false
                outcome.changes.set(
                    object.objectID, PendingRow(kind: change.kind, row: row, changed: object.changed, base: change.base))
                outcome.settled.insert(object.objectID)
            }
            unpublished.removeAll { $0.isPublished }
            return
        }
        var identities: [NSManagedObjectID: NSManagedObjectID] = [:]
        for conflict in found {
            guard identities[conflict.id] == nil, let mine = outcome.changes[conflict.id] else { continue }
            identities[conflict.id] = conflict.owner
            outcome.settled.formUnion([conflict.id, conflict.owner])
            outcome.changes.set(conflict.id, nil)
            outcome.refreshed.append(conflict.id)
            guard outcome.changes[conflict.owner] == nil, let stored = conflict.stored, let merged = mergePolicy.merged(mine, over: stored)
            else { continue }
            outcome.changes.set(conflict.owner, PendingRow(kind: .updated, row: merged.row, changed: merged.changed, base: stored))
        }
        outcome.changes = outcome.changes.replacing(identities)
    }

    /// Updates and deletions of `changes` whose rows are not, at this level, what the sender started from. Within the chain's lock.
    func conflicts(with changes: ChangeSet) -> [StoreConflict.VersionConflict] {
        var result: [StoreConflict.VersionConflict] = []
        changes.forEach { id, change in
            guard change.kind != .inserted, let base = change.base else { return }
            let current: RowSnapshot?
            if let known = changeInChain(of: id) {
                current = known.kind == .deleted ? nil : known.row
            } else if case .row(let cached)? = endOfChain?.rowInMemory(id) {
                current = cached
            } else {
                return
            }
            if let current, current === base || current.differences(from: base).isEmpty { return }
            result.append(StoreConflict.VersionConflict(id: id, stored: current))
        }
        return result
    }
}

extension PendingRow {
    /// The change that makes `row` out of what is stored now.
    static func replacing(_ stored: RowSnapshot?, with row: RowSnapshot) -> PendingRow {
        guard let stored else { return PendingRow(kind: .inserted, row: row.copy(version: 0)) }
        return PendingRow(kind: .updated, row: row.copy(version: stored.version), changed: row.differences(from: stored), base: stored)
    }
}

extension NSError {
    static func mergeConflict(_ conflicts: [NSMergeConflict]) -> NSError {
        .coreData(
            .managedObjectMerge,
            "The save was refused: \(conflicts.count) of its objects changed in the store since they were read. \(conflicts.first?.description ?? "").",
            userInfo: [NSPersistentStoreSaveConflictsErrorKey: conflicts])
    }
}
