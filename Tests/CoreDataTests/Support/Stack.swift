import CoreData
import Foundation

/// A coordinator with one store, and a context on it. All by names that Apple's framework has, too.
struct Stack {
    let coordinator: NSPersistentStoreCoordinator
    /// A context whose parent is the coordinator.
    let root: NSManagedObjectContext

    /// With a store in memory, unless a file is named.
    init(
        _ model: NSManagedObjectModel = Stack.company(), at file: URL? = nil, history: Bool = false,
        root type: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType
    ) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let kind = file == nil ? NSInMemoryStoreType : NSSQLiteStoreType
        let options = history ? [NSPersistentHistoryTrackingKey: NSNumber(value: true)] : nil
        _ = try coordinator.addPersistentStore(ofType: kind, configurationName: nil, at: file, options: options)
        root = NSManagedObjectContext(concurrencyType: type)
        root.persistentStoreCoordinator = coordinator
    }

    /// Runs `body` with the address of a file in a folder that is removed afterwards.
    static func withFile(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("behaviour-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.appendingPathComponent("store.sqlite"))
    }

    /// Runs `body` with a stack on such a file, and closes the store.
    static func inFile(_ model: NSManagedObjectModel = Stack.company(), _ body: (Stack) throws -> Void) throws {
        try withFile { file in
            let stack = try Stack(model, at: file)
            try body(stack)
            try stack.close()
        }
    }

    func close() throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// Another context whose parent is the coordinator.
    func beside(_ policy: NSMergePolicyType = .errorMergePolicyType) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.mergePolicy = NSMergePolicy(merge: policy)
        return context
    }

    func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.parent = parent
        return context
    }

    /// A new object of the root's that is saved, and its ID.
    func saved(_ entity: String, _ values: [String: Any] = [:]) throws -> (object: NSManagedObject, id: NSManagedObjectID) {
        try root.performAndWait { () throws in
            let object = root.make(entity, values)
            try root.save()
            return (object, object.objectID)
        }
    }

    /// What a context that knows nothing yet finds of a property of strings, sorted.
    func strings(_ entity: String, _ key: String) throws -> [String] {
        let context = beside()
        return try context.performAndWait { () throws in try context.all(entity).compactMap { $0.string(key) }.sorted() }
    }

    /// What a context that knows nothing yet finds of a property of numbers, sorted.
    func numbers(_ entity: String, _ key: String) throws -> [Int] {
        let context = beside()
        return try context.performAndWait { () throws in try context.all(entity).compactMap { $0.number(key) }.sorted() }
    }
}

// MARK: Models

extension Stack {
    /// Departments, persons (engineers among them), badges, skills; playlists with ordered tracks; folders that cascade; accounts that deny; crews
    /// of two or three; items with three numbers.
    static func company() -> NSManagedObjectModel {
        let department = entity("Department", attribute("name", .stringAttributeType, optional: false, default: "unnamed"))
        let person = entity(
            "Person", attribute("name", .stringAttributeType, optional: false, default: "nobody"),
            attribute("age", .integer32AttributeType, default: 18), attribute("nick", .stringAttributeType), transient("note"))
        let engineer = entity("Engineer", attribute("language", .stringAttributeType))
        let badge = entity("Badge", attribute("number", .integer64AttributeType, default: 0))
        let skill = entity("Skill", attribute("name", .stringAttributeType))
        person.subentities = [engineer]
        relate(department, "employees", many: true, person, "department", many: false)
        relate(person, "reports", many: true, person, "manager", many: false)
        relate(person, "badge", many: false, badge, "person", many: false)
        relate(person, "skills", many: true, skill, "people", many: true)
        let model = NSManagedObjectModel()
        model.entities = [department, person, engineer, badge, skill] + library() + [item()]
        return model
    }

    private static func library() -> [NSEntityDescription] {
        let names = ["Playlist", "Track", "Folder", "Account", "Order", "Crew", "Sailor"]
        let entities = names.map { entity($0, attribute("title", .stringAttributeType)) }
        relate(entities[0], "tracks", many: true, entities[1], "playlist", many: false).isOrdered = true
        relate(entities[2], "children", many: true, entities[2], "parent", many: false).deleteRule = .cascadeDeleteRule
        relate(entities[3], "orders", many: true, entities[4], "account", many: false).deleteRule = .denyDeleteRule
        let sailors = relate(entities[5], "sailors", many: true, entities[6], "crew", many: false)
        sailors.minCount = 2
        sailors.maxCount = 3
        return entities
    }

