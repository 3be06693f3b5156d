import Foundation

/// What deleting an object does to the objects it is related to.
extension NSManagedObjectContext {
    /// Applies the rules where nothing can be thrown. What the store could not be read for waits for the next time: for the save at the latest,
    /// which throws.
    func propagateWhatCanBeRead() {
        do { try propagateDeletions() } catch {
            reportUnread("the objects related to a deleted one, whose rules are applied at the save", error)
        }
    }

    /// Applies the rules of every deletion made since the last time, cascades included. Throws what the store says where related objects can't
    /// be read; those deletions keep waiting.
    func propagateDeletions() throws {
        if undelivered.isEmpty && discarded.isEmpty { return }
        if propagationStamp == nil { propagationStamp = stampOfOthers }
        while !undelivered.isEmpty {
            let objects = undelivered
            undelivered = []
            var place = 0
            do {
                let current = try reread(objects.filter { $0.state == .deleted }, all: false)
                for object in objects {
                    if object.state == .deleted { try propagate(object, current: current[object.objectID]) }
                    place += 1
                }
            } catch {
                undelivered = objects[place...] + undelivered
                throw error
            }
        }
        // The rules have been applied: what they needed to know of objects that never were may be forgotten. Publishing tells which those are.
        publish()
        // An object that a child deleted and pushed again is none of them.
        discarded.removeAll { $0.state != .deleted }
        if discarded.isEmpty { return }
        if let undoRecorder { for object in discarded { undoRecorder.willForgetRelationships(of: object, in: self) } }
        chain.withLock {
            for object in discarded {
                level.forgetRelationships(of: object.objectID, at: undoRecorder == nil || !object.objectID.isTemporaryID)
            }
        }
    }

    /// Others may have related objects to the deleted ones since the rules were applied: they are applied once more where anything has changed.
    func propagateDeletionsAgain() throws {
        let stamp = stampOfOthers, pushed = chain.withLock { level.deletionStamp }
        if (propagationStamp ?? stamp) == stamp && (pushed ?? stamp) == stamp { return }
        // Those that a child deleted have no instance here yet.
        let deleted = chain.withLock { level.pending.ids(.deleted) }.map { object(with: $0) }
        guard !deleted.isEmpty else { return }
        try takeOverWhatLeads(to: Set(deleted.map(\.objectID)))
        let current = try reread(deleted, all: true)
        for object in deleted { try propagate(object, current: current[object.objectID]) }
        try propagateDeletions()
        propagationStamp = stamp
        chain.withLock { level.deletionStamp = stamp }
    }

    /// Reads anew whom these deleted objects are related to, where rules are to be applied: what was read of it before may be older than what others have
    /// pushed or saved since.
    ///
    /// - Parameter all: whether members are read that were not read before, too.
    /// - Returns: the rows that those with one-to-ones have in the channel.
    private func reread(_ deleted: [NSManagedObject], all: Bool) throws -> [NSManagedObjectID: RowSnapshot] {
        var keys: [RelationshipKey] = []
        for object in deleted {
            for (number, relationship) in object.layout.toManys.enumerated() where relationship.changesTargetsOnDeletion {
                if all || object.members[number] != nil { keys.append(RelationshipKey(owner: object.objectID, toMany: number)) }
            }
        }
        let paired = deleted.filter { !$0.layout.partnerSlots.isEmpty }
        if keys.isEmpty && paired.isEmpty { return [:] }
        publish()
        let members = keys.isEmpty ? [:] : try prefetch(keys, remembering: [])
        let current = paired.isEmpty ? [:] : try channel(to: "apply delete rules").rows(for: paired.map(\.objectID))
        for object in deleted {
            for number in object.layout.toManys.indices {
                if let ids = members[RelationshipKey(owner: object.objectID, toMany: number)] { object.members[number] = ids }
            }
        }
        return current
    }

    /// Objects that are changed here may still show a deleted one where others have put somebody else since, or nobody. What was not changed here is as the
    /// others have it: the rules are not for those who have left.
    private func takeOverWhatLeads(to deleted: Set<NSManagedObjectID>) throws {
        func leads(_ row: RowSnapshot?, of object: NSManagedObject) -> Bool {
            guard let row else { return false }
            return object.layout.toOneSlots.contains { !object.changed.contains($0) && row[$0].objectID.map { deleted.contains($0.current) } == true }
        }
        let showing = registry.retainedObjects.filter { $0.state == .updated && leads($0.row, of: $0) }
        if showing.isEmpty { return }
        let rows = try channel(to: "apply delete rules").rows(for: showing.map(\.objectID))
        for object in showing { if let row = rows[object.objectID], !leads(row, of: object) { refresh(object, mergeChanges: true) } }
    }

