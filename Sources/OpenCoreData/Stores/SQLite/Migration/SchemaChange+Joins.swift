import Foundation

/// Tables of pairs.
extension SchemaChange {
    /// Where the members of some owners stand before.
    private struct Origin {
        let pair: Pair
        let source: NSRelationshipDescription
        let place: ToManyPlace?
        /// Of a to-one.
        let column: String?
        /// The owners' entities.
        var owners: [Int64]
        /// Seen from the other side: its owners are the table's members.
        let isInverse: Bool
    }

    /// Makes and fills the tables that are not there as they must be. Returns the names of those that are.
    mutating func writeJoins(_ fresh: inout [(temporary: String, name: String)]) -> Set<String> {
        var kept: Set<String> = []
        for (number, join) in new.joins.enumerated() {
            let origins = origins(of: join.relationship)
            if let known = unchanged(join, origins) {
                kept.insert(known)
                continue
            }
            let temporary = "ocd_join_\(number)"
            run(join.creation(as: temporary))
            for origin in origins { fill(temporary, join, from: origin) }
            fresh.append((temporary, join.name))
        }
        return kept
    }

    /// Of the side that names the table, or of the other where that is new.
    private func origins(of relationship: NSRelationshipDescription) -> [Origin] {
        let mine = origins(of: relationship, isInverse: false)
        guard mine.isEmpty, let inverse = relationship.inverseRelationship, inverse !== relationship else { return mine }
        return origins(of: inverse, isInverse: true)
    }

    private func origins(of relationship: NSRelationshipDescription, isInverse: Bool) -> [Origin] {
        var result: [Origin] = []
        for pair in pairs {
            guard let owner = relationship.entity, pair.new.entity.isKindOf(entity: owner), let source = pair.relationship(relationship.name)?.source
            else {
                continue
            }
            if let known = result.firstIndex(where: { $0.source === source }) {
                result[known].owners.append(pair.old.number)
                continue
            }
            let number = pair.old.layout.toManys.firstIndex { $0 === source }
            result.append(
                Origin(
                    pair: pair, source: source, place: number.flatMap { pair.old.toManys[$0] }, column: pair.column(of: source)?.name,
                    owners: [pair.old.number], isInverse: isInverse))
        }
        return result
    }

    /// The name of a table that is what it has to be.
    private func unchanged(_ join: JoinTable, _ origins: [Origin]) -> String? {
        guard origins.count == 1, !origins[0].isInverse, case .pairs(let index, _, _, _, true)? = origins[0].place else { return nil }
        let before = old.joins[index]
        guard before.name == join.name, before.ownerColumn == join.ownerColumn, before.memberColumn == join.memberColumn,
            before.ownerOrderColumn == join.ownerOrderColumn, before.memberOrderColumn == join.memberOrderColumn,
            let (owners, members) = tables(of: origins[0], join), isStable(owners.old, in: owners.new), isStable(members.old, in: members.new)
        else { return nil }
        return before.name
    }

    private typealias Move = (old: Int, new: Int)

    private func tables(of origin: Origin, _ join: JoinTable) -> (owners: Move, members: Move)? {
        guard let members = origin.source.destinationEntity.flatMap({ old[$0]?.table }),
            let owner = join.relationship.entity.flatMap({ new[$0]?.table }),
            let member = join.relationship.destinationEntity.flatMap({ new[$0]?.table })
        else { return nil }
        return origin.isInverse ? ((origin.pair.old.table, member), (members, owner)) : ((origin.pair.old.table, owner), (members, member))
    }

    private mutating func fill(_ table: String, _ join: JoinTable, from origin: Origin) {
        guard let (owners, members) = tables(of: origin, join) else { return }
        let from: String, owner: String, member: String, ownerOrder: String?, memberOrder: String?
        switch origin.place {
        case .pairs(let index, let mine, let theirs, let order, let isOwnerSide)?:
            let before = old.joins[index]
            (from, owner, member) = (before.name, column(mine), column(theirs))
            (ownerOrder, memberOrder) = (order, isOwnerSide ? before.memberOrderColumn : before.ownerOrderColumn)
        case .inverse(let table, let name, _, let order)?:
            (from, owner, member, ownerOrder, memberOrder) = (table, column(name), "row.Z_PK", order, nil)
        case nil:
            guard let name = origin.column else { return }
            (from, owner, member, ownerOrder) = (origin.pair.old.tableName, "row.Z_PK", column(name), nil)
            memberOrder = TableChange.orderColumn(of: origin.source.inverseRelationship, in: old)
        }
        var columns = origin.isInverse ? [join.memberColumn, join.ownerColumn] : [join.ownerColumn, join.memberColumn]
        let orders = origin.isInverse ? [join.memberOrderColumn, join.ownerOrderColumn] : [join.ownerOrderColumn, join.memberOrderColumn]
        var selected = [reference(owner, from: owners.old, to: owners.new), reference(member, from: members.old, to: members.new)]
        for (name, known, group) in [(orders[0], ownerOrder, owner), (orders[1], memberOrder, member)] {
            guard let name else { continue }
            columns.append(name)
            selected.append(known.map(column) ?? "row_number() OVER (PARTITION BY \(group) ORDER BY row.rowid)")
        }
        let named = zip(selected, columns).map { "\($0) AS \($1.sqlName)" }.joined(separator: ", ")
        let ends = columns.prefix(2).map { "\($0.sqlName) IS NOT NULL" }.joined(separator: " AND ")
        let numbers = origin.owners.sorted().map(String.init).joined(separator: ", ")
        let isOwner = "\(owner) IN (SELECT Z_PK FROM \(origin.pair.old.tableName.sqlName) WHERE Z_ENT IN (\(numbers)))"
        run(
            "INSERT OR IGNORE INTO \(table.sqlName) (\(columns.map(\.sqlName).joined(separator: ", "))) "
                + "SELECT * FROM (SELECT \(named) FROM \(from.sqlName) AS row WHERE \(isOwner)) WHERE \(ends)", over: from)
    }
}