    private static func item() -> NSEntityDescription {
        let numbers = ["a", "b", "c"].map { attribute($0, .integer64AttributeType, default: 0) }
        let item = entity("Item", attribute("key", .stringAttributeType))
        item.properties += numbers
        return item
    }

    /// Entries that are told apart by their keys. For files: Apple's stores in memory know no unique keys.
    static func keyed() -> NSManagedObjectModel {
        let entry = entity("Entry", attribute("key", .stringAttributeType), attribute("a", .integer64AttributeType, default: 0))
        entry.uniquenessConstraints = [["key"]]
        let model = NSManagedObjectModel()
        model.entities = [entry]
        return model
    }

    private static func entity(_ name: String, _ properties: NSPropertyDescription...) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = properties
        return entity
    }

    private static func attribute(_ name: String, _ type: NSAttributeType, optional: Bool = true, default value: Any? = nil) -> NSAttributeDescription
    {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        attribute.defaultValue = value
        return attribute
    }

    private static func transient(_ name: String) -> NSAttributeDescription {
        let attribute = attribute(name, .stringAttributeType)
        attribute.isTransient = true
        return attribute
    }

    /// A relationship and its inverse; gives the owner's side.
    @discardableResult
    private static func relate(
        _ owner: NSEntityDescription, _ name: String, many: Bool, _ target: NSEntityDescription, _ inverse: String, many inverseMany: Bool
    ) -> NSRelationshipDescription {
        let there = relationship(name, many: many, to: target), back = relationship(inverse, many: inverseMany, to: owner)
        owner.properties += [there]
        target.properties += [back]
        there.inverseRelationship = back
        back.inverseRelationship = there
        return there
    }

    private static func relationship(_ name: String, many: Bool, to target: NSEntityDescription) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = target
        relationship.minCount = 0
        relationship.maxCount = many ? 0 : 1
        relationship.deleteRule = .nullifyDeleteRule
        return relationship
    }
}

// MARK: Shorthand

extension NSManagedObjectContext {
    /// A new object of an entity, with values.
    @discardableResult
    func make(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    /// The objects of an entity that match, sorted.
    func all(_ entity: String, _ format: String? = nil, sort: String? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return try fetch(request)
    }

    /// The names of all objects of an entity that match, sorted.
    func names(_ entity: String, _ format: String? = nil) throws -> [String] {
        try all(entity, format, sort: "name").compactMap { $0.string("name") }
    }

    /// The code of the error with which a save ends; nil where it succeeds.
    func refusal() -> Int? {
        do { try save() } catch { return (error as NSError).code }
        return nil
    }
}

extension NSManagedObject {
    func string(_ key: String) -> String? { value(forKey: key) as? String }
    func number(_ key: String) -> Int? { value(forKey: key) as? Int }
    func one(_ key: String) -> NSManagedObject? { value(forKey: key) as? NSManagedObject }
    func many(_ key: String) -> Set<NSManagedObject> { value(forKey: key) as? Set<NSManagedObject> ?? [] }
    func ordered(_ key: String) -> [NSManagedObject] { (value(forKey: key) as? NSOrderedSet)?.array as? [NSManagedObject] ?? [] }
}

/// Keeps the notifications that one object posts while the recorder lives.
// Both lists are guarded by the lock.
final class Recorder: @unchecked Sendable {
    private let lock = NSLock()
    private var received: [Notification] = []
    private var tokens: [any NSObjectProtocol] = []

    init(_ object: AnyObject, _ names: Notification.Name...) {
        let made = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { [weak self] notification in
                self?.add(notification)
            }
        }
        lock.withLock { tokens = made }
    }

    deinit {
        for token in tokens { NotificationCenter.default.removeObserver(token) }
    }

    private func add(_ notification: Notification) { lock.withLock { received.append(notification) } }

    var notifications: [Notification] { lock.withLock { received } }
    var count: Int { notifications.count }
    var names: [Notification.Name] { notifications.map(\.name) }

    /// The objects under a key of the last notification.
    func objects(_ key: String) -> Set<NSManagedObject> { notifications.last?.userInfo?[key] as? Set<NSManagedObject> ?? [] }

    /// The IDs under a key of the last notification.
    func ids(_ key: NSManagedObjectContext.NotificationKey) -> Set<NSManagedObjectID> {
        notifications.last?.userInfo?[key.rawValue] as? Set<NSManagedObjectID> ?? []
    }
}
