import Foundation
import Synchronization

/// Stands between contexts and stores: routes requests, shares rows, hands out object IDs. Safe to use from any thread.
/// It keeps its stores open until they are removed.
// The list of stores and the registry of classes are guarded by locks; the rest is immutable or safe by itself.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
    /// The model, frozen by this coordinator.
    public let managedObjectModel: NSManagedObjectModel
    /// A name for diagnostics.
    open var name: String?
    package let rowCache: RowCache
    /// Root contexts that merge what others save.
    let followers = Subscribers<ChangedObjectIDs>()
    /// Told what has been committed of the pushes that it wrote down.
    let pushRecorder = Mutex<(any PushRecorder)?>(nil)
    let keys = KeyReservoir()
    private let spill = Mutex<(limits: BlockSpill.Limits, file: URL?, made: BlockSpill?)>((BlockSpill.Limits(), nil, nil))
    /// Whom keys led to, for `recall(_:constraint:key:)`.
    let lookups = KeyLookups()
    /// How often a store gave its place to another.
    let storeMoves = Atomic<Int>(0)
    private let stores = Mutex<[NSPersistentStore]>([])
    let queue = ContextQueue(kind: .privateQueue, label: "NSPersistentStoreCoordinator")
    private let lockers = NSRecursiveLock()

    /// Freezes the model, which can't be changed any more. There is no store yet.
    public init(managedObjectModel: NSManagedObjectModel) {
        managedObjectModel.freeze()
        self.managedObjectModel = managedObjectModel
        self.rowCache = RowCache()
        super.init()
    }

    /// In the order in which they were added; a migrated store takes the place of the old one.
    open var persistentStores: [NSPersistentStore] { stores.withLock { $0 } }

    /// The first store that was opened with an equal URL; nil if there is none. Links and relative paths are not resolved.
    open func persistentStore(for url: URL) -> NSPersistentStore? { persistentStores.first { $0.url == url } }

    /// Where the store is; `/dev/null` for one without a URL.
    open func url(for store: NSPersistentStore) -> URL { store.url ?? URL(fileURLWithPath: "/dev/null") }

    /// Says that a store is elsewhere; the file, if it has one, must have been moved there by whoever says so.
    ///
    /// - Returns: false for a store of the library that has a file: it stays where it was opened. Migrate it, or remove it and add the other.
    open func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
        guard store.persistentStoreCoordinator === self, store.mayBeElsewhere else { return false }
        store.url = url
        return true
    }

    /// Runs a block in turn with others on this coordinator; re-entrant.
    open func performAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T { try queue.sync(block) }

    /// Runs a block in turn with others on this coordinator.
    open func perform(_ block: @escaping () -> Void) { queue.async(block) }

    /// Runs a block in turn with others on this coordinator and gives its value.
    public nonisolated(nonsending) func perform<T>(_ block: @escaping () throws -> T) async throws -> T {
        try await inTurn { Result { try block() } }.value.get()
    }

    /// As above, for a block that can't fail.
    public nonisolated(nonsending) func perform<T>(_ block: @escaping () -> T) async -> T { await inTurn(block).value }

    private nonisolated(nonsending) func inTurn<T>(_ block: @escaping () -> T) async -> Unchecked<T> {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Unchecked(value: block())) }
        }
    }

    // MARK: Stores

    /// Opens a store and adds it. Throws 134000 for an unknown type, 134010, 134080, 134090 or 134100 as the store says, and as
    /// `NSStagedMigrationManager` does, if there is one among the options.
    @discardableResult
    open func addPersistentStore(
        ofType type: String, configurationName configuration: String?, at url: URL?, options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        guard let entities = managedObjectModel.entities(forConfigurationName: configuration) else {
            throw NSError.coreData(.persistentStoreOpen, "The model has no configuration named \"\(configuration ?? "")\".")
        }
        guard let storeClass = StoreTypes[type] else {
            throw NSError.coreData(
                .persistentStoreInvalidType,
                "Unknown store type \"\(type)\"; known are \(StoreTypes.all.keys.sorted().joined(separator: ", ")). Register the class of a "
                    + "store of your own with registerStoreClass(_:forStoreType:).")
        }
        try storeClass.check(entities, type)
        let store = try staged(options, type, configuration, url) { options in
            try storeClass.open(
                StoreOpening(
                    type: type, model: managedObjectModel, entities: entities, configurationName: configuration, url: url, options: options,
                    coordinator: self))
        }
        add(store)
        return store
    }

    /// As above, with the Swift spelling of store types.
    @discardableResult
    open func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(ofType: type.rawValue, configurationName: configuration, at: url, options: options)
    }

    package func add(_ store: NSPersistentStore) {
        store.persistentStoreCoordinator = self
        stores.withLock { $0.append(store) }
        followOthers(store)
        store.didAdd(to: self)
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: [NSAddedPersistentStoresKey: [store]])
    }

    /// Puts a store in another's place.
    func replace(_ old: NSPersistentStore, with new: NSPersistentStore) {
        stores.withLock { stores in
            guard let index = stores.firstIndex(where: { $0 === old }) else { return }
            stores[index] = new
        }
        storeMoves.add(1, ordering: .acquiringAndReleasing)
    }

    /// Closes a store and removes it.
    open func remove(_ store: NSPersistentStore) throws {
        try store.asking.check(store)
        NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
        keys.release(to: store)
        store.willRemove(from: self)
        stores.withLock { stores in stores.removeAll { $0 === store } }
        rowCache.removeAll()
        try store.close()
        store.persistentStoreCoordinator = nil
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: [NSRemovedPersistentStoresKey: [store]])
    }

    /// What is kept about the store as a whole, with what was set and not written yet.
    open func metadata(for store: NSPersistentStore) -> [String: Any] { store.metadata }

    /// Sets what is kept about a store as a whole. It is read back at once and written with the next save of a context whose parent is this
    /// coordinator, in the transaction of that save if it changes objects of the store. A store that is open for reading only keeps it in memory.
    open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) { store.metadata = metadata }

    // MARK: Object IDs

    /// The ID that a URI names, if its store is loaded and its entity known; else nil.
    open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        guard url.scheme == "x-coredata", let host = url.host, let store = persistentStores.first(where: { $0.isNamed(host) }) else { return nil }
        if store.identity.references != nil { return incrementalObjectID(url, store) }
        let parts = url.path.split(separator: "/")
        guard parts.count == 2, let entity = managedObjectModel.entitiesByName[String(parts[0])],
            parts[1].hasPrefix("p"), let key = Int64(parts[1].dropFirst())
        else { return nil }
        return NSManagedObjectID(entity: entity, key: key, store: store.identity, isTemporary: false)
    }

    /// The same of a URI as text; nil for a text that is none, too.
    open func managedObjectID(for string: String) -> NSManagedObjectID? {
        URL(string: string).flatMap { managedObjectID(forURIRepresentation: $0) }
    }

    /// The store of this coordinator that an ID belongs to; nil for an ID of another stack.
    package func ownStore(of id: NSManagedObjectID) -> NSPersistentStore? {
        let identity = id.storeIdentity
        return persistentStores.first { $0.identity.isSame(as: identity) }
    }

    /// The store that new objects of `entity` go to: the first that can be written and keeps it.
    package func store(for entity: NSEntityDescription) -> NSPersistentStore? {
        persistentStores.first { !$0.isReadOnly && $0.keeps(entity) }
    }

    /// The other stores that new objects of `entity` may be assigned to.
    private func storesBeside(_ store: NSPersistentStore, for entity: NSEntityDescription) -> [NSPersistentStore] {
        persistentStores.filter { $0 !== store && !$0.isReadOnly && $0.identity.references == nil && $0.keeps(entity) }
    }

    /// Says where a new object goes when it is saved. Nil: that is done. Else why it can't be.
    func assign(_ id: NSManagedObjectID, to store: NSPersistentStore) -> String? {
        let name = id.entity.name ?? "?", place = store.url?.path ?? "the store \(store.identifier ?? "?")"
        if store.persistentStoreCoordinator !== self { return "\(place) is not of the coordinator of the object's context" }
        if !store.keeps(id.entity) { return "the configuration \(store.configurationName) of \(place) does not have the entity \(name)" }
        if store.isReadOnly { return "\(place) is only read" }
        if !id.isTemporaryID { return "\(id) is saved, or has a permanent ID, and stays where it is" }
        let identity = id.storeIdentity
        if identity === store.identity { return nil }
        // It was made before there was a store.
        let isUnbound = identity.uuid == nil && identity.references == nil
        if isUnbound || (identity.references == nil && store.identity.references == nil && keys.takes(id, store)) {
            id.rebind(to: store.identity)
            return nil
        }
        return
            "the key that \(id) was given when it was inserted is not free in \(place): add all stores before objects are inserted, and assign objects "
            + "of stores of your own by configurations"
    }

    /// Where rows wait that are too many for the memory: beside the first store that is a file of SQLite's.
    package var blockSpill: BlockSpill {
        let file = persistentStores.first { $0.type == NSSQLiteStoreType && !$0.isReadOnly }?.url
        return spill.withLock { spill in
            if let made = spill.made, spill.file == file, made.limits == spill.limits { return made }
            let made = BlockSpill(in: file.flatMap { $0.path == "/dev/null" ? nil : $0.deletingLastPathComponent() }, spill.limits)
            (spill.file, spill.made) = (file, made)
            return made
        }
    }

    /// When such rows go to a file.
    package var blockSpillLimits: BlockSpill.Limits {
        get { spill.withLock { $0.limits } }
        set { spill.withLock { $0.limits = newValue } }
    }

    /// Primary keys in a row for new objects, and the store they belong to. Nil where not one store alone keeps the entity, or it can't give them.
    func makeKeys(_ count: Int, for entity: NSEntityDescription) -> (keys: Range<Int64>, store: StoreIdentity)? {
        let keeping = persistentStores.filter { $0.keeps(entity) }
        guard keeping.count == 1, !keeping[0].isReadOnly, keeping[0].identity.references == nil else { return nil }
        return keys.keys(count, for: entity, in: keeping[0]).map { ($0, keeping[0].identity) }
    }

    /// A new object's identity.
    package func makeID(for entity: NSEntityDescription) -> NSManagedObjectID {
        if let stock = keys.next(for: entity) {
            return NSManagedObjectID(entity: entity, key: stock.key, store: stock.store, isTemporary: true)
        }
        if let store = store(for: entity) {
            return NSManagedObjectID(
                entity: entity, key: keys.key(for: entity, in: store, beside: storesBeside(store, for: entity)), store: store.identity,
                isTemporary: true)
        }
        return NSManagedObjectID(entity: entity, key: UnreservedKeys.next(), store: .unbound, isTemporary: true)
    }
}

