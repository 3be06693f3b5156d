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
