import CoreData

// Requests and their results, and the history of a store. Each statement uses one of Apple's declarations as it is spelled and typed; the
// comment behind or above it names it, and COVERAGE.md counts them.

// MARK: NSPersistentStoreRequest

private func nsPersistentStoreRequest(_ it: NSPersistentStoreRequest) {
    let _: ReferenceWritableKeyPath<NSPersistentStoreRequest, [NSPersistentStore]?> = \.affectedStores  // = affectedStores
    let _: KeyPath<NSPersistentStoreRequest, NSPersistentStoreRequestType> = \.requestType  // = requestType
    let _: any NSCopying = it  // = NSCopying
}

// MARK: NSPersistentStoreRequestType

private func nsPersistentStoreRequestType() {
    let _: (UInt) -> NSPersistentStoreRequestType? = NSPersistentStoreRequestType.init(rawValue:)  // = init(rawValue:)
    let _: NSPersistentStoreRequestType = .fetchRequestType  // = fetchRequestType
    let _: NSPersistentStoreRequestType = .saveRequestType  // = saveRequestType
    let _: NSPersistentStoreRequestType = .batchInsertRequestType  // = batchInsertRequestType
    let _: NSPersistentStoreRequestType = .batchUpdateRequestType  // = batchUpdateRequestType
    let _: NSPersistentStoreRequestType = .batchDeleteRequestType  // = batchDeleteRequestType
}

// MARK: NSFetchRequest

private func nsFetchRequest(_ it: NSFetchRequest<NSManagedObject>) {
    let _: () -> NSFetchRequest<NSManagedObject> = NSFetchRequest<NSManagedObject>.init  // = init()
    let _: (String) -> NSFetchRequest<NSManagedObject> = NSFetchRequest<NSManagedObject>.init(entityName:)  // = init(entityName:)
    let _: () throws -> [NSManagedObject] = it.execute  // = execute()
    let _: ReferenceWritableKeyPath<NSFetchRequest<NSManagedObject>, NSEntityDescription?> = \.entity  // = entity
    let _: KeyPath<NSFetchRequest<NSManagedObject>, String?> = \.entityName  // = entityName
    let _: ReferenceWritableKeyPath<NSFetchRequest<NSManagedObject>, NSPredicate?> = \.predicate  // = predicate
    let _: ReferenceWritableKeyPath<NSFetchRequest<NSManagedObject>, [NSSortDescriptor]?> = \.sortDescriptors  // = sortDescriptors
    let _: ReferenceWritableKeyPath<NSFetchRequest<NSManagedObject>, Int> = \.fetchLimit  // = fetchLimit
    let _: ReferenceWritableKeyPath<NSFetchRequest<NSManagedObject>, [NSPersistentStore]?> = \.affectedStores  // = affectedStores
    let _: ReferenceWritableKeyPath<NSFetchRequest<NSManagedObject>, NSFetchRequestResultType> = \.resultType  // = resultType
    let _: ReferenceWritableKeyPath<NSFetchRequest<NSManagedObject>, Bool> = \.includesSubentities  // = includesSubentities
    let _: ReferenceWritableKeyPath<NSFetchRequest<NSManagedObject>, Bool> = \.includesPropertyValues  // = includesPropertyValues
    let _: ReferenceWritableKeyPath<NSFetchRequest<NSManagedObject>, Bool> = \.returnsObjectsAsFaults  // = returnsObjectsAsFaults
    // = relationshipKeyPathsForPrefetching
    let _: ReferenceWritableKeyPath<NSFetchRequest<NSManagedObject>, [String]?> = \.relationshipKeyPathsForPrefetching
    let _: ReferenceWritableKeyPath<NSFetchRequest<NSManagedObject>, Bool> = \.includesPendingChanges  // = includesPendingChanges
    let _: ReferenceWritableKeyPath<NSFetchRequest<NSManagedObject>, Bool> = \.returnsDistinctResults  // = returnsDistinctResults
    let _: ReferenceWritableKeyPath<NSFetchRequest<NSManagedObject>, [Any]?> = \.propertiesToFetch  // = propertiesToFetch
    let _: ReferenceWritableKeyPath<NSFetchRequest<NSManagedObject>, Int> = \.fetchOffset  // = fetchOffset
    let _: ReferenceWritableKeyPath<NSFetchRequest<NSManagedObject>, Int> = \.fetchBatchSize  // = fetchBatchSize
    // = shouldRefreshRefetchedObjects
    let _: ReferenceWritableKeyPath<NSFetchRequest<NSManagedObject>, Bool> = \.shouldRefreshRefetchedObjects
    let _: ReferenceWritableKeyPath<NSFetchRequest<NSManagedObject>, [Any]?> = \.propertiesToGroupBy  // = propertiesToGroupBy
    let _: ReferenceWritableKeyPath<NSFetchRequest<NSManagedObject>, NSPredicate?> = \.havingPredicate  // = havingPredicate
    let _: any NSCopying = it  // = NSCopying
}

