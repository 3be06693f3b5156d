import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// A shop with every kind of relationship that a batch request may meet. Objects are known by their number, which is one in every entity.
enum Shops {
    static func model() -> NSManagedObjectModel {
        let attribute = StoreModels.attribute
        func entity(_ name: String, _ properties: [NSPropertyDescription] = []) -> NSEntityDescription {
            StoreModels.entity(name, [attribute("number", .integer64)] + properties)
        }
        let stars = attribute("stars", .integer16)
        stars.defaultValue = 3
        let shop = entity(
            "Shop",
            [
                attribute("name", .string), stars, attribute("revenue", .double), attribute("opened", .date), attribute("isOpen", .boolean),
                attribute("site", .uri), attribute("token", .uuid),
            ])
        let item = StoreModels.entity(
            "Item",
            [
                attribute("number", .integer64), attribute("key", .string), attribute("count", .integer32), attribute("price", .decimal),
                attribute("weight", .float),
            ])
        let book = StoreModels.entity("Book", [attribute("title", .string)]),
            toy = StoreModels.entity("Toy", [attribute("label", .string), attribute("age", .integer64)])
        item.subentities = [book, toy]
        shop.uniquenessConstraints = [["name"]]
        item.uniquenessConstraints = [["key"]]
        toy.uniquenessConstraints = [["label", "age"]]
        let tag = entity("Tag"), owner = entity("Owner"), licence = entity("Licence"), loan = entity("Loan"), shelf = entity("Shelf")
        StoreModels.relate(shop, "items", toMany: true, item, "shop", inverseToMany: false)
        StoreModels.relate(item, "tags", toMany: true, tag, "items", inverseToMany: true)
        StoreModels.relate(shop, "owner", toMany: false, owner, "shop", inverseToMany: false)
        StoreModels.relate(owner, "licences", toMany: true, licence, "owner", inverseToMany: false)
        StoreModels.relate(shop, "loans", toMany: true, loan, "shop", inverseToMany: false)
        StoreModels.relate(shop, "archive", toMany: true, loan, "archiveShop", inverseToMany: false)
        StoreModels.relate(shop, "shelves", toMany: true, ordered: true, shelf, "shop", inverseToMany: false)
        StoreModels.relate(shelf, "books", toMany: true, book, "shelves", inverseToMany: true)
        StoreModels.relate(shop, "branches", toMany: true, shop, "parent", inverseToMany: false)
        item.properties += [NSRelationshipDescription(name: "supplier", destination: shop, toMany: false)]
        shop.relationshipsByName["items"]?.deleteRule = .cascadeDeleteRule
        shop.relationshipsByName["branches"]?.deleteRule = .cascadeDeleteRule
        shop.relationshipsByName["loans"]?.deleteRule = .denyDeleteRule
        shop.relationshipsByName["archive"]?.deleteRule = .noActionDeleteRule
        shop.relationshipsByName["shelves"]?.deleteRule = .cascadeDeleteRule
        shelf.relationshipsByName["books"]?.deleteRule = .cascadeDeleteRule
        owner.relationshipsByName["shop"]?.deleteRule = .cascadeDeleteRule
        licence.relationshipsByName["owner"]?.isOptional = false
        return NSManagedObjectModel(entities: [shop, item, book, toy, tag, owner, licence, loan, shelf])
    }
}

/// One store with a coordinator and a context, whichever type it is.
final class BatchWorld {
    enum Kind: CaseIterable, CustomTestStringConvertible {
        case memory, file, binary, xml

        var testDescription: String {
            switch self {
            case .memory: "in memory"
            case .file: "SQLite"
            case .binary: "binary"
            case .xml: "XML"
            }
        }
    }

    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    let store: NSPersistentStore
    private let folder: URL

