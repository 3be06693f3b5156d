import Foundation

/// One save, as the history of a store has it.
// Immutable.
open class NSPersistentHistoryTransaction: NSObject, NSCopying, @unchecked Sendable {
    package let record: HistoryRecord
    /// The place of this transaction, and of those that were listed before it: to go on from.
    public let token: NSPersistentHistoryToken

    package init(_ record: HistoryRecord, token: NSPersistentHistoryToken) {
        self.record = record
        self.token = token
        super.init()
    }

    /// When it was saved.
    open var timestamp: Date { Date(timeIntervalSinceReferenceDate: record.time) }
    /// What it changed, each object once; nil if that was not asked for.
    open var changes: [NSPersistentHistoryChange]? { record.changes?.map { NSPersistentHistoryChange($0, in: self) } }
    /// Its number in its store: the next one has the next.
    open var transactionNumber: Int64 { record.number }
    /// The UUID of its store.
    open var storeID: String { record.store }
    /// The bundle identifier of the program that saved; of a program without one, its name.
    open var bundleID: String { record.bundleID }
    /// The name of the process that saved.
    open var processID: String { record.processID }
    /// The name of the context that saved to the store.
    open var contextName: String? { record.origin.contextName }
    /// Its `transactionAuthor`.
    open var author: String? { record.origin.author }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Two of the same store and number are the same.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryTransaction else { return false }
        return other.record.store == record.store && other.record.number == record.number
    }

    open override var hash: Int { record.number.hashValue }

    open override var description: String {
        "<NSPersistentHistoryTransaction \(record.number): \(timestamp), author \(author ?? "none"), context \(contextName ?? "none"), "
            + "process \(processID), \(record.changes.map { "\($0.count)" } ?? "unread") changes, store \(storeID)>"
    }

    // MARK: Fetching

    /// The entity of a fetch request for transactions.
    open class var entityDescription: NSEntityDescription? { HistoryModel.transaction }

    /// A request for transactions, to which a predicate over `author`, `bundleID`, `changes`, `contextName`, `processID`, `storeID`, `timestamp` and
    /// `transactionNumber` can be added.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { HistoryModel.request(for: HistoryModel.transaction) }
}

extension NSPersistentHistoryTransaction: KeyValueCoding {
    public func value(forKey key: String) -> Any? {
        switch key {
        case "author": author
        case "bundleID": bundleID
        case "changes": changes
        case "contextName": contextName
        case "processID": processID
        case "storeID": storeID
        case "timestamp": timestamp
        case "transactionNumber": transactionNumber
        case "self": self
        default: Violation.unknownKey(key, entity: HistoryModel.transaction.name)
        }
    }
}
