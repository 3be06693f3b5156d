import SyncConfiguration

/// The status of the mirror as plain SQL: views over the views of the pipeline's own entities. Readable by everybody who can open the file.
enum StatusViews {
    /// The SQL name of an attribute.
    static func column(_ name: String) -> String {
        switch name {
        case "number": "run"
        case "isComplete": "complete"
        default: NameMatch.snakeCase(name)
        }
    }

    static func views(mirroring entities: [EntityConfiguration]) -> [String: String] {
        [
            // One row a resource. `age_s` is computed when it is read.
            "cistern_status": """
            SELECT source, resource, '' AS partition, \
            CASE WHEN is_removed THEN 'removed' WHEN NOT is_enabled THEN 'disabled' WHEN is_paused THEN 'paused' \
            WHEN julianday(runs_until) > julianday('now') THEN 'running' \
            WHEN consecutive_failures > 0 OR held_deletes > 0 OR julianday(stale_at) <= julianday('now') THEN 'degraded' \
            WHEN last_success IS NULL THEN 'pending' ELSE 'ok' END AS state, \
            last_success, CAST((julianday('now') - julianday(last_success)) * 86400 AS INTEGER) AS age_s, \
            CASE WHEN NOT is_removed THEN next_poll_at END AS next_poll_at, NULL AS cursor, \
            pages, rows, http_status, consecutive_failures, NULL AS breaker, complete_at, last_error AS error, held_deletes \
            FROM cistern_resource
            """,
            "cistern_tombstone": tombstones(entities),
        ]
    }

    /// Every entity's tombstones in one list, by key.
    private static func tombstones(_ entities: [EntityConfiguration]) -> String {
        guard !entities.isEmpty else {
            return "SELECT NULL AS entity, NULL AS key, NULL AS deleted_at, NULL AS run WHERE 0"
        }
        return entities.map { entity in
            let key = entity.key.map { "\"\($0)\"" }.joined(separator: " || ',' || ")
            return "SELECT '\(entity.name)' AS entity, CAST(\(key) AS TEXT) AS key, _deleted_at AS deleted_at, _run AS run "
                + "FROM \"\(entity.name)_tombstone\""
        }.joined(separator: " UNION ALL ")
    }
}
