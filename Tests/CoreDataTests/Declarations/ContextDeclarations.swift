import CoreData
import Foundation

// Contexts, and what decides when two of them disagree. Each statement uses one of Apple's declarations as it is spelled and typed; the
// comment behind or above it names it, and COVERAGE.md counts them.

// MARK: NSManagedObjectContext

private func nsManagedObjectContext(
    _ it: NSManagedObjectContext, _ request: NSFetchRequest<NSManagedObject>, _ untyped: NSFetchRequest<any NSFetchRequestResult>
) async throws {
    // = init(concurrencyType:)
    let _: (NSManagedObjectContextConcurrencyType) -> NSManagedObjectContext = NSManagedObjectContext.init(concurrencyType:)
    let _: (NSManagedObjectContext.ConcurrencyType) -> NSManagedObjectContext = NSManagedObjectContext.init(_:)  // = init(_:)
    let _: any NSLocking = it  // = NSLocking
    let _: (@escaping () -> Void) -> Void = it.perform(_:)  // = perform(_:)
    it.performAndWait { () -> Void in }  // = performAndWait(_:)
    let _: Int = it.performAndWait { 1 }  // = performAndWait(_:) of a value
    let _: Int = try it.performAndWait { () throws -> Int in 1 }  // = performAndWait(_:) that throws
    let _: Int = await it.perform(schedule: .enqueued) { 1 }  // = perform(schedule:_:)
    let _: Int = try await it.perform { () throws -> Int in 1 }  // = perform(schedule:_:) that throws
    // = persistentStoreCoordinator
    let _: ReferenceWritableKeyPath<NSManagedObjectContext, NSPersistentStoreCoordinator?> = \.persistentStoreCoordinator
    let _: ReferenceWritableKeyPath<NSManagedObjectContext, NSManagedObjectContext?> = \.parent  // = parent
    let _: ReferenceWritableKeyPath<NSManagedObjectContext, String?> = \.name  // = name
    let _: ReferenceWritableKeyPath<NSManagedObjectContext, UndoManager?> = \.undoManager  // = undoManager
    let _: KeyPath<NSManagedObjectContext, Bool> = \.hasChanges  // = hasChanges
    let _: KeyPath<NSManagedObjectContext, NSMutableDictionary> = \.userInfo  // = userInfo
    let _: KeyPath<NSManagedObjectContext, NSManagedObjectContextConcurrencyType> = \.concurrencyType  // = concurrencyType
    let _: (NSManagedObjectID) -> NSManagedObject? = it.registeredObject(for:)  // = registeredObject(for:)
    let _: (NSManagedObjectID) -> NSManagedObject = it.object(with:)  // = object(with:)
    let _: (NSManagedObjectID) throws -> NSManagedObject = it.existingObject(with:)  // = existingObject(with:)
    let _: [NSManagedObject] = try it.fetch(request)  // = fetch(_:)
    let _: [Any] = try it.fetch(untyped)  // = fetch(_:) of any result
    let _: Int = try it.count(for: request)  // = count(for:)
    let _: Int = try it.count(for: untyped)  // = count(for:) of any result
    let _: (NSPersistentStoreRequest) throws -> NSPersistentStoreResult = it.execute(_:)  // = execute(_:)
    let _: (NSManagedObject) -> Void = it.insert(_:)  // = insert(_:)
    let _: (NSManagedObject) -> Void = it.delete(_:)  // = delete(_:)
    let _: (NSManagedObject, Bool) -> Void = it.refresh(_:mergeChanges:)  // = refresh(_:mergeChanges:)
    let _: (NSManagedObject) -> Void = it.detectConflicts(for:)  // = detectConflicts(for:)
    let _: () -> Void = it.processPendingChanges  // = processPendingChanges()
    let _: KeyPath<NSManagedObjectContext, Set<NSManagedObject>> = \.insertedObjects  // = insertedObjects
    let _: KeyPath<NSManagedObjectContext, Set<NSManagedObject>> = \.updatedObjects  // = updatedObjects
    let _: KeyPath<NSManagedObjectContext, Set<NSManagedObject>> = \.deletedObjects  // = deletedObjects
    let _: KeyPath<NSManagedObjectContext, Set<NSManagedObject>> = \.registeredObjects  // = registeredObjects
    let _: () -> Void = it.undo  // = undo()
    let _: () -> Void = it.redo  // = redo()
    let _: () -> Void = it.reset  // = reset()
    let _: () -> Void = it.rollback  // = rollback()
    let _: () throws -> Void = it.save  // = save()
    let _: () -> Void = it.refreshAllObjects  // = refreshAllObjects()
    let _: ReferenceWritableKeyPath<NSManagedObjectContext, Bool> = \.propagatesDeletesAtEndOfEvent  // = propagatesDeletesAtEndOfEvent
    let _: ReferenceWritableKeyPath<NSManagedObjectContext, Bool> = \.retainsRegisteredObjects  // = retainsRegisteredObjects
    let _: ReferenceWritableKeyPath<NSManagedObjectContext, Bool> = \.shouldDeleteInaccessibleFaults  // = shouldDeleteInaccessibleFaults
    // = shouldHandleInaccessibleFault(_:for:triggeredByProperty:)
    let _: (NSManagedObject, NSManagedObjectID, NSPropertyDescription?) -> Bool = it.shouldHandleInaccessibleFault(_:for:triggeredByProperty:)
    let _: ReferenceWritableKeyPath<NSManagedObjectContext, TimeInterval> = \.stalenessInterval  // = stalenessInterval
    let _: ([NSManagedObject]) throws -> Void = it.obtainPermanentIDs(for:)  // = obtainPermanentIDs(for:)
    let _: (Notification) -> Void = it.mergeChanges(fromContextDidSave:)  // = mergeChanges(fromContextDidSave:)
    // = mergeChanges(fromRemoteContextSave:into:)
    let _: ([AnyHashable: Any], [NSManagedObjectContext]) -> Void = NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)
    let _: KeyPath<NSManagedObjectContext, NSQueryGenerationToken?> = \.queryGenerationToken  // = queryGenerationToken
    let _: (NSQueryGenerationToken?) throws -> Void = it.setQueryGenerationFrom(_:)  // = setQueryGenerationFrom(_:)
    // = automaticallyMergesChangesFromParent
    let _: ReferenceWritableKeyPath<NSManagedObjectContext, Bool> = \.automaticallyMergesChangesFromParent
    let _: ReferenceWritableKeyPath<NSManagedObjectContext, String?> = \.transactionAuthor  // = transactionAuthor
    let _: Notification.Name = NSManagedObjectContext.willSaveObjectsNotification  // = willSaveObjectsNotification
    let _: Notification.Name = NSManagedObjectContext.didSaveObjectsNotification  // = didSaveObjectsNotification
    let _: Notification.Name = NSManagedObjectContext.didChangeObjectsNotification  // = didChangeObjectsNotification
    let _: Notification.Name = NSManagedObjectContext.didSaveObjectIDsNotification  // = didSaveObjectIDsNotification
    let _: Notification.Name = NSManagedObjectContext.didMergeChangesObjectIDsNotification  // = didMergeChangesObjectIDsNotification
    let _: (Any, NSPersistentStore) -> Void = it.assign(_:to:)  // = assign(_:to:)
}

