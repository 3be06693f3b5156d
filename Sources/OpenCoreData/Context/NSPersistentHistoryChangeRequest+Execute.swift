import Foundation

extension NSPersistentHistoryChangeRequest: ContextRequest {
    /// The stores' history is the same whichever context asks: what is unsaved is in none.
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        guard let coordinator = context.endOfChain else { Violation.noParent(context.diagnosticName, doing: "ask for history") }
        return try coordinator.execute(self)
    }
}

extension NSPersistentHistoryTransaction {
    /// The entity of a fetch request for transactions, whatever the context.
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { entityDescription }

    /// A notification that `mergeChanges(fromContextDidSave:)` takes: the IDs of what was inserted, updated and deleted. Empty if the transaction was
    /// fetched without its changes.
    public func objectIDNotification() -> Notification {
        typealias Key = NSManagedObjectContext.NotificationKey
        let keys: [NSPersistentHistoryChangeType: Key] = [.insert: .insertedObjectIDs, .update: .updatedObjectIDs, .delete: .deletedObjectIDs]
        var ids: [Key: Set<NSManagedObjectID>] = [:]
        for change in record.changes ?? [] {
            if let key = keys[change.type] { ids[key, default: []].insert(change.id) }
        }
        let info = Dictionary(uniqueKeysWithValues: ids.map { (AnyHashable($0.key.rawValue), $0.value as Any) })
        return Notification(name: .NSManagedObjectContextDidSaveObjectIDs, object: nil, userInfo: info)
    }
}

extension NSPersistentHistoryChange {
    /// The entity of a fetch request for changes, whatever the context.
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { entityDescription }
}
