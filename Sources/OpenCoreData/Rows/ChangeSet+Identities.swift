/// Objects that turned out to be others.
extension ChangeSet {
    /// The same changes with some objects called by another identity wherever they are named. Their own rows stay where they are.
    func replacing(_ identities: [NSManagedObjectID: NSManagedObjectID]) -> ChangeSet {
        identities.isEmpty ? self : replacing { identities[$0] }
    }

    /// The same changes as they are now: what turned out to be another object is called by the other one's identity, and what is said of it is laid
    /// over what is said of the other.
    ///
    /// - Parameter known: the row that an object has where these changes lie, if it is in memory.
    func current(over known: (NSManagedObjectID) -> RowSnapshot?) -> ChangeSet {
        var moved: [NSManagedObjectID] = []
        forEachUnsealed { id, _ in if id.successor != nil { moved.append(id) } }
        var result = replacing { $0.successor }
        for id in moved.sorted(by: { $0.key < $1.key }) {
            guard let change = result[id] else { continue }
            result.set(id, nil)
            result.lay(change, over: id.current, known: known)
        }
        return result
    }

    /// What was changed of an object is changed of the one that it turned out to be.
    private mutating func lay(_ change: PendingRow, over id: NSManagedObjectID, known: (NSManagedObjectID) -> RowSnapshot?) {
        let there = self[id]
        guard change.kind != .deleted, let mine = change.row else {
            return set(id, PendingRow(kind: .deleted, row: there?.row ?? known(id), base: there?.base))
        }
        if there?.kind == .deleted { return }
        let base = there?.base ?? known(id)
        guard let theirs = there?.row ?? base else {
            // Nobody has its row in memory; where these changes go to it is known, and only what was changed is taken.
            let all = SlotSet(0..<mine.count)
            let row = mine.layout === id.layout ? mine : RowSnapshot.make(id.layout).overlaid(with: mine, all).row
            let changed = row.overlaid(with: mine, change.changed).changed
            set(id, PendingRow(kind: .updated, row: row, changed: changed, base: nil))
            return
        }
        let (row, slots) = theirs.overlaid(with: mine, change.changed)
        var changed = there?.changed ?? SlotSet()
        changed.formUnion(slots)
        set(id, PendingRow(kind: there?.kind ?? .updated, row: row, changed: changed, base: there?.kind == .inserted ? nil : base))
    }

    /// The same changes, in which what is said of some objects is said of others.
    func replacing(_ identity: (NSManagedObjectID) -> NSManagedObjectID?) -> ChangeSet {
        var result = self
        openBlocks { identity($0) != nil }
        forEachUnsealed { id, change in
            guard let row = change.row, let renamed = row.replacing(identity) else { return }
            result.set(id, PendingRow(kind: change.kind, row: renamed, changed: change.changed, base: change.base))
        }
        func renamed(_ id: NSManagedObjectID) -> NSManagedObjectID { identity(id) ?? id }
        // Of what other blocks list nothing is called by another name.
        result.pairs.loosen { block in
            block.members.contains { identity($0) != nil } || !block.isSealed && block.rows.contains { identity($0.key) != nil }
        }
        if !result.pairs.loose.isEmpty {
            let pairs = result.pairs.loose
            result.pairs.removeLoose()
            // What is said of two that are one, on one side or on the other: a pair that one of them was given is there.
            for (key, changes) in pairs {
                for id in changes.removed { result.pairs.change(key.replacing(identity)) { $0.remove(renamed(id)) } }
            }
            for (key, changes) in pairs {
                for id in changes.added { result.pairs.change(key.replacing(identity)) { $0.add(renamed(id)) } }
            }
        }
        if !orders.isEmpty {
            result.orders = [:]
            for (key, order) in orders {
                var listed: Set<NSManagedObjectID> = []
                result.orders[key.replacing(identity)] = order.map(renamed).filter { listed.insert($0).inserted }
            }
        }
        return result
    }

