import Foundation
import GRDB
import GRDBSQLite

/// Writes a plan inside a transaction that is already open: deletes, then updates, then inserts, so that a key may move from a deleted row
/// to a new one.
struct SaveOperation {
    /// Another writer was there first, or a row is gone.
    struct VersionMismatch: Error {}

    let plan: SavePlan
    let schema: SQLSchema
    let identity: StoreIdentity
    /// Empties unique columns of updated rows first, so that rows may exchange their keys.
    let clearsKeysFirst: Bool
    /// Whether every to-one must name a row when all is written.
    let checksReferences: Bool
    /// From how many inserts on the indexes of an empty table are made afterwards.
    static let bulkThreshold = 20_000

    /// The version of a row, as it is read. Another program may have left anything there.
    static let version = "ifnull(CAST(Z_OPT AS INTEGER), 0)"
    /// The one that follows: `RowSnapshot.version(after:)`. SQLite's own sum would make a real number of what is no integer any more.
    static let nextVersion = "CASE WHEN \(version) < 9223372036854775807 THEN \(version) + 1 ELSE 1 END"

    /// Of the rows that were updated.
    private(set) var versions = IDTable<Int64>()
    var counts = StatementCounts()
    /// Whoever runs it lets it shrink afterwards.
    var cache: PageCache

    init(
        _ plan: SavePlan, schema: SQLSchema, identity: StoreIdentity, clearsKeysFirst: Bool, checksReferences: Bool = true,
        cache: PageCache = PageCache(mayGrow: false)
    ) {
        self.plan = plan
        self.schema = schema
        self.identity = identity
        self.clearsKeysFirst = clearsKeysFirst
        self.checksReferences = checksReferences
        self.cache = cache
        versions.reserveCapacity(plan.tables.reduce(0) { $0 + $1.updates.count })
    }

    mutating func run(in database: Database) throws {
        let binder = RowBinder(schema: schema, identity: identity)
        for (index, operations) in plan.tables.enumerated() where !operations.isEmpty {
            try cache.grow(for: operations.updates.count + operations.deletes.count, in: database)
            try check(operations.checks, in: schema.tables[index], in: database)
            try delete(operations.deletes, from: schema.tables[index], in: database)
            if clearsKeysFirst { try clearKeys(of: operations.updates, in: database) }
            try update(operations.updates, in: database, binder: binder)
            try insert(operations, table: schema.tables[index], in: database, binder: binder)
        }
        try raiseLargestKeys(in: database)
        try writePairs(in: database)
        try writeOrders(in: database)
        if checksReferences { try checkReferences(in: database) }
    }

    // MARK: Rows

    private func check(_ operations: [RowOperation], in table: TableMap, in database: Database) throws {
        guard !operations.isEmpty else { return }
        let statement = try database.cached("SELECT 1 FROM \(table.name.sqlName) WHERE Z_PK = ? AND \(Self.version) = ?")
        for operation in operations {
            sqlite3_bind_int64(statement.raw, 1, operation.key)
            sqlite3_bind_int64(statement.raw, 2, operation.baseVersion ?? 0)
            let isThere = try statement.step()
            statement.reset()
            if !isThere { throw VersionMismatch() }
        }
    }

    private mutating func delete(_ operations: [RowOperation], from table: TableMap, in database: Database) throws {
        guard !operations.isEmpty else { return }
        let checked = try database.cached("DELETE FROM \(table.name.sqlName) WHERE Z_PK = ? AND \(Self.version) = ?")
        let unchecked = try database.cached("DELETE FROM \(table.name.sqlName) WHERE Z_PK = ?")
        for operation in operations {
            if let version = operation.baseVersion {
                sqlite3_bind_int64(checked.raw, 1, operation.key)
                sqlite3_bind_int64(checked.raw, 2, version)
                if try checked.run() == 0 { throw VersionMismatch() }
            } else {
                sqlite3_bind_int64(unchecked.raw, 1, operation.key)
                try unchecked.run()
            }
        }
        counts.deletes += operations.count
        for join in table.joins {
            let pairs = try database.cached("DELETE FROM \(join.table.sqlName) WHERE \(join.column.sqlName) = ?")
            for operation in operations {
                sqlite3_bind_int64(pairs.raw, 1, operation.key)
                try pairs.run()
            }
            counts.deletes += operations.count
        }
    }

