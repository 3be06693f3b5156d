import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// A place for the file of a store that is written as a whole.
final class AtomicWorld {
    static let types = [NSXMLStoreType, NSBinaryStoreType]

    let type: String
    let folder: URL
    let model: NSManagedObjectModel

    init(_ type: String, _ model: NSManagedObjectModel = MovingStack.model()) throws {
        self.type = type
        self.model = model
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("atomic-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var file: URL { folder.appendingPathComponent("Store") }
    var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? [] }
    var text: String { get throws { String(decoding: try Data(contentsOf: file), as: UTF8.self) } }

    /// As a new process would find it.
    func open(_ model: NSManagedObjectModel? = nil, options: [AnyHashable: Any]? = nil, at url: URL? = nil) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model ?? self.model)
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url ?? file, options: options)
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// All that the file holds, in words.
    func dump() throws -> [String] {
        let context = try open(options: [NSReadOnlyPersistentStoreOption: true])
        return try MovingStack.dump(try #require(context.persistentStoreCoordinator?.persistentStores.first))
    }
}

extension NSManagedObjectContext {
    var onlyStore: NSPersistentStore {
        get throws { try #require(persistentStoreCoordinator?.persistentStores.first) }
    }

    /// Runs on the context's queue, and saves.
    func saving(_ body: (NSManagedObjectContext) throws -> Void) throws {
        try performAndWait { () throws in
            try body(self)
            try save()
        }
    }

    func count(_ entity: String) throws -> Int {
        try performAndWait { () throws in try count(for: NSFetchRequest<NSManagedObject>(entityName: entity)) }
    }
}

/// The sentence of an error, and its number.
func told(_ body: () throws -> Void) -> (code: Int, sentence: String) {
    do { try body() } catch {
        return ((error as NSError).code, (error as NSError).localizedDescription)
    }
    return (0, "")
}
