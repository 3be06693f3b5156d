import Foundation
import Synchronization

/// A store of one's own that is read and written as a whole: a subclass turns a file of any format into nodes when it is opened, and all nodes into the file
/// when something was saved. Fetches, conflicts, constraints and rules are the library's.
///
/// A subclass overrides `load()` and `save()`, and `newReferenceObject(for:)` unless it is for reading only; its class is registered with
/// `NSPersistentStoreCoordinator.registerStoreClass(_:forStoreType:)`. A subclass with an initialiser of its own writes
/// `required init(persistentStoreCoordinator:configurationName:at:options:)`.
///
/// ## Loading
/// `load()` makes the ID of each object from what the file calls it (`objectID(for:withReferenceObject:)`), a node for each ID with its values, and hands
/// the nodes over (`addCacheNodes(_:)`). Both sides of a relationship must say the same, or only one of them anything.
///
/// ## Saving
/// A save asks `newReferenceObject(for:)` for each new object, then, when nothing stands against it, `newCacheNode(for:)`; with all nodes in place it has
/// every new and every changed one brought up to date (`updateCacheNode(_:from:)`), tells of those that go (`willRemoveCacheNodes(_:)`), and calls
/// `save()`. What that throws is thrown by the context's save, and the nodes are what they were before. The file must then be the old one: write a new
/// one beside it, and rename it.
///
/// ## Threads
/// These methods run on the thread that asks, one at a time for each store. The objects they are handed belong to a context of the store's own, and must
/// not be changed or saved.
///
/// Batch requests are refused, as is a migration to or from another version of the model.
// What is not under a lock is used in `order` only.
open class NSAtomicStore: NSPersistentStore, @unchecked Sendable {
    /// Where the subclass's methods run, one at a time.
    let order = ContextQueue(kind: .privateQueue, label: "NSAtomicStore")
    let references: ReferenceTable
    /// The rows that the nodes are, for whoever asks the store.
    let rows: InMemoryStore
    var nodes: [NSManagedObjectID: NSAtomicStoreCacheNode] = [:]
    let kept: OwnMetadata

    /// Called when a store of the registered type is added. Reads nothing yet: `load()` follows.
    public required init(
        persistentStoreCoordinator coordinator: NSPersistentStoreCoordinator?, configurationName: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        let entities = coordinator?.managedObjectModel.entities(forConfigurationName: configurationName) ?? []
        references = ReferenceTable()
        kept = OwnMetadata(references)
        rows = InMemoryStore(entities: entities, configurationName: configurationName)
        super.init(entities: entities, configurationName: configurationName, url: url, options: options, uuid: "", references: references)
        rows.adopt(identity)
        persistentStoreCoordinator = coordinator
    }

    /// The type that the class was registered for, unless it says another.
    open override var type: String { kept.registeredType }

    // MARK: What a subclass does

    /// Reads the file: sets `metadata`, with `NSStoreUUIDKey` unless the store is new, and hands the nodes over. Where there is no file yet, or an empty
    /// one, the store is new; its UUID comes from `identifierForNewStore(at:)`. Throws if it can't be read; an error of another domain than Cocoa's is
    /// wrapped in 134080. This implementation is enough for a store that is always new.
    open func load() throws {
        guard OwnMetadata.isNew(url) else {
            Violation.misuse("\(Swift.type(of: self)) must override load(), to read the nodes of a store that exists")
        }
    }

    /// Writes `cacheNodes()` and `metadata`, all or nothing. Throws what stands against it.
    open func save() throws {
        Violation.misuse("\(Swift.type(of: self)) must override save(), to write its nodes")
    }

