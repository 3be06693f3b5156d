import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// A prepared statement, bound and stepped directly: GRDB prepares, caches and owns it, and its layers of arguments and rows are
/// several times dearer than the work itself.
final class SQLStatement {
    // Kept so that the raw statement lives as long as this object.
    private let statement: Statement
    let raw: OpaquePointer
    private let connection: OpaquePointer?

    init(_ statement: Statement, on database: Database) {
        self.statement = statement
        raw = statement.sqliteStatement
        connection = database.sqliteConnection
        sqlite3_reset(raw)
    }

    /// What SQLite does to bound bytes: copy them at once.
    static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    func bind(_ parameters: [SQLParameter]) throws(SQLiteError) {
        for (index, parameter) in parameters.enumerated() { try bind(parameter, at: Int32(index + 1)) }
    }

    /// The same where the statement may not name all of them: a translation that turns out to be constant leaves its parameters unused.
    func bindNumbered(_ parameters: [SQLParameter]) throws(SQLiteError) {
        try bind(Array(parameters.prefix(Int(sqlite3_bind_parameter_count(raw)))))
    }

    func bind(_ parameter: SQLParameter, at index: Int32) throws(SQLiteError) {
        let code: Int32
        switch parameter {
        case .null: code = sqlite3_bind_null(raw, index)
        case .integer(let value): code = sqlite3_bind_int64(raw, index, value)
        case .double(let value): code = sqlite3_bind_double(raw, index, value)
        case .text(var value):
            code = value.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    sqlite3_bind_text(raw, index, $0.baseAddress ?? Self.empty, Int32($0.count), Self.transient)
                }
            }
        case .blob(let value):
            code = value.withUnsafeBytes { bytes in
                bytes.isEmpty
                    ? sqlite3_bind_zeroblob(raw, index, 0) : sqlite3_bind_blob(raw, index, bytes.baseAddress, Int32(bytes.count), Self.transient)
            }
        }
        if code != SQLITE_OK { throw failure("while binding") }
    }

    /// One byte that an empty string can point at: a null pointer would mean NULL.
    // Never written after it was made.
    nonisolated(unsafe) static let empty: UnsafePointer<CChar> = {
        let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        byte.initialize(to: 0)
        return UnsafePointer(byte)
    }()

    /// Steps once: whether there is a row.
    func step() throws(SQLiteError) -> Bool {
        switch sqlite3_step(raw) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let error = failure("while running \(sql)")
            sqlite3_reset(raw)
            throw error
        }
    }

    /// Calls `body` for each row, then resets the statement, whatever happens.
    func forEachRow(_ body: (OpaquePointer) throws -> Void) throws {
        defer { sqlite3_reset(raw) }
        while try step() { try body(raw) }
    }

    /// Runs a statement that yields no rows: how many rows it changed.
    @discardableResult
    func run() throws(SQLiteError) -> Int {
        while try step() {}
        sqlite3_reset(raw)
        return Int(sqlite3_changes(connection))
    }

    func reset() { sqlite3_reset(raw) }

    private var sql: String { sqlite3_sql(raw).map { String(cString: $0) } ?? "?" }

    func failure(_ operation: String) -> SQLiteError { SQLiteError(connection: connection, operation: operation) }
}

extension Database {
    /// A statement that is kept prepared on this connection.
    func cached(_ sql: String) throws -> SQLStatement { SQLStatement(try cachedStatement(sql: sql), on: self) }

    /// A statement for one use.
    func prepared(_ sql: String) throws -> SQLStatement { SQLStatement(try makeStatement(sql: sql), on: self) }

    /// The first column of the first row as an integer.
    func integer(_ sql: String, _ parameters: [SQLParameter] = []) throws -> Int64? {
        let statement = try cached(sql)
        try statement.bind(parameters)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        let value = sqlite3_column_type(statement.raw, 0) == SQLITE_NULL ? nil : sqlite3_column_int64(statement.raw, 0)
        // What writes outside of a transaction commits as it ends, after its row: that may fail, and a reset tells nobody.
        if sqlite3_stmt_readonly(statement.raw) == 0 { while try statement.step() {} }
        return value
    }

    @discardableResult
    func run(_ sql: String, _ parameters: [SQLParameter] = []) throws -> Int {
        let statement = try cached(sql)
        try statement.bind(parameters)
        return try statement.run()
    }
}

/// How many statements a store ran since it was opened, by kind. One row written is one statement.
package struct StatementCounts: Sendable, Hashable {
    package var selects = 0
    package var inserts = 0
    package var updates = 0
    package var deletes = 0
    /// Write transactions that were begun, those that reserve keys included.
    package var transactions = 0
    /// Unique keys that were looked up, among the rows of a table.
    package var keys = 0

    package var total: Int { selects + inserts + updates + deletes }

    package static func - (left: StatementCounts, right: StatementCounts) -> StatementCounts {
        StatementCounts(
            selects: left.selects - right.selects, inserts: left.inserts - right.inserts, updates: left.updates - right.updates,
            deletes: left.deletes - right.deletes, transactions: left.transactions - right.transactions, keys: left.keys - right.keys)
    }
}

/// Counts a store's statements; writers add their counts once a save, so that counting costs nothing a row.
package final class StatementCounter: Sendable {
    private let counts = Mutex(StatementCounts())

    package var current: StatementCounts { counts.withLock { $0 } }

    func add(_ change: (inout StatementCounts) -> Void) { counts.withLock { change(&$0) } }
}
