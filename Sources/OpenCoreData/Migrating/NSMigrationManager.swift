public import Foundation
import Synchronization

extension NSPersistentStore {
    /// The class that makes a store out of another with a mapping: `NSMigrationManager`. A coordinator uses that one.
    public class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }
}

/// Makes a new store of another model out of a store, object by object, as a mapping says: what no migration in place can do.
///
/// It goes over the entity mappings three times: it makes the objects, relates them, and lets policies validate; then it saves all of them at once.
/// The objects of the new store are in memory until then. The old store is only read.
///
///     let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
///     try manager.migrateStore(
///         from: url, sourceType: NSSQLiteStoreType, with: mapping, toDestinationURL: other, destinationType: NSSQLiteStoreType)
// Used from one thread at a time, as Apple's, but for progress and cancellation, which a lock guards.
open class NSMigrationManager: NSObject, @unchecked Sendable {
    /// The model of the store that is read. As in Apple's, objects are of `NSManagedObject` itself on both sides: the program's classes know one model.
    public let sourceModel: NSManagedObjectModel
    /// The model of the store that is made.
    public let destinationModel: NSManagedObjectModel
    /// What the migration under way goes by, or the last one did; before the first it is empty.
    open private(set) var mappingModel = NSMappingModel()
    /// What the objects of the old store are in. It has no store but while a migration runs.
    open private(set) var sourceContext: NSManagedObjectContext
    /// What the objects of the new store are in.
    open private(set) var destinationContext: NSManagedObjectContext
    /// The entity mapping that is being carried out; one that says nothing while no migration runs.
    open internal(set) var currentEntityMapping = NSEntityMapping()
    /// Free annotations, for policies.
    open var userInfo: [AnyHashable: Any]?
    /// Accepted as Apple's, and always false: a migration by a manager goes object by object. What needs no code is migrated in place, without a manager.
    open var usesStoreSpecificMigrationManager: Bool {
        get { false }
        set { _ = newValue }
    }

    var associations = MigrationAssociations()
    /// What a policy that was asked by an expression threw.
    var failureOfAnswer: (any Error)?
    private let state = Mutex(State())

    private struct State {
        var progress: Float = 0
        var cancellation: (any Error)?
    }

