import GRDB
import GRDBSQLite

/// How far a migration is: rows that its statements have gone through, out of all that they will.
///
/// SQLite calls back while a statement runs. How far a statement is that copies rows in the order of their keys, the key of the row written last says.
final class MigrationProgress {
    /// The rows that a statement goes through.
    struct Work: Equatable {
        /// As it is called before anything changes.
        let table: String
        /// What is added to a key on the way.
        var shift: Int64 = 0
    }

    /// How many instructions of its virtual machine SQLite runs between two calls: some milliseconds.
    private static let pause: Int32 = 50_000

    private let watch: MigrationWatch
    private let connection: OpaquePointer
    private var sizes: [String: Double] = [:]
    private var total = 1.0
    private var done = 0.0
    private var current: Work?
    private var reached = 0.0
    private(set) var isGivenUp = false

    init?(_ watch: MigrationWatch?, in database: Database) {
        guard let watch, let connection = database.sqliteConnection else { return nil }
        self.watch = watch
        self.connection = connection
    }

    /// Listens while the body runs.
    func following<T>(_ body: () throws -> T) throws -> T {
        try MigrationWatch.listening(on: connection, pause: Self.pause, to: { self.tell() }, body)
    }

    /// Before the first statement, while every table has its old name.
    func expect(_ works: [Work], in database: Database) throws {
        for table in Set(works.map(\.table)) {
            sizes[table] = Double(try database.integer("SELECT max(rowid) FROM \(table.sqlName)") ?? 0)
        }
        total = max(1, works.reduce(0) { $0 + size($1) })
    }

    /// The statement that runs next. Throws where the watch has had enough.
    func begins(_ work: Work?) throws {
        finishCurrent()
        current = work
        sqlite3_set_last_insert_rowid(connection, work?.shift ?? 0)
        // Most statements are over before SQLite calls back.
        if !tell() { throw DatabaseError(resultCode: .SQLITE_INTERRUPT) }
    }

    /// The file is of the new model, but for the commit.
    func ends() {
        finishCurrent()
        reached = 1
        _ = tell()
    }

    private func finishCurrent() {
        done += current.map(size) ?? 0
        current = nil
    }

    private func size(_ work: Work) -> Double { max(0, sizes[work.table] ?? 0) }

    private func tell() -> Bool {
        if isGivenUp { return false }
        var rows = done
        if let current {
            rows += min(max(0, Double(sqlite3_last_insert_rowid(connection) - current.shift)), size(current))
        }
        // The end is said when everything else is done, too.
        reached = max(reached, min(rows / total, 0.99))
        isGivenUp = !watch.goesOn(.migrating, reached)
        return !isGivenUp
    }
}
