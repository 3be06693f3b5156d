import Foundation

/// One sort key of a fetch.
package struct SortKey: Hashable, Sendable {
    /// Property names from the entity over to-one relationships to an attribute.
    package let path: [String]
    package let isAscending: Bool
    /// How strings compare: binary unless this says otherwise.
    package let isCaseInsensitive: Bool

    package init(path: [String], isAscending: Bool, isCaseInsensitive: Bool = false) {
        self.path = path
        self.isAscending = isAscending
        self.isCaseInsensitive = isCaseInsensitive
    }
}

/// A fetch request as a value: what goes down the channel from context to context to coordinator to store.
package struct FetchPlan: Sendable {
    package var entity: NSEntityDescription
    package var includesSubentities = true
    /// Nil: every object.
    package var predicate: PredicateNode?
    package var sort: [SortKey] = []
    /// 0: no limit.
    package var limit = 0
    package var offset = 0
    /// False: IDs only.
    package var includesRows = true
    /// False: only what stores hold counts.
    package var includesPendingChanges = true

    package init(entity: NSEntityDescription) { self.entity = entity }

    /// The entities whose objects may be found.
    package var members: [NSEntityDescription] {
        includesSubentities ? entity.withDescendants : [entity]
    }
}

/// One object found: its ID, and its row where rows were asked for.
package struct FetchedRow: Sendable {
    package let id: NSManagedObjectID
    package let row: RowSnapshot?

    package init(id: NSManagedObjectID, row: RowSnapshot?) {
        self.id = id
        self.row = row
    }
}
