import Foundation

/// What deleting an object does to the objects it is related to.
extension NSManagedObjectContext {
    /// Applies the rules of every deletion made since the last time, cascades included.
    func propagateDeletions() {
        if undelivered.isEmpty && discarded.isEmpty { return }
        while !undelivered.isEmpty {
            let objects = undelivered
            undelivered = []
            for object in objects where object.state == .deleted { propagate(object) }
        }
        // The rules have been applied: what they needed to know of objects that never were may be forgotten. Publishing tells which those are.
        publish()
        // An object that a child deleted and pushed again is none of them.
        discarded.removeAll { $0.state != .deleted }
        if discarded.isEmpty { return }
        if let undoRecorder { for object in discarded { undoRecorder.willForgetRelationships(of: object, in: self) } }
        chain.withLock {
            for object in discarded { level.forgetRelationships(of: object.objectID) }
        }
    }

    private func propagate(_ object: NSManagedObject) {
        let layout = object.layout
        for (number, relationship) in layout.toManys.enumerated() {
            let ids = loadMembersBeforeDeletion(of: object, number: number)
            // One request for all of them, instead of one for each when it is looked at.
            if ids.count > 1 && relationship.deleteRule != .noActionDeleteRule { _ = try? rows(for: ids) }
            for id in ids where !isDeleted(id) {
                apply(relationship, from: object, to: self.object(with: id), number: number)
            }
        }
        guard let row = object.row else { return }
        for slot in layout.toOneSlots {
            guard let relationship = layout.relationship(atSlot: slot), let id = row[slot].objectID, !isDeleted(id) else { continue }
            apply(relationship, from: object, to: self.object(with: id), number: nil)
        }
    }

    private func apply(_ relationship: NSRelationshipDescription, from object: NSManagedObject, to target: NSManagedObject, number: Int?) {
        switch relationship.deleteRule {
        case .cascadeDeleteRule:
            target.prepareForDeletion()
            markDeleted(target)
            undelivered.append(target)
        case .nullifyDeleteRule:
            guard let inverse = relationship.inverseRelationship else {
                if let number { record(RelationshipKey(owner: object.objectID, toMany: number)) { $0.remove(target.objectID) } }
                return
            }
            target.lose(object.objectID, inverse)
            if let number, inverse.isToMany {
                record(RelationshipKey(owner: object.objectID, toMany: number)) { $0.remove(target.objectID) }
            }
        case .noActionDeleteRule, .denyDeleteRule: return
        }
    }

    private func loadMembersBeforeDeletion(of object: NSManagedObject, number: Int) -> [NSManagedObjectID] {
        object.members[number] ?? loadMembers(RelationshipKey(owner: object.objectID, toMany: number))
    }
}

extension NSManagedObject {
    /// The object at the other end of `relationship`, which is this object's, is being deleted.
    func lose(_ id: NSManagedObjectID, _ relationship: NSRelationshipDescription) {
        switch entity.layout.place(of: relationship.name) {
        case .slot(let slot)?:
            if value(atSlot: slot).objectID == id { setValue(.null, atSlot: slot) }
        case .toMany(let number)?:
            noteMembers(ofToMany: number)
            if let loaded = members[number] { members[number] = loaded.filter { $0 != id } }
            if !relationship.isDerivedFromInverse {
                context?.record(RelationshipKey(owner: objectID, toMany: number)) { $0.remove(id) }
                if relationship.isOrdered { setOrder(memberIDs(number).filter { $0 != id }, number: number) }
            }
        case nil: return
        }
    }
}
