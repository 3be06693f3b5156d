import Foundation
import GRDB

/// The tables of persistent history, as Core Data has them.
enum SQLiteHistoryTables {
    static let transactions = "ATRANSACTION"
    static let changes = "ACHANGE"
    static let strings = "ATRANSACTIONSTRING"
    static let names = [transactions, changes, strings]

    /// Their numbers in `Z_PRIMARYKEY`.
    static let changeNumber: Int64 = 16001
    static let transactionNumber: Int64 = 16002
    static let stringNumber: Int64 = 16003

    /// The table whose keys are counted under a number.
    static func table(of number: Int64) -> String { number == changeNumber ? changes : number == transactionNumber ? transactions : strings }
    /// From here on numbers are not those of the model's entities.
    static let firstNumber: Int64 = 16000

    /// The column that holds the n-th attribute that a deletion keeps.
    static func tombstone(_ number: Int) -> String { "ZTOMBSTONE\(number)" }

    /// Whether the option asks for a history. Throws 134080 for a value that makes no sense.
    static func areWanted(_ options: [AnyHashable: Any]?) throws -> Bool {
        switch options?[NSPersistentHistoryTrackingKey] {
        case nil: return false
        case let wanted as Bool: return wanted
        case let wanted as NSNumber: return wanted.boolValue
        case is [AnyHashable: Any], is NSDictionary: return true
        case let other?:
            throw NSError.coreData(.persistentStoreOpen, "\(NSPersistentHistoryTrackingKey) must be true or false; it is \(other).")
        }
    }

    static func exist(in database: Database) throws -> Bool {
        try database.integer("SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '\(transactions)')") == 1
    }

    /// The columns that a table has; none if there is no such table.
    static func columns(of table: String, in database: Database) throws -> Set<String> {
        Set(try String.fetchAll(database, sql: "SELECT upper(name) FROM pragma_table_info('\(table)')"))
    }

    /// Takes a history away, if there is one.
    static func drop(in database: Database) throws {
        for name in names { try database.execute(sql: "DROP TABLE IF EXISTS \(name)") }
        try database.run("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT BETWEEN \(changeNumber) AND \(stringNumber)", [])
    }

    // MARK: Making them

    private static let common = [("Z_PK", "INTEGER PRIMARY KEY"), ("Z_ENT", "INTEGER"), ("Z_OPT", "INTEGER")]

    /// The columns by table, with their types.
    private static func columns(_ schema: SQLSchema) -> [(table: String, columns: [(name: String, type: String)])] {
        let kept = schema.entities.map { $0.tombstoneColumns.count }.max() ?? 0
        return [
            (
                changes,
                common + [
                    ("ZCHANGETYPE", "INTEGER"), ("ZENTITY", "INTEGER"), ("ZENTITYPK", "INTEGER"), ("ZTRANSACTIONID", "INTEGER"),
                    ("ZNAMESTS", "INTEGER"), ("ZCOLUMNS", "BLOB"),
                ] + (0..<kept).map { (tombstone($0), "BLOB") }
            ),
            (
                transactions,
                common + [
                    ("ZAUTHORTS", "INTEGER"), ("ZBUNDLEIDTS", "INTEGER"), ("ZCONTEXTNAMETS", "INTEGER"), ("ZPROCESSIDTS", "INTEGER"),
                    ("ZTIMESTAMP", "TIMESTAMP"), ("ZAUTHOR", "VARCHAR"), ("ZBUNDLEID", "VARCHAR"), ("ZCONTEXTNAME", "VARCHAR"),
                    ("ZPROCESSID", "VARCHAR"), ("ZQUERYGEN", "BLOB"),
                ]
            ),
            (strings, common + [("ZNAME", "VARCHAR")]),
        ]
    }

    /// Whether all of it is there that saves of this model need.
    static func areComplete(_ schema: SQLSchema, in database: Database) throws -> Bool {
        for (table, wanted) in columns(schema) {
            guard try columns(of: table, in: database).isSuperset(of: wanted.map(\.name)) else { return false }
        }
        return try database.integer("SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_ENT BETWEEN \(changeNumber) AND \(stringNumber)") == 3
    }

    /// Makes what is missing, inside a transaction.
    static func make(_ schema: SQLSchema, in database: Database) throws {
        for (table, wanted) in columns(schema) {
            let present = try columns(of: table, in: database)
            if present.isEmpty {
                try database.execute(sql: "CREATE TABLE \(table) (\(wanted.map { "\($0.name) \($0.type)" }.joined(separator: ", ")))")
                continue
            }
            for column in wanted where !present.contains(column.name) {
                try database.execute(sql: "ALTER TABLE \(table) ADD COLUMN \(column.name) \(column.type)")
            }
        }
        try database.execute(sql: "CREATE INDEX IF NOT EXISTS ACHANGE_ZTRANSACTIONID_INDEX ON \(changes) (ZTRANSACTIONID)")
        try database.execute(
            sql: "CREATE UNIQUE INDEX IF NOT EXISTS Z_TRANSACTIONSTRING_UNIQUE_NAME ON \(strings) (ZNAME COLLATE BINARY ASC)")
        for (number, name, table) in [
            (changeNumber, "CHANGE", changes), (transactionNumber, "TRANSACTION", transactions), (stringNumber, "TRANSACTIONSTRING", strings),
        ] {
            try database.run(
                "INSERT OR IGNORE INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) SELECT ?, ?, 0, coalesce(max(Z_PK), 0) FROM \(table)",
                [.integer(number), .text(name)])
        }
    }
}

extension EntityMap {
    /// The columns of the attributes whose values a deletion keeps, in the order of their names.
    var tombstoneColumns: [SlotColumn] {
        columns.compactMap { $0 }.filter { layout.attribute(atSlot: $0.slot)?.preservesValueInHistoryOnDeletion == true }
            .sorted { layout.names[$0.slot] < layout.names[$1.slot] }
    }

    /// The properties that a mask of changed ones counts, in its order: what is stored, by name.
    var historyNames: [String] {
        entity.leaves.filter(\.isStored).map(\.name).sorted()
    }
}
