import Foundation
import Synchronization

/// Batch requests: a change set, made out of the rows and applied when it is committed.
extension InMemoryStore {
    /// Carries a request out on what the store holds now. The coordinator has one save or request after the other, so that stays as it is until it is
    /// committed.
    func carryOut(_ batch: BatchPlan, _ body: (any PreparedBatch) throws -> Void) throws {
        try tell(.batch)
        var work = InMemoryBatch(self, before: state.withLock { $0 })
        switch batch.work {
        case .insert(let insert): try work.insert(insert, on: batch.queue)
        case .update(let update): try work.update(update)
        case .delete(let delete): try work.delete(delete)
        }
        let done = work
        if let conflict = KeyClaims(done.changes, writesWholeRows: true).conflicts({ Self.owners(of: $1, $0, done.before) }).first {
            throw Self.constraintError(conflict)
        }
        var outcome = BatchOutcome(count: done.affected.count)
        if batch.tellsIDs { outcome.ids = done.affected }
        let kept = try keep(state(after: done.changes))
        defer { kept?.discard() }
        try body(
            UnwrittenBatch { [self] in
                try tell(.commit)
                try kept?.commit()
                state.withLock { _ = Self.apply(done.changes, &$0) }
                for id in done.affected { id.makePermanent() }
                return outcome
            })
    }

    private func state(after changes: ChangeSet) -> State {
        var next = state.withLock { $0 }
        _ = Self.apply(changes, &next)
        return next
    }

    private static func constraintError(_ conflict: StoreConflict.KeyConflict) -> NSError {
        let layout = conflict.id.layout, slots = layout.constraints[conflict.constraint].slots
        let key = zip(slots, conflict.key.values).map { "\(layout.names[$0]) \($1.inWords)" }.joined(separator: ", ")
        return NSError.coreData(
            .managedObjectConstraintMerge,
            "Two objects of \(layout.entity.name ?? "?") would have the same \(key), which a constraint of the model forbids. Nothing was written.")
    }
}

/// One request on its way into a change set.
private struct InMemoryBatch {
    let store: InMemoryStore
    let before: InMemoryStore.State
    private(set) var changes = ChangeSet()
    /// What was asked to be inserted, updated or deleted, in the order in which it was met.
    private(set) var affected: [NSManagedObjectID] = []
    private var updated: Set<NSManagedObjectID> = []
    private var storedKeys: [UniquenessConstraint: [UniqueKey: NSManagedObjectID]] = [:]

    init(_ store: InMemoryStore, before: InMemoryStore.State) {
        self.store = store
        self.before = before
    }

    private func found(_ plan: FetchPlan) throws -> [FetchedRow] {
        var plan = plan
        plan.includesRows = true
        return try store.fetch(plan)
    }

    private mutating func change(_ id: NSManagedObjectID, _ row: RowSnapshot, _ slots: SlotSet) {
        var changed = changes[id]?.changed ?? SlotSet()
        changed.formUnion(slots)
        let isNew = changes[id]?.kind == .inserted
        changes.set(id, PendingRow(kind: isNew ? .inserted : .updated, row: row, changed: changed, base: isNew ? nil : before.rows[id]))
    }

    private func checkTarget(_ id: NSManagedObjectID, _ name: String) throws {
        if !id.mayBe(in: store.identity) { throw NSError.leadsElsewhere(name, to: id) }
        if before.rows[id] == nil { throw NSError.noTarget(id, of: name) }
    }

    // MARK: Inserting

    mutating func insert(_ insert: BatchInsert, on queue: ContextQueue) throws {
        let layout = insert.entity.layout
        var new: [UniquenessConstraint: [UniqueKey: NSManagedObjectID]] = [:]
        while let row = try store.asking.asking(on: queue, insert.next) {
            for slot in layout.toOneSlots where row.given.contains(slot) {
                if let id = row.values[slot].objectID { try checkTarget(id, layout.fullName(slot)) }
            }
            if insert.takenKey != .refuse, let id = owner(of: row, new) {
                try meet(id, row, insert.takenKey, &new)
                continue
            }
            let key = try store.reserveKeys(for: insert.entity.rootEntity, count: 1).lowerBound
            let id = NSManagedObjectID(entity: insert.entity, key: key, store: store.identity, isTemporary: true)
            changes.set(id, PendingRow(kind: .inserted, row: row.values, changed: row.given))
            affected.append(id)
            note(row.values, id, &new)
        }
        // Stored objects first, then the new ones.
        affected.sort { ($0.isTemporaryID ? 1 : 0, $0.key) < ($1.isTemporaryID ? 1 : 0, $1.key) }
    }

    private func note(_ row: RowSnapshot, _ id: NSManagedObjectID, _ new: inout [UniquenessConstraint: [UniqueKey: NSManagedObjectID]]) {
        for constraint in row.layout.constraints {
            if let key = constraint.key(of: row) { new[constraint, default: [:]][key] = id }
        }
    }