    /// Differs from an earlier one if anybody but this context has changed anything since.
    private var stampOfOthers: UInt64 {
        let rows = rowCache
        return chain.withLock { chain.stamp(with: rows) &- level.changeCount }
    }

    /// - Parameter current: the row that the object has in the channel by now.
    private func propagate(_ object: NSManagedObject, current: RowSnapshot? = nil) throws {
        struct Step {
            let relationship: NSRelationshipDescription
            /// Of the to-many; nil for a to-one.
            let number: Int?
            let targets: [NSManagedObject]
        }
        // Everything is read before anything is changed: what can't be read leaves the deletion waiting as a whole.
        var steps: [Step] = []
        let layout = object.layout
        for (number, relationship) in layout.toManys.enumerated() where relationship.changesTargetsOnDeletion {
            let ids = try object.members[number] ?? loadMembers(RelationshipKey(owner: object.objectID, toMany: number))
            steps.append(Step(relationship: relationship, number: number, targets: try realised(ids, of: relationship)))
        }
        for slot in object.row == nil ? [] : layout.toOneSlots {
            guard let relationship = layout.relationship(atSlot: slot), relationship.changesTargetsOnDeletion else { continue }
            let ids = Set([object.row?[slot].objectID, current?[slot].objectID].compactMap { $0?.current })
            if ids.isEmpty { continue }
            let targets = try leading(to: object.objectID, realised(Array(ids), of: relationship), of: relationship)
            steps.append(Step(relationship: relationship, number: nil, targets: targets))
        }
        for step in steps {
            for target in step.targets where !isDeleted(target.objectID) {
                apply(step.relationship, from: object, to: target, number: step.number)
            }
        }
    }

    /// Those of the objects at the other end of a one-to-one that lead back to the one that is deleted: somebody else may have been put there since.
    /// What was changed here decides, and of all else what the channel has.
    private func leading(
        to id: NSManagedObjectID, _ targets: [NSManagedObject], of relationship: NSRelationshipDescription
    ) throws -> [NSManagedObject] {
        guard let inverse = relationship.inverseRelationship else { return targets }
        func slot(of target: NSManagedObject) -> Int? {
            if case .slot(let slot)? = target.layout.place(of: inverse.name) { slot } else { nil }
        }
        let unchanged = targets.filter { target in slot(of: target).map { !target.changed.contains($0) } ?? false }
        let current = unchanged.isEmpty ? [:] : try channel(to: "apply delete rules").rows(for: unchanged.map(\.objectID))
        return targets.filter { target in
            guard let slot = slot(of: target), let row = current[target.objectID] ?? target.row else { return true }
            return row[slot].objectID?.current == id
        }
    }

    /// The living objects of these IDs, with all that applying a rule to them looks at in memory: one request for their rows.
    private func realised(_ ids: [NSManagedObjectID], of relationship: NSRelationshipDescription) throws -> [NSManagedObject] {
        let ids = ids.filter { !isDeleted($0) }
        if relationship.deleteRule == .nullifyDeleteRule && relationship.inverseRelationship?.takesRowToLose != true {
            return ids.map { object(with: $0) }
        }
        let unknown = ids.filter { id in registry[id].map { $0.isFaulted && $0.row == nil } ?? true }
        let found = unknown.isEmpty ? [:] : try rows(for: unknown)
        var targets: [NSManagedObject] = []
        for id in ids { targets.append(materialise(FetchedRow(id: id, row: found[id]), asFault: true)) }
        return targets
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
}

extension NSRelationshipDescription {
    /// Whether deleting the owner does something to those at the other end.
    fileprivate var changesTargetsOnDeletion: Bool { deleteRule == .cascadeDeleteRule || deleteRule == .nullifyDeleteRule }

    /// Whether `NSManagedObject.lose(_:_:)` looks at the row: an unordered to-many only notes what is gone from it.
    fileprivate var takesRowToLose: Bool { !isToMany || isOrdered }
}

extension NSManagedObject {
    /// The object at the other end of `relationship`, which is this object's, is being deleted.
    func lose(_ id: NSManagedObjectID, _ relationship: NSRelationshipDescription) {
        switch entity.layout.place(of: relationship.name) {
        case .slot(let slot)?:
            // What it has read may be older than what made it a member.
            if value(atSlot: slot).objectID == id || state == .clean { setValue(.null, atSlot: slot) }
        case .toMany(let number)?:
            noteMembers(ofToMany: number)
            if let loaded = members[number] { members[number] = loaded.filter { $0 != id } }
            if !relationship.isKeptInMembers { context?.record(RelationshipKey(owner: objectID, toMany: number)) { $0.remove(id) } }
            if relationship.isOrdered { loseFromOrder(id, number: number) }
        case .composite?, nil: return
        }
    }
}
