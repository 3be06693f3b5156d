import Foundation

/// Setting one side of a relationship sets the other.
extension NSManagedObject {
    /// Points a to-one at `target`; the old target, the new one and its previous partner follow.
    final func setToOne(_ relationship: NSRelationshipDescription, slot: Int, to target: NSManagedObject?) {
        if fillsRows { return setFilled(target.map { .objectID($0.objectID) } ?? .null, atSlot: slot) }
        let me = standing, target = target?.standing
        if me !== self { return me.setToOne(relationship, slot: slot, to: target) }
        if let target, !isOfSameContext(target) { return }
        let old = value(atSlot: slot).objectID
        if old == target?.objectID { return }
        setValue(target.map { .objectID($0.objectID) } ?? .null, atSlot: slot)
        guard let inverse = relationship.inverseRelationship, let context else { return }
        if let old { context.object(with: old).forget(objectID, of: inverse) }
        target?.adopt(self, of: inverse)
    }

    /// Replaces the members of a to-many. What has become a member elsewhere, or has gone, since they were shown here is not edited: whoever set this
    /// has not seen it.
    final func setToMany(_ number: Int, to objects: [NSManagedObject]) {
        if fillsRows { return changedToManys.insert(number) }
        let shown = memberIDs(number)
        context?.hearOfReplacements()
        standing.setToMany(number, to: objects, shown: Set(shown.map(\.current)))
    }

    private func setToMany(_ number: Int, to objects: [NSManagedObject], shown: Set<NSManagedObjectID>) {
        guard let context else { return }
        let isOrdered = layout.toManys[number].isOrdered
        var seen: Set<NSManagedObjectID> = []
        let wanted = objects.map(\.standing).filter { seen.insert($0.objectID).inserted }
        // Where one can't be a member, none of it is done.
        guard wanted.allSatisfy(isOfSameContext) else { return }
        if isOrdered, wanted.map(\.objectID) == memberIDs(number) { return }
        for id in memberIDs(number) where shown.contains(id) && !seen.contains(id) { removeMember(context.object(with: id), number: number) }
        for object in wanted where !shown.contains(object.objectID) { addMember(object, number: number) }
        guard isOrdered else { return }
        let members = memberIDs(number), there = Set(members)
        let order = wanted.map(\.objectID).filter(there.contains) + members.filter { !seen.contains($0) }
        // Who only takes members out leaves the order of the others to whoever set it.
        if order != members { setOrder(order, number: number) }
    }

    /// Adds one member to a to-many.
    final func addMember(_ object: NSManagedObject, number: Int) {
        context?.hearOfReplacements()
        let me = standing, object = object.standing
        if me !== self { return me.addMember(object, number: number) }
        guard isOfSameContext(object) else { return }
        let relationship = layout.toManys[number]
        guard !memberIDs(number).contains(object.objectID) else { return }
        if let inverse = relationship.inverseRelationship, !inverse.isToMany {
            guard let slot = object.layout.slot(of: inverse.name) else { return }
            if object.value(atSlot: slot).objectID == objectID {
                // What it has read is older than what took it away.
                object.setValue(.objectID(objectID), atSlot: slot)
                adopt(object, of: relationship)
            } else {
                object.setToOne(inverse, slot: slot, to: self)
            }
        } else {
            notePair(adding: object.objectID, number: number)
            if let inverse = relationship.inverseRelationship, let other = object.layout.toManyNumber(inverse) {
                object.notePair(adding: objectID, number: other)
            }
        }
        if relationship.isOrdered { setOrder(memberIDs(number), number: number) }
    }

    /// Removes one member from a to-many.
    final func removeMember(_ object: NSManagedObject, number: Int) {
        context?.hearOfReplacements()
        let me = standing, object = object.standing
        if me !== self { return me.removeMember(object, number: number) }
        let relationship = layout.toManys[number]
        guard memberIDs(number).contains(object.objectID) else { return }
        if let inverse = relationship.inverseRelationship, !inverse.isToMany {
            guard let slot = object.layout.slot(of: inverse.name) else { return }
            let named = object.value(atSlot: slot).objectID
            if named == objectID {
                object.setToOne(inverse, slot: slot, to: nil)
            } else {
                // What it has read is older than what made it a member.
                if let named { context?.object(with: named).forget(object.objectID, of: relationship) }
                object.setValue(.null, atSlot: slot)
                forget(object.objectID, of: relationship)
            }
        } else {
            notePair(removing: object.objectID, number: number)
            if let inverse = relationship.inverseRelationship, let other = object.layout.toManyNumber(inverse) {
                object.notePair(removing: objectID, number: other)
            }
        }
        if relationship.isOrdered { loseFromOrder(object.objectID, number: number) }
    }

