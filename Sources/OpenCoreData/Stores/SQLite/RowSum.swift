import CXXHash
import Foundation
import GRDB
import GRDBSQLite

/// The sum that stands beside the values of a row in the file, for the rows of one table. Only stores keep it, so that what anything else did to the
/// values is found.
///
/// It is the sum, modulo 2⁶⁴, of one hash for each value that is not null: XXH3 of the value, seeded with the hash of its column's name. A
/// save that changes some values subtracts their hashes and adds the new ones; what happened to the other values stays visible. Columns that
/// come later change no sum.
struct RowSum: SQLRowSum {
    /// The column that holds the sum: null where nobody knows it.
    static let columnName = "Z_SUM"
    var column: String { Self.columnName }
    /// How many values one call of the function takes: SQLite passes at most 127 arguments.
    private static let chunk = 100

    /// The columns of the table that are summed, in the order of the file.
    let columns: [String]
    /// What the function is told of each column.
    private let shapes: [String: String]

    /// - Parameter columns: the table's columns with their declared types, in the order of the file, without `Z_OPT` and the sum itself.
    init(_ columns: [(name: String, declaration: String)]) {
        self.columns = columns.map(\.name)
        var shapes: [String: String] = [:]
        for column in columns { shapes[column.name] = SumShape.text(column.name, holdsNumbers: Self.numbers.contains(column.declaration)) }
        self.shapes = shapes
    }

    /// Declared types whose columns turn text that is a number into that number.
    private static let numbers: Set<String> = ["INTEGER", "FLOAT", "TIMESTAMP", "DECIMAL"]

    /// SQL for the sum of a row with these values, each an SQL expression; the others are null.
    func whole(_ values: [(column: String, value: String)]) -> String { changed("0", by: values, sign: 1) }

    /// SQL for the sum of a stored row after it was given these values.
    func replacing(_ values: [(column: String, value: String)]) -> String {
        changed(changed(column, by: values.map { ($0.column, $0.column.sqlName) }, sign: -1), by: values, sign: 1)
    }

    private func changed(_ base: String, by values: [(column: String, value: String)], sign: Int) -> String {
        var sql = base
        for start in stride(from: 0, to: values.count, by: Self.chunk) {
            let part = values[start..<min(start + Self.chunk, values.count)]
            let shape = part.map { shapes[$0.column] ?? SumShape.text($0.column, holdsNumbers: false) }.joined()
            sql = "ocd_sum(\(sql), \(sign), '\(shape)', \(part.map(\.value).joined(separator: ", ")))"
        }
        return sql
    }

    /// The sum of `base` and the hashes of these values, or of what is left of it without them.
    ///
    /// - Parameter shape: what was said of the values' columns; nil if it makes no sense.
    static func sum(_ base: Int64, sign: Int64, shape: SumShape?, _ values: UnsafeBufferPointer<OpaquePointer?>) -> Int64? {
        guard let shape, shape.columns.count == values.count else { return nil }
        var sum = UInt64(bitPattern: base)
        for (value, column) in zip(values, shape.columns) {
            let hash = hash(value, column)
            sum = sign < 0 ? sum &- hash : sum &+ hash
        }
        return Int64(bitPattern: sum)
    }

    private static func hash(_ value: OpaquePointer?, _ column: SumShape.Column) -> UInt64 {
        switch column.holdsNumbers ? sqlite3_value_numeric_type(value) : sqlite3_value_type(value) {
        case SQLITE_NULL: return 0
        case SQLITE_INTEGER: return hash(sqlite3_value_int64(value), column.seed)
        case SQLITE_FLOAT:
            // The file has whole numbers as integers, whatever they were bound as.
            let number = sqlite3_value_double(value)
            return Int64(exactly: number).map { hash($0, column.seed) } ?? hash(number.bitPattern, column.seed &+ 1)
        case SQLITE_TEXT:
            let text = sqlite3_value_text(value)
            return xxh3_64(text, Int(sqlite3_value_bytes(value)), column.seed &+ 2)
        default:
            let bytes = sqlite3_value_blob(value)
            return xxh3_64(bytes, Int(sqlite3_value_bytes(value)), column.seed &+ 3)
        }
    }

    private static func hash(_ number: some FixedWidthInteger, _ seed: UInt64) -> UInt64 {
        withUnsafeBytes(of: number.littleEndian) { xxh3_64($0.baseAddress, $0.count, seed) }
    }
}

/// What the SQL function has to know of the columns whose values it is given: read once for a statement from a text.
final class SumShape {
    struct Column {
        let seed: UInt64
        let holdsNumbers: Bool
    }

    let columns: [Column]

    /// Nil if the text makes no sense.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count % Self.width == 0 else { return nil }
        var columns: [Column] = []
        for start in stride(from: 0, to: bytes.count, by: Self.width) {
            let digits = String(decoding: bytes[start..<start + Self.width - 1], as: UTF8.self)
            guard let seed = UInt64(digits, radix: 16) else { return nil }
            columns.append(Column(seed: seed, holdsNumbers: bytes[start + Self.width - 1] == UInt8(ascii: "n")))
        }
        self.columns = columns
    }

    private static let width = 17

    /// One column of a shape: the seed in sixteen digits, and what it holds.
    static func text(_ name: String, holdsNumbers: Bool) -> String {
        var name = name.uppercased()
        let digits = String(name.withUTF8 { xxh3_64($0.baseAddress, $0.count, 0) }, radix: 16)
        return String(repeating: "0", count: width - 1 - digits.count) + digits + (holdsNumbers ? "n" : "t")
    }
}

