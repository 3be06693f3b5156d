import Foundation

/// Notes what an event touches before it is changed. A context has one while it has an undo manager.
final class UndoRecorder {
    let manager: UndoManager
    private(set) var epoch = 0
    private(set) var generation = 0

    private struct Touched {
        let object: NSManagedObject
        let before: ObjectMoment
        var pairs: [Int: [NSManagedObjectID]] = [:]
    }

    private var objects: [NSManagedObjectID: Touched] = [:]
    private var pairs: [RelationshipKey: PairChanges] = [:]
    private var members: [RelationshipKey: [NSManagedObjectID: UndoRecord.Membership]] = [:]
    private var orders: [RelationshipKey: (pending: [NSManagedObjectID]?, order: [NSManagedObjectID])] = [:]
    /// The orders that an object was taken out of, which has to find its place again.
    private var lessened: Set<RelationshipKey> = []

    init(manager: UndoManager) { self.manager = manager }

    var isEmpty: Bool { objects.isEmpty && pairs.isEmpty && orders.isEmpty }
    var isRecording: Bool { manager.isUndoRegistrationEnabled }

    /// What is pending was handed on.
    func didSave() { epoch += 1 }

    /// What is pending was thrown away, and with it what was recorded.
    func forget() {
        generation += 1
        forgetEvent()
        manager.forgetActions()
    }

    /// What the event has touched is not noted any more.
    func forgetEvent() {
        objects = [:]
        pairs = [:]
        members = [:]
        orders = [:]
        lessened = []
    }

    // MARK: Before a change

    func willChange(_ object: NSManagedObject) {
        guard isRecording, objects[object.objectID] == nil else { return }
        objects[object.objectID] = Touched(object: object, before: ObjectMoment(object))
    }

    /// What a deleted object was related to must be known, should it come back after the deletion was saved.
    func willDelete(_ object: NSManagedObject) {
        willChange(object)
        guard isRecording, let context = object.context else { return }
        for (number, relationship) in object.layout.toManys.enumerated() {
            let key = RelationshipKey(owner: object.objectID, toMany: number)
            if !(relationship.inverseRelationship.map { !$0.isToMany } ?? false) {
                objects[object.objectID]?.pairs[number] = object.memberIDs(number)
            }
            if relationship.isOrdered { willRecordOrder(key, in: context) }
        }
    }

    func willRecord(_ key: RelationshipKey, in context: NSManagedObjectContext, _ change: (inout PairChanges) -> Void = { _ in }) {
        guard isRecording else { return }
        if pairs[key] == nil { pairs[key] = context.pendingPairs(key) }
        // What is done to a pair first tells what it was: only members are removed, only others are added.
        var first = PairChanges()
        change(&first)
        for id in first.added { willRestore(id, in: key, was: false) }
        for id in first.removed { willRestore(id, in: key, was: true) }
    }

    /// Whether an object was a member, said before that changes.
    func willRestore(_ id: NSManagedObjectID, in key: RelationshipKey, was: Bool, becomes: Bool? = nil) {
        if members[key]?[id] == nil { members[key, default: [:]][id] = UndoRecord.Membership(was: was, becomes: becomes) }
    }

    func willRecordOrder(_ key: RelationshipKey, in context: NSManagedObjectContext, isLosing: Bool = false) {
        guard isRecording else { return }
        if isLosing { lessened.insert(key) }
        guard orders[key] == nil else { return }
        let pending = context.pendingOrder(key)
        orders[key] = (pending, pending ?? context.orderInChannel(key))
    }

    /// The relationships of an object that never was are about to be forgotten.
    func willForgetRelationships(of object: NSManagedObject, in context: NSManagedObjectContext) {
        guard isRecording else { return }
        for number in object.layout.toManys.indices {
            let key = RelationshipKey(owner: object.objectID, toMany: number)
            if context.pendingOrder(key) != nil { willRecordOrder(key, in: context) }
            willRecord(key, in: context)
        }
    }

    // MARK: After the event

    /// What the event did, published by now. The next event starts.
    func finish(in context: NSManagedObjectContext) -> UndoRecord {
        var record = UndoRecord(epoch: epoch, generation: generation)
        for (id, touched) in objects {
            if let change = change(of: id, touched) { record.objects.append(change) }
        }
        for (key, before) in pairs {
            let changes = before.changes(to: context.pendingPairs(key), known: members[key] ?? [:])
            if !changes.isEmpty { record.pairs[key] = changes }
        }
        for (key, before) in orders {
            let after = context.pendingOrder(key)
            // The order of what was deleted is gone once that is saved, and a place in an order.
            let isLost = objects[key.owner].map { $0.before.exists && !$0.object.exists } ?? false || lessened.contains(key)
            if isLost || after != before.pending {
                record.orders[key] = UndoRecord.OrderChange(before: before.pending, order: before.order, after: after)
            }
        }
        forgetEvent()
        return record
    }

