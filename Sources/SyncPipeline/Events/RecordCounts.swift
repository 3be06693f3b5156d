/// What happened to the records of a page or a run.
public struct RecordCounts: Sendable, Hashable, Codable {
    public var inserted = 0
    public var updated = 0
    public var unchanged = 0
    public var deleted = 0
    public var quarantined = 0

    public init() {}

    public static func += (left: inout RecordCounts, right: RecordCounts) {
        left.inserted += right.inserted
        left.updated += right.updated
        left.unchanged += right.unchanged
        left.deleted += right.deleted
        left.quarantined += right.quarantined
    }
}