    /// Which rows had which keys before: looked at once a request.
    private mutating func stored(_ constraint: UniquenessConstraint) -> [UniqueKey: NSManagedObjectID] {
        if let known = storedKeys[constraint] { return known }
        let members = Set(constraint.declarer.withDescendants.map(\.number))
        var found: [UniqueKey: NSManagedObjectID] = [:]
        for (id, row) in before.rows where members.contains(id.layout.number) {
            if let key = row.layout.constraints[constraint.number].key(of: row) { found[key] = id }
        }
        storedKeys[constraint] = found
        return found
    }

    /// Who has a key that the row has.
    private mutating func owner(of row: BatchInsert.Row, _ new: [UniquenessConstraint: [UniqueKey: NSManagedObjectID]]) -> NSManagedObjectID? {
        for constraint in row.values.layout.constraints {
            guard let key = constraint.key(of: row.values) else { continue }
            if let id = new[constraint]?[key], keeps(id, key, constraint) { return id }
            if let id = stored(constraint)[key], keeps(id, key, constraint) { return id }
        }
        return nil
    }

    /// Whether a stored object has its key still: a row before may have given it another.
    private func keeps(_ id: NSManagedObjectID, _ key: UniqueKey, _ constraint: UniquenessConstraint) -> Bool {
        changes[id]?.row.map { $0.layout.constraints[constraint.number].key(of: $0) == key } ?? true
    }

    /// A row whose key another one has.
    private mutating func meet(
        _ id: NSManagedObjectID, _ row: BatchInsert.Row, _ takenKey: BatchInsert.TakenKey,
        _ new: inout [UniquenessConstraint: [UniqueKey: NSManagedObjectID]]
    ) throws {
        guard takenKey.writes else { return }
        guard id.entity === row.values.entity, let there = changes[id]?.row ?? before.rows[id] else {
            throw NSError.coreData(
                .managedObjectConstraintMerge,
                "Can't insert an object of \(row.values.entity.name ?? "?"): its unique key is that of \(id), an object of another entity. Nothing was written."
            )
        }
        let layout = id.layout, references = SlotSet(layout.toOneSlots), merged = there.copy()
        let isWhole = takenKey == .replace
        var slots = SlotSet()
        for slot in 0..<layout.count where !layout.isTransient[slot] && (row.given.contains(slot) || isWhole && !references.contains(slot)) {
            merged.update(slot, to: row.values[slot])
            slots.insert(slot)
        }
        change(id, merged, slots)
        if !id.isTemporaryID, updated.insert(id).inserted { affected.append(id) }
        note(merged, id, &new)
    }

    // MARK: Updating

    mutating func update(_ update: BatchUpdate) throws {
        let reader = CheckedReader(store)
        for found in try found(update.plan) {
            guard let row = found.row else { continue }
            let view = RowView(id: found.id, row: row, reader: reader), changed = row.copy()
            for (slot, value) in update.values {
                switch value {
                case .constant(let constant):
                    if let id = constant.objectID { try checkTarget(id, update.layout.fullName(slot)) }
                    changed.update(slot, to: constant)
                case .computed(let node): changed.update(slot, to: try update.layout.batchValue(try node.computed(for: view).any, atSlot: slot))
                }
            }
            change(found.id, changed, update.slots)
            affected.append(found.id)
        }
        try reader.check()
        affected.sort { $0.key < $1.key }
    }

    // MARK: Deleting

    mutating func delete(_ delete: BatchDelete) throws {
        var next: [NSManagedObjectID]
        switch delete {
        case .found(let plan): next = try store.fetch(plan).map(\.id)
        case .ids(let ids): next = ids.compactMap { before.rows.index(forKey: $0).map { before.rows[$0].key } }
        }
        var gone: Set<NSManagedObjectID> = []
        while !next.isEmpty {
            var found: [NSManagedObjectID] = []
            for id in next where before.rows[id] != nil && gone.insert(id).inserted {
                for relationship in id.entity.relationshipsByName.values
                where relationship.deleteRule == .cascadeDeleteRule && !relationship.isTransient {
                    found += try related(to: id, by: relationship)
                }
            }
            next = found
        }
        affected = gone.sorted { ($0.layout.number, $0.key) < ($1.layout.number, $1.key) }
        for id in gone { changes.set(id, PendingRow(kind: .deleted, row: nil, base: before.rows[id])) }
        try empty(gone)
    }

    private func related(to id: NSManagedObjectID, by relationship: NSRelationshipDescription) throws -> [NSManagedObjectID] {
        switch id.layout.place(of: relationship.name) {
        case .slot(let slot)?: [before.rows[id]?[slot].objectID].compactMap { $0 }
        case .toMany(let number)?: try store.relatedIDs(RelationshipKey(owner: id, toMany: number))
        case .composite?, nil: []
        }
    }

    /// Empties what leads to objects that are gone.
    private mutating func empty(_ gone: Set<NSManagedObjectID>) throws {
        for (id, row) in before.rows where !gone.contains(id) {
            for slot in id.layout.referenceSlots where !id.layout.isTransient[slot] {
                guard let target = row[slot].objectID, gone.contains(target), let relationship = id.layout.relationship(atSlot: slot) else {
                    continue
                }
                if !relationship.isOptional { throw NSError.requiredReference(id.layout.fullName(slot), of: id.key) }
                let emptied = (changes[id]?.row ?? row).copy()
                emptied.update(slot, to: .null)
                change(id, emptied, SlotSet([slot]))
            }
        }
    }
}
