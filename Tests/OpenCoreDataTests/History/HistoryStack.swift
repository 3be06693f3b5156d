import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// A folder with files of stores, removed in the end.
final class HistoryFolder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("history-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    var file: URL { file("store") }
    func file(_ name: String) -> URL { url.appendingPathComponent("\(name).sqlite") }
    var shell: SQLiteShell { SQLiteShell(file: file) }

    /// Cities with what a deletion keeps, persons (officers among them), and every kind of relationship.
    static func model(_ change: (_ city: NSEntityDescription, _ person: NSEntityDescription) -> Void = { _, _ in }) -> NSManagedObjectModel {
        let city = StoreModels.entity(
            "City",
            [
                StoreModels.attribute("code", .string), StoreModels.attribute("name", .string), StoreModels.attribute("population", .integer64),
                StoreModels.attribute("founded", .date), StoreModels.attribute("area", .decimal), StoreModels.attribute("isCapital", .boolean),
                StoreModels.attribute("link", .uri), StoreModels.attribute("token", .uuid), Company.transient("note", .string),
            ])
        city.uniquenessConstraints = [["code"]]
        for name in ["name", "founded", "area", "token", "link"] { city.attributesByName[name]?.preservesValueInHistoryOnDeletion = true }
        let person = StoreModels.entity("Person", [StoreModels.attribute("name", .string)])
        let officer = StoreModels.entity("Officer", [StoreModels.attribute("rank", .integer16)])
        person.subentities = [officer]
        StoreModels.relate(city, "citizens", toMany: true, person, "home", inverseToMany: false)
        StoreModels.relate(city, "visitors", toMany: true, person, "visited", inverseToMany: true)
        StoreModels.relate(city, "council", toMany: true, ordered: true, person, "seat", inverseToMany: false)
        change(city, person)
        return NSManagedObjectModel(entities: [city, person, officer])
    }
}

/// A coordinator of its own on a file with a history, and a context on it.
final class HistoryStack {
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    let store: NSPersistentStore

    static var tracking: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true] }

    init(
        _ file: URL, _ model: NSManagedObjectModel = HistoryFolder.model(), configuration: String? = nil,
        options: [AnyHashable: Any]? = HistoryStack.tracking
    ) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: configuration, at: file, options: options)
        context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    deinit { for store in coordinator.persistentStores { try? store.close() } }

    /// Runs a block in the context and saves.
    @discardableResult
    func save<T>(_ body: (NSManagedObjectContext) throws -> T) throws -> T {
        try context.performAndWait { () throws in
            let result = try body(context)
            try context.save()
            return result
        }
    }

    /// One city for each code, saved together.
    func saveCities(_ codes: String...) throws {
        try save { context in for code in codes { context.make("City", ["code": code, "name": "city \(code)"]) } }
    }

    func city(_ code: String) throws -> NSManagedObject { try #require(try context.all("City", "code == '\(code)'").first) }

    // MARK: History

    @discardableResult
    func execute(_ request: NSPersistentHistoryChangeRequest) throws -> NSPersistentHistoryResult {
        try context.performAndWait { () throws in try #require(try context.execute(request) as? NSPersistentHistoryResult) }
    }

    func transactions(after token: NSPersistentHistoryToken? = nil) throws -> [NSPersistentHistoryTransaction] {
        try transactions(.fetchHistory(after: token))
    }

    func transactions(_ request: NSPersistentHistoryChangeRequest) throws -> [NSPersistentHistoryTransaction] {
        try #require(try execute(request).result as? [NSPersistentHistoryTransaction])
    }

    /// The last transaction's changes.
    func lastChanges() throws -> [NSPersistentHistoryChange] { try #require(try transactions().last?.changes) }

    var token: NSPersistentHistoryToken? { coordinator.currentPersistentHistoryToken(fromStores: nil) }
}

extension NSPersistentHistoryChange {
    /// What an update changed, by name.
    var updatedNames: [String]? { updatedProperties.map { $0.map(\.name).sorted() } }
}

extension [NSPersistentHistoryTransaction] {
    var numbers: [Int64] { map(\.transactionNumber) }
}

/// The code of the error that is thrown; 0 if none is.
func errorCode(_ body: () throws -> Void) -> Int {
    do {
        try body()
        return 0
    } catch {
        return (error as NSError).code
    }
}
