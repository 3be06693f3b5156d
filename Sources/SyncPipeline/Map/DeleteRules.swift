import OpenCoreData

/// What the model's delete rules say of rows that a listing let go of. Where it says cascade the targets go too; where it says deny they hold the row.
/// Nullify needs nothing here: a tombstone is not seen from living rows, and the row that is deleted for good is taken out of them.
struct DeleteRules {
    let mapping: ModelMapping
    let context: NSManagedObjectContext

    private typealias Row = (id: NSManagedObjectID, row: RowSnapshot)

    /// The living rows that go with a row: what it owns, what that owns, and so on.
    func owned(by id: NSManagedObjectID, _ row: RowSnapshot) throws -> [NSManagedObjectID: RowSnapshot] {
        try reach(id, row, through: { isLiving($0) })
    }

    /// Whether living rows would go with a tombstone that is deleted for good, or forbid it.
    func isNeeded(_ id: NSManagedObjectID, _ row: RowSnapshot) throws -> Bool {
        let owned = try reach(id, row) { _ in true }
        if owned.contains(where: { isLiving(($0.key, $0.value)) }) { return true }
        for one in owned.map({ ($0.key, $0.value) }) + [(id, row)] {
            for relationship in relationships(of: one.0, .denyDeleteRule) where try !targets(of: one, relationship).isEmpty { return true }
        }
        return false
    }

    /// What holds a row, or something that would go with it.
    /// - Parameter forGood: it is to be deleted, which tombstones may forbid as well, and not made one.
    func denial(of id: NSManagedObjectID, _ row: RowSnapshot, forGood: Bool) throws -> Sweep.Denial? {
        let owned = try reach(id, row) { forGood || isLiving($0) }
        var denial: Sweep.Denial?
        for one in [(id, row)] + owned.map({ ($0.key, $0.value) }) {
            for relationship in relationships(of: one.0, .denyDeleteRule) {
                let held = try targets(of: one, relationship).filter { (forGood || isLiving($0)) && $0.id != id && owned[$0.id] == nil }
                if held.isEmpty { continue }
                var known = denial ?? Sweep.Denial(relationship: "\(one.0.entity.name ?? "").\(relationship.name)")
                for (target, _) in held {
                    if target.entity.name == id.entity.name { known.peers.insert(target.key) } else { known.isHeldByOthers = true }
                }
                denial = known
            }
        }
        return denial
    }

    /// Everything that relationships with the rule cascade lead to.
    private func reach(
        _ id: NSManagedObjectID, _ row: RowSnapshot, through isFollowed: (Row) -> Bool
    ) throws -> [NSManagedObjectID: RowSnapshot] {
        var found: [NSManagedObjectID: RowSnapshot] = [:]
        var next: [Row] = [(id, row)]
        while let one = next.popLast() {
            for relationship in relationships(of: one.id, .cascadeDeleteRule) {
                for target in try targets(of: one, relationship) where target.id != id && found[target.id] == nil && isFollowed(target) {
                    found[target.id] = target.row
                    next.append(target)
                }
            }
        }
        return found
    }

    private func isLiving(_ row: Row) -> Bool {
        guard let slots = mapping.entities[row.id.entity.name ?? ""]?.bookkeeping else { return false }
        return row.row[slots.deletedAt].isNull
    }

    private func relationships(of id: NSManagedObjectID, _ rule: NSDeleteRule) -> [NSRelationshipDescription] {
        id.entity.relationshipsByName.values.filter { $0.deleteRule == rule }.sorted { $0.name < $1.name }
    }

    private func targets(of one: Row, _ relationship: NSRelationshipDescription) throws -> [Row] {
        let ids: [NSManagedObjectID]
        switch one.id.layout.place(of: relationship.name) {
        case .slot(let slot)?: ids = one.row[slot].objectID.map { [$0] } ?? []
        case .toMany(let number)?: ids = try context.members(of: RelationshipKey(owner: one.id, toMany: number))
        case nil: ids = []
        }
        return ids.isEmpty ? [] : try context.currentRows(ids).map { ($0.key, $0.value) }
    }
}
