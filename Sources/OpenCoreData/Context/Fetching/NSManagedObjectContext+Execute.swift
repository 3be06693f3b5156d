import Foundation

/// A request that a context can execute.
protocol ContextRequest: NSPersistentStoreRequest {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}

extension NSManagedObjectContext {
    /// See `execute(_:)`.
    final func answer(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        checkQueue()
        guard let request = request as? any ContextRequest else {
            throw NSError.coreData(
                .persistentStoreUnsupportedRequestType,
                "\(type(of: request)) can't be executed by a context. Use fetch(_:) for fetch requests and save() for changes.")
        }
        return try request.execute(in: self)
    }
}

extension NSAsynchronousFetchRequest: ContextRequest {
    /// The fetch is prepared on the context's queue: what is unsaved now counts. It is answered on another thread by what the context and
    /// its parents have published; the objects are made on the context's queue.
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        if context.concurrencyType == .confinementConcurrencyType { Violation.confinement("an asynchronous fetch") }
        let result = NSAsynchronousFetchResult(self, context: context)
        let fetch = try context.prepared(fetchRequest)
        result.progress = Progress(totalUnitCount: Int64(max(estimatedResultCount, 1)))
        let pending = Unchecked(value: (request: self, result: result, context: context))
        let read: @Sendable () -> Result<NSManagedObjectContext.Found, any Error> = {
            if pending.value.result.isCancelled { return .failure(CocoaError(.userCancelled)) }
            return Result { try pending.value.context.answer(fetch) }
        }
        let finish: @Sendable (Result<NSManagedObjectContext.Found, any Error>) -> Void = { found in
            pending.value.request.finish(pending.value.result, fetch, found)
        }
        if fetch.plan.predicate?.containsOpaque ?? false {
            // Code in the predicate may count on the context's queue.
            context.queue.async { finish(read()) }
        } else {
            DispatchQueue.global().async {
                let found = read()
                pending.value.context.queue.async { finish(found) }
            }
        }
        return result
    }

    /// On the context's queue.
    private func finish(
        _ result: NSAsynchronousFetchResult<ResultType>, _ fetch: NSManagedObjectContext.PreparedFetch,
        _ found: Result<NSManagedObjectContext.Found, any Error>
    ) {
        let context = result.managedObjectContext
        context.readInbox()
        do {
            if result.isCancelled { throw CocoaError(.userCancelled) }
            let objects: [ResultType] = try context.results(of: fetch, found: found.get())
            result.finalResult = objects
            result.progress?.totalUnitCount = Int64(max(objects.count, 1))
            result.progress?.completedUnitCount = result.progress?.totalUnitCount ?? 0
        } catch {
            result.operationError = error
        }
        completionBlock?(result)
        context.processPendingChanges()
    }
}

extension NSPersistentStoreCoordinator {
    /// Executes a request on the stores: unsaved changes of a context don't count, but for an asynchronous fetch, whose request says so itself. Call it on
    /// the context's queue.
    ///
    /// - Parameter context: whose the objects are that it finds; one of this coordinator.
    /// - Returns: of a fetch an array of its results, else the result that `NSManagedObjectContext.execute(_:)` gives.
    /// - Throws: 134091 for a request that a context can't execute either, or a context of another coordinator; else what fetching and executing throw.
    public func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        guard context.endOfChain === self else {
            throw NSError.coreData(
                .persistentStoreUnsupportedRequestType,
                "\(context.diagnosticName) is not of the coordinator that is to execute the request; use one whose stores it is about.")
        }
        guard let fetch = (request as? any StoreFetch)?.ofStores else { return try context.execute(request) }
        return try context.fetch(fetch)
    }
}

/// A fetch request of whatever results.
private protocol StoreFetch {
    /// The same for what the stores hold alone.
    var ofStores: NSFetchRequest<any NSFetchRequestResult> { get }
}

extension NSFetchRequest: StoreFetch {
    fileprivate var ofStores: NSFetchRequest<any NSFetchRequestResult> {
        let request = erased()
        request.includesPendingChanges = false
        return request
    }
}

extension NSFetchRequest {
    /// Executes the request in the context whose block the caller runs in, the innermost if there are several. Traps outside of
    /// `perform` and `performAndWait`; throws what `fetch(_:)` throws.
    public func execute() throws -> [ResultType] {
        guard let context = NSManagedObjectContext.current else {
            Violation.misuse("execute() works only within a context's perform or performAndWait; elsewhere use the context's fetch(_:)")
        }
        return try context.fetch(self)
    }
}

extension NSManagedObjectContext {
    /// The context whose block this thread runs.
    static var current: NSManagedObjectContext? {
        for queue in HeldQueues.current.all.reversed() {
            if let context = queue.owner as? NSManagedObjectContext { return context }
        }
        return nil
    }
}

extension NSPersistentHistoryChangeRequest: ContextRequest {
    /// The stores' history is the same whichever context asks: what is unsaved is in none.
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        guard let coordinator = context.endOfChain else { Violation.noParent(context.diagnosticName, doing: "ask for history") }
        return try coordinator.execute(self)
    }
}

extension NSPersistentHistoryTransaction {
    /// The entity of a fetch request for transactions, whatever the context.
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { entityDescription }

    /// A notification that `mergeChanges(fromContextDidSave:)` takes: the IDs of what was inserted, updated and deleted. Empty if the transaction was
    /// fetched without its changes.
    public func objectIDNotification() -> Notification {
        typealias Key = NSManagedObjectContext.NotificationKey
        let keys: [NSPersistentHistoryChangeType: Key] = [.insert: .insertedObjectIDs, .update: .updatedObjectIDs, .delete: .deletedObjectIDs]
        var ids: [Key: Set<NSManagedObjectID>] = [:]
        for change in record.changes ?? [] {
            if let key = keys[change.type] { ids[key, default: []].insert(change.id) }
        }
        let info = Dictionary(uniqueKeysWithValues: ids.map { (AnyHashable($0.key.rawValue), $0.value as Any) })
        return Notification(name: .NSManagedObjectContextDidSaveObjectIDs, object: nil, userInfo: info)
    }
}

extension NSPersistentHistoryChange {
    /// The entity of a fetch request for changes, whatever the context.
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { entityDescription }
}
