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

extension SQLiteStore {
    /// Dictionaries computed by SQLite; nil where they have to be computed from rows.
    func computed(_ table: DictionaryPlan, _ plan: FetchPlan, at state: SQLiteState? = nil) throws -> [[AttributeValue]]? {
        guard let asked = try SQLTranslator(schema: schema, identity: identity).query(table, plan) else { return nil }
        return try reading(at: state) { database in
            let statement = try fetchStatement(asked.query.sql, in: database)
            try statement.bindNumbered(asked.query.parameters)
            var result: [[AttributeValue]] = []
            try statement.forEachRow { raw in
                result.append(
                    zip(asked.readings, table.columns).enumerated().map { number, column in
                        let value = Self.value(raw, Int32(number), column.0)
                        guard case .expression(_, let type) = column.1.source, type != .undefinedAttributeType else { return value }
                        return AttributeValue.coded(value.plain, as: type) ?? value
                    })
            }
            return result
        }
    }

    private static func value(_ raw: OpaquePointer, _ index: Int32, _ reading: SQLTranslator.ColumnReading) -> AttributeValue {
        if sqlite3_column_type(raw, index) == SQLITE_NULL { return .null }
        switch reading {
        case .stored(let coding): return ValueCoding.value(raw, index, coding) ?? .null
        case .number:
            return sqlite3_column_type(raw, index) == SQLITE_INTEGER
                ? .int64(sqlite3_column_int64(raw, index)) : .double(sqlite3_column_double(raw, index))
        }
    }
}

extension SQLiteStore {
    /// Keys of one relationship, whatever the concrete entities of their owners.
    private struct Group {
        let place: ToManyPlace
        let destination: NSEntityDescription
        var owners: [Int64: RelationshipKey] = [:]
    }

    /// The members of many to-manys with their rows: one query a relationship, the owners as one parameter.
    func members(of keys: [RelationshipKey], at state: SQLiteState? = nil) throws -> [RelationshipKey: [FetchedRow]] {
        var groups: [String: Group] = [:]
        for key in keys {
            let map = try schema.map(of: key.owner.entity)
            guard let place = map.toManys[key.toMany], let destination = key.relationship.destinationEntity else { continue }
            groups[place.name, default: Group(place: place, destination: destination)].owners[key.owner.key] = key
        }
        var result: [RelationshipKey: [FetchedRow]] = [:]
        for group in groups.values { try read(group, at: state, into: &result) }
        return result
    }

    private func read(_ group: Group, at state: SQLiteState?, into result: inout [RelationshipKey: [FetchedRow]]) throws {
        let target = try schema.map(of: group.destination), shape = shape(of: group.destination.rootEntity)
        let sql: String
        // CROSS JOIN keeps the list of owners outside, so that the index is searched once an owner.
        switch group.place {
        case .inverse(let table, let column, _, let order):
            sql =
                "SELECT \(shape.list(alias: "t")), k.value, \(order.map { "t.\($0.sqlName)" } ?? "NULL") "
                + "FROM json_each(?) AS k CROSS JOIN \(table.sqlName) AS t WHERE t.\(column.sqlName) = k.value"
        case .pairs(let join, let mine, let theirs, let order, _):
            sql =
                "SELECT \(shape.list(alias: "t")), k.value, \(order.map { "j.\($0.sqlName)" } ?? "NULL") "
                + "FROM json_each(?) AS k CROSS JOIN \(schema.joins[join].name.sqlName) AS j CROSS JOIN \(target.tableName.sqlName) AS t "
                + "WHERE j.\(mine.sqlName) = k.value AND t.Z_PK = j.\(theirs.sqlName)"
        }
        let ownerIndex = Int32(shape.columns.count)
        let found = try reading(at: state) { database in
            let statement = try database.cached(sql)
            try statement.bind([.text(JSONList.text(group.owners.keys.sorted()))])
            var reader = RowReader(shape, schema: schema, identity: identity)
            // A member of many owners is read once.
            var known: [Int64: FetchedRow] = [:]
            var found: [Int64: [(order: Int64, member: FetchedRow)]] = [:]
            try statement.forEachRow { raw in
                let key = sqlite3_column_int64(raw, 0)
                guard let member = try known[key] ?? reader.read(raw) else { return }
                known[key] = member
                let isOrdered = sqlite3_column_type(raw, ownerIndex + 1) != SQLITE_NULL
                found[sqlite3_column_int64(raw, ownerIndex), default: []]
                    .append((isOrdered ? sqlite3_column_int64(raw, ownerIndex + 1) : .max, member))
            }
            return found
        }
        for (owner, members) in found {
            guard let key = group.owners[owner] else { continue }
            result[key] = members.sorted { ($0.order, $0.member.id.key) < ($1.order, $1.member.id.key) }.map(\.member)
        }
    }
}

extension ToManyPlace {
    /// Distinguishes places of one store.
    fileprivate var name: String {
        switch self {
        case .inverse(let table, let column, _, let order): "\(table).\(column).\(order ?? "")"
        case .pairs(let join, let mine, _, _, _): "\(join).\(mine)"
        }
    }
}
