import Foundation
import GRDB

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
        let isSummed = columns.contains { $0.name == RowSum.column }
        let sum = RowSum(columns.filter { $0.name != RowSum.column && $0.name != "Z_OPT" })
        // A row without a sum among rows that have one was put there by somebody else.
        let isChanged = isSummed ? "\(RowSum.column) IS NOT \(sum.stored)" : "0"
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
