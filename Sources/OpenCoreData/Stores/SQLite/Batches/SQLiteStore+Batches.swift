import Foundation
import GRDB
import GRDBSQLite

/// Batch requests: each one transaction, in SQL, without a row in memory that need not be there.
extension SQLiteStore {
    /// Carries a request out in a transaction, which `body` commits or not.
    func carryOut(_ batch: BatchPlan, _ body: (any PreparedBatch) throws -> Void) throws {
        switch batch.work {
        case .insert(let insert):
            let feed = RowFeed(insert, asking: asking, on: batch.queue)
            let operation = try SQLiteBatchInsert(insert, feed, tellsIDs: batch.tellsIDs, in: self)
            if feed.isOver { return try carryOut(operation, for: batch.origin, body) }
            try feed.feed { try carryOut(operation, for: batch.origin, body) }
        case .update(let update): try carryOut(try SQLiteBatchUpdate(update, tellsIDs: batch.tellsIDs, in: self), for: batch.origin, body)
        case .delete(let delete): try carryOut(try SQLiteBatchDelete(delete, tellsIDs: batch.tellsIDs, in: self), for: batch.origin, body)
        }
    }

    private func carryOut(_ operation: some SQLiteBatch, for origin: SaveOrigin, _ body: (any PreparedBatch) throws -> Void) throws {
        var operation = operation, cache = pageCache
        try pool.writeWithoutTransaction { database in
            defer { cache.shrink(in: database) }
            let prepared = SQLitePreparedBatch(self, database)
            // Before anybody else gets the connection.
            defer { prepared.save.end() }
            do {
                try database.beginTransaction(.immediate)
                derivations?.forget()
                // Nobody knows yet how many rows it is about.
                try cache.grow(for: PageCache.manyRows, in: database)
                let isRecorded = try hasHistory(schemaVersion: try checkModel(in: database), in: database)
                prepared.outcome = try operation.run(in: database, recordedAs: isRecorded ? .some(origin) : nil)
                prepared.outcome.derived = try derived(in: database)
                prepared.save.beginsHistory = isRecorded && !keepsHistory
                prepared.save.counts = operation.counts
            } catch {
                prepared.save.end()
                throw storeError(error, .persistentStoreSave, doing: "write to")
            }
            try body(prepared)
        }
    }

    /// Finds the derived values that the transaction made others, and says of which rows.
    func derived(in database: Database) throws -> [NSManagedObjectID] {
        guard let found = try derivations?.settle(in: database) else { return [] }
        return try found.flatMap { table, keys in
            try ids(
                "SELECT Z_PK, Z_ENT FROM \(schema.tables[table].name.sqlName) WHERE Z_PK IN (SELECT value FROM json_each(\(JSONList.text(keys.sorted()).sqlText)))",
                in: database)
        }
    }

    /// Drops a table of a transaction's own, if it is there.
    static func dropTargets(in database: Database) throws { try database.execute(sql: "DROP TABLE IF EXISTS temp.ocd_targets") }

    /// The IDs of rows that a SELECT of key and entity finds.
    func ids(_ query: String, in database: Database) throws -> [NSManagedObjectID] {
        var ids: [NSManagedObjectID] = []
        try database.prepared(query).forEachRow { raw in
            guard let entity = schema[file: sqlite3_column_int64(raw, 1)]?.entity else { return }
            ids.append(NSManagedObjectID(entity: entity, key: sqlite3_column_int64(raw, 0), store: identity, isTemporary: false))
        }
        return ids
    }
}

/// One kind of batch request against a file.
protocol SQLiteBatch {
    /// How many statements it ran, a row written being one.
    var counts: StatementCounts { get }
    /// Inside a transaction.
    ///
    /// - Parameter origin: who asked for it, where the file keeps a history.
    mutating func run(in database: Database, recordedAs origin: SaveOrigin?) throws -> BatchOutcome
}

/// A transaction with all of a request in it, open on the connection that writes.
private final class SQLitePreparedBatch: PreparedBatch {
    let save: SQLitePreparedSave
    var outcome = BatchOutcome()

    init(_ store: SQLiteStore, _ database: Database) { save = SQLitePreparedSave(store, database, metadata: nil) }

    func commit() throws -> BatchOutcome {
        _ = try save.commit()
        return outcome
    }
}

extension SQLiteStore {
    /// Throws where a to-one can't be set to this object: it is not in the file.
    func checkTarget(_ id: NSManagedObjectID, of name: String, in database: Database) throws {
        if !id.mayBe(in: identity) { throw NSError.leadsElsewhere(name, to: id) }
        let map = try schema.map(of: id.entity)
        let query = "SELECT 1 FROM \(map.tableName.sqlName) WHERE Z_PK = ?1 AND Z_ENT = ?2"
        if try database.integer(query, [.integer(id.key), .integer(map.number)]) == nil {
            throw NSError.noTarget(id, of: name)
        }
    }

    /// 133021 for a request whose rows have keys that others have.
    func constraintError(_ error: SQLiteError, of maps: [EntityMap], _ verb: String) -> NSError {
        var names: [String] = []
        for map in maps {
            for constraint in map.layout.constraints {
                let name = constraint.slots.map { map.layout.names[$0] }.joined(separator: " and ")
                if !names.contains(name) { names.append(name) }
            }
        }
        return error.cocoaError(
            .managedObjectConstraintMerge,
            "Can't \(verb) objects of \(maps.first?.name ?? "?"): two would have the same \(names.joined(separator: ", or the same ")), which a constraint of "
                + "the model forbids. Nothing was written.")
    }
}
