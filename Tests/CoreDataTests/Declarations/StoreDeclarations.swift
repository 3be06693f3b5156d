import CoreData
import Foundation

// Coordinators, containers and stores, those of one's own included. Each statement uses one of Apple's declarations as it is spelled and
// typed; the comment behind or above it names it, and COVERAGE.md counts them.

// MARK: NSPersistentStoreCoordinator

private func nsPersistentStoreCoordinator(_ it: NSPersistentStoreCoordinator, _ description: NSPersistentStoreDescription) async throws {
    // = init(managedObjectModel:)
    let _: (NSManagedObjectModel) -> NSPersistentStoreCoordinator = NSPersistentStoreCoordinator.init(managedObjectModel:)
    let _: KeyPath<NSPersistentStoreCoordinator, NSManagedObjectModel> = \.managedObjectModel  // = managedObjectModel
    let _: KeyPath<NSPersistentStoreCoordinator, [NSPersistentStore]> = \.persistentStores  // = persistentStores
    let _: ReferenceWritableKeyPath<NSPersistentStoreCoordinator, String?> = \.name  // = name
    let _: (URL) -> NSPersistentStore? = it.persistentStore(for:)  // = persistentStore(for:)
    let _: (NSPersistentStore) -> URL = it.url(for:)  // = url(for:)
    // = addPersistentStore(ofType:configurationName:at:options:)
    let _: (String, String?, URL?, [AnyHashable: Any]?) throws -> NSPersistentStore = it.addPersistentStore(ofType:configurationName:at:options:)
    // = addPersistentStore(type:configuration:at:options:)
    let _: (NSPersistentStore.StoreType, String?, URL, [AnyHashable: Any]?) throws -> NSPersistentStore = it.addPersistentStore(
        type:configuration:at:options:)
    // = addPersistentStore(with:completionHandler:)
    it.addPersistentStore(with: description) { (_: NSPersistentStoreDescription, _: (any Error)?) in }
    let _: (NSPersistentStore) throws -> Void = it.remove(_:)  // = remove(_:)
    let _: ([String: Any]?, NSPersistentStore) -> Void = it.setMetadata(_:for:)  // = setMetadata(_:for:)
    let _: (NSPersistentStore) -> [String: Any] = it.metadata(for:)  // = metadata(for:)
    let _: (URL) -> NSManagedObjectID? = it.managedObjectID(forURIRepresentation:)  // = managedObjectID(forURIRepresentation:)
    let _: [String: NSValue] = NSPersistentStoreCoordinator.registeredStoreTypes  // = registeredStoreTypes
    // = registerStoreClass(_:forStoreType:)
    let _: (AnyClass?, String) -> Void = NSPersistentStoreCoordinator.registerStoreClass(_:forStoreType:)
    // = registerStoreClass(_:type:)
    let _: (AnyClass?, NSPersistentStore.StoreType) -> Void = NSPersistentStoreCoordinator.registerStoreClass(_:type:)
    // = metadataForPersistentStore(ofType:at:options:)
    let _: (String, URL, [AnyHashable: Any]?) throws -> [String: Any] = NSPersistentStoreCoordinator.metadataForPersistentStore(ofType:at:options:)
    // = metadataForPersistentStore(type:at:options:)
    let _: (NSPersistentStore.StoreType, URL, [AnyHashable: Any]?) throws -> [String: Any] = NSPersistentStoreCoordinator.metadataForPersistentStore(
        type:at:options:)
    // = setMetadata(_:forPersistentStoreOfType:at:options:)
    let _: ([String: Any]?, String, URL, [AnyHashable: Any]?) throws -> Void = NSPersistentStoreCoordinator.setMetadata(
        _:forPersistentStoreOfType:at:options:)
    // = setMetadata(_:type:at:options:)
    let _: ([String: Any]?, NSPersistentStore.StoreType, URL, [AnyHashable: Any]?) throws -> Void = NSPersistentStoreCoordinator.setMetadata(
        _:type:at:options:)
    // = migratePersistentStore(_:to:options:withType:)
    let _: (NSPersistentStore, URL, [AnyHashable: Any]?, String) throws -> NSPersistentStore = it.migratePersistentStore(_:to:options:withType:)
    // = migratePersistentStore(_:to:options:type:)
    let _: (NSPersistentStore, URL, [AnyHashable: Any]?, NSPersistentStore.StoreType) throws -> NSPersistentStore = it.migratePersistentStore(
        _:to:options:type:)
    // = destroyPersistentStore(at:ofType:options:)
    let _: (URL, String, [AnyHashable: Any]?) throws -> Void = it.destroyPersistentStore(at:ofType:options:)
    // = destroyPersistentStore(at:type:options:)
    let _: (URL, NSPersistentStore.StoreType, [AnyHashable: Any]?) throws -> Void = it.destroyPersistentStore(at:type:options:)
    // = replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:ofType:)
    let _: (URL, [AnyHashable: Any]?, URL, [AnyHashable: Any]?, String) throws -> Void = it.replacePersistentStore(
        at:destinationOptions:withPersistentStoreFrom:sourceOptions:ofType:)
    // = replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:type:)
    let _: (URL, [AnyHashable: Any]?, URL, [AnyHashable: Any]?, NSPersistentStore.StoreType) throws -> Void = it.replacePersistentStore(
        at:destinationOptions:withPersistentStoreFrom:sourceOptions:type:)
    let _: (@escaping () -> Void) -> Void = it.perform(_:)  // = perform(_:)
    it.performAndWait { () -> Void in }  // = performAndWait(_:)
    let _: Int = try it.performAndWait { () throws -> Int in 1 }  // = performAndWait(_:) of a value
    let _: Int = try await it.perform { () throws -> Int in 1 }  // = perform(_:) of a value
    // = currentPersistentHistoryToken(fromStores:)
    let _: ([Any]?) -> NSPersistentHistoryToken? = it.currentPersistentHistoryToken(fromStores:)
    let _: () throws -> Void = it.finishDeferredLightweightMigration  // = finishDeferredLightweightMigration()
    let _: () throws -> Void = it.finishDeferredLightweightMigrationTask  // = finishDeferredLightweightMigrationTask()
    let _: any NSLocking = it  // = NSLocking
    let _: (URL, NSPersistentStore) -> Bool = it.setURL(_:for:)  // = setURL(_:for:)
    let _: NSPersistentStoreDescription = try await it.addPersistentStore(with: description)  // = addPersistentStore(with:)
    let _: (String) -> NSManagedObjectID? = it.managedObjectID(for:)  // = managedObjectID(for:)
    let _: (NSPersistentStoreRequest, NSManagedObjectContext) throws -> Any = it.execute(_:with:)  // = execute(_:with:)
}

