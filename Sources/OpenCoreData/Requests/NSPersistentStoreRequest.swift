import Foundation

/// A request to a store.
open class NSPersistentStoreRequest: NSObject {
    /// The stores that should answer; nil: all.
    open var affectedStores: [NSPersistentStore]?
    /// What the request asks for, by which an incremental store tells requests apart. A subclass overrides it; here a fetch.
    open var requestType: NSPersistentStoreRequestType { .fetchRequestType }
}

/// Kinds of requests that a store can be asked.
public enum NSPersistentStoreRequestType: UInt, Sendable {
    /// Asks for objects, IDs, dictionaries or a count: `NSFetchRequest`.
    case fetchRequestType = 1
    /// Asks to write the changes of a context, all or none: `NSSaveChangesRequest`.
    case saveRequestType = 2
    /// Apple's number for many inserts without objects; no request of this library has it.
    case batchInsertRequestType = 5
    /// Apple's number for many updates without objects; no request of this library has it.
    case batchUpdateRequestType = 6
    /// Apple's number for many deletions without objects; no request of this library has it.
    case batchDeleteRequestType = 7
}

/// What executing a request yields.
open class NSPersistentStoreResult: NSObject {}

/// What a save asks of an incremental store: to write these objects, all or none. Without any set, to write the store's metadata.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    /// New objects. Their IDs are those that the store gave them in `obtainPermanentIDs(for:)`.
    open private(set) var insertedObjects: Set<NSManagedObject>?
    /// Objects with changed values or relationships: see `NSManagedObject.changedValues()`.
    open private(set) var updatedObjects: Set<NSManagedObject>?
    /// Objects whose rows are to be removed.
    open private(set) var deletedObjects: Set<NSManagedObject>?
    /// Objects that did not change and must be what they were when they were read (`detectConflicts(for:)`).
    open private(set) var lockedObjects: Set<NSManagedObject>?

    /// A request to write these sets together; all nil: to write the metadata only. Contexts make it for incremental stores; a program need not.
    public init(
        inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?, deleted deletedObjects: Set<NSManagedObject>?,
        locked lockedObjects: Set<NSManagedObject>?
    ) {
        self.insertedObjects = insertedObjects
        self.updatedObjects = updatedObjects
        self.deletedObjects = deletedObjects
        self.lockedObjects = lockedObjects
        super.init()
    }

    open override var requestType: NSPersistentStoreRequestType { .saveRequestType }
}
