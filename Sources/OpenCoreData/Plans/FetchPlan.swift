import Foundation

/// One sort key of a fetch.
package struct SortKey: Hashable, Sendable {
    /// Property names from the entity over to-one relationships to an attribute.
    package let path: [String]
    package let isAscending: Bool
    /// How strings compare.
    package let selector: SortSelector

    package init(path: [String], isAscending: Bool, selector: SortSelector = .compare) {
        self.path = path
        self.isAscending = isAscending
        self.selector = selector
    }

    /// What a value is ordered by, where `RowOrdering.compare` orders.
    package func sortable(_ value: AttributeValue) -> AttributeValue {
        guard case .string(let string) = value, let bytes = selector.key(string) else { return value }
        return .data(bytes)
    }
}

/// A fetch request as a value: what goes toward the store, from context to context to coordinator.
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
    /// With IDs only: the values they are sorted by too, so that a level can put its unsaved rows in between without loading the others.
    package var includesSortValues = false
    /// False: only what stores hold counts.
    package var includesPendingChanges = true
    /// The places of the stores that answer, whoever is there by then; nil: all.
    package var affectedStores: [StoreIdentity]?

    package init(entity: NSEntityDescription) { self.entity = entity }

    /// The entities whose objects may be found.
    package var members: [NSEntityDescription] {
        includesSubentities ? entity.withDescendants : [entity]
    }

    /// Whether the order is one of the objects' own values, which no unsaved change of other objects can alter.
    package var sortsByOwnValues: Bool {
        sort.allSatisfy { key in
            guard key.path.count == 1, let slot = entity.layout.slot(of: key.path[0]), let attribute = entity.layout.attribute(atSlot: slot)
            else { return false }
            return entity.layout.kinds[slot].isOrdered && !attribute.isTransient
        }
    }

    /// Whether an object in this place may be found.
    package func asks(_ place: StoreIdentity) -> Bool {
        affectedStores?.contains { $0.isSame(as: place) } ?? true
    }

    /// The same plan with what it takes to order its results where they are IDs only.
    package var orderable: FetchPlan {
        guard !includesRows, !sort.isEmpty else { return self }
        var plan = self
        if sortsByOwnValues { plan.includesSortValues = true } else { plan.includesRows = true }
        return plan
    }
}

/// One object found: its ID, and its row where rows were asked for.
package struct FetchedRow: Sendable {
    // Two words: there is one for every row of a fetch.
    private enum Content {
        case nothing
        case row(RowSnapshot)
        case sortValues([AttributeValue])
    }

    package let id: NSManagedObjectID
    private let content: Content

    package var row: RowSnapshot? {
        if case .row(let row) = content { row } else { nil }
    }

    /// The values that it was sorted by, where the plan asked for them and not for the row.
    package var sortValues: [AttributeValue]? {
        if case .sortValues(let values) = content { values } else { nil }
    }

    package init(id: NSManagedObjectID, row: RowSnapshot?) {
        self.id = id
        content = row.map(Content.row) ?? .nothing
    }

    package init(id: NSManagedObjectID, sortValues: [AttributeValue]) {
        self.id = id
        content = .sortValues(sortValues)
    }
}
