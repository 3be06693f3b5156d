import Foundation

/// A search for objects of one entity.
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest {
    private var storedEntity: NSEntityDescription?
    private var storedName: String?

    /// Which objects; nil: all.
    open var predicate: NSPredicate?
    /// In which order.
    open var sortDescriptors: [NSSortDescriptor]?
    /// At most how many; 0: no limit.
    open var fetchLimit = 0
    /// How many of the first to leave out.
    open var fetchOffset = 0
    /// How many rows to load at a time; 0: all at once.
    open var fetchBatchSize = 0
    open var resultType: NSFetchRequestResultType = .managedObjectResultType
    /// Whether objects of subentities are found too.
    open var includesSubentities = true
    /// Whether the values are loaded into the row cache.
    open var includesPropertyValues = true
    /// Whether the objects come as faults (their values in the row cache).
    open var returnsObjectsAsFaults = true
    /// Whether unsaved changes count.
    open var includesPendingChanges = true
    open var returnsDistinctResults = false
    /// Whether objects that are already registered take over the values found.
    open var shouldRefreshRefetchedObjects = false
    /// Properties of dictionary results: names or descriptions.
    open var propertiesToFetch: [Any]?
    open var relationshipKeyPathsForPrefetching: [String]?

    public override init() { super.init() }

    public convenience init(entityName: String) {
        self.init()
        storedName = entityName
    }

    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// The name given, or the entity's.
    open var entityName: String? { storedName ?? storedEntity?.name }

    /// The entity; of a request by name only after it was executed.
    open var entity: NSEntityDescription? {
        get { storedEntity }
        set {
            storedEntity = newValue
            storedName = newValue?.name
        }
    }

    /// The entity in this model. Throws if there is none of that name.
    func resolvedEntity(in model: NSManagedObjectModel) throws -> NSEntityDescription {
        if let storedEntity { return storedEntity }
        guard let storedName else {
            throw NSError.coreData(.coreData, "A fetch request must name an entity.")
        }
        guard let entity = model.entitiesByName[storedName] else {
            throw NSError.coreData(
                .coreData, "The model has no entity named \"\(storedName)\"; it has \(model.entitiesByName.keys.sorted().joined(separator: ", ")).")
        }
        storedEntity = entity
        return entity
    }
}
