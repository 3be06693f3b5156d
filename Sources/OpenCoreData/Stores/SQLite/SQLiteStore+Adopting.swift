import Foundation
import GRDB
import GRDBSQLite
import Synchronization

extension SQLiteStore {
    /// See `NSPersistentStoreCoordinator.adoptRows`.
    func adoptRows(_ keys: Set<Int64>, of entity: NSEntityDescription, emptying attribute: String) throws -> Set<Int64> {
        let map = try schema.map(of: entity), table = schema.tables[map.table]
        guard let sum = table.sum, !keys.isEmpty else { return [] }
        let isChanged = "Z_PK IN (SELECT value FROM json_each(?)) AND \(RowSum.column) IS NOT \(sum.stored)"
        let list = SQLParameter.text(JSONList.text(keys.sorted()))
        do {
            // Nearly always there are none, and nothing has to be locked.
            let select = "SELECT Z_PK FROM \(table.name.sqlName) WHERE \(isChanged)"
            if try pool.read({ try $0.integer(select, [list]) }) == nil { return [] }
            guard let column = map.layout.slot(of: attribute).flatMap({ map.columns[$0]?.name }) else { return [] }
            let values = sum.columns.map { (column: $0, value: $0 == column ? "NULL" : $0.sqlName) }
            var found: Set<Int64> = []
            try pool.writeWithoutTransaction { database in
                try database.inTransaction(.immediate) {
                    let statement = try database.prepared(
                        "UPDATE \(table.name.sqlName) SET Z_OPT = \(SaveOperation.nextVersion), \(column.sqlName) = NULL, \(RowSum.column) = \(sum.whole(values)) "
                            + "WHERE \(isChanged) RETURNING Z_PK")
                    try statement.bind([list])
                    try statement.forEachRow { found.insert(sqlite3_column_int64($0, 0)) }
                    return .commit
                }
            }
            foreignCommits.withLock { $0 }?.didCommit()
            return found
        } catch {
            throw storeError(error, .persistentStoreSave, doing: "look at the rows of")
        }
    }
}