    /// A manager for stores of one model and for those of another.
    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
        sourceContext = Self.context(sourceModel, "source")
        destinationContext = Self.context(destinationModel, "destination")
        super.init()
    }

    private static func context(_ model: NSManagedObjectModel, _ name: String) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.name = "\(name) of a migration"
        context.undoManager = nil
        let plain = model.copy() as? NSManagedObjectModel ?? model
        for entity in plain.entities { entity.managedObjectClassName = "NSManagedObject" }
        context.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: plain)
        return context
    }

    /// Forgets which object became which. The contexts keep what they have: within a migration nothing that was made is lost by it.
    open func reset() { associations = MigrationAssociations() }

    /// Forgets everything of the last migration.
    private func start() {
        reset()
        failureOfAnswer = nil
        checkedKeys = []
        currentEntityMapping = NSEntityMapping()
        state.withLock { $0 = State() }
        sourceContext = Self.context(sourceModel, "source")
        destinationContext = Self.context(destinationModel, "destination")
    }

    // MARK: Progress

    /// How far the migration is, from 0 to 1. May be read from any thread.
    open var migrationProgress: Float { state.withLock { $0.progress } }

    /// An expression that asks objects of two entities for nothing that they do not have.
    struct KeyCheck: Hashable {
        let property: ObjectIdentifier
        let source: ObjectIdentifier
        let destination: ObjectIdentifier
    }

    final var checkedKeys: Set<KeyCheck> = []

    func progressed(to progress: Float) { state.withLock { $0.progress = progress } }

    /// Has the migration end before the next object, with this error, and without a new store. May be called from any thread.
    open func cancelMigrationWithError(_ error: any Error) { state.withLock { $0.cancellation = $0.cancellation ?? error } }

    func checkCancellation() throws {
        if let error = state.withLock({ $0.cancellation }) { throw error }
    }

    // MARK: The migration

    /// Reads a store of the source model and makes one of the destination model out of it.
    ///
    /// Without a mapping it goes by the inferred one. What was set in the metadata goes over; the new store has a UUID and object IDs of its own.
    ///
    /// Throws 134150 for a source that can't be opened with the source model, 134160 where there is a file already (it is never written over) or no place
    /// for one, 134000 for a destination without a file, 134110 for a mapping that does not fit the models and for values and objects that the new
    /// model does not take, 134111 for what breaks its constraints, 134170 where a policy fails, 134190 where nothing can be inferred, and what the migration was cancelled with.
    /// Whatever it throws, the old store is as it was and nothing of the new one is there.
    open func migrateStore(
        from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil, with mappings: NSMappingModel?,
        toDestinationURL dURL: URL, destinationType dStoreType: String, destinationOptions dOptions: [AnyHashable: Any]? = nil
    ) throws {
        guard StoreTypes[dStoreType]?.destination?.file != nil else {
            throw NSError.coreData(
                .persistentStoreInvalidType, "A migration makes a file; a store of type \"\(dStoreType)\" has none. Choose \(NSSQLiteStoreType).")
        }
        let mapping = try mappings ?? NSMappingModel.inferredMappingModel(forSourceModel: sourceModel, destinationModel: destinationModel)
        let file = try NewStoreFile(dURL)
        defer { file.discard() }
        try make(
            from: Place(url: sourceURL, type: sStoreType, options: sOptions), by: mapping,
            at: Place(url: file.temporary, type: dStoreType, options: dOptions))
        try file.put()
        progressed(to: 1)
    }

    /// Makes the new store where nobody looks for it.
    func make(from source: Place, by mapping: NSMappingModel, at destination: Place) throws {
        start()
        mappingModel = mapping
        try withStores(from: source, to: destination) { source, made in
            // Before the policies, which may add to it. The identifiers are the one entry that tells of the model and that anybody may set.
            var metadata = source.metadata ?? [:]
            metadata[NSStoreModelVersionIdentifiersKey] = made.metadata[NSStoreModelVersionIdentifiersKey]
            made.metadata = metadata
            // Policies use both contexts, wherever they are called.
            try destinationContext.performAndWait {
                try sourceContext.performAndWait {
                    // Whoever writes to the source meanwhile changes nothing of what is read.
                    try sourceContext.setQueryGenerationFrom(.current)
                    // The state is that of the first question.
                    if let name = source.entities.first?.name { _ = try sourceContext.count(for: NSFetchRequest<NSManagedObject>(entityName: name)) }
                    try MigrationPasses(manager: self).run()
                }
            }
        }
        try checkCancellation()
    }

    /// As above, with the Swift spelling of store types.
    open func migrateStore(
        from sourceURL: URL, type sourceType: NSPersistentStore.StoreType, options sourceOptions: [AnyHashable: Any]? = nil,
        mapping: NSMappingModel, to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
        options destinationOptions: [AnyHashable: Any]? = nil
    ) throws {
        try migrateStore(
            from: sourceURL, sourceType: sourceType.rawValue, options: sourceOptions, with: mapping, toDestinationURL: destinationURL,
            destinationType: destinationType.rawValue, destinationOptions: destinationOptions)
    }

    /// A store to open.
    struct Place {
        let url: URL
        let type: String
        let options: [AnyHashable: Any]?
        var configuration: String?
    }

    /// Has both stores open meanwhile.
    private func withStores<T>(from source: Place, to destination: Place, _ body: (NSPersistentStore, NSPersistentStore) throws -> T) throws -> T {
        guard let reading = sourceContext.persistentStoreCoordinator, let writing = destinationContext.persistentStoreCoordinator else {
            Violation.misuse("the contexts of a migration were taken from their coordinators")
        }
        let old = try opened(source, by: reading)
        defer { try? reading.remove(old) }
        var options = destination.options ?? [:]
        options[NSReadOnlyPersistentStoreOption] = nil
        // It is renamed when it is whole: no log beside it.
        options.merge(StoreTypes[destination.type]?.destination?.optionsWhileFilling ?? [:]) { _, own in own }
        let made = try writing.addPersistentStore(
            ofType: destination.type, configurationName: destination.configuration, at: destination.url, options: options)
        do {
            let result = try body(old, made)
            try writing.remove(made)
            return result
        } catch {
            try? writing.remove(made)
            throw error
        }
    }

    private func opened(_ source: Place, by coordinator: NSPersistentStoreCoordinator) throws -> NSPersistentStore {
        var options = source.options ?? [:]
        options[NSReadOnlyPersistentStoreOption] = true
        options[NSMigratePersistentStoresAutomaticallyOption] = false
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = nil
        do {
            return try coordinator.addPersistentStore(
                ofType: source.type, configurationName: source.configuration, at: source.url, options: options)
        } catch {
            throw NSError.coreData(
                .migrationManagerSourceStore, "\(source.url.path) can't be migrated from: \(error.localizedDescription)", underlying: error)
        }
    }

    // MARK: Entities and objects

    /// The entity that a mapping takes objects from; nil for one that is new.
    open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.sourceEntityName.flatMap { sourceContext.persistentStoreCoordinator?.managedObjectModel.entitiesByName[$0] }
    }

    /// The entity that a mapping makes objects of; nil where they go.
    open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.destinationEntityName.flatMap { destinationContext.persistentStoreCoordinator?.managedObjectModel.entitiesByName[$0] }
    }

    /// Says that an object became another by a mapping. A policy that makes objects itself says so of each of them.
    open func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject, for entityMapping: NSEntityMapping
    ) {
        associations.associate(sourceInstance, destinationInstance, entityMapping.name ?? "")
    }

    /// What objects became by the mapping of a name, in their order; nil: all that it has made. Empty for a name that no mapping has.
    open func destinationInstances(forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?) -> [NSManagedObject] {
        associations.destinations(mappingName, of: sourceInstances)
    }

    /// What objects were before the mapping of a name; nil: all that it has taken.
    open func sourceInstances(forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?) -> [NSManagedObject] {
        associations.sources(mappingName, of: destinationInstances).map { sourceContext.object(with: $0) }
    }
}