@available(*, deprecated)
private func nsManagedObjectContextDeprecated(_ it: NSManagedObjectContext) {
    let _: () -> NSManagedObjectContext = NSManagedObjectContext.init  // = init()
    let _: () -> Void = it.lock  // = lock()
    let _: () -> Void = it.unlock  // = unlock()
    let _: () -> Bool = it.tryLock  // = tryLock()
}

// MARK: NSManagedObjectContext

// It has no state of its own.
private class OwnNSManagedObjectContext: NSManagedObjectContext, @unchecked Sendable {
    override var undoManager: UndoManager? {
        get { super.undoManager }
        set { super.undoManager = newValue }
    }  // = undoManager, overridden
    // = shouldHandleInaccessibleFault(_:for:triggeredByProperty:), overridden
    override func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool { true }
}

// MARK: NSManagedObjectContextConcurrencyType

private func nsManagedObjectContextConcurrencyType() {
    let _: (UInt) -> NSManagedObjectContextConcurrencyType? = NSManagedObjectContextConcurrencyType.init(rawValue:)  // = init(rawValue:)
    let _: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType  // = privateQueueConcurrencyType
    let _: NSManagedObjectContextConcurrencyType = .mainQueueConcurrencyType  // = mainQueueConcurrencyType
}

@available(*, deprecated)
private func nsManagedObjectContextConcurrencyTypeDeprecated() {
    let _: NSManagedObjectContextConcurrencyType = .confinementConcurrencyType  // = confinementConcurrencyType
}

