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
