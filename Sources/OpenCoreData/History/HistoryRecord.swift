/// One transaction as a store has it.
package struct HistoryRecord: Sendable {
    package let store: String
    package let number: Int64
    /// Seconds since 2001-01-01 00:00:00 UTC.
    package let time: Double
    package let origin: SaveOrigin
    package let bundleID: String
    package let processID: String
    /// Nil where they were not asked for.
    package var changes: [HistoryChangeRecord]?

    package init(store: String, number: Int64, time: Double, origin: SaveOrigin, bundleID: String, processID: String) {
        self.store = store
        self.number = number
        self.time = time
        self.origin = origin
        self.bundleID = bundleID
        self.processID = processID
    }
}

/// One changed object of a transaction.
package struct HistoryChangeRecord: Sendable {
    package let number: Int64
    package let id: NSManagedObjectID
    package let type: NSPersistentHistoryChangeType
    /// The names of the properties that an update changed; nil for others, and where that is not known.
    package let updated: [String]?
    /// What a deletion left; nil for others, and where nothing is to be kept.
    package let tombstone: [String: AttributeValue]?

    package init(
        number: Int64, id: NSManagedObjectID, type: NSPersistentHistoryChangeType, updated: [String]?, tombstone: [String: AttributeValue]?
    ) {
        self.number = number
        self.id = id
        self.type = type
        self.updated = updated
        self.tombstone = tombstone
    }
}
