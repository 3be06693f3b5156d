import Foundation

/// Puts many new objects into a store without making an object of any of them: `NSManagedObjectContext.execute(_:)`.
///
/// It goes past contexts: nothing is validated, nothing is awoken, no notification of a save is posted. Contexts know of it when they are told, with
/// `mergeChanges(fromRemoteContextSave:into:)`. What is written is written in one transaction: all of it or nothing.
///
/// What a row is given are attributes, and to-ones without an inverse or with a to-many at their other end, as an object or its ID. Everything else has
/// its default value; `NSNull` stands for nil.
///
/// Where a row has a unique key that a stored row has, or one before it in the request, the context's merge policy says what comes of it:
///
/// | policy | what is stored |
/// | --- | --- |
/// | `error` | nothing of the request: it throws 133021 |
/// | `mergeByPropertyObjectTrump` | the stored row, with the values that the new one was given |
/// | `mergeByPropertyStoreTrump`, `rollback` | the stored row as it is |
/// | `overwrite` | the stored row, with all attributes of the new one, and the to-ones that it was given |
open class NSBatchInsertRequest: NSPersistentStoreRequest {
    /// Where rows come from.
    enum Source {
        case dictionaries([[String: Any]])
        case dictionaryHandler((NSMutableDictionary) -> Bool)
        case managedObjectHandler((NSManagedObject) -> Bool)
    }

    private let target: RequestedEntity
    private(set) var source: Source
    /// What the result tells; by default only that it was done.
    open var resultType: NSBatchInsertRequestResultType = .statusOnly

    /// Rows by property names, for the named entity. The name is looked up when the request is executed, which throws 134060 if the model lacks it.
    public convenience init(entityName: String, objects dictionaries: [[String: Any]]) {
        self.init(.name(entityName), .dictionaries(dictionaries))
    }

    /// The same for an entity.
    public convenience init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
        self.init(.entity(entity), .dictionaries(dictionaries))
    }

    /// Asks for row after row: the handler fills an empty dictionary and returns false, or returns true when there is no further row. It is called on the
    /// context's queue while the request is executed, and must not save into the store: that throws 134030.
    public convenience init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
        self.init(.name(entityName), .dictionaryHandler(handler))
    }

    /// The same for an entity.
    public convenience init(entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
        self.init(.entity(entity), .dictionaryHandler(handler))
    }

    /// Asks for row after row: the handler sets properties of an object and returns false, or returns true when there is no further row. It is one object
    /// for all rows, of the entity's class and in no context, which has the default values each time.
    public convenience init(entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
        self.init(.name(entityName), .managedObjectHandler(handler))
    }

    /// The same for an entity.
    public convenience init(entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
        self.init(.entity(entity), .managedObjectHandler(handler))
    }

    /// A request without an entity: executing it throws 134060.
    @available(*, deprecated, message: "Use init(entityName:objects:) or another that says of which entity the objects are")
    public convenience override init() { self.init(.name(""), .dictionaries([])) }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = filled(NSBatchInsertRequest(target, source))
        copy.resultType = resultType
        return copy
    }

    private init(_ target: RequestedEntity, _ source: Source) {
        self.target = target
        self.source = source
        super.init()
    }

    /// The name given, or the entity's.
    open var entityName: String { target.name }
    /// The entity; nil of a request by name.
    open var entity: NSEntityDescription? { target.entity }
    /// The rows, where the request was made of them.
    open var objectsToInsert: [[String: Any]]? {
        get { if case .dictionaries(let rows) = source { rows } else { nil } }
        set { source = .dictionaries(newValue ?? []) }
    }
    /// What fills dictionaries, where the request was made of it.
    open var dictionaryHandler: ((NSMutableDictionary) -> Bool)? {
        get { if case .dictionaryHandler(let handler) = source { handler } else { nil } }
        set { source = newValue.map { .dictionaryHandler($0) } ?? .dictionaries([]) }
    }
    /// What sets the properties of an object, where the request was made of it.
    open var managedObjectHandler: ((NSManagedObject) -> Bool)? {
        get { if case .managedObjectHandler(let handler) = source { handler } else { nil } }
        set { source = newValue.map { .managedObjectHandler($0) } ?? .dictionaries([]) }
    }

    open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

    func resolvedEntity(in model: NSManagedObjectModel) throws -> NSEntityDescription { try target.resolved(in: model) }
}

/// What the result of a batch insert tells, with Apple's raw values.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
    /// `true`, as an `NSNumber`.
    case statusOnly = 0
    /// The IDs of the objects that were inserted, and of stored ones that were given values in their place: `[NSManagedObjectID]`.
    case objectIDs = 1
    /// How many those are, an `NSNumber`.
    case count = 2
}

/// What a batch insert did.
open class NSBatchInsertResult: NSPersistentStoreResult {
    /// A number or an array, as `resultType` says.
    public let result: Any?
    public let resultType: NSBatchInsertRequestResultType

    init(_ result: Any?, _ resultType: NSBatchInsertRequestResultType) {
        self.result = result
        self.resultType = resultType
    }
}

/// The entity of a request: itself, or a name to be looked up.
enum RequestedEntity {
    case name(String)
    case entity(NSEntityDescription)

    var name: String {
        switch self {
        case .name(let name): name
        case .entity(let entity): entity.name ?? ""
        }
    }

    var entity: NSEntityDescription? { if case .entity(let entity) = self { entity } else { nil } }

    /// Throws 134060 for a name that the model lacks.
    func resolved(in model: NSManagedObjectModel) throws -> NSEntityDescription {
        if let entity, entity.managedObjectModel === model { return entity }
        return try model.entity(named: name)
    }
}
