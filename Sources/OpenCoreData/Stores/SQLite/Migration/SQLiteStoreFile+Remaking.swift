import Foundation
import GRDB

/// A store that another is made of, in its own file.
extension SQLiteStoreFile {
    /// Whoever writes meanwhile waits, and finds the new store then. Throws 134090 where somebody else has been writing for longer than the timeout.
    package func remake(_ make: (_ place: URL) throws -> Bool) throws {
        // One name is enough: nobody else is here at the same time. What is there is of a process that has ended.
        let place = url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).remade")
        do {
            let queue = try DatabaseQueue(path: url.path, configuration: configuration())
            defer { try? queue.close() }
            try queue.inDatabase { database in
                try database.inTransaction(.immediate) {
                    NewStoreFile.remove(place)
                    defer { NewStoreFile.remove(place) }
                    guard try make(place) else { return .rollback }
                    let made = try DatabaseQueue(path: place.path, configuration: configuration())
                    defer { try? made.close() }
                    let others = try clear(database)
                    try made.read { try take($0, into: database) }
                    try others.putBack(in: database)
                    return .commit
                }
            }
            try fold(queue)
        } catch {
            throw opening(isReadOnly: false).described(error)
        }
    }

    /// Takes out what is the store's own. What others have made in the file stays, or is put back.
    private func clear(_ database: Database) throws -> Others {
        let opening = opening(isReadOnly: true)
        guard let probe = try opening.read(database, checksFile: false) else {
            throw NSError.coreData(.persistentStoreOpen, "\(url.path) is empty now: another program emptied it. Open it again.")
        }
        let source = try opening.source(of: probe)
        let schema = try SchemaBuilder.schema(for: source.entities, in: SQLiteDialect(), known: probe.numbers) { probe.summedTables.contains($0) }
        let views = SQLiteStoreOpening.viewNames(in: probe.metadata)
        let indexes = schema.tables.flatMap { $0.indexes.map(\.name) } + schema.joins.map(\.indexName)
        let others = try Others(besides: views + indexes, in: database)
        for name in views + others.views { try database.execute(sql: "DROP VIEW IF EXISTS \(name.sqlName)") }
        try SQLiteHistoryTables.drop(in: database)
        let tables = schema.tables.map(\.name) + schema.joins.map(\.name) + ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"]
        for name in tables { try database.execute(sql: "DROP TABLE IF EXISTS \(name.sqlName)") }
        return others
    }

    private func take(_ made: Database, into database: Database) throws {
        let objects = try Row.fetchAll(
            made, sql: "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid")
        for object in objects where object[0] == "table" {
            let name: String = object[1]
            try database.execute(sql: object[2])
            let rows = try Row.fetchCursor(made, sql: "SELECT * FROM \(name.sqlName)")
            var statement: Statement?
            while let row = try rows.next() {
                let insert =
                    try statement
                    ?? database.makeStatement(
                        sql: "INSERT INTO \(name.sqlName) VALUES (\(Array(repeating: "?", count: row.count).joined(separator: ", ")))")
                statement = insert
                try insert.execute(arguments: StatementArguments(row.databaseValues))
            }
        }
        for object in objects where object[0] != "table" { try database.execute(sql: object[2]) }
    }

    /// Views, triggers and indexes that somebody else made in the file.
    private struct Others {
        private var objects: [(type: String, name: String, sql: String)] = []
        var views: [String] { objects.filter { $0.type == "view" }.map(\.name) }

        init(besides own: [String], in database: Database) throws {
            let own = Set(own)
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT type, name, sql FROM sqlite_master WHERE type IN ('view', 'trigger', 'index') AND sql IS NOT NULL ORDER BY rowid")
            objects = rows.map { (type: $0[0], name: $0[1], sql: $0[2]) }.filter { !own.contains($0.name) }
        }

        /// An index that has no place any more is left out. Throws 134110 for a view or a trigger that does not fit: what it
        /// did would silently not be done.
        func putBack(in database: Database) throws {
            for object in objects {
                let exists = try database.integer(
                    "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = ? AND name = ?)", [.text(object.type), .text(object.name)])
                if exists == 1 { continue }
                do { try database.execute(sql: object.sql) } catch  where object.type == "index" { continue } catch {
                    throw Self.refusal("the \(object.type) \(object.name)", error)
                }
            }
            guard objects.contains(where: { $0.type == "trigger" }) else { return }
            // SQLite looks into triggers when a table is renamed.
            do {
                try database.execute(sql: "ALTER TABLE Z_MODELCACHE RENAME TO ocd_renamed")
                try database.execute(sql: "ALTER TABLE ocd_renamed RENAME TO Z_MODELCACHE")
            } catch {
                throw Self.refusal("a trigger or view", error)
            }
        }

        private static func refusal(_ what: String, _ error: any Error) -> NSError {
            .coreData(
                .migration,
                "What somebody made in the file, \(what), does not fit what it would be (\((error as? DatabaseError)?.message ?? "")). Drop it, and make it "
                    + "anew afterwards. Nothing was changed.")
        }
    }
}
