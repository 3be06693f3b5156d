import Foundation

/// Gives many stored objects new values without making an object of any of them: `NSManagedObjectContext.execute(_:)`.
///
/// It goes past contexts: nothing is validated, no notification of a save is posted, and unsaved changes neither count nor stand in the way. Contexts know
/// of it when they are told, with `mergeChanges(fromRemoteContextSave:into:)`; an object that was read before and is saved after meets a conflict. All
/// rows are updated or none.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
    private let target: RequestedEntity
    /// Which objects; nil: all.
    open var predicate: NSPredicate?
    /// Whether objects of subentities are updated too.
    open var includesSubentities = true
    /// What the result tells; by default only that it was done.
    open var resultType: NSBatchUpdateRequestResultType = .statusOnlyResultType
    /// The new values by property: a name or an `NSPropertyDescription`, and a value (`NSNull` for nil) or an `NSExpression` over the object as it was
    /// before. Attributes, and to-ones without an inverse or with a to-many at their other end, which take an object or its ID.
    ///
    /// Of a value that is no value of the attribute (a text for a number, a number beyond its 16 or 32 bits) nothing is written: the request throws 134060.
    /// What the model asks of values besides is not looked at.
    open var propertiesToUpdate: [AnyHashable: Any]?

    /// For the named entity. The name is looked up when the request is executed, which throws 134060 if the model lacks it.
    public init(entityName: String) {
        target = .name(entityName)
        super.init()
    }

    /// For an entity.
    public init(entity: NSEntityDescription) {
        target = .entity(entity)
        super.init()
    }

    private init(_ target: RequestedEntity) {
        self.target = target
        super.init()
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = filled(NSBatchUpdateRequest(target))
        copy.predicate = predicate
        copy.includesSubentities = includesSubentities
        copy.resultType = resultType
        copy.propertiesToUpdate = propertiesToUpdate
        return copy
    }

    /// The name given, or the entity's.
    open var entityName: String { target.name }
    /// The entity; nil of a request by name.
    open var entity: NSEntityDescription? { target.entity }

    open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

    func resolvedEntity(in model: NSManagedObjectModel) throws -> NSEntityDescription { try target.resolved(in: model) }
}

/// What the result of a batch update tells, with Apple's raw values.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    /// `true`, as an `NSNumber`.
    case statusOnlyResultType = 0
    /// The IDs of the objects that were updated: `[NSManagedObjectID]`.
    case updatedObjectIDsResultType = 1
    /// How many those are, an `NSNumber`.
    case updatedObjectsCountResultType = 2
}

/// What a batch update did.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    /// A number or an array, as `resultType` says.
    public let result: Any?
    public let resultType: NSBatchUpdateRequestResultType

    init(_ result: Any?, _ resultType: NSBatchUpdateRequestResultType) {
        self.result = result
        self.resultType = resultType
    }
}
