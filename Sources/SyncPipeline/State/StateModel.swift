import Foundation
import OpenCoreData
import SyncConfiguration

/// The pipeline's own entities: one for each of its tables.
enum StateModel {
    static let tables: [any StateTable.Type] = [
        ResourceTable.self, RequestTable.self, KeysTable.self, ManifestTable.self, RunTable.self, QuarantineTable.self,
    ]

    static func entities(mirroring mirrored: [EntityConfiguration]) -> [NSEntityDescription] {
        let views = StatusViews.views(mirroring: mirrored)
        return tables.map { $0.description(views: $0 == ResourceTable.self ? views : [:]) }
    }
}

/// The status of the mirror as plain SQL: views over the views of the pipeline's own entities. Readable by everybody who can open the file.
enum StatusViews {
    static func views(mirroring entities: [EntityConfiguration]) -> [String: String] {
        ["cistern_status": status, "cistern_tombstone": tombstones(entities)]
    }

    /// One row per resource. `age_s` is computed when it is read.
    static var status: String {
        func sql<Value>(_ column: KeyPath<ResourceTable, Column<Value>>) -> String { ResourceTable.columns[keyPath: column].sql }
        func day(_ column: KeyPath<ResourceTable, Column<Date?>>) -> String { "julianday(\(sql(column)))" }
        return """
            SELECT \(sql(\.source)) AS source, \(sql(\.resource)) AS resource, \(sql(\.partition)) AS partition, \
            CASE WHEN \(sql(\.isRemoved)) THEN 'removed' WHEN NOT \(sql(\.isEnabled)) THEN 'disabled' WHEN \(sql(\.isPaused)) THEN 'paused' \
            WHEN \(day(\.runsUntil)) > julianday('now') THEN 'running' \
            WHEN \(sql(\.consecutiveFailures)) > 0 OR \(sql(\.heldDeletes)) > 0 OR \(day(\.staleAt)) <= julianday('now') THEN 'degraded' \
            WHEN \(sql(\.lastSuccess)) IS NULL AND (\(sql(\.partition)) = '' OR \(sql(\.completeAt)) IS NULL) THEN 'pending' ELSE 'ok' END AS state, \
            \(sql(\.lastSuccess)) AS last_success, CAST((julianday('now') - \(day(\.lastSuccess))) * 86400 AS INTEGER) AS age_s, \
            CASE WHEN NOT \(sql(\.isRemoved)) THEN \(sql(\.nextPollAt)) END AS next_poll_at, \(sql(\.cursor)) AS cursor, \
            \(sql(\.pages)) AS pages, \(sql(\.rows)) AS rows, \(sql(\.httpStatus)) AS http_status, \
            \(sql(\.consecutiveFailures)) AS consecutive_failures, \
            CASE WHEN \(sql(\.openings)) = 0 THEN 'closed' WHEN \(day(\.openUntil)) > julianday('now') THEN 'open' ELSE 'half-open' END AS breaker, \
            \(sql(\.completeAt)) AS complete_at, \
            \(sql(\.lastError)) AS error, \(sql(\.heldDeletes)) AS held_deletes \
            FROM \(ResourceTable.view ?? ResourceTable.entity)
            """
    }

    /// Every entity's tombstones in one list, by key.
    private static func tombstones(_ entities: [EntityConfiguration]) -> String {
        guard !entities.isEmpty else {
            return "SELECT NULL AS entity, NULL AS key, NULL AS deleted_at, NULL AS run WHERE 0"
        }
        let deletedAt = ModelBuilder.Bookkeeping.deletedAt.column ?? "NULL", run = ModelBuilder.Bookkeeping.run.column ?? "NULL"
        return entities.map { entity in
            let key = entity.key.map { $0 == EntityConfiguration.keyAttribute ? ModelBuilder.keyColumn : "\"\($0)\"" }.joined(
                separator: " || ',' || ")
            return "SELECT '\(entity.name)' AS entity, CAST(\(key) AS TEXT) AS key, \(deletedAt) AS deleted_at, \(run) AS run "
                + "FROM \"\(entity.name)_tombstone\""
        }.joined(separator: " UNION ALL ")
    }
}