// MARK: NSPersistentContainer

private func nsPersistentContainer(_ it: NSPersistentContainer) async throws {
    let _: (String) -> NSPersistentContainer = NSPersistentContainer.init(name:)  // = init(name:)
    // = init(name:managedObjectModel:)
    let _: (String, NSManagedObjectModel) -> NSPersistentContainer = NSPersistentContainer.init(name:managedObjectModel:)
    let _: () -> URL = NSPersistentContainer.defaultDirectoryURL  // = defaultDirectoryURL()
    let _: KeyPath<NSPersistentContainer, String> = \.name  // = name
    let _: KeyPath<NSPersistentContainer, NSManagedObjectContext> = \.viewContext  // = viewContext
    let _: KeyPath<NSPersistentContainer, NSManagedObjectModel> = \.managedObjectModel  // = managedObjectModel
    let _: KeyPath<NSPersistentContainer, NSPersistentStoreCoordinator> = \.persistentStoreCoordinator  // = persistentStoreCoordinator
    // = persistentStoreDescriptions
    let _: ReferenceWritableKeyPath<NSPersistentContainer, [NSPersistentStoreDescription]> = \.persistentStoreDescriptions
    it.loadPersistentStores { (_: NSPersistentStoreDescription, _: (any Error)?) in }  // = loadPersistentStores(completionHandler:)
    let _: () -> NSManagedObjectContext = it.newBackgroundContext  // = newBackgroundContext()
    let _: (@escaping (NSManagedObjectContext) -> Void) -> Void = it.performBackgroundTask(_:)  // = performBackgroundTask(_:)
    // = performBackgroundTask(_:) of a value
    let _: Int = try await it.performBackgroundTask { (_: NSManagedObjectContext) throws -> Int in 1 }
}

