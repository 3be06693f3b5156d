import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// What a store of several is.
enum StoreKind: String, CaseIterable {
    case file
    case memory
    case json
}

/// A coordinator above stores of several kinds, each with entities of its own, and if wanted a second coordinator above the same files.
///
/// The entities are called P, Q and R and look alike: a unique key, two numbers, links among each other. A file refuses rows whose `x` is `poison`.
final class SeveralStores {
    static let names = ["P", "Q", "R"]
    /// A number that no file takes.
    static let poison = 13

    let directory: URL
    let coordinator: NSPersistentStoreCoordinator
    let stores: [NSPersistentStore]
    let kinds: [StoreKind]
    /// Above the stores that are files.
    private(set) var beside: NSPersistentStoreCoordinator?

    init(_ kinds: [StoreKind], isSharedByTwo: Bool = false, options: [AnyHashable: Any] = [:]) throws {
        self.kinds = kinds
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("several-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
        var options = options
        // Nothing here is about loss of power.
        options[NSSQLitePragmasOption] = ["synchronous": "OFF"]
        for (kind, name) in zip(kinds, Self.names) where kind == .file {
            try FileManager.default.copyItem(at: Self.templates[name].unwrapped(), to: directory.appendingPathComponent("\(name).store"))
        }
        let directory = directory
        func add(to coordinator: NSPersistentStoreCoordinator, _ kind: StoreKind, _ name: String) throws -> NSPersistentStore {
            let file = directory.appendingPathComponent("\(name).store")
            switch kind {
            case .file:
                return try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: name, at: file, options: options)
            case .memory: return try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: name, at: nil)
            case .json:
                _ = JSONFileStore.isRegistered
                return try coordinator.addPersistentStore(ofType: JSONFileStore.storeType, configurationName: name, at: file)
            }
        }
        var stores: [NSPersistentStore] = []
        for (kind, name) in zip(kinds, Self.names) { stores.append(try add(to: coordinator, kind, name)) }
        self.stores = stores
        if isSharedByTwo {
            let beside = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
            for (kind, name) in zip(kinds, Self.names) where kind == .file { _ = try add(to: beside, kind, name) }
            self.beside = beside
        }
    }

    deinit {
        for coordinator in [coordinator, beside].compactMap({ $0 }) {
            for store in coordinator.persistentStores { try? coordinator.remove(store) }
        }
        try? FileManager.default.removeItem(at: directory)
    }

    func context(on coordinator: NSPersistentStoreCoordinator? = nil, policy: NSMergePolicy = .error) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator ?? self.coordinator
        context.mergePolicy = policy
        return context
    }

    func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.parent = parent
        return context
    }

    func store(_ name: String) throws -> NSPersistentStore {
        stores[try #require(Self.names.firstIndex(of: name))]
    }

    /// The store of an entity above which a coordinator is.
    func store(_ name: String, of coordinator: NSPersistentStoreCoordinator) throws -> NSPersistentStore {
        let entity = try #require(coordinator.managedObjectModel.entitiesByName[name])
        return try #require(coordinator.persistentStores.first { $0.keeps(entity) })
    }

    func file(_ name: String) -> URL { directory.appendingPathComponent("\(name).store") }

    /// What a store holds of its entity, past all caches, by primary key or reference.
    func stored(_ name: String) throws -> [String: String] {
        let store = try store(name)
        if let store = store as? JSONFileStore { return store.lines(name) }
        let entity = try #require(coordinator.managedObjectModel.entitiesByName[name])
        var result: [String: String] = [:]
        for found in try store.fetch(FetchPlan(entity: entity)) {
            guard let row = found.row, let links = entity.layout.toManys.firstIndex(where: { $0.name == "links" }) else { continue }
            let members = try store.relatedIDs(RelationshipKey(owner: found.id, toMany: links)).map(\.key).sorted()
            result["\(found.id.key)"] =
                "v\(row.version) key \(row["key"].plain ?? "–") x \(row["x"].plain ?? "–") y \(row["y"].plain ?? "–") links \(members)"
        }
        return result
    }

    /// What all stores hold, and what is kept about them.
    func stored() throws -> [String] {
        try zip(Self.names, stores).flatMap { name, store -> [String] in
            let metadata = store is SQLiteStore ? try storedMetadata(at: file(name)) : nil
            return ["\(name) \(metadata?["note"] ?? "–")"] + (try stored(name)).map { "\(name)\($0.key) \($0.value)" }.sorted()
        }
    }

    // MARK: The model, and files as they are at first

    static let model: NSManagedObjectModel = {
        let entities = names.map { name in
            let entity = Company.entity(name)
            entity.properties = [
                Company.attribute("key", .string), Company.attribute("x", .integer64, default: 0), Company.attribute("y", .integer64, default: 0),
            ]
            entity.uniquenessConstraints = [["key"]]
            Company.relate(entity, "links", many: true, entity, "linked", many: true)
            return entity
        }
        let model = NSManagedObjectModel(entities: entities)
        for (name, entity) in zip(names, entities) { model.setEntities([entity], forConfigurationName: name) }
        return model
    }()

    private static let templates: [String: URL] = {
        var result: [String: URL] = [:]
        for name in names {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("several-\(name)-\(UUID().uuidString).sqlite")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            guard
                let store = try? coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: name, at: file, options: [SQLitePersistentWALOption: false])
            else { continue }
            try? coordinator.remove(store)
            for event in ["INSERT", "UPDATE"] {
                _ = try? SQLiteShell(file: file).rows(
                    "CREATE TRIGGER no\(event) BEFORE \(event) ON Z\(name) WHEN NEW.ZX = \(poison) BEGIN SELECT RAISE(ABORT, 'poison'); END")
            }
            result[name] = file
        }
        return result
    }()
}

extension Optional {
    fileprivate func unwrapped() throws -> Wrapped { try #require(self) }
}
