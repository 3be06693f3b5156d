extension ChangeSet {
    /// What the members of many to-manys are after these changes: one pass over the changed rows for each relationship.
    func apply(to members: inout [RelationshipKey: [NSManagedObjectID]]) {
        let groups = Dictionary(grouping: members.keys) { $0.relationship }
        for (relationship, keys) in groups {
            guard let destination = relationship.destinationEntity else { continue }
            if relationship.isDerivedFromInverse, let inverse = relationship.inverseRelationship {
                applyRows(of: destination, inverse: inverse, to: &members, keys: keys)
            } else {
                applyPairs(of: destination, to: &members, keys: keys)
            }
        }
    }

    /// A foreign key that changed takes its row out of the to-many it was in, and into the one it names.
    private func applyRows(
        of destination: NSEntityDescription, inverse: NSRelationshipDescription, to members: inout [RelationshipKey: [NSManagedObjectID]],
        keys: [RelationshipKey]
    ) {
        var changed: Set<NSManagedObjectID> = [], added: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        for member in destination.withDescendants {
            guard let changes = entities[member.number], let slot = member.layout.slot(of: inverse.name) else { continue }
            for (id, change) in changes.rows {
                changed.insert(id)
                if change.kind != .deleted, let owner = change.row?[slot].objectID { added[owner, default: []].append(id) }
            }
        }
        guard !changed.isEmpty else { return }
        for key in keys {
            var ids = (members[key] ?? []).filter { !changed.contains($0) }
            ids += (added[key.owner] ?? []).sorted { $0.key < $1.key }
            members[key] = ids
        }
    }

    private func applyPairs(
        of destination: NSEntityDescription, to members: inout [RelationshipKey: [NSManagedObjectID]], keys: [RelationshipKey]
    ) {
        var deleted: Set<NSManagedObjectID> = []
        for member in destination.withDescendants {
            for (id, change) in entities[member.number]?.rows ?? [:] where change.kind == .deleted { deleted.insert(id) }
        }
        for key in keys {
            var ids = orders[key] ?? members[key] ?? [], gone = deleted
            if orders[key] == nil, let changes = pairs[key] {
                let present = Set(ids)
                ids += changes.added.subtracting(present).sorted { $0.key < $1.key }
                gone.formUnion(changes.removed)
            }
            members[key] = gone.isEmpty ? ids : ids.filter { !gone.contains($0) }
        }
    }
}
