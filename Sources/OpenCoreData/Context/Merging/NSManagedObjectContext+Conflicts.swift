import Foundation

/// Where a save meets rows that somebody else changed, or keys that somebody else has.
extension NSManagedObjectContext {
    /// Has an object checked at the next save that hands anything on, although nothing of it changed: that its row is still the one this context
    /// read. For what a change was decided from.
    ///
    /// Towards a store `mergePolicy` settles the conflict, towards a parent context `parentConflictPolicy`; without one the save throws 133020.
    public func detectConflicts(for object: NSManagedObject) {
        checkQueue()
        if object.context !== self { Violation.otherContext("\(object.objectID)") }
        if object.isFaulted { object.fire() }
        if let base = object.base { watched[object.objectID] = base }
    }

    /// Hands changes to the channel, the merge policy settling what it may.
    ///
    /// Towards a store `mergePolicy` is asked; towards a parent context `parentConflictPolicy`, if there is one.
    ///
    /// - Parameter turned: objects that turned out to be others in children, of which nobody has heard yet.
    func handOver(_ changes: ChangeSet, turning turned: [NSManagedObjectID: NSManagedObjectID] = [:]) throws -> SaveOutcome {
        let channel = self.channel(to: "save"), asked = watched
        var outcome = SaveOutcome(changes: changes), received = ReceivedChanges()
        do {
            try settlingConflicts(&outcome) { outcome in
                let changes = outcome.changes
                var handed = changes
                if parent != nil {
                    try readWatched(besides: changes)
                } else if !changes.isEmpty {
                    // Checked by the store, in the transaction that writes the changes: nobody comes between.
                    handed.watched = watched.filter { changes[$0.key] == nil }
                }
                // Two that are one have the members of both, and what the policy let go is a member no more.
                if parent == nil, outcome.isSettled || !turned.isEmpty {
                    try MemberCounts(touchedBy: [changes], includingNewOwners: true).check(in: self, isDeleted: { changes[$0]?.kind == .deleted }) {
                        changes.members(of: $0, over: try channel.relatedIDs($0))
                    }
                }
                let identities = turned.merging(outcome.identities) { $1 }
                if parent == nil, !identities.isEmpty, let recorder = chain.withLock({ level.pushRecorder }) {
                    try recorder.willCommit(PushTurn(identities, at: changes.journaled?.upperBound))
                }
                received = try channel.receive(handed, from: sender)
            }
        } catch {
            watched = asked
            throw error
        }
        outcome.take(received)
        // What was to be checked has been, unless the policy left nothing to hand on.
        watched = outcome.changes.isEmpty ? asked : [:]
        // Before what was saved stops covering what is read from the channel.
        movePinAfterSave(outcome.changes)
        return outcome
    }

    /// This context, as whoever receives its changes has to know it.
    package var sender: SaveSender {
        SaveSender(
            follower: self, level: level.number, origin: SaveOrigin(author: transactionAuthor, contextName: name),
            settlesConflicts: parentConflictPolicy != nil,
            watched: watched)
    }

    /// Tries to hand changes over until no conflict is left. Each round settles every conflict found; another writer may cause new ones, but
    /// not for ever.
    func settlingConflicts<T>(_ outcome: inout SaveOutcome, _ handOver: (SaveOutcome) throws -> T) throws -> T {
        for _ in 0..<20 {
            do {
                return try handOver(outcome)
            } catch let conflict as StoreConflict {
                try settle(conflict, in: &outcome)
                outcome.isSettled = true
            } catch let refused as TwinsRefused {
                throw NSError.constraintConflict(refused.twins, from: self)
            }
        }
        throw NSError.coreData(.persistentStoreSave, "The store kept changing under this save; gave up after 20 attempts. Nothing was written.")
    }

    // MARK: Objects that are checked although they did not change

