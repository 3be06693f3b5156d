import Foundation
import GRDB
import GRDBSQLite

/// No reference in the file leads nowhere: looked at when everything of a save is written, so that it does not matter who deleted what, and when.
extension SaveOperation {
    /// Throws `StoreConflict.references`.
    func checkReferences(in database: Database) throws {
        let conflicts = try referencesToMissingRows(in: database) + referencesToDeletedRows(in: database)
        if !conflicts.isEmpty { throw StoreConflict.references(conflicts) }
    }

    /// A to-one that was set by an operation.
    private struct Reference {
        let id: NSManagedObjectID
        let slot: Int
        let target: NSManagedObjectID
    }

    private func referencesToMissingRows(in database: Database) throws -> [StoreConflict.ReferenceConflict] {
        // What is inserted by the same save is there; what is updated was, or the update had failed.
        var asked: [Int: Set<Int64>] = [:]
        try forEachReference { reference in
            asked[try schema.map(of: reference.target.entity).table, default: []].insert(reference.target.key)
        }
        for operations in plan.tables {
            for (_, block) in operations.blocks where !block.layout.referenceSlots.isEmpty {
                for target in block.targets { asked[try schema.map(of: target.entity).table, default: []].insert(target.key) }
            }
        }
        var missing: [Int: Set<Int64>] = [:]
        for table in Array(asked.keys) {
            for operation in plan.tables[table].inserts { asked[table]?.remove(operation.key) }
            let blocks = plan.tables[table].blocks.map(\.block.keys)
            if !blocks.isEmpty, let keys = asked[table]?.sorted() {
                // Both ascend.
                var place = 0
                asked[table] = Set(
                    keys.filter { key in
                        while place < blocks.count, blocks[place].upperBound <= key { place += 1 }
                        return place == blocks.count || !blocks[place].contains(key)
                    })
            }
            guard let open = asked[table], !open.isEmpty else { continue }
            let statement = try database.cached(
                "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT Z_PK FROM \(schema.tables[table].name.sqlName))")
            try statement.bind([.text(JSONList.text(open.sorted()))])
            try statement.forEachRow { missing[table, default: []].insert(sqlite3_column_int64($0, 0)) }
        }
        if missing.isEmpty { return [] }
        var result: [StoreConflict.ReferenceConflict] = []
        for operations in plan.tables {
            for (_, block) in operations.blocks {
                let namesOne = try block.targets.contains { missing[try schema.map(of: $0.entity).table]?.contains($0.key) == true }
                if namesOne { try block.open() }
            }
        }
        try forEachReference { reference in
            guard missing[try schema.map(of: reference.target.entity).table]?.contains(reference.target.key) == true else { return }
            result.append(StoreConflict.ReferenceConflict(id: reference.id, slot: reference.slot, target: reference.target, isNew: true))
        }
        return result
    }

    private func forEachReference(_ body: (Reference) throws -> Void) throws {
        for operations in plan.tables {
            for operation in operations.updates { try forEachReference(of: operation, isInsert: false, body) }
            for operation in operations.inserts { try forEachReference(of: operation, isInsert: true, body) }
            for (map, block) in operations.blocks where !block.isSealed && !map.layout.referenceSlots.isEmpty {
                for (id, pending) in block.rows { try forEachReference(of: RowOperation(id: id, map: map, pending: pending), isInsert: true, body) }
            }
        }
    }

    private func forEachReference(of operation: RowOperation, isInsert: Bool, _ body: (Reference) throws -> Void) throws {
        let layout = operation.map.layout
        guard !layout.referenceSlots.isEmpty, let row = operation.pending.row else { return }
        for slot in layout.referenceSlots where (isInsert || operation.pending.changed.contains(slot)) && operation.map.columns[slot] != nil {
            guard let target = row[slot].objectID else { continue }
            try body(Reference(id: operation.id, slot: slot, target: target))
        }
    }

    /// Rows that name what this save deletes, and that it does not write: somebody else made them while nobody who deleted could know.
    private func referencesToDeletedRows(in database: Database) throws -> [StoreConflict.ReferenceConflict] {
        var result: [StoreConflict.ReferenceConflict] = []
        for (number, operations) in plan.tables.enumerated() where !operations.deletes.isEmpty {
            let keys = JSONList.text(operations.deletes.map(\.key))
            let targets = Dictionary(operations.deletes.map { ($0.key, $0.id) }, uniquingKeysWith: { first, _ in first })
            for map in schema.entities {
                // What an entity inherits is asked for as its ancestor's.
                for slot in map.layout.toOneSlots {
                    guard let relationship = map.layout.relationship(atSlot: slot), let column = map.columns[slot],
                        map.entity.superentity?.relationshipsByName[relationship.name] == nil,
                        relationship.inverseRelationship?.deleteRule != .noActionDeleteRule,
                        let destination = relationship.destinationEntity, try schema.map(of: destination).table == number
                    else { continue }
                    let statement = try database.cached(
                        "SELECT Z_PK, Z_ENT, \(column.name.sqlName) FROM \(map.tableName.sqlName) "
                            + "WHERE \(column.name.sqlName) IN (SELECT value FROM json_each(?))")
                    try statement.bind([.text(keys)])
                    try statement.forEachRow { raw in
                        guard let entity = schema[file: sqlite3_column_int64(raw, 1)]?.entity, let target = targets[sqlite3_column_int64(raw, 2)]
                        else { return }
                        let id = NSManagedObjectID(entity: entity, key: sqlite3_column_int64(raw, 0), store: identity, isTemporary: false)
                        result.append(StoreConflict.ReferenceConflict(id: id, slot: slot, target: target, isNew: false))
                    }
                }
            }
        }
        return result
    }
}

/// What is written of relationships besides foreign keys: pairs, and the orders of members.
extension SaveOperation {
    mutating func writePairs(in database: Database) throws {
        for (index, join) in schema.joins.enumerated() {
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
