import Foundation

/// Taking one event back.
extension NSManagedObjectContext {
    /// Brings back what the event changed, property by property, and records how to take that back in turn.
    func revert(_ record: UndoRecord) {
        checkQueue()
        readInbox()
        guard let recorder = undoRecorder, recorder.generation == record.generation else { return }
        var reversal = Reversal(isExact: recorder.epoch == record.epoch, isRedo: recorder.manager.isRedoing)
        sort(record, into: &reversal)
        for change in reversal.returning { bringBack(change, &reversal) }
        for (change, object) in reversal.changing { restore(change, object, &reversal) }
        for (key, changes) in record.pairs { restore(key, changes, isExact: reversal.isExact) }
        if !reversal.isExact { for change in reversal.returning { restorePairs(of: change) } }
        for (key, change) in record.orders { clearOrder(key, change, &reversal) }
        callAwake(reversal)
        publishRestored(reversal)
        for object in reversal.leaving { takeAway(object) }
        if !reversal.leaving.isEmpty && propagatesDeletesAtEndOfEvent { propagateWhatCanBeRead() }
        publish()
        for (key, order) in reversal.orders { restoreOrder(key, order) }
        // A foreign key that came back may belong to any loaded to-many; they are read again when asked for.
        forgetLoadedMembers()
        // Also if nothing is left to take back: what is redone must be what was undone last.
        registerEventForUndo(evenIfEmpty: true)
        for object in reversal.restored where object.state == .clean { registry.release(object.objectID) }
        noteActivity()
    }

    /// What is being done while an event is taken back.
    private struct Reversal {
        /// Nothing was saved since: what was pending comes back as it was.
        let isExact: Bool
        let isRedo: Bool
        var changing: [(UndoRecord.ObjectChange, NSManagedObject)] = []
        var returning: [UndoRecord.ObjectChange] = []
        var leaving: [NSManagedObject] = []
        var restored: [NSManagedObject] = []
        var awakening: [(object: NSManagedObject, flags: NSSnapshotEventType)] = []
        /// Orders that can't come back exactly.
        var orders: [RelationshipKey: [NSManagedObjectID]] = [:]
    }

    /// Who changes, who comes back, who leaves. Objects that others deleted or brought back meanwhile are left to them.
    private func sort(_ record: UndoRecord, into reversal: inout Reversal) {
        for change in record.objects {
            switch (change.before.exists, change.existedAfter) {
            case (true, true): if let object = living(change.id) { reversal.changing.append((change, object)) }
            case (true, false): if living(change.id) == nil { reversal.returning.append(change) }
            case (false, true): if let object = living(change.id) { reversal.leaving.append(object) }
            case (false, false): continue
            }
        }
    }

    /// The object with this ID, realised, if there is one.
    private func living(_ id: NSManagedObjectID) -> NSManagedObject? {
        if let known = registry[id], !known.isFaulted { return known.exists ? known : nil }
        guard let row = readable("the values of \(id), to undo a change", { try row(for: id) }) else { return nil }
        let object = materialise(FetchedRow(id: id, row: row), asFault: false)
        if object.isFaulted { object.fire() }
        return object.exists ? object : nil
    }

    // MARK: Values

    private func restore(_ change: UndoRecord.ObjectChange, _ object: NSManagedObject, _ reversal: inout Reversal) {
        guard let old = change.before.row, let current = object.row else { return }
        undoRecorder?.willChange(object)
        if object.state == .clean {
            object.state = .updated
            if object.base == nil { object.base = current }
            registry.retain(object)
        }
        object.noteEventStart()
        let row = current.copy()
        change.slots.forEach { slot in
            row.update(slot, to: valid(old[slot], at: slot, of: row.layout))
            let wasChanged = reversal.isExact && change.before.changed.contains(slot)
            let isNew = object.state == .inserted && !reversal.isExact
            if isNew || wasChanged || object.base.map({ $0[slot] != row[slot] }) ?? false {
                object.changed.insert(slot)
            } else {
                object.changed.remove(slot)
            }
            object.eventSlots.insert(slot)
        }
        object.row = object.base.flatMap { $0.differences(from: row).isEmpty ? $0 : nil } ?? row
        object.ownsRow = false
        change.toManys.forEach { number in
            object.eventToManys.insert(number)
            if reversal.isExact && !change.before.changedToManys.contains(number) {
                object.changedToManys.remove(number)
            } else {
                object.changedToManys.insert(number)
            }
        }
        if object.state == .updated && object.changed.isEmpty && object.changedToManys.isEmpty { object.state = .clean }
        if events.inserted[object.objectID] == nil { events.updated[object.objectID] = object }
        reversal.restored.append(object)
        reversal.awakening.append((object, .undoUpdate))
    }

    /// A reference to an object that somebody else deleted meanwhile does not come back.
    private func valid(_ value: AttributeValue, at slot: Int, of layout: EntityLayout) -> AttributeValue {
        guard let target = value.objectID, let relationship = layout.relationship(atSlot: slot),
            relationship.inverseRelationship?.deleteRule == .nullifyDeleteRule, isDeleted(target)
        else { return value }
        return .null
    }

    // MARK: Coming back