    /// `id` no longer names this object by the inverse of `relationship`, which is seen from here.
    private func forget(_ id: NSManagedObjectID, of relationship: NSRelationshipDescription) {
        if let number = layout.toManyNumber(relationship) {
            noteMembers(ofToMany: number)
            if let loaded = members[number] { members[number] = loaded.filter { $0 != id } }
            touch(toMany: number)
            if relationship.isOrdered { loseFromOrder(id, number: number) }
        } else if let slot = layout.slot(of: relationship.name), value(atSlot: slot).objectID == id {
            setValue(.null, atSlot: slot)
        }
    }

    /// `object` names this one now.
    private func adopt(_ object: NSManagedObject, of relationship: NSRelationshipDescription) {
        if let number = layout.toManyNumber(relationship) {
            noteMembers(ofToMany: number)
            if members[number] != nil, members[number]?.contains(object.objectID) == false { members[number]?.append(object.objectID) }
            touch(toMany: number)
            if relationship.isOrdered {
                var order = memberIDs(number)
                if !order.contains(object.objectID) { order.append(object.objectID) }
                setOrder(order, number: number)
            }
        } else if let slot = layout.slot(of: relationship.name) {
            let previous = value(atSlot: slot).objectID
            if previous == object.objectID { return }
            setValue(.objectID(object.objectID), atSlot: slot)
            if let previous, let inverse = relationship.inverseRelationship, let context {
                context.object(with: previous).forget(objectID, of: inverse)
            }
        }
    }

    private func notePair(adding id: NSManagedObjectID, number: Int) {
        noteMembers(ofToMany: number)
        if members[number] != nil, members[number]?.contains(id) == false { members[number]?.append(id) }
        touch(toMany: number)
        context?.record(RelationshipKey(owner: objectID, toMany: number)) { $0.add(id) }
    }

    private func notePair(removing id: NSManagedObjectID, number: Int) {
        noteMembers(ofToMany: number)
        if let loaded = members[number] { members[number] = loaded.filter { $0 != id } }
        touch(toMany: number)
        context?.record(RelationshipKey(owner: objectID, toMany: number)) { $0.remove(id) }
    }

    final func setOrder(_ ids: [NSManagedObjectID], number: Int) {
        noteMembers(ofToMany: number)
        members[number] = ids
        touch(toMany: number)
        context?.recordOrder(RelationshipKey(owner: objectID, toMany: number), ids)
    }

    /// A member has left an ordered to-many. The others stay in the order that there is, whoever gave it last: none is set here.
    final func loseFromOrder(_ id: NSManagedObjectID, number: Int) {
        touch(toMany: number)
        context?.recordLoss(of: id, fromOrder: RelationshipKey(owner: objectID, toMany: number))
    }

    /// Notes that a to-many changed: the object counts as updated, though its row does not change.
    final func touch(toMany number: Int) {
        if ignoresChanges { return }
        _ = realisedRow
        context?.willChange(self)
        changedToManys.insert(number)
        eventToManys.insert(number)
        context?.didChange(self)
    }

    /// The one-to-ones that are changed here, and who is meant by them now.
    final var changedPartners: [(relationship: NSRelationshipDescription, slot: Int, partner: NSManagedObjectID?)] {
        guard state == .updated, let row else { return [] }
        return layout.toOneSlots.compactMap { slot in
            guard changed.contains(slot), let relationship = layout.relationship(atSlot: slot) else { return nil }
            return relationship.inverseRelationship?.isToMany == false ? (relationship, slot, row[slot].objectID?.current) : nil
        }
    }

    /// After the changes of one side of these were dropped: the other side says the same again.
    final func leave(_ partners: [(relationship: NSRelationshipDescription, slot: Int, partner: NSManagedObjectID?)]) {
        guard let context else { return }
        for (relationship, slot, partner) in partners {
            guard let inverse = relationship.inverseRelationship else { continue }
            if let partner { context.object(with: partner).forget(objectID, of: inverse) }
            guard let old = value(atSlot: slot).objectID?.current else { continue }
            let former = context.object(with: old)
            guard let back = former.layout.slot(of: inverse.name) else { continue }
            switch former.value(atSlot: back).objectID?.current {
            case nil: former.setValue(.objectID(objectID), atSlot: back)
            case objectID: break
            default: setValue(.null, atSlot: slot)
            }
        }
    }

    /// Where it is not, whoever handles misuses was told.
    private func isOfSameContext(_ other: NSManagedObject) -> Bool {
        if other.context === context { return true }
        CoreDataMisuse.otherContext("\(other.objectID)").survive()
        return false
    }
}
