import CoreData
import Foundation
import OpenCoreDataConvenience

/// A container with a model of authors, their books and publishers, over a file of its own.
final class Library {
    static let model: NSManagedObjectModel = LibraryModel.make()

    let folder: URL
    let container: NSPersistentContainer

    /// - Parameter folder: Where another library's file is; its own, if left out.
    init(in folder: URL? = nil) throws {
        self.folder = folder ?? FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        container = NSPersistentContainer(name: "Library", managedObjectModel: Self.model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: self.folder.appendingPathComponent("Library.sqlite"))]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs a block with a context of its own.
    func using<T>(_ block: (NSManagedObjectContext) throws -> T) throws -> T {
        let context = container.newBackgroundContext()
        return try context.performAndWait { try block(context) }
    }
}

/// What a context has pending, and what its objects say, to be compared.
struct ContextState: Equatable {
    let pending: [Int]
    let objects: [String: [String]]

    init(_ context: NSManagedObjectContext) throws {
        pending = [context.insertedObjects.count, context.updatedObjects.count, context.deletedObjects.count]
        var objects: [String: [String]] = [:]
        for entity in Library.model.entities where entity.superentity == nil {
            guard let name = entity.name else { continue }
            let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name))
            objects[name] = found.map(Self.words).sorted()
        }
        self.objects = objects
    }

    private static func words(_ object: NSManagedObject) -> String {
        let values = object.entity.attributesByName.keys.sorted().map { "\($0)=\(object.value(forKey: $0).map { "\($0)" } ?? "nil")" }
        let links = object.entity.relationshipsByName.keys.sorted().map { name in
            "\(name)=\(object.objectIDs(forRelationshipNamed: name).map { "\($0)" }.sorted())"
        }
        return "\(object.objectID) \((values + links).joined(separator: " "))"
    }
}
