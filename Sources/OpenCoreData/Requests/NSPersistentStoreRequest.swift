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
