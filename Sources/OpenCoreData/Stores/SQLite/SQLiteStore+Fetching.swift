import Foundation
import GRDB
import GRDBSQLite
import Synchronization

extension SQLiteStore {
    func found(_ plan: FetchPlan, at state: SQLiteState? = nil) throws -> [FetchedRow] {
        let shape = shape(of: plan.entity, includesSubentities: plan.includesSubentities)
        let sortColumns = try self.sortColumns(plan)
        let query = try SQLTranslator(schema: schema, identity: identity).query(plan) { alias in
            if plan.includesRows { return shape.list(alias: alias) }
            return (["Z_PK", "Z_ENT"] + sortColumns.map(\.name.sqlName)).map { "\(alias).\($0)" }.joined(separator: ", ")
        }
        return try reading(at: state) { database in
            let statement = try fetchStatement(query.sql, in: database)
            try statement.bindNumbered(query.parameters)
            var reader = RowReader(shape, schema: schema, identity: identity)
            var result: [FetchedRow] = []
            try statement.forEachRow { raw in
                if plan.includesRows {
                    if let found = try reader.read(raw) { result.append(found) }
                } else if let id = try reader.readID(raw) {
                    let isSorted = plan.includesSortValues
                    result.append(isSorted ? FetchedRow(id: id, sortValues: values(raw, sortColumns)) : FetchedRow(id: id, row: nil))
                }
            }
            return result
        }
    }

    /// The columns of the sort keys, where their values are asked for.
    private func sortColumns(_ plan: FetchPlan) throws -> [SlotColumn] {
        guard !plan.includesRows, plan.includesSortValues else { return [] }
        let map = try schema.map(of: plan.entity)
        return plan.sort.compactMap { key in map.layout.slot(of: key.path[0]).flatMap { map.columns[$0] } }
    }

    /// The values of columns after key and entity.
    private func values(_ raw: OpaquePointer, _ columns: [SlotColumn]) -> [AttributeValue] {
        columns.enumerated().map { number, column in
            let index = Int32(number + 2)
            return sqlite3_column_type(raw, index) == SQLITE_NULL ? .null : ValueCoding.value(raw, index, column.coding) ?? .null
        }
    }

    func counted(_ plan: FetchPlan, at state: SQLiteState? = nil) throws -> Int {
        var unordered = plan
        unordered.sort = []
        let query = try SQLTranslator(schema: schema, identity: identity).query(unordered) { _ in "1" }
        return try reading(at: state) { database in
            let statement = try fetchStatement("SELECT COUNT(*) FROM (\(query.sql))", in: database)
            try statement.bindNumbered(query.parameters)
            defer { statement.reset() }
            return try statement.step() ? Int(sqlite3_column_int64(statement.raw, 0)) : 0
        }
    }

    /// Statements are kept prepared for the first few hundred forms of fetches; a program that makes forms without end does not fill memory.
    func fetchStatement(_ sql: String, in database: Database) throws -> SQLStatement {
        let isKept = fetchTexts.withLock { texts in
            if texts.contains(sql) { return true }
            guard texts.count < 256 else { return false }
            texts.insert(sql)
            return true
        }
        return isKept ? try database.cached(sql) : try database.prepared(sql)
    }

    func loadRows(for ids: [NSManagedObjectID], at state: SQLiteState? = nil) throws -> [NSManagedObjectID: RowSnapshot] {
        guard !ids.isEmpty else { return [:] }
        var keysByTable: [Int: [Int64]] = [:]
        for id in ids { keysByTable[try schema.map(of: id.entity).table, default: []].append(id.key) }
        let found = try reading(at: state) { database in
            var found: [FetchedRow] = []
            for (table, keys) in keysByTable { found += try rows(keys, table: table, in: database).values }
            return found
        }
        if keysByTable.count > 1 { statements.add { $0.selects += keysByTable.count - 1 } }
        var result: [NSManagedObjectID: RowSnapshot] = [:]
        result.reserveCapacity(found.count)
        for fetched in found { result[fetched.id] = fetched.row }
        return result
    }

