import Foundation
import GRDB
import GRDBSQLite
import Synchronization

extension SQLiteStore {
    /// One transaction: all or nothing.
    func write(_ changes: ChangeSet) throws -> SavedRows {
        guard !isReadOnly else {
            throw NSError.coreData(.persistentStoreSave, "\(path) was opened for reading only; nothing was saved.")
        }
        let plan = try SavePlan(changes, schema: schema)
        let pendingMetadata = metadataState.withLock { $0.isDirty ? ($0.data, $0.generation) : nil }
        let mark = changes.journaled?.upperBound
        if plan.isEmpty && pendingMetadata == nil && mark == nil { return SavedRows() }
        do {
            return try write(plan, of: changes, metadata: pendingMetadata?.0, generation: pendingMetadata?.1, mark: mark, clearsKeysFirst: false)
        } catch is KeysMustBeCleared {
            return try write(plan, of: changes, metadata: pendingMetadata?.0, generation: pendingMetadata?.1, mark: mark, clearsKeysFirst: true)
        }
    }

    /// The unique keys of a save are right in the end but collide on the way: rows exchange them.
    private struct KeysMustBeCleared: Error {}

    private func write(
        _ plan: SavePlan, of changes: ChangeSet, metadata: Data?, generation: Int?, mark: UInt64?, clearsKeysFirst: Bool
    ) throws -> SavedRows {
        let topUp = keyPool.topUp(for: plan, schema: schema)
        var operation = SaveOperation(plan, schema: schema, identity: identity, clearsKeysFirst: clearsKeysFirst)
        do {
            let reserved: [KeyPool.Reservation] = try pool.writeWithoutTransaction { database in
                var reserved: [KeyPool.Reservation] = [], beginsHistory = false
                do {
                    try database.inTransaction(.immediate) {
                        // Before the rows are deleted of which something is kept.
                        beginsHistory = try recordHistory(of: plan, changes, in: database)
                        try operation.run(in: database)
                        if metadata != nil || mark != nil { try write(metadata: metadata, mark: mark, in: database) }
                        reserved = try topUp.map { try keyPool.reserve($0, in: database) }
                        return .commit
                    }
                } catch is SaveOperation.VersionMismatch {
                    let conflicts = try versionConflicts(of: plan, in: database)
                    if conflicts.isEmpty {
                        throw SQLiteError(code: SQLITE_BUSY, message: "another process changed rows and changed them back", operation: "while saving")
                    }
                    throw StoreConflict.versions(conflicts)
                } catch let error where Self.isUniqueViolation(error) {
                    let conflicts = try keyConflicts(of: plan, in: database)
                    if conflicts.isEmpty {
                        if clearsKeysFirst { throw error }
                        throw KeysMustBeCleared()
                    }
                    throw StoreConflict.constraints(conflicts)
                }
                if beginsHistory { historyState.isKept.store(true, ordering: .releasing) }
                return reserved
            }
            keyPool.add(reserved)
        } catch let error where error is StoreConflict || error is KeysMustBeCleared {
            throw error
        } catch {
            throw storeError(error, .persistentStoreSave, doing: "save to")
        }
        foreignCommits.withLock { $0 }?.didCommit()
        if let generation { metadataState.withLock { if $0.generation == generation { $0.isDirty = false } } }
        let counts = operation.counts
        statements.add {
            $0.inserts += counts.inserts
            $0.updates += counts.updates
            $0.deletes += counts.deletes
            $0.transactions += 1
        }
        return SavedRows(versions: operation.versions)
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
            let stored = try rows(checked.map(\.key), table: index, in: database)
            for operation in checked {
                let row = stored[operation.key]
                if let row, let version = operation.baseVersion, row.row?.version == version { continue }
                if row != nil && operation.baseVersion == nil { continue }
                conflicts.append(StoreConflict.VersionConflict(id: operation.id, stored: row?.row))
            }
        }
        return conflicts
    }

    /// Every row of the plan whose key a row of the store, or another row of the plan, has.
    private func keyConflicts(of plan: SavePlan, in database: Database) throws -> [StoreConflict.KeyConflict] {
        var conflicts: [StoreConflict.KeyConflict] = []
        for operations in plan.tables where !operations.isEmpty {
            let leaving = Set(operations.deletes.map(\.key))
            let written = operations.updates + operations.inserts
            let changedByKey = Dictionary(operations.updates.map { ($0.key, $0) }, uniquingKeysWith: { _, last in last })
            for (scope, claims) in Self.claims(on: written) {
                var holders: [UniqueKey: RowOperation] = [:]
                let owners = try owners(of: Array(Set(claims.map(\.key))), scope: scope, in: database)
                for claim in claims {
                    if let holder = holders[claim.key] {
                        conflicts.append(
                            StoreConflict.KeyConflict(
                                id: claim.operation.id, constraint: claim.constraint, key: claim.key, owner: holder.id, stored: nil))
                        continue
                    }
                    holders[claim.key] = claim.operation
                    guard let owner = owners[claim.key], owner.id.key != claim.operation.key, !leaving.contains(owner.id.key) else { continue }
                    // The owner may be giving the key away in this very save.
                    if let moving = changedByKey[owner.id.key], let row = moving.pending.row,
                        UniqueKey(row, slots: scope.slots(in: moving.map)) != claim.key
                    {
                        continue
                    }
                    conflicts.append(
                        StoreConflict.KeyConflict(
                            id: claim.operation.id, constraint: claim.constraint, key: claim.key, owner: owner.id, stored: owner.row))
                }
            }
        }
        return conflicts
    }

    private struct Claim {
        let operation: RowOperation
        let constraint: Int
        let key: UniqueKey
    }

    /// The keys that rows will have after the save, by constraint. A constraint is one with its descendants' inherited copy of it.
    private static func claims(on operations: [RowOperation]) -> [(KeyScope, [Claim])] {
        var result: [KeyScope: [Claim]] = [:]
        for operation in operations {
            guard let row = operation.pending.row else { continue }
            for (number, slots) in operation.map.layout.constraints.enumerated() {
                if operation.pending.kind == .updated, !slots.contains(where: { operation.pending.changed.contains($0) }) { continue }
                guard let key = UniqueKey(row, slots: slots) else { continue }
                result[KeyScope(operation.map, constraint: number), default: []]
                    .append(Claim(operation: operation, constraint: number, key: key))
            }
        }
        return result.map { ($0.key, $0.value) }
    }
}