// MARK: NSManagedObjectContext.ConcurrencyType

private func concurrencyTypeOfNSManagedObjectContext() {
    let _: NSManagedObjectContext.ConcurrencyType = .privateQueue  // = privateQueue
    let _: NSManagedObjectContext.ConcurrencyType = .mainQueue  // = mainQueue
}

// MARK: NSManagedObjectContext.ScheduledTaskType

private func scheduledTaskTypeOfNSManagedObjectContext() {
    let _: NSManagedObjectContext.ScheduledTaskType = .immediate  // = immediate
    let _: NSManagedObjectContext.ScheduledTaskType = .enqueued  // = enqueued
}

// MARK: NSManagedObjectContext.NotificationKey

private func notificationKeyOfNSManagedObjectContext() {
    let _: (String) -> NSManagedObjectContext.NotificationKey? = NSManagedObjectContext.NotificationKey.init(rawValue:)  // = init(rawValue:)
    let _: NSManagedObjectContext.NotificationKey = .queryGeneration  // = queryGeneration
    let _: NSManagedObjectContext.NotificationKey = .invalidatedAllObjects  // = invalidatedAllObjects
    let _: NSManagedObjectContext.NotificationKey = .insertedObjects  // = insertedObjects
    let _: NSManagedObjectContext.NotificationKey = .updatedObjects  // = updatedObjects
    let _: NSManagedObjectContext.NotificationKey = .deletedObjects  // = deletedObjects
    let _: NSManagedObjectContext.NotificationKey = .refreshedObjects  // = refreshedObjects
    let _: NSManagedObjectContext.NotificationKey = .invalidatedObjects  // = invalidatedObjects
    let _: NSManagedObjectContext.NotificationKey = .insertedObjectIDs  // = insertedObjectIDs
    let _: NSManagedObjectContext.NotificationKey = .updatedObjectIDs  // = updatedObjectIDs
    let _: NSManagedObjectContext.NotificationKey = .deletedObjectIDs  // = deletedObjectIDs
    let _: NSManagedObjectContext.NotificationKey = .refreshedObjectIDs  // = refreshedObjectIDs
    let _: NSManagedObjectContext.NotificationKey = .invalidatedObjectIDs  // = invalidatedObjectIDs
}

// MARK: NSMergePolicy

private func nsMergePolicy(_ it: NSMergePolicy) {
    let _: (NSMergePolicyType) -> NSMergePolicy = NSMergePolicy.init(merge:)  // = init(merge:)
    let _: NSMergePolicy = NSMergePolicy.error  // = error
    let _: NSMergePolicy = NSMergePolicy.rollback  // = rollback
    let _: NSMergePolicy = NSMergePolicy.overwrite  // = overwrite
    let _: NSMergePolicy = NSMergePolicy.mergeByPropertyObjectTrump  // = mergeByPropertyObjectTrump
    let _: NSMergePolicy = NSMergePolicy.mergeByPropertyStoreTrump  // = mergeByPropertyStoreTrump
    let _: KeyPath<NSMergePolicy, NSMergePolicyType> = \.mergeType  // = mergeType
    let _: ([Any]) throws -> Void = it.resolve(mergeConflicts:)  // = resolve(mergeConflicts:)
    let _: ([NSMergeConflict]) throws -> Void = it.resolve(optimisticLockingConflicts:)  // = resolve(optimisticLockingConflicts:)
    let _: ([NSConstraintConflict]) throws -> Void = it.resolve(constraintConflicts:)  // = resolve(constraintConflicts:)
    let _: AnyObject = NSErrorMergePolicy  // = NSErrorMergePolicy
    let _: AnyObject = NSMergeByPropertyStoreTrumpMergePolicy  // = NSMergeByPropertyStoreTrumpMergePolicy
    let _: AnyObject = NSMergeByPropertyObjectTrumpMergePolicy  // = NSMergeByPropertyObjectTrumpMergePolicy
    let _: AnyObject = NSOverwriteMergePolicy  // = NSOverwriteMergePolicy
    let _: AnyObject = NSRollbackMergePolicy  // = NSRollbackMergePolicy
}

