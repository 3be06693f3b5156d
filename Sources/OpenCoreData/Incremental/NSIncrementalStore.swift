import Foundation
import Synchronization

/// A store of one's own: a subclass answers requests for objects, values and relationships from wherever it keeps them, a file, a service, a cache.
///
/// A subclass overrides `loadMetadata()`, `execute(_:with:)`, `newValuesForObject(with:with:)`, `newValue(forRelationship:forObjectWith:with:)` and,
/// unless it is for reading only, `obtainPermanentIDs(for:)`; its class is registered with
/// `NSPersistentStoreCoordinator.registerStoreClass(_:forStoreType:)`. A subclass with an initialiser of its own writes
/// `required init(persistentStoreCoordinator:configurationName:at:options:)`.
///
/// ## Threads
/// These methods run on the thread that asks (a context's queue, or any other), one at a time for each store, so that the store needs no lock of its
/// own. One of them may be called again while another runs on the same thread: when it uses the values of objects.
/// `newObjectID(for:referenceObject:)` and `referenceObject(for:)` may be called from any thread at any time. No context may be saved from within
/// them.
///
/// ## The context
/// The context that is handed over is one of the store's own, on the same coordinator, made for the call and gone after it: whoever asks may be on
/// another queue, or several parents away. In a save it has the objects that are to be saved; it must not be changed or saved. What a fetch yields
/// are its objects (`object(with:)`) or object IDs.
///
/// ## Identities
/// `newObjectID(for:referenceObject:)` makes the ID of an object out of what the store calls it: a number, a string or data. Equal references of one
/// entity are one object; equal references of two entities are two, also if one inherits from the other. The reference stands in the ID's URI,
/// `x-coredata://<identifier>/<Entity>/p<reference>`: a number as its digits; a string by the rules of a path, so that a space is `%20` and "/"
/// stands for itself; data as `0x` and its bytes in lower-case hexadecimal digits. A string that looks like a number or like data has its first
/// character escaped, too (`"42"` is `p%342`), so that the way back is never ambiguous, also in another process: one `p` is taken away, and what is
/// left says which reference of which kind it was. All IDs that were ever made are remembered for as long as the store or one of its IDs lives. IDs
/// are equal only if they are of the same store object, whatever its identifier; a URI leads from one to another.
///
/// ## Saving
/// A save asks `obtainPermanentIDs(for:)` for the new objects, then executes an `NSSaveChangesRequest`. Before, the versions of changed and deleted
/// objects are compared with what `newValuesForObject(with:with:)` says now, so that a conflict reaches the context's merge policy; after, it is
/// asked again, for the versions that the objects have now. Uniqueness constraints of the model are looked up with a fetch. What the store throws
/// is thrown by `save()` as it is, and nothing has been saved then.
///
/// In a save into several stores the request is executed when all others have checked and written theirs and before they commit it: their files are
/// locked meanwhile, so the store must not write to them itself, and should not take long.
///
/// Fetches of dictionaries are not handed to the store: they are computed from the objects.
/// Identifiers and metadata may be read from any thread.
// What is not under a lock is used in `order` only.
open class NSIncrementalStore: NSPersistentStore, RegistrationKeeping, @unchecked Sendable {
    /// Where the subclass's methods run, one at a time.
    let order = ContextQueue(kind: .privateQueue, label: "NSIncrementalStore")
    /// The context of the call that is going on.
    var currentContext: NSManagedObjectContext?
    /// The new objects that references are being obtained for.
    var obtaining: ObtainedReferences?
    let references: ReferenceTable
    /// What the store has not been told of yet.
    let registrations = Mutex<[Registration]>([])
    private let kept: OwnMetadata