    private func change(of id: NSManagedObjectID, _ touched: Touched) -> UndoRecord.ObjectChange? {
        let object = touched.object, before = touched.before
        let existsNow = object.exists
        guard before.exists || existsNow else { return nil }
        var slots = SlotSet()
        if before.exists, existsNow, let old = before.row, let new = object.row {
            slots = old.differences(from: new)
            for slot in 0..<new.count where before.changed.contains(slot) != object.changed.contains(slot) { slots.insert(slot) }
        }
        let comesOrGoes = before.exists != existsNow
        let toManys = object.eventToManys
        if !comesOrGoes && slots.isEmpty && toManys.isEmpty { return nil }
        let hasNewFlags = toManys.slots.contains { before.changedToManys.contains($0) != object.changedToManys.contains($0) }
        return UndoRecord.ObjectChange(
            id: id, object: comesOrGoes ? object : nil, before: before, existedAfter: existsNow, slots: slots, toManys: toManys,
            hasNewFlags: hasNewFlags, pairs: existsNow ? [:] : pairsBefore(touched))
    }

    /// The members of a deleted object's to-manys as they were before the event.
    private func pairsBefore(_ touched: Touched) -> [Int: [NSManagedObjectID]] {
        var result: [Int: [NSManagedObjectID]] = [:]
        for (number, ids) in touched.pairs {
            let known = members[RelationshipKey(owner: touched.object.objectID, toMany: number)] ?? [:]
            result[number] = ids.filter { known[$0]?.was != false } + known.filter { $0.value.was && !ids.contains($0.key) }.map(\.key)
        }
        return result
    }
}

extension NSManagedObject {
    final var exists: Bool { state != .deleted && state != .detached }
}

extension NSManagedObjectContext {
    func pendingPairs(_ key: RelationshipKey) -> PairChanges { chain.withLock { level.pending.pairs[key] } ?? PairChanges() }

    func pendingOrder(_ key: RelationshipKey) -> [NSManagedObjectID]? { chain.withLock { level.pending.orders[key] } }

    /// The order of a to-many as the channel has it.
    func orderInChannel(_ key: RelationshipKey) -> [NSManagedObjectID] {
        // The channel knows nothing of an object that is new here.
        if let owner = registry[key.owner], owner.state == .inserted, owner.objectID.isTemporaryID { return [] }
        return readable("the order of \(key.relationship.name) of \(key.owner)") { try channel(to: "read an order").relatedIDs(key) }
    }
}

/// Undo: one group for each processed event.
extension NSManagedObjectContext {
    /// Takes the last group of changes back. Changes that were not processed yet are processed first, and are that group.
    public func undo() {
        checkQueue()
        undoManager?.undo()
        processPendingChanges()
    }

    /// Takes the last `undo()` back.
    public func redo() {
        checkQueue()
        undoManager?.redo()
        processPendingChanges()
    }

    /// What `undoManager` is set to.
    func setUndoManager(_ manager: UndoManager?) {
        guard manager !== undoRecorder?.manager else { return }
        if let old = undoRecorder {
            old.forgetEvent()
            old.manager.leave(self)
        }
        undoRecorder = manager.map { UndoRecorder(manager: $0) }
        manager?.join(self)
    }

    /// The event is over: what it did becomes an action that takes it back.
    func registerEventForUndo(evenIfEmpty: Bool = false) {
        guard let undoRecorder, evenIfEmpty || !undoRecorder.isEmpty else { return }
        publish()
        let record = undoRecorder.finish(in: self)
        if record.isEmpty && !evenIfEmpty { return }
        undoRecorder.manager.registerEvent(of: self) { $0.revert(record) }
    }
}

extension NSManagedObjectContext: UndoParticipant {
    var hasUnregisteredChanges: Bool { undoRecorder.map { !$0.isEmpty && $0.isRecording } ?? false }

    func registerChanges() {
        guard undoRecorder?.isEmpty == false, queue.isCurrent else { return }
        processPendingChanges()
    }
}
