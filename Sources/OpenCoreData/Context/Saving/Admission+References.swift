import Foundation

/// No reference to an object that is gone.
///
/// A reference and the deletion of its object may come from two contexts that know nothing of each other, in either order. What comes of it is what the
/// object's delete rule says, as if the later one had known of the earlier: a reference that comes in after the deletion is emptied where the rule
/// nullifies, and refused (1550) where it cascades, or where the reference is required; a deletion that comes in after the reference does to it what the
/// rule says. Where the rule denies, the reference comes in and validation denies the deletion (1600); where it is to do nothing, nothing is done.
/// A to-one without an inverse has no such rule: a reference that comes in later is refused, and a deletion that does empties it.
extension NSManagedObjectContext {
    /// Within the chain's lock.
    func settleReferences(_ admission: inout Admission) throws {
        guard chain.mayDangle || admission.changes.deletedCount > 0 || endOfChain?.rowCache.hasGone == true else { return }
        try settleArrivals(&admission)
        if admission.changes.deletedCount > 0 { try settleDeletions(&admission) }
        dropPairs(&admission)
    }

    private func isGone(_ id: NSManagedObjectID, after changes: ChangeSet) -> Bool {
        if let pushed = changes[id] { return pushed.kind == .deleted }
        if let known = changeInChain(of: id) { return known.kind == .deleted }
        return id.isTemporaryID || endOfChain?.rowCache.isGone(id) == true
    }

    /// References that come in to objects that are gone.
    private func settleArrivals(_ admission: inout Admission) throws {
        let changes = admission.changes
        var errors: [NSError] = []
        changes.openBlocks { isGone($0, after: changes) }
        changes.forEachUnsealed { id, change in
            guard change.kind != .deleted, let row = change.row else { return }
            for slot in row.layout.toOneSlots where change.kind == .inserted || change.changed.contains(slot) {
                guard let target = row[slot].objectID, isGone(target, after: changes), let relationship = row.layout.relationship(atSlot: slot) else {
                    continue
                }
                switch relationship.ruleForLateReferences {
                case .ignore: continue
                case .empty: admission.clear(slot, of: id)
                case .refuse: errors.append(.dangling(id, relationship, target))
                }
            }
        }
        try RowValidation.throwAny(errors)
    }

    /// What refers to objects that are deleted now, where the child that deleted them did not know of it. Within the chain's lock.
    func settleDeletions(_ admission: inout Admission) throws {
        var open = Set(admission.changes.ids(.deleted)), errors: [NSError] = []
        while !open.isEmpty {
            var next: Set<NSManagedObjectID> = []
            for (id, slot, target) in references(to: open, after: admission.changes) {
                guard let relationship = id.layout.relationship(atSlot: slot) else { continue }
                switch relationship.ruleForLateDeletions {
                case .nullifyDeleteRule where relationship.isOptional: admission.clear(slot, of: id, current: changeInChain(of: id))
                case .nullifyDeleteRule: errors.append(.dangling(id, relationship, target))
                case .cascadeDeleteRule:
                    let current = changeInChain(of: id)
                    admission.changes.set(
                        id,
                        PendingRow(kind: .deleted, row: admission.changes[id]?.row ?? current?.row, base: current?.row ?? admission.changes[id]?.base)
                    )
                    admission.corrected.insert(id)
                    next.insert(id)
                case .denyDeleteRule, .noActionDeleteRule: continue
                }
            }
            open = next
        }
        try RowValidation.throwAny(errors)
    }