    /// What the store is to call a new object: a number, a string or data that no object of the entity has.
    open func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        Violation.misuse("\(Swift.type(of: self)) must override newReferenceObject(for:) to take new objects")
    }

    /// A node for a new object, whose values may follow with `updateCacheNode(_:from:)`. This implementation makes one without values.
    open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode { NSAtomicStoreCacheNode(objectID: managedObject.objectID) }

    /// Brings the node of a new or changed object up to date. This implementation sets every attribute and relationship that is not transient.
    open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        for (name, property) in managedObject.entity.propertiesByName where !property.isTransient {
            switch property {
            case is NSAttributeDescription: node.setValue(managedObject.value(forKey: name), forKey: name)
            case let relationship as NSRelationshipDescription:
                let found = managedObject.objectIDs(forRelationshipNamed: name).compactMap { cacheNode(for: $0) }
                let value: Any? = relationship.isToMany ? relationship.isOrdered ? found as Any : Set(found) as Any : found.first
                node.setValue(value, forKey: name)
            default: break
            }
        }
    }

    /// Called before these nodes go, with their values still there. Does nothing by itself.
    open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

    /// The UUID of a store that is new.
    open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

    // MARK: Nodes and identities

    /// All nodes.
    open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { Set(nodes.values) }

    /// Takes nodes in: those that `load()` has made, or those of new objects. Called from within the store's methods.
    open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        for node in cacheNodes { nodes[node.objectID] = node }
    }

    /// The node of an object; nil if there is none. Called from within the store's methods.
    open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? { nodes[objectID] }

    /// The ID of the object that the store calls by this reference: a number, a string or data. Traps for anything else.
    open func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
        guard let reference = ReferenceText.value(data) else {
            Violation.misuse("\(data) of type \(Swift.type(of: data)) can't be the reference of an object; use a number, a string or data")
        }
        return NSManagedObjectID(entity: entity, key: references.bind(reference, entity), store: identity, isTemporary: false)
    }

    /// What the store calls an object: the number (an `NSNumber`), string or data that its ID was made with. Traps for an ID of another store, and for
    /// one that is temporary.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any {
        guard objectID.storeIdentity === identity else { Violation.misuse("\(objectID) is not an ID of the store \(identifier ?? "?")") }
        guard let reference = references.reference(of: objectID.key)?.any else {
            Violation.misuse("\(objectID) has no reference yet: its object was not saved, and nobody asked for a permanent ID")
        }
        return reference
    }

    // MARK: Metadata

    /// What is kept about the store as a whole. What is set is written with the next save. Type, UUID and version hashes can't be changed once the store is
    /// loaded.
    open override var metadata: [String: Any]! {
        get { kept.values(type: type) }
        set { kept.set(newValue ?? [:]) }
    }

    package override var hasUnsavedMetadata: Bool { kept.isDirty }

    // MARK: What the engine asks

    package override var reader: (any StoreReading)? { rows }

    package override func save(_ changes: ChangeSet) throws -> SavedRows { try preparedAndCommitted(changes) }

    package override func prepare(_ changes: ChangeSet, _ body: (any PreparedSave) throws -> Void) throws { try write(changes, body) }

    package override var commitTurn: CommitTurn { .untilRefused }

    package override func obtainReferences(for rows: [(id: NSManagedObjectID, row: RowSnapshot?)]) throws { try obtainedReferences(for: rows) }

    package override func reserveKeys(for root: NSEntityDescription, count: Int) throws -> Range<Int64> { references.reserveKeys(count) }

    package override func releaseKeys(for root: NSEntityDescription, unused: Range<Int64>) {}

    // MARK: Opening

    /// What is registered of a subclass.
    static var registration: StoreClass {
        // A class never changes.
        let type = Unchecked(value: self)
        return StoreClass(self) { try type.value.loaded($0) }
    }

    /// A loaded store. Throws what the store says, 134080 if it does not say its UUID or its nodes make no sense, 134010 and 134100 if it is another one than
    /// is wanted.
    private static func loaded(_ opening: StoreOpening) throws -> NSAtomicStore {
        guard let url = opening.url else { throw NSError.coreData(.persistentStoreOpen, "A store of type \(opening.type) needs a URL.") }
        let store = self.init(
            persistentStoreCoordinator: opening.coordinator, configurationName: opening.configurationName, at: url, options: opening.options)
        store.kept.registeredType = opening.type
        do { try store.order.sync { () throws in try store.load() } } catch { throw OwnMetadata.notOpened(opening.type, url, error) }
        try store.kept.load(store.metadata ?? [:], of: store, at: url, loader: "load()") { identifierForNewStore(at: url) }
        try store.order.sync { () throws in try store.takeNodes() }
        return store
    }
}
