/// What a request for persistent history answers.
public enum NSPersistentHistoryResultType: Int, Sendable {
    /// Whether it worked: `true` as an `NSNumber`; what does not work throws.
    case statusOnly = 0
    /// The IDs of the objects that were changed, each once: `[NSManagedObjectID]`.
    case objectIDs = 1
    /// How many transactions, or changes where changes are what is fetched: `NSNumber`.
    case count = 2
    /// `[NSPersistentHistoryTransaction]` without their changes.
    case transactionsOnly = 3
    /// `[NSPersistentHistoryChange]` without their transactions.
    case changesOnly = 4
    /// `[NSPersistentHistoryTransaction]` with their changes.
    case transactionsAndChanges = 5
}