// MARK: NSFetchRequestExpression

private func nsFetchRequestExpression() {
    // = expression(forFetch:context:countOnly:)
    let _: (NSExpression, NSExpression, Bool) -> NSExpression = NSFetchRequestExpression.expression(forFetch:context:countOnly:)
    let _: KeyPath<NSFetchRequestExpression, NSExpression> = \.requestExpression  // = requestExpression
    let _: KeyPath<NSFetchRequestExpression, NSExpression> = \.contextExpression  // = contextExpression
    let _: KeyPath<NSFetchRequestExpression, Bool> = \.isCountOnlyRequest  // = isCountOnlyRequest
    let _: NSExpression.ExpressionType = NSFetchRequestExpressionType  // = NSFetchRequestExpressionType
}

// MARK: NSFetchRequestResult

private func nsFetchRequestResult() {
    let _: any NSFetchRequestResult.Type = NSDictionary.self  // = NSDictionary
    let _: any NSFetchRequestResult.Type = NSNumber.self  // = NSNumber
}

// MARK: NSFetchRequestResultType

private func nsFetchRequestResultType() {
    let _: (UInt) -> NSFetchRequestResultType = NSFetchRequestResultType.init(rawValue:)  // = init(rawValue:)
    let _: NSFetchRequestResultType = .managedObjectResultType  // = managedObjectResultType
    let _: NSFetchRequestResultType = .managedObjectIDResultType  // = managedObjectIDResultType
    let _: NSFetchRequestResultType = .dictionaryResultType  // = dictionaryResultType
    let _: NSFetchRequestResultType = .countResultType  // = countResultType
}

// MARK: NSAsynchronousFetchRequest

private func nsAsynchronousFetchRequest(_ request: NSFetchRequest<NSManagedObject>) {
    // = init(fetchRequest:completionBlock:)
    _ = NSAsynchronousFetchRequest(fetchRequest: request) { (_: NSAsynchronousFetchResult<NSManagedObject>) in }
    let _: KeyPath<NSAsynchronousFetchRequest<NSManagedObject>, NSFetchRequest<NSManagedObject>> = \.fetchRequest  // = fetchRequest
    let _: ReferenceWritableKeyPath<NSAsynchronousFetchRequest<NSManagedObject>, Int> = \.estimatedResultCount  // = estimatedResultCount
    // = NSPersistentStoreAsynchronousFetchResultCompletionBlock
    let _: NSPersistentStoreAsynchronousFetchResultCompletionBlock = { (_: NSAsynchronousFetchResult<any NSFetchRequestResult>) in }
}

// MARK: NSPersistentStoreAsynchronousResult