    init(_ kind: Kind, _ model: NSManagedObjectModel = Shops.model(), options: [AnyHashable: Any] = [:]) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("batch-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        switch kind {
        case .memory: store = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        case .binary, .xml:
            store = try coordinator.addPersistentStore(
                ofType: kind == .xml ? NSXMLStoreType : NSBinaryStoreType, configurationName: nil, at: folder.appendingPathComponent("s.store"))
        case .file:
            let all: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true, SQLiteRowSumsOption: true].merging(options) { $1 }
            store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: folder.appendingPathComponent("s.sqlite"), options: all)
        }
        context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    /// What a file holds that another one writes: read anew, and for reading only.
    init(reading other: BatchWorld) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("batch-\(UUID().uuidString)")
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shops.model())
        store = try coordinator.addPersistentStore(
            ofType: other.store.type, configurationName: nil, at: other.store.url, options: [NSReadOnlyPersistentStoreOption: true])
        context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    deinit {
        for store in coordinator.persistentStores { try? store.close() }
        try? FileManager.default.removeItem(at: folder)
    }

    var shell: SQLiteShell { SQLiteShell(file: folder.appendingPathComponent("s.sqlite")) }

    /// Another context on the same coordinator, which knows nothing yet.
    func fresh(_ policy: NSMergePolicy = .error) -> NSManagedObjectContext {
        let made = NSManagedObjectContext(.privateQueueConcurrencyType)
        made.persistentStoreCoordinator = coordinator
        made.mergePolicy = policy
        return made
    }

    /// Executes in a context that knows nothing yet.
    @discardableResult
    func execute<Result: NSPersistentStoreResult>(
        _ request: NSPersistentStoreRequest, as type: Result.Type = NSPersistentStoreResult.self, policy: NSMergePolicy = .error
    ) throws -> Result {
        let context = fresh(policy)
        return try context.performAndWait { () throws in try #require(try context.execute(request) as? Result) }
    }

    func insert(_ entity: String, _ rows: [[String: Any]], policy: NSMergePolicy = .error) throws {
        try execute(NSBatchInsertRequest(entityName: entity, objects: rows), policy: policy)
    }

    /// Makes objects in a context, and saves.
    func save(_ body: (NSManagedObjectContext) throws -> Void) throws {
        try context.performAndWait { () throws in
            try body(context)
            try context.save()
            context.reset()
        }
    }

    // MARK: What is there

    /// Everything in the store: an object to a line, with its values and what it leads to; by entity and number, or by entity and primary key.
    func dump(byKeys: Bool = false) throws -> [String: [String: String]] {
        let context = fresh()
        coordinator.rowCache.removeAll()
        return try context.performAndWait { () throws in
            var names: [NSManagedObjectID: String] = [:], objects: [NSManagedObject] = []
            for entity in coordinator.managedObjectModel.entities where entity.superentity == nil {
                let found = try context.all(entity.name ?? "")
                objects += found
                for object in found {
                    let number = byKeys ? object.objectID.key : object.value(forKey: "number")
                    names[object.objectID] = "\(object.entity.name ?? "") \(number ?? "nil")"
                }
            }
            var result: [String: [String: String]] = [:]
            for object in objects {
                var line: [String: String] = [:]
                for (name, property) in object.entity.propertiesByName {
                    if let relationship = property as? NSRelationshipDescription {
                        let ids = object.objectIDs(forRelationshipNamed: name).map { names[$0] ?? "?" }
                        line[name] = (relationship.isOrdered ? ids : ids.sorted()).joined(separator: ", ")
                    } else {
                        line[name] = object.value(forKey: name).map { "\($0)" } ?? "nil"
                    }
                }
                let name = names[object.objectID] ?? "?"
                #expect(result[name] == nil, "two objects are \(name)")
                result[name] = line
            }
            return result
        }
    }

    /// The number of an object, by its ID.
    func numbers(_ ids: [NSManagedObjectID]) throws -> [String] {
        let rows = try store.rows(for: ids)
        return ids.map { "\($0.entity.name ?? "") \(rows[$0].map { $0["number"].plain.map { "\($0)" } ?? "nil" } ?? "gone")" }
    }
}

/// Requests in one line.
func batchUpdate(_ entity: String, _ format: String? = nil, _ values: [AnyHashable: Any]) -> NSBatchUpdateRequest {
    let request = NSBatchUpdateRequest(entityName: entity)
    request.predicate = format.map { NSPredicate(format: $0) }
    request.propertiesToUpdate = values
    return request
}

func batchDelete(_ entity: String, _ format: String? = nil) -> NSBatchDeleteRequest {
    let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
    fetch.predicate = format.map { NSPredicate(format: $0) }
    return NSBatchDeleteRequest(fetchRequest: fetch)
}
