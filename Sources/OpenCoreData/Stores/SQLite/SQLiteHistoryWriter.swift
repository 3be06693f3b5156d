import Foundation
import GRDB
import GRDBSQLite

/// Records a save in the tables of its history, inside the transaction of that save and before its rows are written: what a deletion keeps is still
/// there then.
final class SQLiteHistoryWriter {
    private let plan: SavePlan
    private let schema: SQLSchema
    private let database: Database
    /// To-manys that changed and are kept apart from the rows, by owner.
    private var touched: [NSManagedObjectID: Set<String>] = [:]

    /// Nil if the save changes no object of the store.
    init?(_ plan: SavePlan, of changes: ChangeSet, schema: SQLSchema, in database: Database) {
        self.plan = plan
        self.schema = schema
        self.database = database
        func touch(_ key: RelationshipKey) {
            if let kind = changes[key.owner]?.kind, kind != .updated { return }
            touched[key.owner, default: []].insert(key.relationship.name)
        }
        for (key, pairs) in changes.pairs where !pairs.isEmpty { touch(key) }
        for key in changes.orders.keys { touch(key) }
        if rowCount == 0 && touched.isEmpty { return nil }
    }

    private var rowCount: Int { plan.tables.reduce(0) { $0 + $1.deletes.count + $1.updates.count + $1.inserts.count } }

    func write(_ origin: SaveOrigin?) throws {
        let entry = try SQLiteHistoryEntry(origin, changes: rowCount + touched.count, schema: schema, in: database)
        for operations in plan.tables where !operations.inserts.isEmpty { try writeInserts(operations.inserts, entry) }
        try writeUpdates(entry)
        for operations in plan.tables where !operations.deletes.isEmpty { try writeDeletes(operations.deletes, entry) }
    }

    private func writeInserts(_ operations: [RowOperation], _ entry: SQLiteHistoryEntry) throws {
        let statement = try entry.insertion()
        for operation in operations { try entry.add(statement, .insert, entity: operation.map.number, key: operation.key) }
    }

    private func writeUpdates(_ entry: SQLiteHistoryEntry) throws {
        let statement = try entry.insertion()
        var apart = touched
        for operation in plan.tables.lazy.flatMap(\.updates) {
            let form = try entry.form(of: operation.map), changed = Self.changed(operation.pending)
            let mask: Data
            if !apart.isEmpty, let names = apart.removeValue(forKey: operation.id) {
                mask = form.mask(names.union(form.names(of: changed)))
            } else {
                mask = form.mask(changed)
            }
            try entry.add(statement, .update, entity: operation.map.number, key: operation.key, names: form.namesText, mask: mask)
        }
        for (id, names) in apart.sorted(by: { ($0.key.layout.number, $0.key.key) < ($1.key.layout.number, $1.key.key) }) {
            let map = try schema.map(of: id.entity), form = try entry.form(of: map)
            try entry.add(statement, .update, entity: map.number, key: id.key, names: form.namesText, mask: form.mask(names))
        }
    }

    /// Copies what is to be kept from the row itself: it is what the deletion deletes, whatever the context knew of it.
    private func writeDeletes(_ operations: [RowOperation], _ entry: SQLiteHistoryEntry) throws {
        let plain = try entry.insertion()
        var copying: [Int64: SQLStatement] = [:]
        for operation in operations {
            let number = operation.map.number, form = try entry.form(of: operation.map)
            if form.tombstones.isEmpty {
                try entry.add(plain, .delete, entity: number, key: operation.key)
                continue
            }
            let statement = try copying[number] ?? entry.copying(form.tombstones, from: operation.map.tableName)
            copying[number] = statement
            try entry.add(statement, .delete, entity: number, key: operation.key, names: form.tombstonesText)
        }
    }

    /// What an update changes: a value that was set and set back did not change.
    private static func changed(_ pending: PendingRow) -> SlotSet {
        guard let row = pending.row, let base = pending.base, row.layout === base.layout else { return pending.changed }
        var result = SlotSet()
        pending.changed.forEach { if row[$0] != base[$0] && !row.layout.derivedSlots.contains($0) { result.insert($0) } }
        return result
    }
}