private func nsPersistentStoreAsynchronousResult(_ it: NSPersistentStoreAsynchronousResult) {
    let _: KeyPath<NSPersistentStoreAsynchronousResult, NSManagedObjectContext> = \.managedObjectContext  // = managedObjectContext
    let _: KeyPath<NSPersistentStoreAsynchronousResult, (any Error)?> = \.operationError  // = operationError
    let _: KeyPath<NSPersistentStoreAsynchronousResult, Progress?> = \.progress  // = progress
    let _: () -> Void = it.cancel  // = cancel()
    let _: NSPersistentStoreResult = it  // = NSPersistentStoreResult
}

// MARK: NSAsynchronousFetchResult

private func nsAsynchronousFetchResult(_ it: NSAsynchronousFetchResult<NSManagedObject>) {
    // = fetchRequest
    let _: KeyPath<NSAsynchronousFetchResult<NSManagedObject>, NSAsynchronousFetchRequest<NSManagedObject>> = \.fetchRequest
    let _: KeyPath<NSAsynchronousFetchResult<NSManagedObject>, [NSManagedObject]?> = \.finalResult  // = finalResult
    let _: NSPersistentStoreAsynchronousResult = it  // = NSPersistentStoreAsynchronousResult
}

// MARK: NSBatchInsertRequest

private func nsBatchInsertRequest() {
    let _: (String, [[String: Any]]) -> NSBatchInsertRequest = NSBatchInsertRequest.init(entityName:objects:)  // = init(entityName:objects:)
    // = init(entity:objects:)
    let _: (NSEntityDescription, [[String: Any]]) -> NSBatchInsertRequest = NSBatchInsertRequest.init(entity:objects:)
    // = init(entityName:dictionaryHandler:)
    _ = NSBatchInsertRequest(entityName: "A", dictionaryHandler: { (_: NSMutableDictionary) -> Bool in true })
    // = init(entity:dictionaryHandler:)
    _ = NSBatchInsertRequest(entity: NSEntityDescription(), dictionaryHandler: { (_: NSMutableDictionary) -> Bool in true })
    // = init(entityName:managedObjectHandler:)
    _ = NSBatchInsertRequest(entityName: "A", managedObjectHandler: { (_: NSManagedObject) -> Bool in true })
    // = init(entity:managedObjectHandler:)
    _ = NSBatchInsertRequest(entity: NSEntityDescription(), managedObjectHandler: { (_: NSManagedObject) -> Bool in true })
    let _: KeyPath<NSBatchInsertRequest, String> = \.entityName  // = entityName
    let _: KeyPath<NSBatchInsertRequest, NSEntityDescription?> = \.entity  // = entity
    let _: ReferenceWritableKeyPath<NSBatchInsertRequest, [[String: Any]]?> = \.objectsToInsert  // = objectsToInsert
    let _: ReferenceWritableKeyPath<NSBatchInsertRequest, ((NSMutableDictionary) -> Bool)?> = \.dictionaryHandler  // = dictionaryHandler
    let _: ReferenceWritableKeyPath<NSBatchInsertRequest, ((NSManagedObject) -> Bool)?> = \.managedObjectHandler  // = managedObjectHandler
    let _: ReferenceWritableKeyPath<NSBatchInsertRequest, NSBatchInsertRequestResultType> = \.resultType  // = resultType
}

// MARK: NSBatchInsertRequestResultType

private func nsBatchInsertRequestResultType() {
    let _: (UInt) -> NSBatchInsertRequestResultType? = NSBatchInsertRequestResultType.init(rawValue:)  // = init(rawValue:)
    let _: NSBatchInsertRequestResultType = .statusOnly  // = statusOnly
    let _: NSBatchInsertRequestResultType = .objectIDs  // = objectIDs
    let _: NSBatchInsertRequestResultType = .count  // = count
}

// MARK: NSBatchInsertResult

private func nsBatchInsertResult() {
    let _: KeyPath<NSBatchInsertResult, Any?> = \.result  // = result
    let _: KeyPath<NSBatchInsertResult, NSBatchInsertRequestResultType> = \.resultType  // = resultType
}

