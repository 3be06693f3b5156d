import Foundation
import GRDB
import Synchronization

/// A transaction with all of a save in it, open on the connection that writes.
final class SQLitePreparedSave: PreparedSave {
    /// Metadata as it was when the save began, and how often it had been set.
    struct Metadata {
        let data: Data
        let generation: Int
    }

    private let store: SQLiteStore
    private let database: Database
    private let metadata: Metadata?
    var versions = IDTable<Int64>()
    var counts = StatementCounts()
    var reserved: [KeyPool.Reservation] = []
    var beginsHistory = false

    init(_ store: SQLiteStore, _ database: Database, metadata: Metadata?) {
        self.store = store
        self.database = database
        self.metadata = metadata
    }

    func commit() throws -> SavedRows {
        do {
            try store.files.check()
            do { try database.commit() } catch let error as DatabaseError {
                throw SQLiteError(error, connection: database.sqliteConnection, operation: "while committing")
            }
        } catch { throw store.storeError(error, .persistentStoreSave, doing: "save to") }
        if beginsHistory { store.historyState.isKept.store(true, ordering: .releasing) }
        store.keyPool.add(reserved)
        store.foreignCommits.withLock { $0 }?.didCommit()
        if let metadata { store.metadataState.withLock { if $0.generation == metadata.generation { $0.isDirty = false } } }
        store.statements.add {
            $0.inserts += counts.inserts
            $0.updates += counts.updates
            $0.deletes += counts.deletes
            $0.transactions += 1
        }
        return SavedRows(versions: versions)
    }

    /// Takes back what was not committed. SQLite may have done so itself when it failed.
    func end() { try? database.rollback() }
}
