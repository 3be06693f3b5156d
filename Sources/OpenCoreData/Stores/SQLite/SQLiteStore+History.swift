import Foundation
import GRDB
import Synchronization

/// What a store knows of its file's history. Asked by every save, so without a lock.
final class SQLiteHistoryState: Sendable {
    /// Whether the file has one: then every save is recorded, and that does not end.
    let isKept = Atomic<Bool>(false)
    /// Of a file without one: the version of the schema that was looked at. Somebody else may begin a history at any time.
    let schemaVersion = Atomic<Int64>(-1)
}

extension SQLiteStore: HistoryKeeping {
    package var keepsHistory: Bool { historyState.isKept.load(ordering: .acquiring) }

    /// Begins a history where one is wanted. Throws 134080.
    func prepareHistory() throws {
        let isWanted = try SQLiteHistoryTables.areWanted(options)
        do {
            // On the connection that is there: a reader is made when there is something to read.
            let (exists, isComplete) = try pool.writeWithoutTransaction { database in
                let exists = try SQLiteHistoryTables.exist(in: database)
                return (exists, try exists && SQLiteHistoryTables.areComplete(schema, in: database))
            }
            if !isReadOnly && !isComplete && (exists || isWanted) {
                try pool.writeWithoutTransaction { database in
                    try database.inTransaction(.immediate) {
                        try SQLiteHistoryTables.make(schema, in: database)
                        return .commit
                    }
                }
            }
            historyState.isKept.store(exists || (isWanted && !isReadOnly), ordering: .releasing)
        } catch {
            throw storeError(error, .persistentStoreOpen, doing: "begin the history of")
        }
    }

    /// Inside the transaction of a save. Returns whether the file has a history that this store did not know of: it does once the save is committed.
    func recordHistory(of plan: SavePlan, _ changes: ChangeSet, schemaVersion: Int64, in database: Database) throws -> Bool {
        guard try hasHistory(schemaVersion: schemaVersion, in: database) else { return false }
        try SQLiteHistoryWriter(plan.withoutBlocks, of: changes, schema: schema, in: database)?.write(changes.origin)
        return !keepsHistory
    }

    /// Inside a transaction that changes objects: whether it has to be recorded.
    func hasHistory(schemaVersion: Int64, in database: Database) throws -> Bool {
        try keepsHistory || findsHistory(version: schemaVersion, in: database)
    }

    /// Whether another store has begun a history since this one looked.
    private func findsHistory(version: Int64, in database: Database) throws -> Bool {
        if historyState.schemaVersion.load(ordering: .relaxed) == version { return false }
        guard try SQLiteHistoryTables.exist(in: database) else {
            historyState.schemaVersion.store(version, ordering: .relaxed)
            return false
        }
        if try !SQLiteHistoryTables.areComplete(schema, in: database) { try SQLiteHistoryTables.make(schema, in: database) }
        return true
    }

    // MARK: Asking

    package func lastTransactionNumber() throws -> Int64 {
        do { return try pool.read { try SQLiteHistoryReader.lastNumber(in: $0) } } catch {
            throw storeError(error, .coreData, doing: "read the history of")
        }
    }

    package func history(
        after place: HistoryPlace?, withChanges: Bool, limit: Int?, where isWanted: ((HistoryRecord) throws -> Bool)?
    ) throws -> [HistoryRecord] {
        do {
            return try pool.read { database in
                var reader = try SQLiteHistoryReader(database, schema: schema, identity: identity)
                let number: Int64
                switch place {
                case nil: number = 0
                case .time(let time)?:
                    // From the first that is later: where the clock was set back, none of those that follow may be missing.
                    let first = try database.integer("SELECT min(Z_PK) FROM ATRANSACTION WHERE ZTIMESTAMP > ?", [.double(time)])
                    guard let first else { return [] }
                    number = first == .min ? first : first - 1
                case .number(let known)?:
                    try check(known, in: database)
                    number = known
                }
                return try reader.records(after: number, withChanges: withChanges, limit: limit, where: isWanted)
            }
        } catch {
            throw storeError(error, .coreData, doing: "read the history of")
        }
    }

    /// Throws 134301 if not everything after a transaction is there.
    private func check(_ known: Int64, in database: Database) throws {
        let first = try SQLiteHistoryReader.firstNumber(in: database), last = try SQLiteHistoryReader.lastNumber(in: database)
        let reason: String
        if known > last {
            reason = "its history ends with transaction \(last), so the file is older than the token"
        } else if known < first, known + 1 < first {
            reason = "its history begins with transaction \(first); earlier ones were deleted"
        } else {
            return
        }
        throw NSError.coreData(
            .persistentHistoryTokenExpired,
            "What was saved to \(path) after transaction \(known) is unknown: \(reason). Fetch the objects again, and go on from "
                + "currentPersistentHistoryToken(fromStores:).")
    }

    package func deleteHistory(before place: HistoryPlace) throws -> Int {
        guard !isReadOnly else {
            throw NSError.coreData(.persistentStoreSave, "\(path) was opened read-only; none of its history was deleted.")
        }
        try asking.check(self)
        do {
            return try pool.writeWithoutTransaction { database in
                var count = 0
                try database.inTransaction(.immediate) {
                    let end: Int64
                    switch place {
                    case .number(let number): end = number
                    case .time(let time):
                        // Up to the first that stays: a history has no gaps.
                        end = try database.integer("SELECT min(Z_PK) FROM ATRANSACTION WHERE ZTIMESTAMP >= ?", [.double(time)]) ?? Int64.max
                    }
                    try database.run("DELETE FROM ACHANGE WHERE ZTRANSACTIONID < ?", [.integer(end)])
                    count = try database.run("DELETE FROM ATRANSACTION WHERE Z_PK < ?", [.integer(end)])
                    try database.run(Self.unusedTexts)
                    return .commit
                }
                return count
            }
        } catch {
            throw storeError(error, .persistentStoreSave, doing: "delete from the history of")
        }
    }

    private static let unusedTexts =
        "DELETE FROM ATRANSACTIONSTRING WHERE Z_PK NOT IN (SELECT ZNAMESTS FROM ACHANGE WHERE ZNAMESTS IS NOT NULL "
        + ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"]
        .map { "UNION SELECT \($0) FROM ATRANSACTION WHERE \($0) IS NOT NULL" }.joined(separator: " ") + ")"
}