    /// Called when a store of the registered type is added. Reads nothing yet: `loadMetadata()` follows.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        references = ReferenceTable()
        kept = OwnMetadata(references)
        super.init(
            entities: root?.managedObjectModel.entities(forConfigurationName: name) ?? [], configurationName: name, url: url, options: options,
            uuid: "", references: references)
        persistentStoreCoordinator = root
    }

    /// The type that the class was registered for, unless it says another.
    open override var type: String { kept.registeredType }

    // MARK: What a subclass does

    /// Finds out whether the store can be used, and sets `metadata`: at least `NSStoreTypeKey` and `NSStoreUUIDKey`, by which it is known. Throws if
    /// it can't be used; an error of another domain than Cocoa's is wrapped in 134080.
    ///
    /// Where there is no file at `url`, or an empty one, the store is new; its UUID comes from `identifierForNewStore(at:)`. For a new store this
    /// implementation is enough; for others there is none.
    open override func loadMetadata() throws {
        guard isNew else { Violation.misuse("\(Swift.type(of: self)) must override loadMetadata(), to read the metadata of a store that exists") }
        metadata = [NSStoreTypeKey: type]
    }

    /// Executes a fetch request, an `NSSaveChangesRequest` or, if the store can, a batch request. Throws for requests that it does not know: this
    /// implementation throws 134091 for every one.
    ///
    /// - Returns: for a fetch of objects an array of objects of `context` (or their IDs), for one of IDs an array of IDs, for one that counts an
    ///   array with a number. All of the request's predicate, order and window must have been applied. For a save an empty array. For a batch request what
    ///   its result type asks for: an array of IDs, or a number.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        throw NSError.coreData(
            .persistentStoreUnsupportedRequestType, "The store \(Swift.type(of: self)) can't execute \(Swift.type(of: request)).")
    }

    /// The values of an object and their version. Throws 133000 if there is no such object; any other error says that it could not be read.
    open func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws -> NSIncrementalStoreNode {
        Violation.misuse("\(Swift.type(of: self)) must override newValuesForObject(with:with:)")
    }

    /// The other end of a relationship: for a to-many an array of IDs, in order if it is ordered, for a to-one an ID or `NSNull`. Both sides of a
    /// relationship must tell the same. Throws as `newValuesForObject(with:with:)` does.
    open func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID, with context: NSManagedObjectContext?
    ) throws -> Any {
        Violation.misuse("\(Swift.type(of: self)) must override newValue(forRelationship:forObjectWith:with:)")
    }

    /// The UUID of a store that is new.
    open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

    /// The IDs that new objects are to have, one for each, in the same order, made with `newObjectID(for:referenceObject:)` within this call, once
    /// for each object and, within an entity, in the order of the objects.
    ///
    /// Called before the save that brings the objects to the store, or when somebody wants permanent IDs. If that save fails the next one does
    /// not ask again. A reference that was given to an object which was never saved can be given to another; that of a saved one after it was deleted.
    open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        Violation.misuse("\(Swift.type(of: self)) must override obtainPermanentIDs(for:) to take new objects")
    }

    /// A context has objects with these IDs now. Each context is told of for itself, shortly after, and before the store is asked anything later.
    /// Does nothing by itself.
    open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// A context has no objects with these IDs any more. Does nothing by itself.
    open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

    // MARK: Identities

    /// The ID of the object that the store calls by this reference: a number, a string or data. Traps for anything else, and before the store has its
    /// UUID.
    open func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
        guard let reference = ReferenceText.value(data) else {
            Violation.misuse("\(data) of type \(Swift.type(of: data)) can't be the reference of an object; use a number, a string or data")
        }
        if references.storeName == nil {
            Violation.misuse("an object ID of \(Swift.type(of: self)) is made before loadMetadata() has set the store's \(NSStoreUUIDKey)")
        }
        var key = references.key(of: reference, entity)
        if order.isCurrent, let obtaining, key.map({ references.isFree($0) && !obtaining.isAsked($0) }) ?? true,
            let wanted = self.obtaining?.next(for: entity)
        {
            key = references.bind(reference, entity, to: wanted)
        }
        return NSManagedObjectID(
            entity: entity, key: key ?? references.bind(reference, entity), store: identity, isTemporary: false)
    }

    /// What the store calls an object: the number (an `NSNumber`), string or data that its ID was made with. Traps for an ID of another store, and
    /// for one that is temporary.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any {
        guard objectID.storeIdentity === identity else { Violation.misuse("\(objectID) is not an ID of the store \(identifier ?? "?")") }
        guard let reference = references.reference(of: objectID.key)?.any else {
            Violation.misuse("\(objectID) has no reference yet: its store has not been asked for a permanent ID")
        }
        return reference
    }

    // MARK: Metadata

    /// What is kept about the store as a whole. What is set is handed to the store with the next save, as an `NSSaveChangesRequest` without any set.
    /// Type, UUID and version hashes can't be changed once the store is loaded.
    open override var metadata: [String: Any]! {
        get { kept.values(type: type) }
        set { kept.set(newValue ?? [:]) }
    }

    package override var hasUnsavedMetadata: Bool { kept.isDirty }

    var metadataGeneration: Int { kept.generation }

    /// Has been handed to the store as it was at that count; what was set since has not.
    func didSaveMetadata(_ generation: Int) { kept.didSave(generation) }

    private var isNew: Bool { OwnMetadata.isNew(url) }

    // MARK: What the engine asks

    package override func fetch(_ plan: FetchPlan) throws -> [FetchedRow] { try found(plan) }

    package override func count(_ plan: FetchPlan) throws -> Int { try counted(plan) }

    package override func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot] {
        let asked = ids.filter { references.mayBeStored($0.key) }
        if asked.isEmpty { return [:] }
        return try ordered { context in
            var result: [NSManagedObjectID: RowSnapshot] = [:]
            for id in asked { result[id] = try row(of: id, context) }
            return result
        }
    }

    package override func relatedIDs(_ key: RelationshipKey) throws -> [NSManagedObjectID] { try members(key) }

    package override func objects(
        of entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]
    ) throws -> [UniqueKey: FetchedRow] {
        try owners(of: keys, entity, constraint: constraint)
    }

    package override func save(_ changes: ChangeSet) throws -> SavedRows { try preparedAndCommitted(changes) }

    package override func prepare(_ changes: ChangeSet, _ body: (any PreparedSave) throws -> Void) throws { try write(changes, body) }

    package override func prepare(_ batch: BatchPlan, _ body: (any PreparedBatch) throws -> Void) throws { try carryOut(batch, body) }

    package override var commitTurn: CommitTurn { .untilRefused }

    package override func obtainReferences(for rows: [(id: NSManagedObjectID, row: RowSnapshot?)]) throws { try obtainedReferences(for: rows) }

    package override func reserveKeys(for root: NSEntityDescription, count: Int) throws -> Range<Int64> { references.reserveKeys(count) }

    // MARK: Opening

    /// What is registered of a subclass.
    // A class never changes.
    static var registration: StoreClass {
        let type = Unchecked(value: self)
        return StoreClass(self) { try type.value.loaded($0) }
    }

    /// A loaded store. Throws what the store says, 134080 if it does not say its UUID, 134010 and 134100 if it is another one than is wanted.
    private static func loaded(_ opening: StoreOpening) throws -> NSIncrementalStore {
        let type = opening.type, url = opening.url ?? URL(fileURLWithPath: "/dev/null")
        let store = self.init(
            persistentStoreCoordinator: opening.coordinator, configurationName: opening.configurationName, at: url, options: opening.options)
        store.kept.registeredType = type
        do { try store.order.sync { () throws in try store.loadMetadata() } } catch { throw OwnMetadata.notOpened(type, url, error) }
        // A subclass may keep its metadata itself.
        try store.kept.load(store.metadata ?? [:], of: store, at: url, loader: "loadMetadata()") { identifierForNewStore(at: url) }
        RegistrationLog.begin()
        return store
    }
}

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

    open override func copy(with zone: NSZone? = nil) -> Any {
        filled(NSSaveChangesRequest(inserted: insertedObjects, updated: updatedObjects, deleted: deletedObjects, locked: lockedObjects))
    }
}