    /// Towards a parent context: finds the watched objects that are gone, which it throws as conflicts, and has the rows of the others in memory,
    /// where the push itself compares them. Also has the rows in memory that the push is laid over.
    func readWatched(besides changes: ChangeSet) throws {
        // The push is laid over rows that are in memory. A state that a pinned root has moved on to has none yet.
        if chain.hasBeenPinned, let parent { _ = try parent.rows(for: changes.ids(.updated) + changes.ids(.deleted)) }
        let asked = watched.keys.filter { changes[$0] == nil }
        guard let parent, !asked.isEmpty, !changes.isEmpty else { return }
        let current = try parent.rows(for: asked)
        let gone = asked.filter { current[$0] == nil }
        if !gone.isEmpty { throw StoreConflict.versions(gone.map { StoreConflict.VersionConflict(id: $0, stored: nil) }) }
    }

    /// Towards a parent context, this one: that the rows of objects that a child watches are still those that it read. Within the chain's lock.
    func conflictsOfWatched(by sender: SaveSender, besides changes: ChangeSet) -> [StoreConflict.VersionConflict] {
        if changes.isEmpty { return [] }
        return sender.watched.compactMap { id, base in changes[id] == nil ? conflict(of: id, with: base) : nil }
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
        case .references(let conflicts): try settle(conflicts, in: &outcome)
        }
        guard parent == nil, let source else { return }
        // Towards a parent the parent sees to it.
        var admission = Admission(changes: outcome.changes)
        try admission.settlePartners { try source.rows(for: [$0])[$0] }
        outcome.changes = admission.changes
        outcome.settled.formUnion(admission.corrected)
    }

    /// References that would lead nowhere: what the delete rule at the other end says is done, to rows that this save does not write, too. Throws 1550
    /// where it says that they are refused.
    private func settle(_ found: [StoreConflict.ReferenceConflict], in outcome: inout SaveOutcome) throws {
        let others = found.filter { outcome.changes[$0.id] == nil }.map(\.id)
        let rows = others.isEmpty ? [:] : try source?.rows(for: others) ?? [:]
        var errors: [NSError] = []
        for conflict in found {
            let change = outcome.changes[conflict.id], row = rows[conflict.id]
            guard let relationship = conflict.id.layout.relationship(atSlot: conflict.slot), change != nil || row != nil else { continue }
            let rule = conflict.isNew ? relationship.inverseRelationship?.deleteRule : relationship.ruleForLateDeletions
            outcome.settled.insert(conflict.id)
            if rule == .nullifyDeleteRule && relationship.isOptional {
                var admission = Admission(changes: outcome.changes)
                admission.set(conflict.slot, of: conflict.id, to: nil, base: row)
                outcome.changes = admission.changes
            } else if rule == .cascadeDeleteRule && !conflict.isNew {
                outcome.changes.set(conflict.id, PendingRow(kind: .deleted, row: change?.row ?? row, base: change?.base ?? row))
            } else {
                errors.append(.dangling(conflict.id, relationship, conflict.target))
            }
        }
        try RowValidation.throwAny(errors)
    }

    private func settle(_ found: [StoreConflict.VersionConflict], in outcome: inout SaveOutcome) throws {
        let conflicts = found.compactMap { conflict -> NSMergeConflict? in
            let change = outcome.changes[conflict.id], watchedRow = watched[conflict.id]
            if change == nil && watchedRow == nil { return nil }
            let known = parent == nil ? endOfChain?.rowCache[conflict.id] : conflict.stored
            return NSMergeConflict(conflict, base: change == nil ? watchedRow : change?.base, known: known, change: change, context: self)
        }
        // What was found in the store is known from now on, also if the save is refused: a refresh then shows it, and the next save starts from it.
        if parent == nil, let cache = endOfChain?.rowCache {
            cache.remove(found.map(\.id))
            cache.add(found.map { FetchedRow(id: $0.id, row: $0.stored) })
        }
        // Without a policy towards the parent there are only conflicts that were asked for by `detectConflicts(for:)`.
        try (parent == nil ? mergePolicy : parentConflictPolicy ?? .error).resolve(mergeConflicts: conflicts)
        for conflict in conflicts {
            let id = conflict.sourceObjectID
            watched[id] = nil
            if conflict.change != nil { outcome.settled.insert(id) }
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
            decided.append(object.objectID)
            return PendingRow.replacing(conflict.stored, with: row)
        }
        guard conflict.decision == nil, let change = conflict.change else { return nil }
        if change.kind == .deleted { return PendingRow(kind: .deleted, row: change.row, base: conflict.stored) }
        return change.row.map { PendingRow.replacing(conflict.stored, with: $0) }
    }

    private func settle(_ unordered: [StoreConflict.KeyConflict], in outcome: inout SaveOutcome) throws {
        // A store finds them in no order of its own, and where one object meets several keys the first decides.
        let found = unordered.sorted { ($0.constraint, $0.id.layout.number, $0.id.key) < ($1.constraint, $1.id.layout.number, $1.id.key) }
        try mergePolicy.resolve(mergeConflicts: NSConstraintConflict.conflicts(found, in: outcome.changes, of: self))
        // A policy that gave objects other keys has settled it: they are tried again as they are now.
        let touched = unpublished
        if !touched.isEmpty {
            for object in touched {
                guard let row = object.row, let change = outcome.changes[object.objectID] else { continue }
                object.isPublished = true
                object.ownsRow = false
                decided.append(object.objectID)
                outcome.changes.set(
                    object.objectID, PendingRow(kind: change.kind, row: row, changed: object.changed, base: change.base))
                outcome.settled.insert(object.objectID)
            }
            unpublished.removeAll { $0.isPublished }
            return
        }
        let asked = outcome.changes
        var identities: [NSManagedObjectID: NSManagedObjectID] = [:]
        // An owner may be of this save itself and become another object, before the ones that became it or after them.
        func last(_ id: NSManagedObjectID) -> NSManagedObjectID {
            var result = id
            while let next = identities[result] { result = next }
            return result
        }
        for conflict in StoreConflict.KeyConflict.throughFirst(found) {
            let owner = last(conflict.owner)
            guard owner != conflict.id, let mine = outcome.changes[conflict.id] else { continue }
            outcome.settled.formUnion([conflict.id, owner])
            outcome.changes.set(conflict.id, nil)
            outcome.refreshed.append(owner)
            // What the store has already stays what it is: only its values go over.
            if mine.kind == .inserted { identities[conflict.id] = owner } else { outcome.refreshed.append(conflict.id) }
            if let theirs = outcome.changes[owner] {
                outcome.changes.set(owner, theirs.unified(with: mine, by: theirs.kind == .inserted ? nil : mergePolicy))
            } else if owner == conflict.owner, let stored = conflict.stored ?? asked[owner]?.base {
                // Also one whose own change went to another a moment ago: what this one brings must not get lost with it.
                let merged = PendingRow(kind: .updated, row: stored, base: stored).unified(with: mine, by: mergePolicy)
                if merged.row !== stored { outcome.changes.set(owner, merged) }
            }
        }
        outcome.changes = outcome.changes.replacing(identities.mapValues(last))
        outcome.identities.merge(identities.mapValues(last)) { $1 }
    }

    /// Updates and deletions of `changes` whose rows are not, at this level, what the sender started from. Within the chain's lock.
    func conflicts(with changes: ChangeSet) -> [StoreConflict.VersionConflict] {
        var result: [StoreConflict.VersionConflict] = []
        changes.forEachUnsealed { id, change in
            guard change.kind != .inserted, let base = change.base, let conflict = conflict(of: id, with: base) else { return }
            result.append(conflict)
        }
        return result
    }

    /// What a row is at this level, if it is not what somebody read. What no memory holds is taken to be unchanged. Within the chain's lock.
    private func conflict(of id: NSManagedObjectID, with base: RowSnapshot) -> StoreConflict.VersionConflict? {
        let current: RowSnapshot?
        if let known = changeInChain(of: id) {
            current = known.kind == .deleted ? nil : known.row
        } else if case .row(let cached)? = source?.rowInMemory(id) {
            current = cached
        } else {
            return nil
        }
        if let current, current === base || current.storesTheSame(as: base) { return nil }
        return StoreConflict.VersionConflict(id: id, stored: current)
    }
}

