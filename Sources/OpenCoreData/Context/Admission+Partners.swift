import Foundation

/// Both sides of a one-to-one say the same.
///
/// Each side is a value of a row, and two contexts that know nothing of each other may give one object to two others. The changes that come in are
/// taken one after the other, each as setting the relationship takes it: whoever had the object loses it, and whatever the new owner had is let go.
extension NSManagedObjectContext {
    /// Within the chain's lock.
    func settlePartners(_ admission: inout Admission, _ read: RowsRead) throws {
        guard admission.changes.entities.values.contains(where: { !$0.entity.layout.partnerSlots.isEmpty && !$0.rows.isEmpty }) else { return }
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
        changes.forEach { id, change in
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
                        "is required, and who it leads to is given to another object"))
            } else {
                set(side.slot, of: side.id, to: target, base: row(side.id))
            }
        }
        try RowValidation.throwAny(errors)
    }
}