// MARK: NSBatchUpdateRequest

private func nsBatchUpdateRequest() {
    let _: (String) -> NSBatchUpdateRequest = NSBatchUpdateRequest.init(entityName:)  // = init(entityName:)
    let _: (NSEntityDescription) -> NSBatchUpdateRequest = NSBatchUpdateRequest.init(entity:)  // = init(entity:)
    let _: KeyPath<NSBatchUpdateRequest, String> = \.entityName  // = entityName
    let _: ReferenceWritableKeyPath<NSBatchUpdateRequest, NSPredicate?> = \.predicate  // = predicate
    let _: ReferenceWritableKeyPath<NSBatchUpdateRequest, Bool> = \.includesSubentities  // = includesSubentities
    let _: ReferenceWritableKeyPath<NSBatchUpdateRequest, NSBatchUpdateRequestResultType> = \.resultType  // = resultType
    let _: ReferenceWritableKeyPath<NSBatchUpdateRequest, [AnyHashable: Any]?> = \.propertiesToUpdate  // = propertiesToUpdate
}

// MARK: NSBatchUpdateRequestResultType

private func nsBatchUpdateRequestResultType() {
    let _: (UInt) -> NSBatchUpdateRequestResultType? = NSBatchUpdateRequestResultType.init(rawValue:)  // = init(rawValue:)
    let _: NSBatchUpdateRequestResultType = .statusOnlyResultType  // = statusOnlyResultType
    let _: NSBatchUpdateRequestResultType = .updatedObjectIDsResultType  // = updatedObjectIDsResultType
    let _: NSBatchUpdateRequestResultType = .updatedObjectsCountResultType  // = updatedObjectsCountResultType
}

// MARK: NSBatchUpdateResult

private func nsBatchUpdateResult() {
    let _: KeyPath<NSBatchUpdateResult, Any?> = \.result  // = result
    let _: KeyPath<NSBatchUpdateResult, NSBatchUpdateRequestResultType> = \.resultType  // = resultType
}

// MARK: NSBatchDeleteRequest

private func nsBatchDeleteRequest() {
    // = init(fetchRequest:)
    let _: (NSFetchRequest<any NSFetchRequestResult>) -> NSBatchDeleteRequest = NSBatchDeleteRequest.init(fetchRequest:)
    let _: ([NSManagedObjectID]) -> NSBatchDeleteRequest = NSBatchDeleteRequest.init(objectIDs:)  // = init(objectIDs:)
    let _: KeyPath<NSBatchDeleteRequest, NSFetchRequest<any NSFetchRequestResult>> = \.fetchRequest  // = fetchRequest
    let _: ReferenceWritableKeyPath<NSBatchDeleteRequest, NSBatchDeleteRequestResultType> = \.resultType  // = resultType
}

// MARK: NSBatchDeleteRequestResultType

private func nsBatchDeleteRequestResultType() {
    let _: (UInt) -> NSBatchDeleteRequestResultType? = NSBatchDeleteRequestResultType.init(rawValue:)  // = init(rawValue:)
    let _: NSBatchDeleteRequestResultType = .resultTypeStatusOnly  // = resultTypeStatusOnly
    let _: NSBatchDeleteRequestResultType = .resultTypeObjectIDs  // = resultTypeObjectIDs
    let _: NSBatchDeleteRequestResultType = .resultTypeCount  // = resultTypeCount
}

// MARK: NSBatchDeleteResult

private func nsBatchDeleteResult() {
    let _: KeyPath<NSBatchDeleteResult, Any?> = \.result  // = result
    let _: KeyPath<NSBatchDeleteResult, NSBatchDeleteRequestResultType> = \.resultType  // = resultType
}

// MARK: NSSaveChangesRequest

