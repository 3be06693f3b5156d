import Foundation
import GRDB
import GRDBSQLite

/// Taking over what another store holds.
extension SQLiteStore {
    /// Makes a file of all that is committed, as it is at one moment, whoever reads and writes meanwhile: the same rows, keys, versions and metadata,
    /// and a UUID of its own. The history stays behind: it is that of a store with another UUID. The file must not be there yet. Throws 134030 where it can't be written, 134060 where this one can't be read.
    func copy(to url: URL) throws {
        do {
            // Beside the readers and the writer: it may take long.
            try pool.unsafeRead { try $0.execute(sql: "VACUUM INTO ?", arguments: [url.path]) }
            let queue = try DatabaseQueue(path: url.path)
            defer { try? queue.close() }
            try queue.write { database in
                guard let data = try Data.fetchOne(database, sql: "SELECT Z_PLIST FROM Z_METADATA"),
                    var metadata = StoreMetadataCoding.metadata(data)
                else { throw SQLiteError(code: SQLITE_CORRUPT, message: "Z_METADATA can't be read", operation: "while copying") }
                try SQLiteHistoryTables.drop(in: database)
                let uuid = UUID().uuidString
                metadata[NSStoreUUIDKey] = uuid
                try database.run(
                    "UPDATE Z_METADATA SET Z_UUID = ?, Z_PLIST = ?", [.text(uuid), .blob(try StoreMetadataCoding.data(metadata))])
            }
        } catch {
            throw storeError(error, .persistentStoreSave, doing: "copy to \(url.deletingLastPathComponent().path)")
        }
    }

    /// Writes all that `source` holds, keys and versions too, in one transaction into this store, which is empty. Both have one identity.
    func fill(from source: NSPersistentStore) throws {
        do {
            try pool.writeWithoutTransaction { database in
                try database.inTransaction(.immediate) {
                    try source.forEachPart { try write($0, in: database) }
                    return .commit
                }
            }
        } catch {
            throw storeError(error, .persistentStoreSave, doing: "save to")
        }
    }

    private func write(_ part: StoreContents, in database: Database) throws {
        var changes = ChangeSet()
        for fetched in part.rows { changes.set(fetched.id, fetched.row.map { PendingRow(kind: .inserted, row: $0) }) }
        for (key, members) in part.pairs {
            var pairs = PairChanges()
            for member in members { pairs.add(member) }
            changes.pairs[key] = pairs
        }
        changes.orders = part.orders
        // A part refers to rows of parts that are still to come.
        var operation = SaveOperation(
            try SavePlan(changes, schema: schema), schema: schema, identity: identity, clearsKeysFirst: false, checksReferences: false)
        try operation.run(in: database)
        // Whoever read a row before goes on from the version that he knows.
        for fetched in part.rows {
            guard let version = fetched.row?.version, version > 1 else { continue }
            let table = try schema.map(of: fetched.id.entity).tableName.sqlName
            try database.run("UPDATE \(table) SET Z_OPT = ? WHERE Z_PK = ?", [.integer(version), .integer(fetched.id.key)])
        }
    }
}