/// Which object became which, by mapping.
// The destination's objects stay in memory until they are saved; of the source's only the IDs are kept.
struct MigrationAssociations {
    private struct Table {
        var destinations: [NSManagedObjectID: [NSManagedObject]] = [:]
        var sources: [ObjectIdentifier: [NSManagedObjectID]] = [:]
        /// In the order of their making.
        var made: [NSManagedObject] = []
        var taken: [NSManagedObjectID] = []
    }

    private var tables: [String: Table] = [:]
    /// In the order of the mappings' first associations.
    private var names: [String] = []

    mutating func associate(_ source: NSManagedObject, _ destination: NSManagedObject, _ mapping: String) {
        if tables[mapping] == nil { names.append(mapping) }
        var table = tables.removeValue(forKey: mapping) ?? Table()
        if table.destinations[source.objectID] == nil { table.taken.append(source.objectID) }
        if table.sources[ObjectIdentifier(destination)] == nil { table.made.append(destination) }
        table.destinations[source.objectID, default: []].append(destination)
        table.sources[ObjectIdentifier(destination), default: []].append(source.objectID)
        tables[mapping] = table
    }

    func destinations(_ mapping: String, of sources: [NSManagedObject]?) -> [NSManagedObject] {
        guard let table = tables[mapping] else { return [] }
        return sources?.flatMap { table.destinations[$0.objectID] ?? [] } ?? table.made
    }

    func sources(_ mapping: String, of destinations: [NSManagedObject]?) -> [NSManagedObjectID] {
        guard let table = tables[mapping] else { return [] }
        return destinations?.flatMap { table.sources[ObjectIdentifier($0)] ?? [] } ?? table.taken
    }

    /// What an object became by the first mapping that took it, is there still, and is of an entity or of one below it.
    func destination(of source: NSManagedObjectID, kindOf entity: NSEntityDescription?) -> NSManagedObject? {
        for name in names {
            let found = tables[name]?.destinations[source]?.first { object in
                !object.isDeleted && entity.map { object.entity.isKindOf(entity: $0) } ?? true
            }
            if let found { return found }
        }
        return nil
    }
}