extension StoreConflict.KeyConflict {
    /// The same conflicts, in the order in which they are settled: new objects of a save that have one key are one before they meet the store's.
    fileprivate static func throughFirst(_ found: [Self]) -> [Self] {
        struct Place: Hashable {
            let constraint: UniquenessConstraint
            let key: UniqueKey
        }
        var first: [Place: NSManagedObjectID] = [:], among: [Self] = [], withStored: [Self] = []
        for conflict in found.sorted(by: { $0.id.key < $1.id.key }) {
            let place = Place(constraint: conflict.id.layout.constraints[conflict.constraint], key: conflict.key)
            if conflict.stored == nil {
                among.append(conflict)
            } else if let other = first[place] {
                among.append(Self(id: conflict.id, constraint: conflict.constraint, key: conflict.key, owner: other, stored: nil))
            } else {
                first[place] = conflict.id
                withStored.append(conflict)
            }
        }
        func sorted(_ conflicts: [Self]) -> [Self] {
            conflicts.sorted { ($0.constraint, $0.id.layout.number, $0.id.key) < ($1.constraint, $1.id.layout.number, $1.id.key) }
        }
        return sorted(among) + sorted(withStored)
    }
}

extension NSManagedObjectContext.SaveOutcome {
    /// Takes over what a store has computed: of what was saved, and of others.
    mutating func take(_ rows: [NSManagedObjectID: ComputedRow]) {
        for (id, row) in rows {
            guard var change = changes[id] else {
                computed[id] = row
                continue
            }
            guard change.kind != .deleted, let saved = change.row else { continue }
            let now = row.laid(over: saved)
            if now === saved { continue }
            change.row = now
            changes.set(id, change)
            recomputed.insert(id)
        }
        changes = changes.naming(computed)
    }