// MARK: NSMergePolicy

// It has no state of its own.
private class OwnNSMergePolicy: NSMergePolicy, @unchecked Sendable {
    override init(merge type: NSMergePolicyType) { super.init(merge: type) }  // = init(merge:), overridden
    // = resolve(mergeConflicts:), overridden
    override func resolve(mergeConflicts list: [Any]) throws { try super.resolve(mergeConflicts: list) }
    // = resolve(optimisticLockingConflicts:), overridden
    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws { try super.resolve(optimisticLockingConflicts: list) }
    // = resolve(constraintConflicts:), overridden
    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws { try super.resolve(constraintConflicts: list) }
}

// MARK: NSMergePolicyType

private func nsMergePolicyType() {
    let _: (UInt) -> NSMergePolicyType? = NSMergePolicyType.init(rawValue:)  // = init(rawValue:)
    let _: NSMergePolicyType = .errorMergePolicyType  // = errorMergePolicyType
    let _: NSMergePolicyType = .mergeByPropertyStoreTrumpMergePolicyType  // = mergeByPropertyStoreTrumpMergePolicyType
    let _: NSMergePolicyType = .mergeByPropertyObjectTrumpMergePolicyType  // = mergeByPropertyObjectTrumpMergePolicyType
    let _: NSMergePolicyType = .overwriteMergePolicyType  // = overwriteMergePolicyType
    let _: NSMergePolicyType = .rollbackMergePolicyType  // = rollbackMergePolicyType
}

// MARK: NSMergeConflict

private func nsMergeConflict() {
    let _: KeyPath<NSMergeConflict, NSManagedObject> = \.sourceObject  // = sourceObject
    let _: KeyPath<NSMergeConflict, [String: Any]?> = \.objectSnapshot  // = objectSnapshot
    let _: KeyPath<NSMergeConflict, [String: Any]?> = \.cachedSnapshot  // = cachedSnapshot
    let _: KeyPath<NSMergeConflict, [String: Any]?> = \.persistedSnapshot  // = persistedSnapshot
    let _: KeyPath<NSMergeConflict, Int> = \.newVersionNumber  // = newVersionNumber
    let _: KeyPath<NSMergeConflict, Int> = \.oldVersionNumber  // = oldVersionNumber
}

// MARK: NSConstraintConflict

private func nsConstraintConflict() {
    let _: KeyPath<NSConstraintConflict, [String]> = \.constraint  // = constraint
    let _: KeyPath<NSConstraintConflict, [String: Any]> = \.constraintValues  // = constraintValues
    let _: KeyPath<NSConstraintConflict, NSManagedObject?> = \.databaseObject  // = databaseObject
    let _: KeyPath<NSConstraintConflict, [String: Any]?> = \.databaseSnapshot  // = databaseSnapshot
    let _: KeyPath<NSConstraintConflict, [NSManagedObject]> = \.conflictingObjects  // = conflictingObjects
}

// MARK: NSQueryGenerationToken

private func nsQueryGenerationToken(_ it: NSQueryGenerationToken) {
    let _: any NSCopying = it  // = NSCopying
    let _: any NSSecureCoding = it  // = NSSecureCoding
    let _: NSQueryGenerationToken = NSQueryGenerationToken.current  // = current
}
