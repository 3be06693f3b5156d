/// Which objects changed, without their values: what is merged into other contexts, and what a results controller works from.
package struct ChangedObjectIDs: Sendable {
    package var inserted: [NSManagedObjectID] = []
    /// Updated, refreshed or invalidated: whoever knows them reads them again.
    package var updated: [NSManagedObjectID] = []
    package var deleted: [NSManagedObjectID] = []
    /// Those of `updated` that were said to be refreshed, and those that were said to be invalidated.
    package var refreshed: [NSManagedObjectID] = []
    package var invalidated: [NSManagedObjectID] = []
    /// Nothing that was read before can be relied on.
    package var invalidatesAll = false

    package init() {}

    package init(_ changes: ChangeSet) {
        changes.forEach { id, change in
            switch change.kind {
            case .inserted: inserted.append(id)
            case .updated: updated.append(id)
            case .deleted: deleted.append(id)
            }
        }
        // A to-many that is kept apart from the rows may have changed where no row did.
        for owner in Set(changes.pairs.keys.map(\.owner)).union(changes.orders.keys.map(\.owner)) where changes[owner] == nil {
            updated.append(owner)
        }
    }

    package var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && !invalidatesAll }
    package var count: Int { inserted.count + updated.count + deleted.count }
}
