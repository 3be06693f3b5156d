import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// Writes to a store's file: one save after the other, each one transaction.
final class SQLiteWriter: StoreWriting {
    let store: SQLiteStore

    init(_ store: SQLiteStore) { self.store = store }

    var schema: SQLSchema { store.schema }

    func save(_ changes: ChangeSet) throws -> SavedRows { try preparedAndCommitted(changes) }

    /// One transaction, which `body` commits or not.
    func prepare(_ changes: ChangeSet, _ body: (any PreparedSave) throws -> Void) throws {
        guard !store.isReadOnly else {
            throw NSError.coreData(.persistentStoreSave, "\(store.path) was opened read-only; nothing was saved.")
        }
        try store.asking.check(store)
        let plan = try SavePlan(changes, schema: schema)
        let metadata = store.metadataState.withLock { $0.isDirty ? SQLitePreparedSave.Metadata(data: $0.data, generation: $0.generation) : nil }
        if plan.isEmpty && metadata == nil && changes.journaled == nil && !changes.mayHaveComputedValues {
            return try body(UnwrittenSave { SavedRows() })
        }
        do {
            try write(plan, of: changes, metadata: metadata, clearsKeysFirst: false, body)
        } catch is KeysMustBeCleared {
            try write(plan, of: changes, metadata: metadata, clearsKeysFirst: true, body)
        }
    }

    /// The unique keys of a save are right in the end but collide on the way: rows exchange them. Thrown before the body of the save is called.
    private struct KeysMustBeCleared: Error {}

    private func write(
        _ plan: SavePlan, of changes: ChangeSet, metadata: SQLitePreparedSave.Metadata?, clearsKeysFirst: Bool,
        _ body: (any PreparedSave) throws -> Void
    ) throws {
        let topUp = store.keyPool.topUp(for: plan, schema: schema), mark = changes.journaled?.upperBound
        var operation = SaveOperation(plan, schema: schema, identity: store.identity, clearsKeysFirst: clearsKeysFirst, cache: store.pageCache)
        try store.pool.writeWithoutTransaction { database in
            defer { operation.cache.shrink(in: database) }
            let prepared = SQLitePreparedSave(store, database, metadata: metadata)
            // Before anybody else gets the connection.
            defer { prepared.end() }
            do {
                try database.beginTransaction(.immediate)
                store.derivations?.forget()
                let version = try store.checkModel(in: database)
                // Before the rows are deleted of which something is kept.
                prepared.beginsHistory = try store.recordHistory(of: plan, changes, schemaVersion: version, in: database)
                try operation.run(in: database)
                prepared.computed = try store.derivations?.settle(changes, of: store, in: database) ?? [:]
                if metadata != nil || mark != nil { try write(metadata: metadata?.data, mark: mark, in: database) }
                // Where none are left, new objects get keys that no store was asked for; the save needs none.
                prepared.reserved = try topUp.compactMap { try store.keyPool.reserve($0, in: database) }
            } catch {
                prepared.end()
                throw refusal(error, of: plan, changes, clearsKeysFirst: clearsKeysFirst, in: database)
            }
            prepared.versions = operation.versions
            prepared.counts = operation.counts
            try body(prepared)
        }
    }

    /// Why a save is refused, looked up after its transaction.
    private func refusal(
        _ error: any Error, of plan: SavePlan, _ changes: ChangeSet, clearsKeysFirst: Bool, in database: Database
    ) -> any Error {
        do {
            if error is SaveOperation.VersionMismatch {
                let conflicts = try versionConflicts(of: plan, in: database)
                if !conflicts.isEmpty { return StoreConflict.versions(conflicts) }
                throw SQLiteError(code: SQLITE_BUSY, message: "another process changed rows and changed them back", operation: "while saving")
            }
            if Self.isUniqueViolation(error) {
                let conflicts = try KeyClaims(changes).conflicts { constraint, keys in
                    try store.owners(of: keys, scope: KeyScope(schema.map(of: constraint.declarer), constraint: constraint.number), in: database)
                }
                if !conflicts.isEmpty { return StoreConflict.constraints(conflicts) }
                if !clearsKeysFirst { return KeysMustBeCleared() }
            }
            throw error
        } catch {
            return store.storeError(error, .persistentStoreSave, doing: "save to")
        }
    }

    /// The mark never goes back, whoever writes metadata; with a mark alone, what other processes wrote into the metadata stays.
    private func write(metadata: Data?, mark: UInt64?, in database: Database) throws {
        guard let stored = try Data.fetchOne(database, sql: "SELECT Z_PLIST FROM Z_METADATA"), StoreMetadataCoding.metadata(stored) != nil else {
            throw SQLiteError(code: SQLITE_CORRUPT, message: "Z_METADATA can't be read", operation: "while saving")
        }
        let highest = max(mark ?? 0, StoreMetadataCoding.pushMark(stored)), data = metadata ?? stored
        try database.run(
            "UPDATE Z_METADATA SET Z_PLIST = ?", [.blob(highest == 0 ? data : StoreMetadataCoding.marking(data, highest))])
    }

    private static func isUniqueViolation(_ error: any Error) -> Bool {
        SQLiteError(in: error)?.code == SQLiteError.uniqueViolation
    }

    /// Every row of the plan whose stored version is not the one its change started from.
    private func versionConflicts(of plan: SavePlan, in database: Database) throws -> [StoreConflict.VersionConflict] {
        var conflicts: [StoreConflict.VersionConflict] = []
        for (index, operations) in plan.tables.enumerated() {
            let checked = operations.deletes.filter { $0.baseVersion != nil } + operations.updates + operations.checks
            if checked.isEmpty { continue }
            let stored = try store.rows(checked.map(\.key), table: index, in: database)
            for operation in checked {
                let row = stored[operation.key]
                if let row, let version = operation.baseVersion, row.row?.version == version { continue }
                if row != nil && operation.baseVersion == nil { continue }
                conflicts.append(StoreConflict.VersionConflict(id: operation.id, stored: row?.row))
            }
        }
        return conflicts
    }
}

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
    var computed: [NSManagedObjectID: ComputedRow] = [:]
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
        return SavedRows(versions: versions, computed: computed)
    }

    /// Takes back what was not committed. SQLite may have done so itself when it failed.
    func end() { try? database.rollback() }
}
