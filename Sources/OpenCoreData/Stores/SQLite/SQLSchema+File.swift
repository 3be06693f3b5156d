import Foundation
import GRDB

/// The statements that make a new file.
extension SQLSchema {
    /// Makes all tables and indexes, and fills the tables that describe the store.
    func create(in database: Database, metadata: [String: Any], model: ModelArchive) throws {
        try database.execute(sql: "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)")
        try database.execute(
            sql: "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)")
        try database.execute(sql: "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)")
        for table in tables {
            try database.execute(sql: table.creation(as: table.name))
            for index in table.indexes { try database.execute(sql: index.sql) }
        }
        for join in joins {
            try database.execute(sql: join.creation(as: join.name))
            try database.execute(sql: join.indexSQL)
        }
        for map in entities {
            let parent = map.entity.superentity.flatMap { self[$0]?.number } ?? 0
            try database.run(
                "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)",
                [.integer(map.number), .text(map.name), .integer(parent)])
        }
        try database.run(
            "INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)",
            [.text(metadata[NSStoreUUIDKey] as? String ?? ""), .blob(try StoreMetadataCoding.data(metadata))])
        try database.run("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", [.blob(try model.encoded())])
    }

    /// Tables and columns that this schema needs and the file has not.
    func missing(in database: Database) throws -> [String] {
        var present: [String: Set<String>] = [:]
        let rows = try Row.fetchAll(
            database, sql: "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table'")
        for row in rows { present[row[0], default: []].insert((row[1] as String).uppercased()) }
        var result: [String] = []
        func need(_ columns: [String], of table: String) {
            guard let has = present[table] else {
                result.append(table)
                return
            }
            for column in columns where !has.contains(column.uppercased()) { result.append("\(table).\(column)") }
        }
        for table in tables { need(table.columns.map(\.name), of: table.name) }
        for join in joins {
            need([join.ownerColumn, join.memberColumn] + [join.ownerOrderColumn, join.memberOrderColumn].compactMap { $0 }, of: join.name)
        }
        return result
    }

    /// Columns of the file that are declared for other values than this schema keeps in them, where the file declares them as Core Data does.
    func misfits(in database: Database) throws -> [String] {
        let known: Set = ["INTEGER", "FLOAT", "TIMESTAMP", "VARCHAR", "DECIMAL", "BLOB"]
        func kind(_ declaration: String) -> String? {
            declaration.uppercased().split(separator: " ").first.map(String.init).flatMap { known.contains($0) ? $0 : nil }
        }
        return try tables.flatMap { table -> [String] in
            let rows = try Row.fetchAll(database, sql: "SELECT name, type FROM pragma_table_info(?)", arguments: [table.name])
            let declared = Dictionary(rows.map { (($0[0] as String).uppercased(), $0[1] as String) }, uniquingKeysWith: { first, _ in first })
            return table.columns.compactMap { column in
                guard let there = declared[column.name.uppercased()].flatMap(kind), let wanted = kind(column.declaration), there != wanted else {
                    return nil
                }
                return "\(wanted) in \(table.name).\(column.name), which is \(there)"
            }
        }
    }
}
