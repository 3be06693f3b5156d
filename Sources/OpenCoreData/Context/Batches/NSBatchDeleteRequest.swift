import Foundation

/// Deletes many stored objects without making an object of any of them: `NSManagedObjectContext.execute(_:)`.
///
/// It goes past contexts: nothing is validated, no notification of a save is posted, and unsaved changes neither count nor stand in the way. Contexts know
/// of it when they are told, with `mergeChanges(fromRemoteContextSave:into:)`. All rows are deleted or none.
///
/// The model's delete rules hold in the store: what the rule cascades to is deleted too, and references to what is deleted are emptied, where the rule is
/// not to do nothing. The rule deny counts as nullify. A reference that may not be empty keeps everything from being deleted: the request throws 1570.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    /// Which objects.
    enum Selection {
        case fetch(NSFetchRequest<any NSFetchRequestResult>)
        case ids([NSManagedObjectID])
    }

    let selection: Selection
    /// What the result tells; by default only that it was done.
    open var resultType: NSBatchDeleteRequestResultType = .resultTypeStatusOnly

    /// Deletes what the request would find in the stores; its limit, offset and order count. The request is copied.
    public init<ResultType>(fetchRequest fetch: NSFetchRequest<ResultType>) {
        selection = .fetch(fetch.erased())
        super.init()
    }

    /// Deletes these objects, of whatever entities. IDs of objects that are not there are passed over.
    public init(objectIDs objects: [NSManagedObjectID]) {
        selection = .ids(objects)
        super.init()
    }

    private init(_ selection: Selection) {
        self.selection = selection
        super.init()
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy: NSBatchDeleteRequest
        if case .fetch(let request) = selection {
            copy = NSBatchDeleteRequest(.fetch(request.duplicate()))
        } else {
            copy = NSBatchDeleteRequest(selection)
        }
        copy.resultType = resultType
        return filled(copy)
    }

    /// What it deletes, as a request: where it was made of IDs, one for those, if they are of one entity or of one tree.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult> {
        switch selection {
        case .fetch(let request): return request
        case .ids(let ids):
            let request = NSFetchRequest<any NSFetchRequestResult>()
            let entities = Set(ids.map(\.entity))
            request.entity = entities.count == 1 ? entities.first : entities.first?.rootEntity
            request.predicate = NSPredicate(format: "SELF IN %@", ids)
            return request
        }
    }

    open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }
}

/// What the result of a batch delete tells, with Apple's raw values.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    /// `true`, as an `NSNumber`.
    case resultTypeStatusOnly = 0
    /// The IDs of the objects that were deleted, with those that went because of a rule: `[NSManagedObjectID]`.
    case resultTypeObjectIDs = 1
    /// How many those are, an `NSNumber`.
    case resultTypeCount = 2
}

/// What a batch delete did.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    /// A number or an array, as `resultType` says.
    public let result: Any?
    public let resultType: NSBatchDeleteRequestResultType

    init(_ result: Any?, _ resultType: NSBatchDeleteRequestResultType) {
        self.result = result
        self.resultType = resultType
    }
}