// MARK: NSPersistentContainer

// It has no state of its own.
private class OwnNSPersistentContainer: NSPersistentContainer, @unchecked Sendable {
    override class func defaultDirectoryURL() -> URL { super.defaultDirectoryURL() }  // = defaultDirectoryURL(), overridden
    // = init(name:managedObjectModel:), overridden
    override init(name: String, managedObjectModel model: NSManagedObjectModel) { super.init(name: name, managedObjectModel: model) }
    override func newBackgroundContext() -> NSManagedObjectContext { super.newBackgroundContext() }  // = newBackgroundContext(), overridden
    override var viewContext: NSManagedObjectContext { super.viewContext }  // = viewContext, overridden
}

// MARK: NSPersistentStoreDescription

private func nsPersistentStoreDescription(_ it: NSPersistentStoreDescription) {
    let _: any NSCopying = it  // = NSCopying
    let _: (URL) -> NSPersistentStoreDescription = NSPersistentStoreDescription.init(url:)  // = init(url:)
    let _: () -> NSPersistentStoreDescription = NSPersistentStoreDescription.init  // = init()
    let _: ReferenceWritableKeyPath<NSPersistentStoreDescription, String> = \.type  // = type
    let _: ReferenceWritableKeyPath<NSPersistentStoreDescription, String?> = \.configuration  // = configuration
    let _: ReferenceWritableKeyPath<NSPersistentStoreDescription, URL?> = \.url  // = url
    let _: KeyPath<NSPersistentStoreDescription, [String: NSObject]> = \.options  // = options
    let _: (NSObject?, String) -> Void = it.setOption(_:forKey:)  // = setOption(_:forKey:)
    let _: ReferenceWritableKeyPath<NSPersistentStoreDescription, Bool> = \.isReadOnly  // = isReadOnly
    let _: ReferenceWritableKeyPath<NSPersistentStoreDescription, TimeInterval> = \.timeout  // = timeout
    let _: KeyPath<NSPersistentStoreDescription, [String: NSObject]> = \.sqlitePragmas  // = sqlitePragmas
    let _: (NSObject?, String) -> Void = it.setValue(_:forPragmaNamed:)  // = setValue(_:forPragmaNamed:)
    let _: ReferenceWritableKeyPath<NSPersistentStoreDescription, Bool> = \.shouldAddStoreAsynchronously  // = shouldAddStoreAsynchronously
    // = shouldMigrateStoreAutomatically
    let _: ReferenceWritableKeyPath<NSPersistentStoreDescription, Bool> = \.shouldMigrateStoreAutomatically
    // = shouldInferMappingModelAutomatically
    let _: ReferenceWritableKeyPath<NSPersistentStoreDescription, Bool> = \.shouldInferMappingModelAutomatically
}

// MARK: NSPersistentStore

private func nsPersistentStore(_ it: NSPersistentStore) {
    let _: KeyPath<NSPersistentStore, NSPersistentStoreCoordinator?> = \.persistentStoreCoordinator  // = persistentStoreCoordinator
    let _: KeyPath<NSPersistentStore, String> = \.configurationName  // = configurationName
    let _: KeyPath<NSPersistentStore, [AnyHashable: Any]?> = \.options  // = options
    let _: KeyPath<NSPersistentStore, String> = \.type  // = type
    let _: ReferenceWritableKeyPath<NSPersistentStore, [String: Any]?> = \.metadata  // = metadata
    let _: (NSPersistentStoreCoordinator) -> Void = it.didAdd(to:)  // = didAdd(to:)
    let _: (NSPersistentStoreCoordinator?) -> Void = it.willRemove(from:)  // = willRemove(from:)
    // = init(persistentStoreCoordinator:configurationName:at:options:)
    let _: (NSPersistentStoreCoordinator?, String?, URL, [AnyHashable: Any]?) -> NSPersistentStore = NSPersistentStore.init(
        persistentStoreCoordinator:configurationName:at:options:)
    let _: (URL) throws -> [String: Any] = NSPersistentStore.metadataForPersistentStore(with:)  // = metadataForPersistentStore(with:)
    // = setMetadata(_:forPersistentStoreAt:)
    let _: ([String: Any]?, URL) throws -> Void = NSPersistentStore.setMetadata(_:forPersistentStoreAt:)
    let _: () -> AnyClass = NSPersistentStore.migrationManagerClass  // = migrationManagerClass()
    let _: () throws -> Void = it.loadMetadata  // = loadMetadata()
    let _: ReferenceWritableKeyPath<NSPersistentStore, URL?> = \.url  // = url
    let _: ReferenceWritableKeyPath<NSPersistentStore, Bool> = \.isReadOnly  // = isReadOnly
}

