import Foundation

/// A request to a store.
open class NSPersistentStoreRequest: NSObject, NSCopying {
    /// The stores that should answer; nil: all.
    open var affectedStores: [NSPersistentStore]?
    /// What the request asks for, by which an incremental store tells requests apart. A subclass overrides it; here a fetch.
    open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    public override init() { super.init() }

    /// Another request that asks the same: changing one leaves the other as it is. What a subclass of the program's adds is not in it. The zone is ignored.
    open func copy(with zone: NSZone? = nil) -> Any { filled(NSPersistentStoreRequest()) }

    /// `copy` with what all requests have.
    final func filled<Copy: NSPersistentStoreRequest>(_ copy: Copy) -> Copy {
        copy.affectedStores = affectedStores
        return copy
    }
}

/// Kinds of requests that a store can be asked.
public enum NSPersistentStoreRequestType: UInt, Sendable {
    /// Asks for objects, IDs, dictionaries or a count: `NSFetchRequest`.
    case fetchRequestType = 1
    /// Asks to write the changes of a context, all or none: `NSSaveChangesRequest`.
    case saveRequestType = 2
    /// Asks for new rows without objects: `NSBatchInsertRequest`.
    case batchInsertRequestType = 5
    /// Asks for new values of rows without objects: `NSBatchUpdateRequest`.
    case batchUpdateRequestType = 6
    /// Asks for rows to go without objects: `NSBatchDeleteRequest`.
    case batchDeleteRequestType = 7
}

/// What executing a request yields.
open class NSPersistentStoreResult: NSObject {}
