import Foundation

/// A request to a store.
open class NSPersistentStoreRequest: NSObject {
    /// The stores that should answer; nil: all.
    open var affectedStores: [NSPersistentStore]?
    open var requestType: NSPersistentStoreRequestType { .fetchRequestType }
}