/// From before `performAndWait(_:)`. Who locks keeps others out who lock, too, and nobody else: the coordinator needs no lock, and takes none of these.
extension NSPersistentStoreCoordinator: NSLocking {
    /// Waits until nobody else has locked, and locks; re-entrant.
    @available(*, deprecated, message: "Use performAndWait(_:)")
    public func lock() { lockers.lock() }

    /// Ends one `lock()`.
    @available(*, deprecated, message: "Use performAndWait(_:)")
    public func unlock() { lockers.unlock() }

    /// Locks if nobody else has; returns whether it did.
    @available(*, deprecated, message: "Use performAndWait(_:)")
    public func tryLock() -> Bool { lockers.try() }
}

extension Notification.Name {
    /// Of iCloud's stores, which came and went while they were in use. Never posted.
    public static let NSPersistentStoreCoordinatorStoresWillChange = Notification.Name("NSPersistentStoreCoordinatorStoresWillChange")
    /// Posted after a store was added, removed or migrated, on the thread that did it. The object is the coordinator.
    public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name("NSPersistentStoreCoordinatorStoresDidChange")
    /// Posted before a store is removed, while it is still open. The object is the store.
    public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name("NSPersistentStoreCoordinatorWillRemoveStore")
}

/// `userInfo` keys of `NSPersistentStoreCoordinatorStoresDidChange`: arrays of stores.
public let NSAddedPersistentStoresKey = "added"
/// The same: what was removed, closed by then.
public let NSRemovedPersistentStoresKey = "removed"
/// The same: the store that was migrated, and the one in its place.
public let NSUUIDChangedPersistentStoresKey = "UUIDChanged"