    private mutating func update(_ operations: [RowOperation], in database: Database, binder: RowBinder) throws {
        struct Form: Hashable {
            let entity: Int64
            let changed: SlotSet
            let isChecked: Bool
        }
        var statements: [Form: (statement: SQLStatement, columns: [SlotColumn], last: Int32)] = [:]
        for operation in operations {
            guard let row = operation.pending.row else { continue }
            let form = Form(entity: operation.map.number, changed: operation.pending.changed, isChecked: operation.baseVersion != nil)
            if statements[form] == nil {
                let columns = operation.map.givenColumns.filter { form.changed.contains($0.slot) }
                let names = columns.flatMap(\.names)
                // The key, and the version where it is checked, come first so that the values' places do not depend on it.
                let values = names.enumerated().map { (column: $0.element, value: "?\($0.offset + 3)") }
                let sum = schema.tables[operation.map.table].sum.map { ", \(RowSum.columnName) = \($0.replacing(values))" }
                let sql =
                    "UPDATE \(operation.map.tableName.sqlName) SET Z_OPT = \(Self.nextVersion)"
                    + values.map { ", \($0.column.sqlName) = \($0.value)" }.joined() + (sum ?? "")
                    + " WHERE Z_PK = ?1" + (form.isChecked ? " AND \(Self.version) = ?2" : " AND ?2 IS NULL RETURNING Z_OPT")
                statements[form] = (try database.cached(sql), columns, Int32(names.count + 2))
            }
            guard let (statement, columns, _) = statements[form] else { continue }
            sqlite3_bind_int64(statement.raw, 1, operation.key)
            try binder.bind(row, columns: columns, to: statement, from: 3)
            if let version = operation.baseVersion {
                sqlite3_bind_int64(statement.raw, 2, version)
                if try statement.run() == 0 { throw VersionMismatch() }
                versions[operation.id] = RowSnapshot.version(after: version)
            } else {
                sqlite3_bind_null(statement.raw, 2)
                guard try statement.step() else {
                    statement.reset()
                    throw VersionMismatch()
                }
                versions[operation.id] = sqlite3_column_int64(statement.raw, 0)
                statement.reset()
            }
        }
        counts.updates += operations.count
    }

    private mutating func clearKeys(of operations: [RowOperation], in database: Database) throws {
        for operation in operations {
            for constraint in operation.map.constraints where constraint.columns.contains(where: { operation.pending.changed.contains($0.slot) }) {
                let columns = constraint.columns.filter { operation.pending.changed.contains($0.slot) }
                let sum = schema.tables[operation.map.table].sum.map { sum in
                    "\(RowSum.columnName) = \(sum.replacing(columns.map { ($0.name, "NULL") }))"
                }
                let names = (columns.map { "\($0.name.sqlName) = NULL" } + [sum].compactMap { $0 }).joined(separator: ", ")
                try database.run("UPDATE \(operation.map.tableName.sqlName) SET \(names) WHERE Z_PK = ?", [.integer(operation.key)])
                counts.updates += 1
            }
        }
    }

    private mutating func insert(_ operations: TableOperations, table: TableMap, in database: Database, binder: RowBinder) throws {
        let count = operations.insertCount
        guard count > 0 else { return }
        // Building an index once over the whole costs a third of keeping it in random order.
        let isLarge = count > Self.bulkThreshold && !table.indexes.isEmpty
        let isBulk = try isLarge && database.integer("SELECT EXISTS (SELECT 1 FROM \(table.name.sqlName))") == 0
        if isBulk {
            for index in table.indexes { try database.execute(sql: "DROP INDEX IF EXISTS \(index.name.sqlName)") }
        } else if !table.indexes.isEmpty {
            try cache.grow(for: count, in: database)
        }
        var insertion = RowInsertion(schema: schema, binder: binder, isMuch: count >= 64, in: database)
        try insertion.write(operations.inserts)
        for (map, block) in operations.blocks { try insertion.write(block, map) }
        counts.inserts += count
        if isBulk {
            for index in table.indexes { try database.execute(sql: index.sql) }
        }
    }

    /// Keys that no store was asked for (made while the store could not be written) must not be handed out again, nor those beside them.
    private func raiseLargestKeys(in database: Database) throws {
        for (index, largest) in plan.largestKeys.enumerated() where largest > 0 {
            let root = schema.tables[index].root
            try database.run(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = ?1 WHERE Z_ENT = ?2 AND Z_MAX < ?1",
                [.integer(UnreservedKeys.lastTaken(with: largest)), .integer(root)])
        }
    }
}