// MARK: NSPersistentStore.StoreType

private func storeTypeOfNSPersistentStore() {
    let _: (String) -> NSPersistentStore.StoreType = NSPersistentStore.StoreType.init(rawValue:)  // = init(rawValue:)
    let _: KeyPath<NSPersistentStore.StoreType, String> = \.rawValue  // = rawValue
    let _: NSPersistentStore.StoreType = .sqlite  // = sqlite
    let _: NSPersistentStore.StoreType = .binary  // = binary
    let _: NSPersistentStore.StoreType = .inMemory  // = inMemory
    let _: NSPersistentStore.StoreType = .xml  // = xml
}

// MARK: NSIncrementalStore

private func nsIncrementalStore(_ it: NSIncrementalStore) {
    let _: () throws -> Void = it.loadMetadata  // = loadMetadata()
    let _: (NSPersistentStoreRequest, NSManagedObjectContext?) throws -> Any = it.execute(_:with:)  // = execute(_:with:)
    // = newValuesForObject(with:with:)
    let _: (NSManagedObjectID, NSManagedObjectContext) throws -> NSIncrementalStoreNode = it.newValuesForObject(with:with:)
    // = newValue(forRelationship:forObjectWith:with:)
    let _: (NSRelationshipDescription, NSManagedObjectID, NSManagedObjectContext?) throws -> Any = it.newValue(forRelationship:forObjectWith:with:)
    let _: (URL) -> Any = NSIncrementalStore.identifierForNewStore(at:)  // = identifierForNewStore(at:)
    let _: ([NSManagedObject]) throws -> [NSManagedObjectID] = it.obtainPermanentIDs(for:)  // = obtainPermanentIDs(for:)
    // = managedObjectContextDidRegisterObjects(with:)
    let _: ([NSManagedObjectID]) -> Void = it.managedObjectContextDidRegisterObjects(with:)
    // = managedObjectContextDidUnregisterObjects(with:)
    let _: ([NSManagedObjectID]) -> Void = it.managedObjectContextDidUnregisterObjects(with:)
    let _: (NSEntityDescription, Any) -> NSManagedObjectID = it.newObjectID(for:referenceObject:)  // = newObjectID(for:referenceObject:)
    let _: (NSManagedObjectID) -> Any = it.referenceObject(for:)  // = referenceObject(for:)
}

// MARK: NSIncrementalStore

// It has no state of its own.
private class OwnNSIncrementalStore: NSIncrementalStore, @unchecked Sendable {
    override var type: String { "Own" }  // = type, overridden
    override var metadata: [String: Any]! {
        get { super.metadata }
        set { super.metadata = newValue }
    }  // = metadata, overridden
    override func loadMetadata() throws {}  // = loadMetadata(), overridden
    // = execute(_:with:), overridden
    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any { [] as [Any] }
    // = newValuesForObject(with:with:), overridden
    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws -> NSIncrementalStoreNode {
        NSIncrementalStoreNode(objectID: objectID, withValues: [:], version: 1)
    }
    // = newValue(forRelationship:forObjectWith:with:), overridden
    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID, with context: NSManagedObjectContext?
    ) throws -> Any { [] as [Any] }
    override class func identifierForNewStore(at storeURL: URL) -> Any { "" }  // = identifierForNewStore(at:), overridden
    // = obtainPermanentIDs(for:), overridden
    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] { [] }
    // = managedObjectContextDidRegisterObjects(with:), overridden
    override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}
    // = managedObjectContextDidUnregisterObjects(with:), overridden
    override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}
}

// MARK: NSIncrementalStoreNode

