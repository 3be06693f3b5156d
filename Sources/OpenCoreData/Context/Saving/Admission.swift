import Foundation

/// What of a child's changes comes into its parent, and what became of the rest.
///
/// Others may have changed the parent since the child read from it. So what comes in is settled with what is there: one object a unique key, no value
/// but those that the child set, no reference to an object that is gone, and both sides of a one-to-one saying the same.
struct Admission {
    var changes: ChangeSet
    /// New objects of the child that turned out to be others, which have their unique keys.
    var identities: [NSManagedObjectID: NSManagedObjectID] = [:]
    /// Objects that are not what the child saved: it reads them again.
    var corrected: Set<NSManagedObjectID> = []

    var received: ReceivedChanges { ReceivedChanges(changes: changes, identities: identities, corrected: corrected) }
}

/// Rows that what comes in depends on, and that are not in memory: they have to be read before it is tried again, without the chain's lock.
struct RowsNeeded: Error {
    let ids: Set<NSManagedObjectID>
}

/// Rows that were read because they were needed; nil for one that is not there.
typealias RowsRead = [NSManagedObjectID: RowSnapshot?]

extension NSManagedObjectContext {
    /// Runs `body` again as long as it needs rows that are not in memory.
    func readingNeededRows<T>(_ body: (RowsRead) throws -> T) throws -> T {
        var read: RowsRead = [:]
        while true {
            do {
                return try body(read)
            } catch let needed as RowsNeeded {
                let found = try rows(for: Array(needed.ids))
                for id in needed.ids { read[id] = .some(found[id]) }
            }
        }
    }

    /// What of a child's changes comes in. Within the chain's lock.
    func admissible(_ changes: ChangeSet, from sender: SaveSender, _ read: RowsRead) throws -> Admission {
        var admission = Admission(changes: changes)
        if chain.hasReplacements, changes.namesReplacedObjects {
            admission.changes = changes.current { changeInChain(of: $0)?.row }
        }
        if sender.settlesConflicts || !sender.watched.isEmpty {
            let changes = admission.changes
            let conflicts =
                (sender.settlesConflicts ? conflicts(with: changes) : []) + conflictsOfWatched(by: sender, besides: changes)
            if !conflicts.isEmpty { throw StoreConflict.versions(conflicts) }
        }
        if !isSettled(admission.changes, from: sender) {
            try settleWithWhatIsThere(&admission, read)
            // First, or a key that a child has read would count as its object's, though somebody has taken it back since.
            rebase(&admission)
            try unifyTwins(&admission)
        }
        try settleReferences(&admission)
        try settlePartners(&admission, read)
        admission.changes.isAdmitted = true
        return admission
    }

    /// Whether new objects were settled with what is here as they came into the child, because nothing comes here but from it: so a great import is
    /// gone through where it is made, and not once more on the way from the main queue.
    private func isSettled(_ changes: ChangeSet, from sender: SaveSender) -> Bool {
        changes.isAdmitted && changes.updatedCount == 0 && changes.deletedCount == 0 && parent == nil && level.hasAll(from: sender.level)
    }

    /// The row of an object at this level. Throws `RowsNeeded` where it is not in memory. Within the chain's lock.
    func currentRow(of id: NSManagedObjectID, _ read: RowsRead) throws -> RowSnapshot? {
        if let known = changeInChain(of: id) { return known.kind == .deleted ? nil : known.row }
        if id.isTemporaryID { return nil }
        switch source?.rowInMemory(id) {
        case .row(let row)?: return row
        case .deleted?: return nil
        case .unknown?, nil: break
        }
        // It may have been deleted since it was read.
        if endOfChain?.rowCache.isGone(id) == true { return nil }
        if let row = read[id] { return row }
        throw RowsNeeded(ids: [id])
    }

    /// A new object may be there already: another context of the chain had reserved its key, too, and was first. An object that was changed may be
    /// nowhere any more: the parent threw it away before it was ever saved, or it was deleted. Then the root's merge policy decides, as it does where a
    /// store does not have a row any more.
    private func settleWithWhatIsThere(_ admission: inout Admission, _ read: RowsRead) throws {
        let changes = admission.changes
        var needed: Set<NSManagedObjectID> = [], lost: [(NSManagedObjectID, PendingRow)] = []
        try changes.forEachUnsealed { id, change in
            switch change.kind {
            case .inserted:
                guard let row = change.row else { return }
                let current: RowSnapshot?
                do { current = try currentRow(of: id, read) } catch let rows as RowsNeeded { return needed.formUnion(rows.ids) }
                guard let current else { return }
                let (merged, slots) = current.overlaid(with: row, change.changed)
                admission.changes.set(id, PendingRow(kind: .updated, row: merged, changed: slots, base: current))
            case .updated, .deleted:
                let known = changeInChain(of: id), isLost = known == nil && (id.isTemporaryID || endOfChain?.rowCache.isGone(id) == true)
                if change.kind == .updated, known?.kind == .deleted || isLost && change.changed.isEmpty {
                    // The deletion stands, and what refers to the object has to know.
                    admission.changes.set(id, nil)
                    admission.corrected.insert(id)
                } else if isLost {
                    lost.append((id, change))
                }
            }
        }
        if !needed.isEmpty { throw RowsNeeded(ids: needed) }
        if lost.isEmpty { return }
        let policy = root.mergePolicy, updated = lost.filter { $0.1.kind == .updated }
        if policy.mergeType == .errorMergePolicyType, !updated.isEmpty {
            throw StoreConflict.versions(updated.map { StoreConflict.VersionConflict(id: $0.0, stored: nil) })
        }
        for (id, change) in lost {
            let settled = policy.settled(change, stored: nil)
            admission.changes.set(id, settled)
            if settled == nil { admission.corrected.insert(id) }
        }
    }

