/// A part of what a store holds, as values, for a store that takes it over.
package struct StoreContents: Sendable {
    /// Rows with their versions.
    package var rows: [FetchedRow] = []
    /// Members of to-manys that no foreign key tells: many-to-many, or without an inverse.
    package var pairs: [RelationshipKey: [NSManagedObjectID]] = [:]
    /// Members of ordered to-manys, in order.
    package var orders: [RelationshipKey: [NSManagedObjectID]] = [:]

    package init() {}
}

extension NSPersistentStore {
    /// How many objects a part has.
    private static var partSize: Int { 1 << 14 }

    /// Hands out all that the store holds in parts: the rows of every entity, then what is not in rows. Throws what reading throws.
    package final func forEachPart(_ body: (StoreContents) throws -> Void) throws {
        var owners: [ArraySlice<NSManagedObjectID>] = []
        for entity in entities where !entity.isAbstract {
            var plan = FetchPlan(entity: entity)
            plan.includesSubentities = false
            plan.includesRows = false
            let ids = try fetch(plan).map(\.id)
            let isRelated = entity.layout.toManys.contains { !$0.isKeptInMembers || $0.isOrdered }
            for start in stride(from: 0, to: ids.count, by: Self.partSize) {
                let part = ids[start..<min(start + Self.partSize, ids.count)], rows = try rows(for: Array(part))
                var contents = StoreContents()
                contents.rows = part.compactMap { id in rows[id].map { FetchedRow(id: id, row: $0) } }
                try body(contents)
                if isRelated { owners.append(part) }
            }
        }
        for part in owners { try body(relationships(of: part)) }
    }

    private func relationships(of owners: ArraySlice<NSManagedObjectID>) throws -> StoreContents {
        var contents = StoreContents()
        guard let layout = owners.first?.layout else { return contents }
        for (number, relationship) in layout.toManys.enumerated() where !relationship.isKeptInMembers || relationship.isOrdered {
            let isPairs = relationship.inverseRelationship?.isToMany ?? true
            for (key, found) in try related(owners.map { RelationshipKey(owner: $0, toMany: number) }) where !found.isEmpty {
                let members = found.map(\.id)
                if isPairs { contents.pairs[key] = members }
                if relationship.isOrdered { contents.orders[key] = members }
            }
        }
        return contents
    }
}