private func nsIncrementalStoreNode(_ it: NSIncrementalStoreNode) {
    // = init(objectID:withValues:version:)
    let _: (NSManagedObjectID, [String: Any], UInt64) -> NSIncrementalStoreNode = NSIncrementalStoreNode.init(objectID:withValues:version:)
    let _: ([String: Any], UInt64) -> Void = it.update(withValues:version:)  // = update(withValues:version:)
    let _: KeyPath<NSIncrementalStoreNode, NSManagedObjectID> = \.objectID  // = objectID
    let _: KeyPath<NSIncrementalStoreNode, UInt64> = \.version  // = version
    let _: (NSPropertyDescription) -> Any? = it.value(for:)  // = value(for:)
}

// MARK: NSAtomicStore

private func nsAtomicStore(_ it: NSAtomicStore) {
    let _: () throws -> Void = it.load  // = load()
    let _: () throws -> Void = it.save  // = save()
    let _: (NSManagedObject) -> NSAtomicStoreCacheNode = it.newCacheNode(for:)  // = newCacheNode(for:)
    let _: (NSAtomicStoreCacheNode, NSManagedObject) -> Void = it.updateCacheNode(_:from:)  // = updateCacheNode(_:from:)
    let _: () -> Set<NSAtomicStoreCacheNode> = it.cacheNodes  // = cacheNodes()
    let _: (Set<NSAtomicStoreCacheNode>) -> Void = it.addCacheNodes(_:)  // = addCacheNodes(_:)
    let _: (Set<NSAtomicStoreCacheNode>) -> Void = it.willRemoveCacheNodes(_:)  // = willRemoveCacheNodes(_:)
    let _: (NSManagedObjectID) -> NSAtomicStoreCacheNode? = it.cacheNode(for:)  // = cacheNode(for:)
    let _: (NSEntityDescription, Any) -> NSManagedObjectID = it.objectID(for:withReferenceObject:)  // = objectID(for:withReferenceObject:)
    let _: (NSManagedObject) -> Any = it.newReferenceObject(for:)  // = newReferenceObject(for:)
    let _: (NSManagedObjectID) -> Any = it.referenceObject(for:)  // = referenceObject(for:)
}

// MARK: NSAtomicStore

// It has no state of its own.
private class OwnNSAtomicStore: NSAtomicStore, @unchecked Sendable {
    override var type: String { "Own" }  // = type, overridden
    override func load() throws {}  // = load(), overridden
    override func save() throws {}  // = save(), overridden
    // = newCacheNode(for:), overridden
    override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode { super.newCacheNode(for: managedObject) }
    // = updateCacheNode(_:from:), overridden
    override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {}
    override func newReferenceObject(for managedObject: NSManagedObject) -> Any { "" }  // = newReferenceObject(for:), overridden
    override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}  // = willRemoveCacheNodes(_:), overridden
}

// MARK: NSAtomicStoreCacheNode

private func nsAtomicStoreCacheNode(_ it: NSAtomicStoreCacheNode) {
    let _: (NSManagedObjectID) -> NSAtomicStoreCacheNode = NSAtomicStoreCacheNode.init(objectID:)  // = init(objectID:)
    let _: KeyPath<NSAtomicStoreCacheNode, NSManagedObjectID> = \.objectID  // = objectID
    let _: ReferenceWritableKeyPath<NSAtomicStoreCacheNode, NSMutableDictionary?> = \.propertyCache  // = propertyCache
    let _: (String) -> Any? = it.value(forKey:)  // = value(forKey:)
    let _: (Any?, String) -> Void = it.setValue(_:forKey:)  // = setValue(_:forKey:)
}

// MARK: NSPersistentStoreCoordinator

@available(*, deprecated)
private func nsPersistentStoreCoordinatorDeprecated(_ it: NSPersistentStoreCoordinator) {
    let _: () -> Void = it.lock  // = lock()
    let _: () -> Void = it.unlock  // = unlock()
    let _: () -> Bool = it.tryLock  // = tryLock()
    // = metadataForPersistentStore(ofType:at:)
    let _: (String?, URL) throws -> [String: Any] = NSPersistentStoreCoordinator.metadataForPersistentStore(ofType:at:)
    // = setMetadata(_:forPersistentStoreOfType:at:)
    let _: ([String: Any]?, String?, URL) throws -> Void = NSPersistentStoreCoordinator.setMetadata(_:forPersistentStoreOfType:at:)
}
