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
            for (id, change) in changes.rows {
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
                for (id, change) in entities[member.number]?.rows ?? [:] where change.kind == .deleted { deleted.insert(id) }
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
