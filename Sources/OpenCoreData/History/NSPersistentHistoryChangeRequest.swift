import Foundation

/// A request for the history of stores, or for its deletion. Executed by a context, whichever of its stack.
///
/// It asks the coordinator's stores that keep a history, or all of `affectedStores`. Executing it throws 134091 where none keeps one, and 134301 where
/// what was asked for is not complete any more, because a part of it was deleted.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    package enum Place: Sendable {
        case anywhere
        case date(Date)
        case token(NSPersistentHistoryToken)
    }

    package private(set) var isDeletion = false
    package private(set) var place = Place.anywhere

    /// What the result is. Default: transactions and changes; of a deletion: the status, and only `count` is something else.
    open var resultType = NSPersistentHistoryResultType.transactionsAndChanges
    /// Which transactions or changes, of those after the place that was given: a request for either of their entities. Its predicate, sort descriptors,
    /// limit and offset count. Transactions that are asked for by their changes have those changes only.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

    /// Everything.
    public required override init() { super.init() }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = filled(Self())
        copy.place = place
        copy.isDeletion = isDeletion
        copy.resultType = resultType
        copy.fetchRequest = fetchRequest?.duplicate()
        return copy
    }

    /// The token that was given, or that of the transaction that was given.
    open var token: NSPersistentHistoryToken? {
        if case .token(let token) = place { return token }
        return nil
    }

    private class func make(_ place: Place, isDeletion: Bool = false) -> Self {
        let request = self.init()
        request.place = place
        request.isDeletion = isDeletion
        if isDeletion { request.resultType = .statusOnly }
        return request
    }

    private class func place(_ token: NSPersistentHistoryToken?) -> Place { token.map(Place.token) ?? .anywhere }

    // MARK: Fetching

    /// What was saved after a date. Where the clock was set back, what it was set back over as well.
    open class func fetchHistory(after date: Date) -> Self { make(.date(date)) }

    /// What was saved after what a token knows; with nil, and in stores that the token does not know, everything.
    open class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self { make(place(token)) }

    /// What was saved after a transaction; with nil everything.
    open class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self { make(place(transaction?.token)) }

    /// What a request finds, made from `NSPersistentHistoryTransaction.fetchRequest` or `NSPersistentHistoryChange.fetchRequest`.
    open class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>) -> Self {
        let request = make(.anywhere)
        request.fetchRequest = fetchRequest
        return request
    }

    // MARK: Deleting

    /// Deletes what was saved before a date. History is deleted from its beginning, without gaps: from the first transaction that is not before the
    /// date on, all are kept.
    open class func deleteHistory(before date: Date) -> Self { make(.date(date), isDeletion: true) }

    /// Deletes what was saved before the last transaction that a token knows. With nil, and in stores that the token does not know, nothing.
    open class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self { make(place(token), isDeletion: true) }

    /// Deletes what was saved before a transaction; with nil nothing.
    open class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self { make(place(transaction?.token), isDeletion: true) }
}

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

/// What a request for persistent history yielded.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
    /// What the result type says.
    public let result: Any?
    /// What was asked for, and so of which type `result` is.
    public let resultType: NSPersistentHistoryResultType

    package init(_ result: Any?, _ resultType: NSPersistentHistoryResultType) {
        self.result = result
        self.resultType = resultType
        super.init()
    }
}