/// Stores that name themselves and their objects.
extension NSPersistentStoreCoordinator {
    /// The ID that a URI names in an incremental store.
    func incrementalObjectID(_ url: URL, _ store: NSPersistentStore) -> NSManagedObjectID? {
        // The text as it stands: a path without its escapes does not tell "a%2Fb" from "a/b", and one without its last slash is another reference.
        guard let path = URLComponents(url: url, resolvingAgainstBaseURL: false)?.percentEncodedPath, let references = store.identity.references
        else { return nil }
        let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].isEmpty, let name = String(parts[1]).removingPercentEncoding,
            let entity = managedObjectModel.entitiesByName[name], store.keeps(entity), parts[2].hasPrefix("p"),
            let told = ReferenceText.parse(String(parts[2].dropFirst()))
        else { return nil }
        let known = references.key(of: told.reference, entity) ?? told.alternative.flatMap { references.key(of: $0, entity) }
        let key = known ?? references.bind(told.reference, entity)
        return NSManagedObjectID(entity: entity, key: key, store: store.identity, isTemporary: false)
    }

    /// Gives new objects whose IDs are to become permanent the identities that they have in their stores.
    func obtainReferences(for rows: [(id: NSManagedObjectID, row: RowSnapshot?)]) throws {
        for store in persistentStores where store.identity.references != nil {
            let mine = rows.filter { $0.id.storeIdentity === store.identity }
            if !mine.isEmpty { try store.obtainReferences(for: mine) }
        }
    }
}

extension NSPersistentStore {
    /// Whether a URI with this host names an object of this store.
    func isNamed(_ host: String) -> Bool {
        identifier == host || (identity.references != nil && identifier == host.removingPercentEncoding)
    }
}
