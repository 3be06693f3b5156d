import OpenCoreData
import SyncConfiguration

/// The pipeline's own entities. What the pipeline must remember is data: it is set in the same worker context as the records it vouches for,
/// and reaches the store in the same transaction.
enum StateModel {
    static let resource = "CisternResource"
    static let request = "CisternRequest"
    static let run = "CisternRun"
    static let quarantine = "CisternQuarantine"
    static let keys = "CisternKeys"

    static func entities(mirroring mirrored: [EntityConfiguration]) -> [NSEntityDescription] {
        [
            entity(
                resource, view: "cistern_resource", key: ["source", "resource"],
                [
                    ("source", .string), ("resource", .string), ("lastSuccess", .date), ("completeAt", .date), ("nextPollAt", .date),
                    ("parkedUntil", .date), ("runNumber", .integer64), ("consecutiveFailures", .integer64), ("httpStatus", .integer64),
                    ("lastError", .string), ("isPaused", .boolean), ("isEnabled", .boolean), ("isRemoved", .boolean), ("staleAt", .date),
                    ("runsUntil", .date), ("pages", .integer64), ("rows", .integer64),
                    // Which readings of which pages the last complete listing was, if the resource vouches for their rows and no others.
                    ("listing", .binaryData), ("heldDeletes", .integer64), ("mayDelete", .boolean), ("mapping", .string),
                    // The run that read the last complete listing.
                    ("completeRun", .integer64),
                ], views: StatusViews.views(mirroring: mirrored)),
            entity(
                request, view: nil, key: ["scope", "request"],
                [
                    ("scope", .string), ("request", .string), ("etag", .string), ("lastModified", .string), ("bodyHash", .string),
                    // What the page named as the next one: followed again when it answers 304.
                    ("next", .string), ("recordCount", .integer64), ("mapping", .string), ("run", .integer64), ("savedAt", .date),
                ]),
            entity(
                keys, view: nil, key: ["scope", "request", "kind"],
                [("scope", .string), ("request", .string), ("kind", .string), ("keys", .binaryData)]),
            entity(
                run, view: "cistern_run", key: ["source", "resource", "number"],
                [
                    ("source", .string), ("resource", .string), ("number", .integer64), ("uuid", .uuid), ("cause", .string),
                    ("startedAt", .date), ("endedAt", .date), ("outcome", .string), ("isComplete", .boolean), ("pages", .integer64),
                    ("bytes", .integer64), ("inserted", .integer64), ("updated", .integer64), ("unchanged", .integer64),
                    ("deleted", .integer64), ("quarantined", .integer64), ("httpStatus", .integer64), ("error", .string),
                ]),
            entity(
                quarantine, view: "cistern_quarantine", key: ["digest"],
                [
                    ("digest", .string), ("source", .string), ("resource", .string), ("run", .integer64), ("page", .integer64),
                    ("record", .integer64), ("reason", .string), ("path", .string), ("raw", .string), ("seenAt", .date),
                    ("count", .integer64),
                ]),
        ]
    }

    /// Names in the views are SQL's: `lastSuccess` is the column `last_success`. Key sets are not shown.
    private static func entity(
        _ name: String, view: String?, key: [String], _ attributes: [(String, NSAttributeDescription.AttributeType)],
        views: [String: String] = [:]
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes.map { name, type in
            let attribute = NSAttributeDescription(name: name, type: type)
            attribute.userInfo = [ViewAnnotation.column: type == .binaryData ? "" : StatusViews.column(name)]
            return attribute
        }
        entity.uniquenessConstraints = [key]
        entity.userInfo = [ViewAnnotation.hidden: view == nil, ViewAnnotation.name: view ?? name, ViewAnnotation.extra: views]
        return entity
    }
}
