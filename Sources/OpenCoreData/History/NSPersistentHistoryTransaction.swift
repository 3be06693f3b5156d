import Foundation

/// One save, as the history of a store has it.
/// It stays as it was read when history is deleted.
// Immutable.
open class NSPersistentHistoryTransaction: NSObject, NSCopying, @unchecked Sendable {
    package let record: HistoryRecord
    /// The place of this transaction, and of those that were listed before it: to go on from.
    public let token: NSPersistentHistoryToken

    package init(_ record: HistoryRecord, token: NSPersistentHistoryToken) {
        self.record = record
        self.token = token
        super.init()
    }

    /// When it was saved.
    open var timestamp: Date { Date(timeIntervalSinceReferenceDate: record.time) }
    /// What it changed, each object once; nil if that was not asked for.
    open var changes: [NSPersistentHistoryChange]? { record.changes?.map { NSPersistentHistoryChange($0, in: self) } }
    /// Its number in its store: the next one has the next.
    open var transactionNumber: Int64 { record.number }
    /// The UUID of its store.
    open var storeID: String { record.store }
    /// The bundle identifier of the program that saved; of a program without one, its name.
    open var bundleID: String { record.bundleID }
    /// The name of the process that saved.
    open var processID: String { record.processID }
    /// The name of the context that saved to the store.
    open var contextName: String? { record.origin.contextName }
    /// Its `transactionAuthor`.
    open var author: String? { record.origin.author }

    /// Returns the transaction itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Two of the same store and number are the same.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryTransaction else { return false }
        return other.record.store == record.store && other.record.number == record.number
    }

    open override var hash: Int { record.number.hashValue }

    open override var description: String {
        "<NSPersistentHistoryTransaction \(record.number): \(timestamp), author \(author ?? "none"), context \(contextName ?? "none"), "
            + "process \(processID), \(record.changes.map { "\($0.count)" } ?? "unread") changes, store \(storeID)>"
    }

    // MARK: Fetching

    /// The entity of a fetch request for transactions.
    open class var entityDescription: NSEntityDescription? { HistoryModel.transaction }

    /// A request for transactions, to which a predicate over `author`, `bundleID`, `changes`, `contextName`, `processID`, `storeID`, `timestamp`,
    /// `token` (for equality) and `transactionNumber` can be added.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { HistoryModel.request(for: HistoryModel.transaction) }
}

extension NSPersistentHistoryTransaction: KeyValueCoding {
    /// The value of a property that predicates and sort descriptors may name: see `fetchRequest`. Traps for any other key but `self`.
    public func value(forKey key: String) -> Any? {
        switch key {
        case "author": author
        case "bundleID": bundleID
        case "changes": changes
        case "contextName": contextName
        case "processID": processID
        case "storeID": storeID
        case "timestamp": timestamp
        case "token": token
        case "transactionNumber": transactionNumber
        case "self": self
        default: Violation.unknownKey(key, entity: HistoryModel.transaction.name)
        }
    }
}

/// What one transaction did to one object.
/// It stays as it was read when history is deleted.
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
    /// The object that was changed. It may have been deleted since.
    open var changedObjectID: NSManagedObjectID { record.id }
    /// Whether the transaction inserted, updated or deleted the object.
    open var changeType: NSPersistentHistoryChangeType { record.type }

    /// The values that a deleted object had, of the attributes marked `preservesValueInHistoryOnDeletion`; nil for other changes, and where the entity
    /// has no such attribute.
    open var tombstone: [AnyHashable: Any]? {
        guard let values = record.tombstone else { return nil }
        let entity = record.id.entity
        var result: [String: Any] = [:]
        for (name, value) in values {
            guard let value = value.any else { continue }
            let isElement = entity.propertiesByName[name] == nil && entity.element(at: name) != nil
            result.nest(value, under: isElement ? name.split(separator: ".").map(String.init)[...] : [name])
        }
        return result
    }

    /// The properties that an update changed; nil for other changes. Those that the model does not have any more are left out.
    open var updatedProperties: Set<NSPropertyDescription>? {
        record.updated.map { names in Set(names.compactMap { record.id.entity.property(ofLeaf: $0) }) }
    }

    /// Returns the change itself, which is immutable.
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

    /// A request for changes, to which a predicate over `changeID`, `changedEntity` (an entity description), `changedObjectID`, `changeType`,
    /// `tombstone` and `transaction` can be added.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { HistoryModel.request(for: HistoryModel.change) }
}

extension NSPersistentHistoryChange: KeyValueCoding {
    /// The value of a property that predicates may name, `changeType` as its raw value: see `fetchRequest`. Traps for any other key but `self`.
    public func value(forKey key: String) -> Any? {
        switch key {
        case "changeID": changeID
        case "changedEntity": changedObjectID.entity
        case "changedObjectID": changedObjectID
        case "changeType": changeType.rawValue
        case "tombstone": tombstone.map { values in Dictionary(uniqueKeysWithValues: values.map { ("\($0.key)", $0.value) }) }
        case "transaction": transaction
        case "self": self
        default: Violation.unknownKey(key, entity: HistoryModel.change.name)
        }
    }
}

/// How far somebody knows the history of one or several stores. To be kept between runs: by an archiver, or by any encoder.
/// It knows a place in each store by the store's UUID, so it holds for one coordinator as for another.
// Immutable.
open class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, Codable, @unchecked Sendable {
    /// The number of the last transaction that is known, by the store's UUID.
    package let positions: [String: Int64]

    package init(_ positions: [String: Int64]) {
        self.positions = positions
        super.init()
    }

    // MARK: Values

    /// Returns the token itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Tokens are equal when they name the same transactions.
    open override func isEqual(_ object: Any?) -> Bool { (object as? NSPersistentHistoryToken)?.positions == positions }
    open override var hash: Int { positions.hashValue }

    open override var description: String {
        let parts = positions.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return "<NSPersistentHistoryToken: \(parts.joined(separator: ", "))>"
    }

    // MARK: Coding

    private static let codingKey = "positions"

    /// Always true: an archive holds data and no other class.
    open class var supportsSecureCoding: Bool { true }

    /// Archives the places in all stores as one binary property list.
    open func encode(with coder: NSCoder) {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        guard let data = try? encoder.encode(positions) else { Violation.misuse("\(self) can't be encoded") }
        coder.encode(NSData(data: data), forKey: Self.codingKey)
    }

    /// Nil if it was not a token that was encoded.
    public required init?(coder: NSCoder) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: Self.codingKey),
            let positions = try? PropertyListDecoder().decode([String: Int64].self, from: Data(referencing: data))
        else { return nil }
        self.positions = positions
        super.init()
    }

    /// Reads what `encode(to:)` wrote. Throws what the decoder throws if it is something else.
    public required init(from decoder: any Decoder) throws {
        positions = try decoder.singleValueContainer().decode([String: Int64].self)
        super.init()
    }

    /// Writes one dictionary: for each store's UUID the number of the last transaction that is known. Throws what the encoder throws.
    open func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(positions)
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
                ("timestamp", .date), ("token", .transformable), ("transactionNumber", .integer64),
            ])
        let change = entity(
            "CHANGE",
            [
                ("changeID", .integer64), ("changedEntity", .transformable), ("changedObjectID", .objectID), ("changeType", .integer16),
                ("tombstone", .transformable),
            ])
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
