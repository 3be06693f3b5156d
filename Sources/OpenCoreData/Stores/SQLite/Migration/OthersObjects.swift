import Foundation
import GRDB

/// Views, triggers and indexes that somebody else made in the file: out of the way while tables change, and there again afterwards.
struct OthersObjects {
    private struct Object {
        let type: String
        let name: String
        let sql: String
    }

    /// In the order in which they were made.
    private var objects: [Object] = []

    /// Reads them, after the store's own views are gone.
    init(besides change: SchemaChange, in database: Database) throws {
        let own = Set((change.old.tables + change.new.tables).flatMap { $0.indexes.map(\.name) })
            .union((change.old.joins + change.new.joins).map(\.indexName))
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT type, name, sql, tbl_name FROM sqlite_master WHERE type IN ('view', 'trigger', 'index') AND sql IS NOT NULL ORDER BY rowid")
        for row in rows {
            let object = Object(type: row[0], name: row[1], sql: row[2]), table: String = row[3]
            if object.type == "index" {
                guard !own.contains(object.name) else { continue }
                let gone = change.goneColumns.first { $0.table == table }?.columns ?? []
                let columns = Set(try String.fetchAll(database, sql: "SELECT name FROM pragma_index_info(?)", arguments: [object.name]))
                // One over other columns stays with its table.
                if !change.goneTables.contains(table), columns.isDisjoint(with: gone) { continue }
            }
            objects.append(object)
        }
    }

    func takeOut(in database: Database) throws {
        for object in objects { try database.execute(sql: "DROP \(object.type.uppercased()) IF EXISTS \(object.name.sqlName)") }
    }

    /// An index over a column that is no more is left out. Throws for a trigger that has no place any more: what it did would silently not be done.
    func putBack(in database: Database, refusal: (String) -> NSError) throws {
        for object in objects {
            do { try database.execute(sql: object.sql) } catch  where object.type == "index" { continue } catch {
                throw refusal(
                    "the \(object.type) \(object.name), which somebody made in the file, does not fit what it would be (\((error as? DatabaseError)?.message ?? "")). "
                        + "Drop it, and make it anew afterwards")
            }
        }
    }
}
