/// One transaction as a store has it.
package struct HistoryRecord: Sendable {
    package let store: String
    package let number: Int64
    /// Seconds since 2001-01-01 00:00:00 UTC.
    package let time: Double
    package let origin: SaveOrigin
    package let bundleID: String
    package let processID: String
    /// Nil where they were not asked for.
    package var changes: [HistoryChangeRecord]?

    package init(store: String, number: Int64, time: Double, origin: SaveOrigin, bundleID: String, processID: String) {
        self.store = store
        self.number = number
        self.time = time
        self.origin = origin
        self.bundleID = bundleID
        self.processID = processID
    }
}

/// One changed object of a transaction.
package struct HistoryChangeRecord: Sendable {
    package let number: Int64
    package let id: NSManagedObjectID
    package let type: NSPersistentHistoryChangeType
    /// The names of the properties that an update changed; nil for others, and where that is not known.
    package let updated: [String]?
    /// What a deletion left; nil for others, and where nothing is to be kept.
    package let tombstone: [String: AttributeValue]?

    package init(
        number: Int64, id: NSManagedObjectID, type: NSPersistentHistoryChangeType, updated: [String]?, tombstone: [String: AttributeValue]?
    ) {
        self.number = number
        self.id = id
        self.type = type
        self.updated = updated
        self.tombstone = tombstone
    }
}

/// The entities that a fetch request for history names. No store has objects of them.
enum HistoryModel {
    static let transaction = model.transaction
    static let change = model.change

    /// What predicates and sort descriptors may ask of each.
    static func keys(of entity: NSEntityDescription) -> Set<String> { Set(entity.propertiesByName.keys).union(["self"]) }

    static func request(for entity: NSEntityDescription) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = entity
        return request
    }

    private static let model: (transaction: NSEntityDescription, change: NSEntityDescription, whole: NSManagedObjectModel) = {
        func entity(_ name: String, _ attributes: [(name: String, type: NSAttributeDescription.AttributeType)]) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            entity.properties = attributes.map { NSAttributeDescription(name: $0.name, type: $0.type) }
            return entity
        }
        let transaction = entity(
            "TRANSACTION",
            [
                ("author", .string), ("bundleID", .string), ("contextName", .string), ("processID", .string), ("storeID", .string),
                ("timestamp", .date), ("transactionNumber", .integer64),
            ])
        let change = entity(
            "CHANGE", [("changeID", .integer64), ("changedObjectID", .objectID), ("changeType", .integer16), ("tombstone", .transformable)])
        let changes = NSRelationshipDescription(name: "changes", destination: change, toMany: true, isOrdered: true)
        let owner = NSRelationshipDescription(name: "transaction", destination: transaction, toMany: false)
        changes.inverseRelationship = owner
        transaction.properties += [changes]
        change.properties += [owner]
        let whole = NSManagedObjectModel(entities: [transaction, change])
        whole.freeze()
        return (transaction, change, whole)
    }()
}

/// A place in the history of one store.
package enum HistoryPlace: Hashable, Sendable {
    /// The transaction of that number.
    case number(Int64)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case time(Double)
}

/// Option of a SQLite store: whether each save is recorded in the file, in the transaction of the save. `Bool`, default false; a dictionary, as Core
/// Data takes one, means true.
///
/// A file that has a history goes on having one, also where it is opened without the option: otherwise what is saved then would be missing in it.
/// A store that is open for reading only can be asked for the history that its file has.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