    /// Whether any of it is about an object that turned out to be another one.
    var namesReplacedObjects: Bool {
        var found = false
        openBlocks { $0.successor != nil }
        forEachUnsealed { id, change in
            if id.successor != nil || change.row?.namesReplacedObjects == true { found = true }
        }
        return found
            || pairs.blocks.contains { block in
                block.members.contains { $0.successor != nil } || !block.isSealed && block.rows.contains { $0.key.successor != nil }
            }
            || pairs.loose.contains { key, changes in
                key.owner.successor != nil || changes.added.contains { $0.successor != nil } || changes.removed.contains { $0.successor != nil }
            } || orders.contains { key, order in key.owner.successor != nil || order.contains { $0.successor != nil } }
    }
}

extension RelationshipKey {
    func replacing(_ identity: (NSManagedObjectID) -> NSManagedObjectID?) -> RelationshipKey {
        guard let other = identity(owner) else { return self }
        if other.layout === owner.layout { return RelationshipKey(owner: other, toMany: toMany) }
        // An object of a subentity may turn out to be one of another entity of its tree.
        guard let number = other.layout.toManyNumber(relationship) else { return self }
        return RelationshipKey(owner: other, toMany: number)
    }
}

extension RowSnapshot {
    /// A copy in which to-ones name objects by what they turned out to be; nil where nothing changes.
    func replacing(_ identity: (NSManagedObjectID) -> NSManagedObjectID?) -> RowSnapshot? {
        var copy: RowSnapshot?
        for slot in layout.toOneSlots {
            guard let target = self[slot].objectID, let other = identity(target) else { continue }
            if copy == nil { copy = self.copy() }
            copy?.update(slot, to: .objectID(other))
        }
        return copy
    }

    /// A copy with some of another row's values, and which those are: an object of another entity of the tree has only the common ones.
    package func overlaid(with other: RowSnapshot, _ slots: SlotSet) -> (row: RowSnapshot, changed: SlotSet) {
        let row = copy(), common = layout.commonCount(with: other.layout)
        var taken = SlotSet()
        slots.forEach { slot in
            guard slot < common else { return }
            row.update(slot, to: other[slot])
            taken.insert(slot)
        }
        return (row, taken)
    }

    var namesReplacedObjects: Bool { layout.toOneSlots.contains { self[$0].objectID?.successor != nil } }
}

/// The members of to-manys.
///
/// Who is a member is told by foreign keys, or by pairs where there are none; an order is a hint by which members are sorted. Two contexts may edit
/// one order and know different members, so what an order does not know comes last, by primary key, and what is no member any more is left out.
extension ChangeSet {
    /// The members of a to-many after these changes.
    func members(of key: RelationshipKey, over before: [NSManagedObjectID]) -> [NSManagedObjectID] {
        var members = [key: before]
        apply(to: &members)
        return members[key] ?? before
    }

    /// What the members of many to-manys are after these changes: one pass over the changed rows for each relationship.
    func apply(to members: inout [RelationshipKey: [NSManagedObjectID]]) {
        let groups = Dictionary(grouping: members.keys) { $0.relationship }
        for (relationship, keys) in groups {
            guard let destination = relationship.destinationEntity else { continue }
            if relationship.isKeptInMembers, let inverse = relationship.inverseRelationship {
                applyRows(of: destination, inverse: inverse, to: &members, keys: keys)
            } else {
                applyPairs(of: destination, to: &members, keys: keys)
            }
            if orders.isEmpty || !relationship.isOrdered { continue }
            for key in keys { if let order = orders[key] { members[key]?.sort(by: order) } }
        }
    }

    /// A foreign key that changed takes its row out of the to-many it was in, and into the one it names.
    private func applyRows(
        of destination: NSEntityDescription, inverse: NSRelationshipDescription, to members: inout [RelationshipKey: [NSManagedObjectID]],
        keys: [RelationshipKey]
    ) {
        let owners = keys.count == 1 ? nil : Set(keys.map(\.owner))
        var named: [NSManagedObjectID: NSManagedObjectID] = [:], gone: Set<NSManagedObjectID> = []
        for member in destination.withDescendants {
            guard let changes = entities[member.number], let slot = member.layout.slot(of: inverse.name) else { continue }
            // Rows of the other blocks are members of nothing that is asked for, and never were.
            changes.openBlocks { owners?.contains($0) ?? ($0 == keys[0].owner) }
            changes.forEachUnsealed { id, change in
                if change.kind != .deleted, let owner = change.row?[slot].objectID, owners?.contains(owner) ?? (owner == keys[0].owner) {
                    named[id] = owner
                } else {
                    gone.insert(id)
                }
            }
        }
        if named.isEmpty && gone.isEmpty { return }
        var added: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        for (id, owner) in named { added[owner, default: []].append(id) }
        for key in keys {
            // Those that were members and are stay where they stand.
            var ids = (members[key] ?? []).filter { id in named[id].map { $0 == key.owner } ?? !gone.contains(id) }
            if let more = added[key.owner] {
                let present = Set(ids)
                ids += more.filter { !present.contains($0) }.sorted { $0.key < $1.key }
            }
            members[key] = ids
        }
    }

