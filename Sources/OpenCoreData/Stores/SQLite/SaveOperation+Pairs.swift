import GRDB
import GRDBSQLite

/// What is written of relationships besides foreign keys: pairs, and the orders of members.
extension SaveOperation {
    mutating func writePairs(in database: Database) throws {
        for (index, join) in schema.joins.enumerated() {
            let listings = plan.listings[index], listed = listings.reduce(0) { $0 + $1.block.pairCount }
            // As with rows: the index over many is made afterwards.
            let isBulk = try listed > Self.bulkThreshold && database.integer("SELECT EXISTS (SELECT 1 FROM \(join.name.sqlName))") == 0
            if isBulk { try database.execute(sql: "DROP INDEX IF EXISTS \(join.indexName.sqlName)") }
            if !listings.isEmpty {
                if !isBulk { try cache.grow(for: listed, in: database) }
                try write(listings, of: join, in: database)
            }
            try writeLoosePairs(of: index, join, in: database)
            if isBulk { try database.execute(sql: join.indexSQL) }
        }
    }

    /// Writes what the rows of blocks list. The rows have just been inserted; of what they list, others may have deleted something.
    private mutating func write(_ listings: [Listing], of join: JoinTable, in database: Database) throws {
        let insertion = try PairInsertion(join, in: database)
        for listing in listings {
            let (_, other) = listing.isOwnerSide ? try tables(of: join) : try { ($0.members, $0.owners) }(tables(of: join))
            var isThere: Set<Int64> = []
            let statement = try database.cached("SELECT Z_PK FROM \(other.sqlName) WHERE Z_PK IN (SELECT value FROM json_each(?))")
            try statement.bind([.text(JSONList.text(listing.block.members.map(\.key).sorted()))])
            try statement.forEachRow { isThere.insert(sqlite3_column_int64($0, 0)) }
            // The objects by number: of those that are not there no pair is written.
            let keys = listing.block.targets.map { isThere.contains($0.key) ? $0.key : nil }
            counts.inserts += try insertion.write(listing, keys: keys)
        }
    }

    private mutating func writeLoosePairs(of index: Int, _ join: JoinTable, in database: Database) throws {
        let removed = plan.removedPairs[index], added = plan.addedPairs[index]
        if !removed.isEmpty {
            let statement = try database.cached(
                "DELETE FROM \(join.name.sqlName) WHERE \(join.ownerColumn.sqlName) = ? AND \(join.memberColumn.sqlName) = ?")
            for pair in removed { try run(statement, pair) }
            counts.deletes += removed.count
        }
        if !added.isEmpty {
            // An object that others deleted meanwhile is related to nothing any more.
            let (owners, members) = try tables(of: join)
            let statement = try database.cached(
                "INSERT OR IGNORE INTO \(join.name.sqlName) (\(join.ownerColumn.sqlName), \(join.memberColumn.sqlName)) SELECT ?1, ?2 "
                    + "WHERE EXISTS (SELECT 1 FROM \(owners.sqlName) WHERE Z_PK = ?1) AND EXISTS (SELECT 1 FROM \(members.sqlName) WHERE Z_PK = ?2)"
            )
            for pair in added { try run(statement, pair) }
            counts.inserts += added.count
        }
    }

    /// The tables whose rows a join table pairs.
    private func tables(of join: JoinTable) throws -> (owners: String, members: String) {
        guard let owner = join.relationship.entity, let member = join.relationship.destinationEntity else { return ("", "") }
        return (try schema.map(of: owner).tableName, try schema.map(of: member).tableName)
    }

    private func run(_ statement: SQLStatement, _ pair: PairOperation) throws {
        sqlite3_bind_int64(statement.raw, 1, pair.owner)
        sqlite3_bind_int64(statement.raw, 2, pair.member)
        try statement.run()
    }

    /// The gap that is left between two members of an order, as Core Data leaves it.
    private static let stride: Int64 = 1024

    /// An order says where members stand, never who is one: members that it does not know lose the place that an earlier order gave them, and stand
    /// last.
    mutating func writeOrders(in database: Database) throws {
        for move in plan.moves {
            try database.run(
                "UPDATE \(move.table.sqlName) SET \(assignment(of: "NULL", to: move.column, in: move.table)) WHERE Z_PK = ?", [.integer(move.key)])
        }
        for order in plan.orders {
            let place: (table: String, owner: String, member: String, order: String)
            switch order.place {
            case .inverse(let table, let column, _, let orderColumn):
                guard let orderColumn else { continue }
                place = (table, column, "Z_PK", orderColumn)
            case .pairs(let join, let mine, let theirs, let orderColumn, _):
                guard let orderColumn else { continue }
                place = (schema.joins[join].name, mine, theirs, orderColumn)
            }
            try database.run(
                "UPDATE \(place.table.sqlName) SET \(assignment(of: "NULL", to: place.order, in: place.table)) WHERE \(place.owner.sqlName) = ?1 "
                    + "AND \(place.order.sqlName) IS NOT NULL AND \(place.member.sqlName) NOT IN (SELECT value FROM json_each(?2))",
                [.integer(order.owner), .text(JSONList.text(order.members))])
            let statement = try database.cached(
                "UPDATE \(place.table.sqlName) SET \(assignment(of: "?1", to: place.order, in: place.table)) "
                    + "WHERE \(place.member.sqlName) = ?2 AND \(place.owner.sqlName) = ?3")
            for (position, member) in order.members.enumerated() {
                try statement.bind([.integer(Int64(position + 1) * Self.stride), .integer(member), .integer(order.owner)])
                try statement.run()
            }
            counts.updates += order.members.count
        }
    }

    /// A column is given a value, and the row its sum.
    private func assignment(of value: String, to column: String, in table: String) -> String {
        let sum = schema.tables.first { $0.name == table }?.sum.map { ", \(RowSum.columnName) = \($0.replacing([(column, value)]))" }
        return "\(column.sqlName) = \(value)\(sum ?? "")"
    }
}