    /// Takes over what the parent made of the changes.
    mutating func take(_ received: ReceivedChanges) {
        take(received.computed)
        guard let incoming = received.changes, !received.identities.isEmpty || !received.corrected.isEmpty else { return }
        isSettled = true
        for (id, owner) in received.identities {
            changes.set(id, nil)
            if let now = incoming[owner] { changes.set(owner, now) }
        }
        changes = changes.replacing(received.identities)
        // What was gone already when this context deleted it is deleted.
        let corrected = received.corrected.filter { changes[$0]?.kind != .deleted }
        for id in corrected where incoming[id] == nil { changes.set(id, nil) }
        identities.merge(received.identities) { $1 }
        refreshed += corrected
        settled.formUnion(received.corrected)
        settled.formUnion(received.identities.keys)
        settled.formUnion(received.identities.values)
    }
}

extension RowSnapshot {
    /// Whether a store would tell no difference. Transient values are none: a row that was read from a store has lost them.
    fileprivate func storesTheSame(as other: RowSnapshot) -> Bool {
        var isSame = true
        differences(from: other).forEach { if !layout.isTransient[$0] && !layout.derivedSlots.contains($0) { isSame = false } }
        return isSame
    }
}

extension PendingRow {
    /// The change that makes `row` out of what is stored now.
    static func replacing(_ stored: RowSnapshot?, with row: RowSnapshot) -> PendingRow {
        guard let stored else { return PendingRow(kind: .inserted, row: row.copy(version: 0), changed: SlotSet(0..<row.count)) }
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
