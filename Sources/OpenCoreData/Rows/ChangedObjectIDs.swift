import Synchronization

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
        for owner in changes.relationshipOwners where changes[owner] == nil {
            updated.append(owner)
        }
        updated += changes.computed
    }

    package var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && !invalidatesAll }
    package var count: Int { inserted.count + updated.count + deleted.count }
}

/// Who saves: what persistent history tells of a save besides its changes.
package struct SaveOrigin: Hashable, Sendable {
    /// The `transactionAuthor` of the context that writes.
    package var author: String?
    /// Its name.
    package var contextName: String?

    package init(author: String?, contextName: String?) {
        self.author = author
        self.contextName = contextName
    }
}

/// Primary keys that no store was asked for: of objects that are made before there is a store, or while it cannot be written.
///
/// They lie far above anything a store counts up to, in blocks that lie somewhere each, since such a key may reach a file where those of an earlier
/// process are.
enum UnreservedKeys {
    private static let stock = Mutex<Range<Int64>>(0..<0)
    private static let bits = 20
    private static let least: Int64 = 1 << 62

    /// Whether a key is one of these, or one that a store has given out which such a key was saved in: it counts on from there.
    static func contains(_ key: Int64) -> Bool { key >= least }

    static func next() -> Int64 { take(1).lowerBound }

    /// So many in a row, a million at most.
    static func take(_ count: Int) -> Range<Int64> {
        stock.withLock { keys in
            if keys.count < count {
                let first = least | (Int64.random(in: 0..<(1 << 41)) << bits)
                keys = first..<first + (1 << bits)
            }
            let taken = keys.prefix(count)
            keys = keys.dropFirst(count)
            return taken
        }
    }

    /// Up to which key a store counts that has taken this one: others of its block may be on their way.
    static func lastTaken(with key: Int64) -> Int64 { key < 1 << 62 ? key : key | (1 << bits - 1) }
}

/// Where an object is in its life, as its context sees it.
///
/// | from | to | by |
/// | --- | --- | --- |
/// | detached | inserted | `insert(_:)` |
/// | inserted | clean | a save · `detached` by delete and save, rollback, reset |
/// | clean | updated | setting a value |
/// | updated | clean | a save, rollback, refresh |
/// | clean, updated | deleted | `delete(_:)` |
/// | deleted | detached | a save · `clean` by rollback |
package enum ObjectState: Sendable {
    /// Belongs to no context (any more).
    case detached
    case inserted
    case clean
    case updated
    case deleted
}