    /// The unsaved rows, here or in a parent or coming in, that name one of these objects.
    private func references(
        to targets: Set<NSManagedObjectID>, after changes: ChangeSet
    ) -> [(id: NSManagedObjectID, slot: Int, target: NSManagedObjectID)] {
        var result: [(NSManagedObjectID, Int, NSManagedObjectID)] = []
        func look(_ id: NSManagedObjectID, _ change: PendingRow) {
            guard change.kind != .deleted, let row = change.row else { return }
            for slot in row.layout.toOneSlots {
                if let target = row[slot].objectID, targets.contains(target) { result.append((id, slot, target)) }
            }
        }
        changes.openBlocks { targets.contains($0) }
        changes.forEachUnsealed(look)
        var seen: Set<NSManagedObjectID> = [], context: NSManagedObjectContext? = self
        while let current = context {
            for layer in [current.level.pending, current.level.saving].compactMap({ $0 }) {
                for part in layer.entities.values where !part.entity.layout.toOneSlots.isEmpty {
                    part.openBlocks { targets.contains($0) }
                    part.forEachUnsealed { id, change in
                        if changes[id] == nil && seen.insert(id).inserted { look(id, change) }
                    }
                }
            }
            context = current.parent
        }
        return result
    }

    /// Pairs with objects that are gone.
    private func dropPairs(_ admission: inout Admission) {
        let changes = admission.changes
        admission.changes.pairs.loosen { block in
            block.members.contains { isGone($0, after: changes) } || !block.isSealed && block.rows.contains { isGone($0.key, after: changes) }
        }
        for (key, pairs) in admission.changes.pairs.loose where !pairs.added.isEmpty {
            let lost = isGone(key.owner, after: changes) ? pairs.added : pairs.added.filter { isGone($0, after: changes) }
            if lost.isEmpty { continue }
            // Never added, on both sides: the deletion may be taken back.
            admission.changes.pairs.change(key) { pairs in for id in lost { pairs.forget(id) } }
        }
        for key in changes.orders.keys where isGone(key.owner, after: changes) { admission.changes.orders[key] = nil }
    }
}

extension Admission {
    /// Empties a to-one of an object.
    ///
    /// - Parameter current: what the levels say about it, where the child has not changed it.
    mutating func clear(_ slot: Int, of id: NSManagedObjectID, current: PendingRow? = nil) { set(slot, of: id, to: nil, base: current?.row) }

    mutating func set(_ slot: Int, of id: NSManagedObjectID, to target: NSManagedObjectID?, base: RowSnapshot?) {
        let change = changes[id]
        guard let row = (change?.row ?? base)?.copy() else { return }
        row.update(slot, to: target.map { .objectID($0) } ?? .null)
        var changed = change?.changed ?? SlotSet()
        changed.insert(slot)
        changes.set(
            id, PendingRow(kind: change?.kind ?? .updated, row: row, changed: changed, base: change.map(\.base) ?? base))
        if change != nil { corrected.insert(id) }
    }
}

extension NSRelationshipDescription {
    enum LateReference {
        case empty, refuse, ignore
    }

    /// What becomes of this to-one where its object was deleted before the reference came: what the rule at the other end would have done.
    var ruleForLateReferences: LateReference {
        switch inverseRelationship?.deleteRule {
        case .noActionDeleteRule?, .denyDeleteRule?: .ignore
        case .nullifyDeleteRule? where isOptional: .empty
        case .nullifyDeleteRule?, .cascadeDeleteRule?, nil: .refuse
        }
    }
}

extension NSRelationshipDescription {
    /// What becomes of this to-one where its object is deleted after the reference came. Without an inverse nobody who deletes can know of it; it is
    /// emptied, for there is nothing that it could lead to.
    var ruleForLateDeletions: NSDeleteRule {
        guard let inverseRelationship else { return isTransient ? .noActionDeleteRule : .nullifyDeleteRule }
        return inverseRelationship.deleteRule
    }
}

extension NSError {
    /// A reference that would lead nowhere.
    static func dangling(_ id: NSManagedObjectID, _ relationship: NSRelationshipDescription, _ target: NSManagedObjectID) -> NSError {
        .coreData(
            .managedObjectValidation,
            "\(id).\(relationship.name) leads to \(target), which was deleted: a dangling reference to an invalid object. Set it to another object"
                + (relationship.isOptional ? " or to nil" : "") + ", or roll back.",
            userInfo: [NSValidationKeyErrorKey: relationship.name, NSValidationValueErrorKey: target, NSAffectedObjectsErrorKey: [id]])
    }
}
