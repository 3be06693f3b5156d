import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// A coordinator with one store over a JSON file in a directory of its own, and a context on it.
final class IncrementalStack {
    let directory: URL
    let file: URL
    let options: [AnyHashable: Any]?
    private(set) var coordinator: NSPersistentStoreCoordinator
    private(set) var store: JSONFileStore
    private(set) var root: NSManagedObjectContext

    init(_ model: NSManagedObjectModel = Company.model(), options: [AnyHashable: Any]? = nil) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("incremental-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        file = directory.appendingPathComponent("store.json")
        self.options = options
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try Self.add(to: coordinator, file, options)
        root = Self.context(coordinator)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    static func add(to coordinator: NSPersistentStoreCoordinator, _ file: URL, _ options: [AnyHashable: Any]? = nil) throws -> JSONFileStore {
        _ = JSONFileStore.isRegistered
        let store = try coordinator.addPersistentStore(
            ofType: JSONFileStore.storeType, configurationName: nil, at: file, options: options)
        return try #require(store as? JSONFileStore)
    }

    static func context(_ coordinator: NSPersistentStoreCoordinator, policy: NSMergePolicy = .error) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.mergePolicy = policy
        return context
    }

    /// A second context on the coordinator.
    func independent(policy: NSMergePolicy = .error) -> NSManagedObjectContext { Self.context(coordinator, policy: policy) }

    func child() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.parent = root
        return context
    }

    /// As a new process would find it: another model, coordinator, store and context on the same file.
    func reopen(_ model: NSManagedObjectModel = Company.model()) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try Self.add(to: coordinator, file, options)
        root = Self.context(coordinator)
    }

    /// Saves these objects of the root: entity and values.
    func save(_ objects: (String, [String: Any])...) throws {
        try root.performAndWait { () throws in
            for (entity, values) in objects { root.make(entity, values) }
            try root.save()
        }
        _ = store.calls()
    }
}