    private func applyPairs(
        of destination: NSEntityDescription, to members: inout [RelationshipKey: [NSManagedObjectID]], keys: [RelationshipKey]
    ) {
        var deleted: Set<NSManagedObjectID> = []
        if deletedCount > 0 {
            for member in destination.withDescendants {
                for (id, change) in entities[member.number]?.loose ?? [:] where change.kind == .deleted { deleted.insert(id) }
            }
        }
        for key in keys {
            var ids = members[key] ?? [], gone = deleted
            if let changes = pairs[key] {
                let present = Set(ids)
                ids += changes.added.subtracting(present).sorted { $0.key < $1.key }
                gone.formUnion(changes.removed)
            }
            members[key] = gone.isEmpty ? ids : ids.filter { !gone.contains($0) }
        }
    }
}

extension [NSManagedObjectID] {
    /// Sorts members by an order, which may not know all of them and may name others: those that it does not know come last, by primary key.
    mutating func sort(by order: [NSManagedObjectID]) {
        if self == order { return }
        let places = Dictionary(order.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        sort { (places[$0] ?? .max, $0.key) < (places[$1] ?? .max, $1.key) }
    }
}

extension [RelationshipKey: [NSManagedObjectID]] {
    /// Takes those out of orders that become members by `changes`. An order may name objects that others have moved elsewhere; where one stood then says
    /// nothing of where it stands when it comes back, which is last until an order names it. Who keeps its owner keeps its place.
    ///
    /// - Parameters:
    ///   - before: an object's row as it was; nil: there was none.
    ///   - wasMember: whether an object was a member by a pair.
    mutating func loseNewcomers(
        of changes: ChangeSet, before: (NSManagedObjectID, PendingRow) -> RowSnapshot?, wasMember: (NSManagedObjectID, RelationshipKey) -> Bool
    ) {
        if isEmpty { return }
        var newcomers: [RelationshipKey: Set<NSManagedObjectID>] = [:]
        changes.forEachUnsealed { id, change in
            guard let row = change.row, change.kind != .deleted else { return }
            for slot in row.layout.toOneSlots where change.kind == .inserted || change.changed.contains(slot) {
                guard let key = row.layout.orderedOwner(slot, row), self[key] != nil, before(id, change)?[slot] != row[slot] else { continue }
                newcomers[key, default: []].insert(id)
            }
        }
        // What has an order is in no block.
        for (key, pairs) in changes.pairs.loose where self[key] != nil {
            newcomers[key, default: []].formUnion(pairs.added.filter { !wasMember($0, key) })
        }
        for (key, ids) in newcomers { self[key]?.removeAll { ids.contains($0) } }
    }
}

extension EntityLayout {
    /// The number of a to-many of this entity.
    func toManyNumber(_ relationship: NSRelationshipDescription) -> Int? {
        if case .toMany(let number)? = place(of: relationship.name) { return number }
        return nil
    }

    /// The ordered to-many that a row is a member of by this to-one; nil: by this one it is a member of none.
    func orderedOwner(_ slot: Int, _ row: RowSnapshot) -> RelationshipKey? {
        guard let owner = row[slot].objectID, let inverse = relationship(atSlot: slot)?.inverseRelationship, inverse.isToMany, inverse.isOrdered,
            let number = owner.layout.toManyNumber(inverse)
        else { return nil }
        return RelationshipKey(owner: owner, toMany: number)
    }
}