    private func bringBack(_ change: UndoRecord.ObjectChange, _ reversal: inout Reversal) {
        let before = change.before
        let object = instance(for: change)
        undoRecorder?.willChange(object)
        let isUnsaved = object.state == .deleted && reversal.isExact
        object.context = self
        object.isFaulted = false
        object.ownsRow = false
        discarded.removeAll { $0 === object }
        if isUnsaved {
            object.state = before.state
            object.row = before.row
            object.base = before.base
            object.changed = before.changed
            object.changedToManys = before.changedToManys
        } else {
            // Its row is gone: it is written again, as a new one under the same ID.
            object.state = .inserted
            object.row = before.row?.copy(version: 0)
            object.base = nil
            object.changed = SlotSet(0..<(object.row?.count ?? 0))
            object.changedToManys = SlotSet()
        }
        registry.retain(object)
        if events.deleted.removeValue(forKey: object.objectID) == nil { events.inserted[object.objectID] = object }
        reversal.restored.append(object)
        if reversal.isRedo && object.state == .inserted {
            // The values are those it had; the hook can't overwrite them.
            let row = object.row
            object.ignoresChanges = true
            object.awakeFromInsert()
            object.ignoresChanges = false
            object.row = row
            object.ownsRow = false
        } else {
            reversal.awakening.append((object, .undoDeletion))
        }
    }

    /// The instance that comes back: the one this context knows by now, or the one that left.
    private func instance(for change: UndoRecord.ObjectChange) -> NSManagedObject {
        if let known = registry[change.id] { return known }
        if let object = change.object, object.context == nil || object.context === self { return object }
        return change.id.entity.objectClass.make(existing: change.id, in: self)
    }

    /// The pairs of an object whose deletion was saved: the store forgot them with it.
    private func restorePairs(of change: UndoRecord.ObjectChange) {
        for (number, ids) in change.pairs {
            let relationship = change.id.layout.toManys[number]
            let key = RelationshipKey(owner: change.id, toMany: number)
            for id in ids where living(id) != nil {
                self.record(key) { $0.add(id) }
                if let inverse = relationship.inverseRelationship, let other = id.layout.toManyNumber(inverse) {
                    self.record(RelationshipKey(owner: id, toMany: other)) { $0.add(change.id) }
                }
            }
        }
    }

    // MARK: Leaving

    /// The object leaves again. What it referred to is as it was before, so its own references don't take part in the delete rules; what others,
    /// who were not recorded, related to it since, does.
    private func takeAway(_ object: NSManagedObject) {
        undoRecorder?.willDelete(object)
        if let row = object.row, !row.layout.toOneSlots.isEmpty {
            let alone = row.copy()
            for slot in row.layout.toOneSlots { alone.update(slot, to: .null) }
            object.row = alone
            object.ownsRow = false
        }
        object.members = [:]
        markDeleted(object)
        undelivered.append(object)
        object.callAwake(.undoInsertion)
    }

    // MARK: Relationships that are not in rows

    private func restore(_ key: RelationshipKey, _ changes: [UndoRecord.PairChange], isExact: Bool) {
        let pending = pendingPairs(key)
        for change in changes {
            if isExact && pending.state(of: change.id) == change.before { continue }
            undoRecorder?.willRestore(change.id, in: key, was: change.isMember, becomes: change.wasMember)
            if isExact && pending.state(of: change.id) == change.after {
                self.replace(key) { $0.set(change.id, to: change.before) }
                continue
            }
            if !change.wasMember {
                if change.after != .removed { self.record(key) { $0.remove(change.id) } }
            } else if change.after != .added, living(change.id) != nil, living(key.owner) != nil {
                self.record(key) { $0.add(change.id) }
            }
        }
    }

    /// Brings the pending order back as it was, or notes that it has to be found.
    private func clearOrder(_ key: RelationshipKey, _ change: UndoRecord.OrderChange, _ reversal: inout Reversal) {
        undoRecorder?.willRecordOrder(key, in: self)
        if reversal.isExact && pendingOrder(key) == change.after {
            chain.withLock { level.pending.orders[key] = change.before }
        } else {
            reversal.orders[key] = change.order
            chain.withLock { level.pending.orders[key] = nil }
        }
    }

    /// The members that there are now, in the order that was; those that came since at the end.
    private func restoreOrder(_ key: RelationshipKey, _ order: [NSManagedObjectID]) {
        guard living(key.owner) != nil else { return }
        let members = readable("\(key.relationship.name) of \(key.owner), to undo a change", { try unorderedMembers(key) })
        let present = Set(members), known = Set(order)
        let restored = order.filter { present.contains($0) } + members.filter { !known.contains($0) }
        chain.withLock { level.pending.orders[key] = restored }
    }

    /// The members while no order is pending here: by foreign key where there is one.
    private func unorderedMembers(_ key: RelationshipKey) throws -> [NSManagedObjectID] {
        guard let inverse = key.relationship.inverseRelationship, !inverse.isToMany, let target = key.relationship.destinationEntity
        else { return try relatedIDs(key) }
        var ids = try channel(to: "read a relationship").relatedIDs(key)
        var gone: Set<NSManagedObjectID> = []
        for (id, change) in chain.withLock({ level.pending.rows(of: target.withDescendants) }) {
            if change.kind != .deleted, change.row?[inverse.name].objectID == key.owner {
                if !ids.contains(id) { ids.append(id) }
            } else {
                gone.insert(id)
            }
        }
        return ids.filter { !gone.contains($0) }
    }

    // MARK: Publishing

    private func callAwake(_ reversal: Reversal) {
        for (object, flags) in reversal.awakening { object.callAwake(flags) }
    }

    /// Publishes the restored rows in place of what was pending for them, which composing would add to instead.
    private func publishRestored(_ reversal: Reversal) {
        for object in reversal.restored where object.isPublished {
            object.isPublished = false
            unpublished.append(object)
        }
        publish(inPlaceOfPending: reversal.restored)
    }
}
