import Foundation
import OpenCoreDataTestSupport

@testable import OpenCoreData

/// A store in a file; a context that tests pin to a state of it, and another one that writes beside it.
final class PinnedStack {
    let files: StoreFixture
    let coordinator: NSPersistentStoreCoordinator
    let mine: NSManagedObjectContext
    let theirs: NSManagedObjectContext

    init() throws {
        files = try StoreFixture(Company.model())
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: files.model)
        coordinator.add(files.store)
        mine = Self.context(coordinator)
        theirs = Self.context(coordinator)
        mine.name = "mine"
        theirs.name = "theirs"
    }

    static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Another context of the coordinator.
    func another() -> NSManagedObjectContext { Self.context(coordinator) }

    func child() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.parent = mine
        return context
    }

    /// A context of another coordinator, with another store object on the same file.
    func elsewhere(options: [AnyHashable: Any]? = nil) throws -> NSManagedObjectContext {
        let model = Company.model()
        let other = NSPersistentStoreCoordinator(managedObjectModel: model)
        other.add(try files.second(model, options: options))
        return Self.context(other)
    }

    /// Saves items of these keys, `a` counting from 1, and pins `mine` to what is there then.
    func pin(_ keys: String...) throws {
        try theirs.performAndWait { () throws in
            for (number, key) in keys.enumerated() { theirs.make("Item", ["key": key, "a": number + 1]) }
            try theirs.save()
        }
        try mine.performAndWait { () throws in
            try mine.setQueryGenerationFrom(.current)
            _ = try mine.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
        }
    }

    /// Sets `a` of an item and saves.
    func set(_ key: String, to value: Int, in context: NSManagedObjectContext? = nil) throws {
        let context = context ?? theirs
        try context.performAndWait { () throws in
            for item in try context.all("Item", "key == '\(key)'") { item.setValue(value, forKey: "a") }
            try context.save()
        }
    }

    /// What a context fetches: keys with the values of `a`.
    func shown(_ context: NSManagedObjectContext? = nil) throws -> [String] {
        let context = context ?? mine
        return try context.performAndWait { () throws in
            let request = NSFetchRequest<NSDictionary>(entityName: "Item")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["key", "a"]
            request.sortDescriptors = [NSSortDescriptor(key: "key", ascending: true)]
            return try context.fetch(request).map { "\($0["key"] ?? "") \($0["a"] ?? "")" }
        }
    }

    /// The same from the values of objects, which are refreshed before.
    func read(_ context: NSManagedObjectContext? = nil) throws -> [String] {
        let context = context ?? mine
        return try context.performAndWait { () throws in
            context.refreshAllObjects()
            return try context.all("Item", sort: "key").map { "\($0.value(forKey: "key") ?? "") \($0.value(forKey: "a") ?? "")" }
        }
    }

    /// What SQLite says to a checkpoint that wants all of the log: whether it was kept from it, and what is left.
    func checkpoint() throws -> [String] { try files.shell.rows("PRAGMA wal_checkpoint(TRUNCATE)").first ?? [] }
}
