/// The unique keys that the rows of a save will have, and who has them already. One rule for every store.
///
/// Of those that will have one key that one owns it which has it in the store and keeps it; else the first of the save: objects that were stored
/// before new ones, in the order of their primary keys. All others are in conflict with it.
package struct KeyClaims {
    private struct Claim {
        let id: NSManagedObjectID
        let key: UniqueKey
        let isNew: Bool
    }

    private let changes: ChangeSet
    private var claims: [UniquenessConstraint: [Claim]] = [:]

    /// - Parameter writesWholeRows: of a change that does not say what it started from, all of the row is written, and not what it changed alone.
    package init(_ changes: ChangeSet, writesWholeRows: Bool = false) {
        self.changes = changes
        changes.forEach { id, change in
            guard change.kind != .deleted, let row = change.row else { return }
            let isWhole = writesWholeRows && change.base == nil
            for constraint in row.layout.constraints where isWhole || constraint.isTouched(by: change) {
                guard let key = constraint.key(of: row) else { continue }
                claims[constraint, default: []].append(Claim(id: id, key: key, isNew: change.kind == .inserted))
            }
        }
    }

    /// The conflicts, in no order of their own.
    ///
    /// - Parameter owners: the stored rows that have these keys.
    package func conflicts(
        _ owners: (UniquenessConstraint, [UniqueKey]) throws -> [UniqueKey: FetchedRow]
    ) rethrows -> [StoreConflict.KeyConflict] {
        var conflicts: [StoreConflict.KeyConflict] = []
        for (constraint, claims) in claims {
            let stored = try owners(constraint, Array(Set(claims.map(\.key)))).filter { keeps($0.key, constraint.number, $0.value.id) }
            var first: [UniqueKey: NSManagedObjectID] = [:]
            for claim in claims.sorted(by: { ($0.isNew ? 1 : 0, $0.id.key) < ($1.isNew ? 1 : 0, $1.id.key) }) {
                if let keeper = stored[claim.key] {
                    if keeper.id == claim.id { continue }
                    conflicts.append(
                        StoreConflict.KeyConflict(
                            id: claim.id, constraint: constraint.number, key: claim.key, owner: keeper.id, stored: keeper.row))
                } else if let owner = first[claim.key] {
                    conflicts.append(
                        StoreConflict.KeyConflict(id: claim.id, constraint: constraint.number, key: claim.key, owner: owner, stored: nil))
                } else {
                    first[claim.key] = claim.id
                }
            }
        }
        return conflicts
    }

    /// Whether an object that has a key in the store has it after the save.
    private func keeps(_ key: UniqueKey, _ constraint: Int, _ id: NSManagedObjectID) -> Bool {
        guard let change = changes[id] else { return true }
        guard change.kind != .deleted, let row = change.row else { return false }
        return row.layout.constraints[constraint].key(of: row) == key
    }
}
