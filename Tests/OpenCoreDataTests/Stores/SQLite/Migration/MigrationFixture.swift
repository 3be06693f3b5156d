import Foundation
import OpenCoreData
import Testing

/// A store's file that is opened with one version of a model after the other.
final class MigrationFixture {
    let directory: URL
    private var options: [AnyHashable: Any]

    init(_ options: [AnyHashable: Any] = [:]) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("versions-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        self.options = options
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    static var migrating: [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    }

    var file: URL { directory.appendingPathComponent("store.sqlite") }
    var shell: SQLiteShell { SQLiteShell(file: file) }

    /// Opens the file with these entities, migrating it unless options say otherwise, and closes it again.
    @discardableResult
    func open<T>(
        _ entities: [NSEntityDescription], _ more: [AnyHashable: Any] = MigrationFixture.migrating,
        _ body: (NSManagedObjectContext) throws -> T = { _ in }
    ) throws -> T {
        let (context, coordinator, store) = try connect(entities, more)
        defer { try? coordinator.remove(store) }
        return try context.performAndWait { try body(context) }
    }

    /// As `open`, for whoever keeps it open.
    func connect(
        _ entities: [NSEntityDescription], _ more: [AnyHashable: Any] = MigrationFixture.migrating
    ) throws -> (context: NSManagedObjectContext, coordinator: NSPersistentStoreCoordinator, store: NSPersistentStore) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: entities))
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: options.merging(more) { _, new in new })
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return (context, coordinator, store)
    }

    /// The error with which the file can't be opened.
    func refusal(_ entities: [NSEntityDescription], _ more: [AnyHashable: Any] = MigrationFixture.migrating) throws -> NSError {
        let error = #expect(throws: NSError.self) { try open(entities, more) }
        return try #require(error)
    }

    /// All that is in the file, as statements.
    func dump() throws -> [String] { try shell.column(".dump") }
}

extension NSManagedObjectContext {
    /// New objects with these values.
    @discardableResult
    func make(_ entity: String, _ values: [String: Any]...) -> [NSManagedObject] {
        values.map { values in
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
            for (key, value) in values { object.setValue(value, forKey: key) }
            return object
        }
    }

    /// All objects of an entity, in the order of an attribute.
    func all(_ entity: String, by key: String) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return try fetch(request)
    }
}