    /// Rows of one table by key.
    func rows(_ keys: [Int64], table: Int, in database: Database) throws -> [Int64: FetchedRow] {
        guard let root = schema.tables[table].members.min().flatMap({ schema[file: $0] }) else { return [:] }
        let shape = shape(of: root.entity.rootEntity)
        let statement: SQLStatement
        if keys.count == 1 {
            statement = try database.cached("SELECT \(shape.list(alias: "t")) FROM \(shape.table.sqlName) AS t WHERE t.Z_PK = ?")
            try statement.bind([.integer(keys[0])])
        } else {
            statement = try database.cached(
                "SELECT \(shape.list(alias: "t")) FROM json_each(?) AS k CROSS JOIN \(shape.table.sqlName) AS t WHERE t.Z_PK = k.value")
            try statement.bind([.text(JSONList.text(keys.sorted()))])
        }
        var reader = RowReader(shape, schema: schema, identity: identity)
        var result: [Int64: FetchedRow] = [:]
        result.reserveCapacity(keys.count)
        try statement.forEachRow { raw in
            if let found = try reader.read(raw) { result[found.id.key] = found }
        }
        return result
    }

    func members(_ key: RelationshipKey, at state: SQLiteState? = nil) throws -> [NSManagedObjectID] {
        let map = try schema.map(of: key.owner.entity)
        guard let place = map.toManys[key.toMany], let destination = key.relationship.destinationEntity else { return [] }
        let target = try schema.map(of: destination)
        let sql: String
        switch place {
        case .inverse(let table, let column, _, let order):
            let by = order.map { "t.\($0.sqlName) NULLS LAST, " } ?? ""
            sql = "SELECT t.Z_PK, t.Z_ENT FROM \(table.sqlName) AS t WHERE t.\(column.sqlName) = ? ORDER BY \(by)t.Z_PK"
        case .pairs(let join, let mine, let theirs, let order, _):
            let by = order.map { "j.\($0.sqlName) NULLS LAST, " } ?? ""
            sql =
                "SELECT t.Z_PK, t.Z_ENT FROM \(schema.joins[join].name.sqlName) AS j JOIN \(target.tableName.sqlName) AS t "
                + "ON t.Z_PK = j.\(theirs.sqlName) WHERE j.\(mine.sqlName) = ? ORDER BY \(by)t.Z_PK"
        }
        let shape = shape(of: destination.rootEntity)
        return try reading(at: state) { database in
            let statement = try database.cached(sql)
            try statement.bind([.integer(key.owner.key)])
            var reader = RowReader(shape, schema: schema, identity: identity)
            var result: [NSManagedObjectID] = []
            try statement.forEachRow { raw in
                if let id = try reader.readID(raw) { result.append(id) }
            }
            return result
        }
    }

    /// Runs a read on a reader's connection, or on that of a state. One statement sees one state of the file; no transaction is needed around it.
    func reading<T>(at state: SQLiteState?, _ body: (Database) throws -> T) throws -> T {
        do {
            func told(_ database: Database) throws -> T {
                do { return try body(database) } catch let error as DatabaseError {
                    // With what the system said, as long as there is a connection to ask.
                    throw SQLiteError(error, connection: database.sqliteConnection, operation: "while reading")
                }
            }
            func attempt() throws -> T { if let state { try state.read(told) } else { try pool.unsafeRead(told) } }
            let result: T
            do { result = try attempt() } catch let error as DatabaseError where SQLiteError(error, operation: "").isDamage {
                // Only a connection that could not be made is told so: nothing has been asked of it yet.
                do { result = try attempt() } catch let error as DatabaseError where SQLiteError(error, operation: "").isDamage {
                    throw SQLiteFileCheck(path).failureToRead() ?? SQLiteError(error, operation: "while reading")
                }
            }
            statements.add { $0.selects += 1 }
            return result
        } catch {
            throw storeError(error, .coreData, doing: "read")
        }
    }
}