    /// A child that read an older state of a row than the one that is current here hands over what it changed, not what it read.
    private func rebase(_ admission: inout Admission) {
        let changes = admission.changes
        guard changes.updatedCount > 0 || changes.deletedCount > 0 else { return }
        changes.forEachUnsealed { id, change in
            guard change.kind != .inserted, let row = change.row else { return }
            let current: RowSnapshot?
            if let known = changeInChain(of: id) {
                current = known.row
            } else if case .row(let cached)? = source?.rowInMemory(id) {
                current = cached
            } else {
                current = nil
            }
            guard let current, current !== change.base, current.layout === row.layout else { return }
            if change.kind == .deleted {
                admission.changes.set(id, PendingRow(kind: .deleted, row: row, base: current))
                return
            }
            let (merged, slots) = current.overlaid(with: row, change.changed)
            admission.changes.set(id, PendingRow(kind: .updated, row: merged, changed: slots, base: current))
        }
    }
}

/// Both sides of a one-to-one say the same.
///
/// Each side is a value of a row, and two contexts that know nothing of each other may give one object to two others. The changes that come in are
/// taken one after the other, each as setting the relationship takes it: whoever had the object loses it, and whatever the new owner had is let go.
extension NSManagedObjectContext {
    /// Within the chain's lock.
    func settlePartners(_ admission: inout Admission, _ read: RowsRead) throws {
        guard admission.changes.entities.values.contains(where: { !$0.entity.layout.partnerSlots.isEmpty && !$0.isEmpty }) else { return }
        try admission.settlePartners { try currentRow(of: $0, read) }
    }
}

extension Admission {
    private struct Side: Hashable {
        let id: NSManagedObjectID
        let slot: Int
    }

    /// - Parameter current: the row of an object before these changes; nil: there is none.
    mutating func settlePartners(_ current: (NSManagedObjectID) throws -> RowSnapshot?) throws {
        var emptied: [Side] = [], claims: [(Side, NSManagedObjectID)] = []
        changes.forEachUnsealed { id, change in
            if change.kind == .deleted {
                // Who deleted it need not have known whose partner it has become.
                emptied += id.layout.partnerSlots.filter { id.layout.relationship(atSlot: $0)?.deleteRule == .nullifyDeleteRule }
                    .map { Side(id: id, slot: $0) }
                return
            }
            guard let row = change.row else { return }
            for slot in row.layout.partnerSlots where change.kind == .inserted || change.changed.contains(slot) {
                if let target = row[slot].objectID {
                    claims.append((Side(id: id, slot: slot), target))
                } else if change.kind == .updated {
                    emptied.append(Side(id: id, slot: slot))
                }
            }
        }
        if claims.isEmpty && emptied.isEmpty { return }
        var partners: [Side: NSManagedObjectID?] = [:], rows: RowsRead = [:], needed: Set<NSManagedObjectID> = []
        var failure: (any Error)?
        func row(_ id: NSManagedObjectID) -> RowSnapshot? {
            if let row = rows[id] { return row }
            var found: RowSnapshot?
            do { found = changes[id]?.kind == .inserted ? nil : try current(id) } catch let missing as RowsNeeded {
                needed.formUnion(missing.ids)
            } catch { failure = failure ?? error }
            rows[id] = .some(found)
            return found
        }
        func partner(_ side: Side) -> NSManagedObjectID? {
            if let known = partners[side] { return known }
            return row(side.id)?[side.slot].objectID
        }
        func other(_ side: Side, _ id: NSManagedObjectID) -> Side? {
            guard let inverse = side.id.layout.relationship(atSlot: side.slot)?.inverseRelationship else { return nil }
            return id.layout.slot(of: inverse.name).map { Side(id: id, slot: $0) }
        }
        func isAlive(_ id: NSManagedObjectID) -> Bool { changes[id]?.kind != .deleted }
        func take(_ side: Side, _ target: NSManagedObjectID?) {
            if let before = partner(side), before != target, isAlive(before), let back = other(side, before), partner(back) == side.id {
                partners[back] = .some(nil)
            }
            partners[side] = .some(target)
            guard let target, let back = other(side, target) else { return }
            if let rival = partner(back), rival != side.id, isAlive(rival) {
                let place = Side(id: rival, slot: side.slot)
                if partner(place) == target { partners[place] = .some(nil) }
            }
            partners[back] = .some(side.id)
        }
        claims.sort { ($0.0.id.layout.number, $0.0.id.key, $0.0.slot) < ($1.0.id.layout.number, $1.0.id.key, $1.0.slot) }
        for side in emptied { take(side, nil) }
        for (side, target) in claims { take(side, target) }
        if let failure { throw failure }
        if !needed.isEmpty { throw RowsNeeded(ids: needed) }
        var errors: [NSError] = []
        for (side, target) in partners where isAlive(side.id) {
            let now = (changes[side.id]?.row ?? row(side.id))?[side.slot].objectID
            if now == target { continue }
            if target == nil, let relationship = side.id.layout.relationship(atSlot: side.slot), !relationship.isOptional {
                errors.append(
                    RowValidation.error(
                        .validationMissingMandatoryProperty, relationship.name, nil, side.id, nil,
                        "is required, and the object it leads to is given to another"))
            } else {
                set(side.slot, of: side.id, to: target, base: row(side.id))
            }
        }
        try RowValidation.throwAny(errors)
    }
}
