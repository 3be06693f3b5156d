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
    /// How many rows to load at a time; 0: all at once. The objects come as faults, their identities and order fixed at once; when the first
    /// of a batch is used, the values of the batch are loaded with one query.
    open var fetchBatchSize = 0
    /// What is returned: objects by default, or IDs, dictionaries, or one count.
    open var resultType: NSFetchRequestResultType = .managedObjectResultType
    /// Whether objects of subentities are found too.
    open var includesSubentities = true
    /// Whether the values are loaded together with the identities. Without them the objects come as faults that are loaded one by one.
    open var includesPropertyValues = true
    /// Whether the objects come as faults (their values in the row cache).
    open var returnsObjectsAsFaults = true
    /// Whether unsaved changes count.
    open var includesPendingChanges = true
    /// Of dictionary results: whether equal ones are given once.
    open var returnsDistinctResults = false
    /// Whether objects that are already registered take over the values found, under their own unsaved changes.
    open var shouldRefreshRefetchedObjects = false
    /// Properties of dictionary results: names or descriptions.
    open var propertiesToFetch: [Any]?
    /// Relationships whose targets are loaded together with the objects, one query each; a path may lead over several.
    open var relationshipKeyPathsForPrefetching: [String]?
    /// Of dictionary results: one a group of objects that agree in these properties, names or descriptions.
    open var propertiesToGroupBy: [Any]?
    /// Which groups: a predicate over the properties grouped by and, as variables or keys, the computed ones.
    open var havingPredicate: NSPredicate?

    public override init() { super.init() }

    /// A request for all objects of the named entity. The name is looked up when the request is executed, which throws 134060 if the model lacks it.
    public convenience init(entityName: String) {
        self.init()
        storedName = entityName
    }

    /// A request that asks the same and says something else of its results: on Apple's platforms `as` does that, since all requests are of one class there.
    /// What is found and is no `ResultType` makes the fetch throw.
    public convenience init<OtherType>(_ other: NSFetchRequest<OtherType>) {
        self.init()
        take(other)
    }

    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// The name given, or the entity's.
    open var entityName: String? { storedName ?? storedEntity?.name }

    /// The entity; of a request by name only after it was executed. Traps before: the name says nothing without a model.
    open var entity: NSEntityDescription? {
        get {
            if storedEntity == nil, let storedName {
                Violation.misuse("the entity of a fetch request for \"\(storedName)\" is not known until the request is executed; its entityName is")
            }
            return storedEntity
        }
        set {
            storedEntity = newValue
            storedName = newValue?.name
        }
    }

    /// Another request that asks the same.
    open override func copy(with zone: NSZone? = nil) -> Any { duplicate() }

    func duplicate() -> NSFetchRequest<ResultType> { NSFetchRequest(self) }

    /// A copy that does not say what its results are.
    func erased() -> NSFetchRequest<any NSFetchRequestResult> { NSFetchRequest<any NSFetchRequestResult>(self) }

    private func take<Other>(_ other: NSFetchRequest<Other>) {
        _ = other.filled(self)
        storedEntity = other.storedEntity
        storedName = other.storedName
        predicate = other.predicate
        sortDescriptors = other.sortDescriptors
        fetchLimit = other.fetchLimit
        fetchOffset = other.fetchOffset
        fetchBatchSize = other.fetchBatchSize
        resultType = other.resultType
        includesSubentities = other.includesSubentities
        includesPropertyValues = other.includesPropertyValues
        returnsObjectsAsFaults = other.returnsObjectsAsFaults
        includesPendingChanges = other.includesPendingChanges
        returnsDistinctResults = other.returnsDistinctResults
        shouldRefreshRefetchedObjects = other.shouldRefreshRefetchedObjects
        propertiesToFetch = other.propertiesToFetch
        relationshipKeyPathsForPrefetching = other.relationshipKeyPathsForPrefetching
        propertiesToGroupBy = other.propertiesToGroupBy
        havingPredicate = other.havingPredicate
    }

    /// The entity in this model. Throws if there is none of that name.
    func resolvedEntity(in model: NSManagedObjectModel) throws -> NSEntityDescription {
        // The same request may be used with several models.
        if let storedEntity, storedEntity.managedObjectModel === model || storedName == nil { return storedEntity }
        guard let storedName else {
            throw NSError.coreData(.coreData, "A fetch request must name an entity.")
        }
        let entity = try model.entity(named: storedName)
        storedEntity = entity
        return entity
    }
}

/// What a fetch may yield: managed objects, object IDs, dictionaries or numbers.
public protocol NSFetchRequestResult {}

extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}
extension NSManagedObjectID: NSFetchRequestResult {}

/// What a fetch yields, with Apple's raw values.
public struct NSFetchRequestResultType: OptionSet, Hashable, Sendable {
    /// The type as bits, with Apple's numbers.
    public let rawValue: UInt
    /// The type of these bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// Managed objects, registered in the context. The default.
    public static let managedObjectResultType = NSFetchRequestResultType([])
    /// IDs, without loading any values: `NSManagedObjectID`.
    public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
    /// One dictionary for each object or group, with `propertiesToFetch` as keys. Read from the stores: unsaved changes don't count.
    public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
    /// An array of one `NSNumber`: how many objects the fetch would return.
    public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}
