import Foundation
import GRDB
import GRDBSQLite

/// Answers what a store's file holds: as it is, or in the state that somebody is pinned to.
///
/// It reads on a connection of the pool, or on that of the state; one statement sees one state of the file.
final class SQLiteReader: StoreReading {
    private let store: SQLiteStore
    /// Nil: the file as it is.
    private let state: SQLiteState?

    init(_ store: SQLiteStore, at state: SQLiteState? = nil) {
        self.store = store
        self.state = state
    }

    private var schema: SQLSchema { store.schema }
    private var identity: StoreIdentity { store.identity }

    func fetch(_ plan: FetchPlan) throws -> [FetchedRow] {
        let shape = store.shape(of: plan.entity, includesSubentities: plan.includesSubentities)
        let sortColumns = try self.sortColumns(plan)
        let query = try SQLTranslator(schema: schema, identity: identity).query(plan) { alias in
            if plan.includesRows { return shape.list(alias: alias) }
            return (["Z_PK", "Z_ENT"] + sortColumns.map(\.name.sqlName)).map { "\(alias).\($0)" }.joined(separator: ", ")
        }
        return try reading { database in
            let statement = try store.fetchStatement(query.sql, in: database)
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

    func count(_ plan: FetchPlan) throws -> Int {
        var unordered = plan
        unordered.sort = []
        let query = try SQLTranslator(schema: schema, identity: identity).query(unordered) { _ in "1" }
        return try reading { database in
            let statement = try store.fetchStatement("SELECT COUNT(*) FROM (\(query.sql))", in: database)
            try statement.bindNumbered(query.parameters)
            defer { statement.reset() }
            return try statement.step() ? Int(sqlite3_column_int64(statement.raw, 0)) : 0
        }
    }

    /// See `CountingStore`.
    func count(_ plan: FetchPlan, among runs: [ClosedRange<Int64>]) throws -> Int {
        var unordered = plan
        unordered.sort = []
        let translator = SQLTranslator(schema: schema, identity: identity)
        var bounds = (lower: 0, upper: 0)
        let query = try translator.computedQuery(unordered) { scope in
            let lower = translator.place(.integer(0)), place = translator.parameters.count
            scope.object.source.conditions.append("\(scope.object.alias).Z_PK BETWEEN \(lower) AND \(translator.place(.integer(0)))")
            bounds = (place - 1, place)
            return "1"
        }
        return try reading { database in
            let statement = try store.fetchStatement("SELECT COUNT(*) FROM (\(query.sql))", in: database)
            defer { statement.reset() }
            var parameters = query.parameters, count = 0
            for run in runs {
                parameters[bounds.lower] = .integer(run.lowerBound)
                parameters[bounds.upper] = .integer(run.upperBound)
                try statement.bindNumbered(parameters)
                if try statement.step() { count += Int(sqlite3_column_int64(statement.raw, 0)) }
                statement.reset()
            }
            return count
        }
    }

    func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot] {
        guard !ids.isEmpty else { return [:] }
        var keysByTable: [Int: [Int64]] = [:]
        for id in ids { keysByTable[try schema.map(of: id.entity).table, default: []].append(id.key) }
        let found = try reading { database in
            var found: [FetchedRow] = []
            for (table, keys) in keysByTable { found += try store.rows(keys, table: table, in: database).values }
            return found
        }
        if keysByTable.count > 1 { store.statements.add { $0.selects += keysByTable.count - 1 } }
        var result: [NSManagedObjectID: RowSnapshot] = [:]
        result.reserveCapacity(found.count)
        for fetched in found { result[fetched.id] = fetched.row }
        return result
    }

    func relatedIDs(_ key: RelationshipKey) throws -> [NSManagedObjectID] {
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
        let shape = store.shape(of: destination.rootEntity)
        return try reading { database in
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

    func objects(of entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]) throws -> [UniqueKey: FetchedRow] {
        guard !keys.isEmpty else { return [:] }
        let map = try schema.map(of: entity)
        let numbers = Set(schema.numbers(of: entity))
        return try reading { database in
            try store.owners(of: keys, scope: KeyScope(map, constraint: constraint), in: database)
                .filter { _, found in schema[found.id.entity].map { numbers.contains($0.number) } ?? false }
        }
    }

    /// No transaction is needed around one statement.
    func reading<T>(_ body: (Database) throws -> T) throws -> T {
        do {
            func told(_ database: Database) throws -> T {
                do { return try body(database) } catch let error as DatabaseError {
                    // With what the system said, as long as there is a connection to ask.
                    throw SQLiteError(error, connection: database.sqliteConnection, operation: "while reading")
                }
            }
            func attempt() throws -> T { if let state { try state.read(told) } else { try store.pool.unsafeRead(told) } }
            let result: T
            do { result = try attempt() } catch let error as DatabaseError where SQLiteError(error, operation: "").isDamage {
                // Only a connection that could not be made is told so: nothing has been asked of it yet.
                do { result = try attempt() } catch let error as DatabaseError where SQLiteError(error, operation: "").isDamage {
                    throw SQLiteFileCheck(store.path).failureToRead() ?? SQLiteError(error, operation: "while reading")
                }
            }
            store.statements.add { $0.selects += 1 }
            return result
        } catch {
            throw store.storeError(error, .coreData, doing: "read")
        }
    }
}

extension SQLiteReader {
    /// Dictionaries computed by SQLite; nil where they have to be computed from rows.
    func dictionaries(_ table: DictionaryPlan, _ plan: FetchPlan) throws -> [[AttributeValue]]? {
        guard let asked = try SQLTranslator(schema: schema, identity: identity).query(table, plan) else { return nil }
        return try reading { database in
            let statement = try store.fetchStatement(asked.query.sql, in: database)
            try statement.bindNumbered(asked.query.parameters)
            var result: [[AttributeValue]] = []
            try statement.forEachRow { raw in
                result.append(asked.readings.enumerated().map { Self.value(raw, Int32($0), $1) })
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

extension SQLiteReader {
    /// Keys of one relationship, whatever the concrete entities of their owners.
    private struct Group {
        let place: ToManyPlace
        let destination: NSEntityDescription
        var owners: [Int64: RelationshipKey] = [:]
    }

    /// The members of many to-manys with their rows: one query a relationship, the owners as one parameter.
    func related(_ keys: [RelationshipKey]) throws -> [RelationshipKey: [FetchedRow]] {
        var groups: [String: Group] = [:]
        for key in keys {
            let map = try schema.map(of: key.owner.entity)
            guard let place = map.toManys[key.toMany], let destination = key.relationship.destinationEntity else { continue }
            groups[place.name, default: Group(place: place, destination: destination)].owners[key.owner.key] = key
        }
        var result: [RelationshipKey: [FetchedRow]] = [:]
        for group in groups.values { try read(group, into: &result) }
        return result
    }

    private func read(_ group: Group, into result: inout [RelationshipKey: [FetchedRow]]) throws {
        let target = try schema.map(of: group.destination), shape = store.shape(of: group.destination.rootEntity)
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
        let found = try reading { database in
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
