import Foundation

/// What one transaction did to one object.
// Immutable.
open class NSPersistentHistoryChange: NSObject, NSCopying, @unchecked Sendable {
    package let record: HistoryChangeRecord
    /// The transaction it is part of; nil if changes alone were asked for.
    public let transaction: NSPersistentHistoryTransaction?

    package init(_ record: HistoryChangeRecord, in transaction: NSPersistentHistoryTransaction?) {
        self.record = record
        self.transaction = transaction
        super.init()
    }

    /// Its number in its store.
    open var changeID: Int64 { record.number }
    open var changedObjectID: NSManagedObjectID { record.id }
    open var changeType: NSPersistentHistoryChangeType { record.type }

    /// The values that a deleted object had, of the attributes marked `preservesValueInHistoryOnDeletion`; nil for other changes, and where the entity
    /// has no such attribute.
    open var tombstone: [AnyHashable: Any]? {
        guard let values = record.tombstone else { return nil }
        var result: [AnyHashable: Any] = [:]
        for (name, value) in values { result[name] = value.any }
        return result
    }

    /// The properties that an update changed; nil for other changes. Those that the model does not have any more are left out.
    open var updatedProperties: Set<NSPropertyDescription>? {
        record.updated.map { names in Set(names.compactMap { record.id.entity.propertiesByName[$0] }) }
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Two of the same store and number are the same.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryChange else { return false }
        return other.record.number == record.number && other.record.id == record.id
    }

    open override var hash: Int { record.number.hashValue }

    open override var description: String { "<NSPersistentHistoryChange \(record.number): \(record.type) \(record.id)>" }

    // MARK: Fetching

    /// The entity of a fetch request for changes.
    open class var entityDescription: NSEntityDescription? { HistoryModel.change }

    /// A request for changes, to which a predicate over `changeID`, `changedObjectID`, `changeType`, `tombstone` and `transaction` can be added.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { HistoryModel.request(for: HistoryModel.change) }
}

extension NSPersistentHistoryChange: KeyValueCoding {
    public func value(forKey key: String) -> Any? {
        switch key {
        case "changeID": changeID
        case "changedObjectID": changedObjectID
        case "changeType": changeType.rawValue
        case "tombstone": tombstone.map { values in Dictionary(uniqueKeysWithValues: values.map { ("\($0.key)", $0.value) }) }
        case "transaction": transaction
        case "self": self
        default: Violation.unknownKey(key, entity: HistoryModel.change.name)
        }
    }
}