/// What a store's file holds, beside what was written into it: SQLite's own check of the file, and the rows whose values are not those that a
/// store wrote (`SQLiteRowSumsOption`). A change of one bit is found either way, in values, keys, references and the orders of one-to-manys;
/// the orders of many-to-manys, the history and the metadata have no sums.
package struct SQLiteStoreVerification: Sendable, Equatable {
    /// The rows of one entity.
    package struct Entity: Sendable, Equatable {
        package let name: String
        package var rows = 0
        /// How many are of a table without sums: whether they are as they were written cannot be said.
        package var unknown = 0
        /// How many are not as a store wrote them.
        package var changed = 0
        /// The keys (`Z_PK`) of the first of those.
        package var keys: [Int64] = []
    }

    /// What SQLite finds wrong with the file: sentences of its own, at most a hundred; none if nothing is.
    package let damage: [String]
    /// In the order of their names.
    package let entities: [Entity]

    /// How many keys are listed of an entity.
    package static let listedKeys = 100

    package var isSound: Bool { damage.isEmpty && entities.allSatisfy { $0.changed == 0 } }

    /// Reads a file; others may write meanwhile. It takes as long as it takes to read all of it.
    ///
    /// Throws an error of the Cocoa domain for a file that cannot be read or is no store.
    package static func verify(_ url: URL) throws -> Self {
        do {
            return try read(url)
        } catch let error as DatabaseError {
            let cause = SQLiteError(error, operation: "while verifying")
            throw cause.cocoaError(.persistentStoreOpen, "\(url.path) can't be verified. \(cause.advice)")
        } catch let error as SQLiteError {
            throw error.cocoaError(.persistentStoreOpen, "\(url.path) can't be verified. \(error.advice)")
        }
    }

    private static func read(_ url: URL) throws -> Self {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { try SQLFunctions.register(on: $0.sqliteConnection) }
        let queue = try DatabaseQueue(path: url.path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.read { database in
            guard try database.integer("SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'Z_PRIMARYKEY')") == 1 else {
                throw NSError.coreData(.persistentStoreInvalidType, "\(url.path) is a SQLite database but not a store: it has no Z_PRIMARYKEY.")
            }
            // What it says of damage, a value of the wrong type for one, comes in rows; a file that cannot be read at all, as an error.
            let damage = try SQLiteFileCheck(url.path).damage(in: database, by: "integrity_check(100)")
            let entities = try entities(in: database)
            return Self(damage: damage, entities: entities)
        }
    }

    private static func entities(in database: Database) throws -> [Entity] {
        var found: [Int64: Entity] = [:]
        let names = "SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < \(SQLiteHistoryTables.firstNumber)"
        for row in try Row.fetchAll(database, sql: names) { found[row[0]] = Entity(name: row[1]) }
        let tables = try String.fetchAll(
            database, sql: "SELECT m.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table' AND c.name = 'Z_ENT'")
        for table in tables where table.hasPrefix("Z") && table != "Z_PRIMARYKEY" {
            try look(at: table, in: database, &found)
        }
        return found.values.sorted { $0.name < $1.name }
    }

    private static func look(at table: String, in database: Database, _ found: inout [Int64: Entity]) throws {
        let columns = try Row.fetchAll(database, sql: "SELECT name, type FROM pragma_table_info(?)", arguments: [table])
            .map { (name: $0[0] as String, declaration: $0[1] as String) }
        let isSummed = columns.contains { $0.name == RowSum.columnName }
        let sum = RowSum(columns.filter { $0.name != RowSum.columnName && $0.name != "Z_OPT" })
        // A row without a sum among rows that have one was put there by somebody else.
        let isChanged = isSummed ? "\(RowSum.columnName) IS NOT \(sum.stored)" : "0"
        let counts = "SELECT Z_ENT, count(*), sum(\(isChanged)) FROM \(table.sqlName) GROUP BY Z_ENT"
        for row in try Row.fetchAll(database, sql: counts) {
            // A number that is no entity's any more is a change, too.
            let number: Int64 = row[0] ?? 0, count: Int = row[1], changed: Int = row[2]
            var entity = found[number] ?? Entity(name: "\(table), Z_ENT \(number)")
            entity.rows += count
            if !isSummed { entity.unknown += count }
            entity.changed += changed
            if changed > 0 {
                entity.keys += try Int64.fetchAll(
                    database,
                    sql: "SELECT Z_PK FROM \(table.sqlName) WHERE Z_ENT IS ? AND \(isChanged) ORDER BY Z_PK LIMIT \(listedKeys)",
                    arguments: [row[0] as Int64?])
            }
            found[number] = entity
        }
    }
}
