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
