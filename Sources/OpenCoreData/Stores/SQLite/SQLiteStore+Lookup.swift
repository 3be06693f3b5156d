import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// Looking rows up within a transaction or a read that is going on.
extension SQLiteStore {
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

    /// Rows of one table by key.
    func rows(_ keys: [Int64], table: Int, in database: Database) throws -> [Int64: FetchedRow] {
        guard let root = schema[file: schema.tables[table].root] else { return [:] }
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

    /// Of so many keys no list is made: they stand in the condition.
    static let fewKeys = 4

    /// Which rows have these keys, in the constraint's whole scope: one query, if the keys are few or have a form for a list.
    func owners(of keys: [UniqueKey], scope: KeyScope, in database: Database) throws -> [UniqueKey: FetchedRow] {
        let constraint = scope.columns
        // A first import looks up every key in vain: while there are no rows, no list is made of them.
        if keys.count > Self.fewKeys, try database.integer("SELECT EXISTS (SELECT 1 FROM \(shape(of: scope.declarer).table.sqlName))") == 0 {
            return [:]
        }
        statements.add { $0.keys += keys.count }
        guard keys.count > Self.fewKeys, let list = try KeyList(keys, columns: constraint.columns) else {
            return try ownersByFew(of: keys, scope: scope, in: database)
        }
        let shape = shape(of: scope.declarer)
        let joined = constraint.columns.enumerated().map { "t.\($0.element.name.sqlName) = \(list.expressions[$0.offset])" }
        let condition = constraint.scope.map { " AND t.Z_ENT IN (\($0.map(String.init).joined(separator: ", ")))" } ?? ""
        // CROSS JOIN keeps the list outside, so that the unique index is searched once a key.
        let sql =
            "SELECT \(shape.list(alias: "t")) FROM json_each(?1) AS k CROSS JOIN \(shape.table.sqlName) AS t "
            + "WHERE \(joined.joined(separator: " AND "))\(condition)"
        let statement = try database.cached(sql)
        try statement.bind([.text(list.json)])
        return try readOwners(statement, shape: shape, scope: scope)
    }

    private func readOwners(_ statement: SQLStatement, shape: RowShape, scope: KeyScope) throws -> [UniqueKey: FetchedRow] {
        var reader = RowReader(shape, schema: schema, identity: identity)
        var result: [UniqueKey: FetchedRow] = [:]
        try statement.forEachRow { raw in
            guard let found = try reader.read(raw), let row = found.row, let map = schema[found.id.entity],
                let key = map.layout.constraints[scope.constraint].key(of: row)
            else { return }
            result[key] = found
        }
        return result
    }

    /// A few at a time.
    private func ownersByFew(of keys: [UniqueKey], scope: KeyScope, in database: Database) throws -> [UniqueKey: FetchedRow] {
        let constraint = scope.columns, shape = shape(of: scope.declarer)
        let one = "(\(constraint.columns.map { "t.\($0.name.sqlName) = ?" }.joined(separator: " AND ")))"
        let condition = constraint.scope.map { " AND t.Z_ENT IN (\($0.map(String.init).joined(separator: ", ")))" } ?? ""
        var result: [UniqueKey: FetchedRow] = [:]
        for start in stride(from: 0, to: keys.count, by: Self.fewKeys) {
            let few = keys[start..<min(start + Self.fewKeys, keys.count)]
            let any = Array(repeating: one, count: few.count).joined(separator: " OR ")
            let statement = try database.cached(
                "SELECT \(shape.list(alias: "t")) FROM \(shape.table.sqlName) AS t WHERE (\(any))\(condition)")
            try statement.bind(
                few.flatMap { key in
                    try zip(key.values, constraint.columns).map { try ValueCoding.parameter($0, $1.coding, attribute: $1.name) }
                })
            result.merge(try readOwners(statement, shape: shape, scope: scope)) { _, new in new }
        }
        return result
    }
}

/// Keys as one JSON parameter, and the expression of each column over its elements.
private struct KeyList {
    let json: String
    let expressions: [String]

    /// Nil where a value has no JSON form that SQLite gives back exactly.
    init?(_ keys: [UniqueKey], columns: [SlotColumn]) throws {
        if columns.count == 1, columns[0].coding == .integer || columns[0].coding == .reference || columns[0].coding == .boolean {
            var integers: [Int64] = []
            integers.reserveCapacity(keys.count)
            for key in keys {
                guard case .integer(let integer) = try ValueCoding.parameter(key.values[0], columns[0].coding, attribute: columns[0].name) else {
                    return nil
                }
                integers.append(integer)
            }
            integers.sort()
            json = JSONList.text(integers)
            expressions = ["k.value"]
            return
        }
        if columns.count == 1, columns[0].coding == .string {
            var strings: [String] = []
            strings.reserveCapacity(keys.count)
            for key in keys {
                guard case .string(let string) = key.values[0] else { return nil }
                strings.append(string)
            }
            guard let text = JSONList.text(strings) else { return nil }
            json = text
            expressions = ["k.value"]
            return
        }
        // Several columns: a list of lists, each value in a form that survives JSON.
        var flat: [String] = []
        for key in keys {
            for (value, column) in zip(key.values, columns) {
                flat.append(SQLFunctions.packed(try ValueCoding.parameter(value, column.coding, attribute: column.name)))
            }
        }
        guard let text = JSONList.text(flat) else { return nil }
        if columns.count == 1 {
            json = text
            expressions = ["ocd_unpack(k.value)"]
        } else {
            // Elements at multiples of the number of columns start a key.
            var rows: [String] = []
            for start in stride(from: 0, to: flat.count, by: columns.count) {
                guard let row = JSONList.text(flat[start..<(start + columns.count)]) else { return nil }
                rows.append(row)
            }
            json = "[" + rows.joined(separator: ",") + "]"
            expressions = columns.indices.map { "ocd_unpack(json_extract(k.value, '$[\($0)]'))" }
        }
    }
}

/// One uniqueness constraint in the table of one entity. Descendants share it.
struct KeyScope {
    let map: EntityMap
    let constraint: Int

    init(_ map: EntityMap, constraint: Int) {
        self.map = map
        self.constraint = constraint
    }

    /// The entity that declares the constraint.
    var declarer: NSEntityDescription { map.layout.constraints[constraint].declarer }
    var columns: ConstraintMap { map.constraints[constraint] }
}

/// Lists of values as one parameter, for `json_each`.
enum JSONList {
    static func text(_ integers: some Sequence<Int64>) -> String {
        var text = "["
        for integer in integers {
            if text.utf8.count > 1 { text += "," }
            text += String(integer)
        }
        return text + "]"
    }

    /// Strings with a zero in them have no JSON form that SQLite gives back whole: nil.
    static func text(_ strings: some Sequence<String>) -> String? {
        var result: [UInt8] = [UInt8(ascii: "[")]
        for string in strings {
            if result.count > 1 { result.append(UInt8(ascii: ",")) }
            result.append(UInt8(ascii: "\""))
            for byte in string.utf8 {
                switch byte {
                case 0: return nil
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), byte]
                case 1..<32:
                    let digits = Array("0123456789abcdef".utf8)
                    result += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
                default: result.append(byte)
                }
            }
            result.append(UInt8(ascii: "\""))
        }
        result.append(UInt8(ascii: "]"))
        return String(decoding: result, as: UTF8.self)
    }
}