private func nsSaveChangesRequest() {
    // = init(inserted:updated:deleted:locked:)
    let _: (Set<NSManagedObject>?, Set<NSManagedObject>?, Set<NSManagedObject>?, Set<NSManagedObject>?) -> NSSaveChangesRequest = NSSaveChangesRequest
        .init(inserted:updated:deleted:locked:)
    let _: KeyPath<NSSaveChangesRequest, Set<NSManagedObject>?> = \.insertedObjects  // = insertedObjects
    let _: KeyPath<NSSaveChangesRequest, Set<NSManagedObject>?> = \.updatedObjects  // = updatedObjects
    let _: KeyPath<NSSaveChangesRequest, Set<NSManagedObject>?> = \.deletedObjects  // = deletedObjects
    let _: KeyPath<NSSaveChangesRequest, Set<NSManagedObject>?> = \.lockedObjects  // = lockedObjects
}

// MARK: NSPersistentHistoryChangeRequest

private func nsPersistentHistoryChangeRequest() {
    // = fetchHistory(after:) a date
    let _: (Date) -> NSPersistentHistoryChangeRequest = NSPersistentHistoryChangeRequest.fetchHistory(after:)
    // = fetchHistory(after:) a token
    let _: (NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest = NSPersistentHistoryChangeRequest.fetchHistory(after:)
    // = fetchHistory(after:) a transaction
    let _: (NSPersistentHistoryTransaction?) -> NSPersistentHistoryChangeRequest = NSPersistentHistoryChangeRequest.fetchHistory(after:)
    // = fetchHistory(withFetch:)
    let _: (NSFetchRequest<any NSFetchRequestResult>) -> NSPersistentHistoryChangeRequest = NSPersistentHistoryChangeRequest.fetchHistory(withFetch:)
    // = deleteHistory(before:) a date
    let _: (Date) -> NSPersistentHistoryChangeRequest = NSPersistentHistoryChangeRequest.deleteHistory(before:)
    // = deleteHistory(before:) a token
    let _: (NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest = NSPersistentHistoryChangeRequest.deleteHistory(before:)
    // = deleteHistory(before:) a transaction
    let _: (NSPersistentHistoryTransaction?) -> NSPersistentHistoryChangeRequest = NSPersistentHistoryChangeRequest.deleteHistory(before:)
    let _: ReferenceWritableKeyPath<NSPersistentHistoryChangeRequest, NSPersistentHistoryResultType> = \.resultType  // = resultType
    let _: KeyPath<NSPersistentHistoryChangeRequest, NSPersistentHistoryToken?> = \.token  // = token
    // = fetchRequest
    let _: ReferenceWritableKeyPath<NSPersistentHistoryChangeRequest, NSFetchRequest<any NSFetchRequestResult>?> = \.fetchRequest
}

// MARK: NSPersistentHistoryResultType

private func nsPersistentHistoryResultType() {
    let _: (Int) -> NSPersistentHistoryResultType? = NSPersistentHistoryResultType.init(rawValue:)  // = init(rawValue:)
    let _: NSPersistentHistoryResultType = .statusOnly  // = statusOnly
    let _: NSPersistentHistoryResultType = .objectIDs  // = objectIDs
    let _: NSPersistentHistoryResultType = .count  // = count
    let _: NSPersistentHistoryResultType = .transactionsOnly  // = transactionsOnly
    let _: NSPersistentHistoryResultType = .changesOnly  // = changesOnly
    let _: NSPersistentHistoryResultType = .transactionsAndChanges  // = transactionsAndChanges
}

// MARK: NSPersistentHistoryResult

private func nsPersistentHistoryResult() {
    let _: KeyPath<NSPersistentHistoryResult, Any?> = \.result  // = result
    let _: KeyPath<NSPersistentHistoryResult, NSPersistentHistoryResultType> = \.resultType  // = resultType
}

// MARK: NSPersistentHistoryTransaction

private func nsPersistentHistoryTransaction(_ it: NSPersistentHistoryTransaction) {
    let _: any NSCopying = it  // = NSCopying
    let _: NSEntityDescription? = NSPersistentHistoryTransaction.entityDescription  // = entityDescription
    // = entityDescription(with:)
    let _: (NSManagedObjectContext) -> NSEntityDescription? = NSPersistentHistoryTransaction.entityDescription(with:)
    let _: NSFetchRequest<any NSFetchRequestResult>? = NSPersistentHistoryTransaction.fetchRequest  // = fetchRequest
    let _: KeyPath<NSPersistentHistoryTransaction, Date> = \.timestamp  // = timestamp
    let _: KeyPath<NSPersistentHistoryTransaction, [NSPersistentHistoryChange]?> = \.changes  // = changes
    let _: KeyPath<NSPersistentHistoryTransaction, Int64> = \.transactionNumber  // = transactionNumber
    let _: KeyPath<NSPersistentHistoryTransaction, String> = \.storeID  // = storeID
    let _: KeyPath<NSPersistentHistoryTransaction, String> = \.bundleID  // = bundleID
    let _: KeyPath<NSPersistentHistoryTransaction, String> = \.processID  // = processID
    let _: KeyPath<NSPersistentHistoryTransaction, String?> = \.contextName  // = contextName
    let _: KeyPath<NSPersistentHistoryTransaction, String?> = \.author  // = author
    let _: KeyPath<NSPersistentHistoryTransaction, NSPersistentHistoryToken> = \.token  // = token
    let _: () -> Notification = it.objectIDNotification  // = objectIDNotification()
}

// MARK: NSPersistentHistoryChange

private func nsPersistentHistoryChange(_ it: NSPersistentHistoryChange) {
    let _: any NSCopying = it  // = NSCopying
    let _: NSEntityDescription? = NSPersistentHistoryChange.entityDescription  // = entityDescription
    // = entityDescription(with:)
    let _: (NSManagedObjectContext) -> NSEntityDescription? = NSPersistentHistoryChange.entityDescription(with:)
    let _: NSFetchRequest<any NSFetchRequestResult>? = NSPersistentHistoryChange.fetchRequest  // = fetchRequest
    let _: KeyPath<NSPersistentHistoryChange, Int64> = \.changeID  // = changeID
    let _: KeyPath<NSPersistentHistoryChange, NSManagedObjectID> = \.changedObjectID  // = changedObjectID
    let _: KeyPath<NSPersistentHistoryChange, NSPersistentHistoryChangeType> = \.changeType  // = changeType
    let _: KeyPath<NSPersistentHistoryChange, [AnyHashable: Any]?> = \.tombstone  // = tombstone
    let _: KeyPath<NSPersistentHistoryChange, NSPersistentHistoryTransaction?> = \.transaction  // = transaction
    let _: KeyPath<NSPersistentHistoryChange, Set<NSPropertyDescription>?> = \.updatedProperties  // = updatedProperties
}

// MARK: NSPersistentHistoryChangeType

private func nsPersistentHistoryChangeType() {
    let _: (Int) -> NSPersistentHistoryChangeType? = NSPersistentHistoryChangeType.init(rawValue:)  // = init(rawValue:)
    let _: NSPersistentHistoryChangeType = .insert  // = insert
    let _: NSPersistentHistoryChangeType = .update  // = update
    let _: NSPersistentHistoryChangeType = .delete  // = delete
}

// MARK: NSPersistentHistoryToken

private func nsPersistentHistoryToken(_ it: NSPersistentHistoryToken) {
    let _: any NSCopying = it  // = NSCopying
    let _: any NSSecureCoding = it  // = NSSecureCoding
}

// MARK: NSBatchInsertRequest

@available(*, deprecated)
private func nsBatchInsertRequestDeprecated() {
    let _: () -> NSBatchInsertRequest = NSBatchInsertRequest.init  // = init()
}
