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

/// What happened to an object in a transaction of persistent history.
public enum NSPersistentHistoryChangeType: Int, Sendable {
    /// The object is new.
    case insert = 0
    /// Some of the object's properties have other values.
    case update = 1
    /// The object is gone; the change may have a tombstone of it.
    case delete = 2
}

/// A place in the history of one store.
package enum HistoryPlace: Hashable, Sendable {
    /// The transaction of that number.
    case number(Int64)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case time(Double)
}

/// Option of a SQLite store: whether each save is recorded in the file, in the transaction of the save. `Bool`, default false; a dictionary, as Core
/// Data takes one, means true.
///
/// A file that has a history goes on having one, also where it is opened without the option: otherwise what is saved then would be missing in it.
/// A store that is open for reading only can be asked for the history that its file has.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"

/// A store that can record its saves.
package protocol HistoryKeeping: NSPersistentStore {
    /// Whether it does.
    var keepsHistory: Bool { get }
    /// The number of the last transaction that was recorded, by whomever; 0 if there was none.
    func lastTransactionNumber() throws -> Int64
    /// The transactions after a place, or all, ascending. With a number, throws 134301 if not all transactions after that one are there.
    ///
    /// - Parameters:
    ///   - isWanted: asked of each transaction before its changes are read.
    ///   - limit: at most how many; nil: no limit.
    func history(
        after place: HistoryPlace?, withChanges: Bool, limit: Int?, where isWanted: ((HistoryRecord) throws -> Bool)?
    ) throws -> [HistoryRecord]
    /// Deletes the transactions before a place: how many there were.
    func deleteHistory(before place: HistoryPlace) throws -> Int
}
