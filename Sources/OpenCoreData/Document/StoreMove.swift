import Foundation

/// A store whose content goes on in another package: the parts of `migratePersistentStore`, so that several stores, and what a document has beside
/// them, change places at one moment.
final class StoreMove {
    let old: NSPersistentStore
    private(set) var new: NSPersistentStore?
    private(set) var uuid = ""
    private let url: URL
    private let migration: StoreMigration

    /// - Parameters:
    ///   - temporary: where the copy is made.
    ///   - url: where the copy is when it is opened.
    init(_ store: NSPersistentStore, model: NSManagedObjectModel, temporary: URL, url: URL) throws {
        if store.identity.references != nil {
            throw NSError.coreData(
                .persistentStoreOperation,
                "The store \(store.identifier ?? "?") gives its objects references of its own, which no other store would recognise: its document "
                    + "can't be saved to another place. Insert its objects into a new document.")
        }
        old = store
        self.url = url
        migration = StoreMigration(store: store, model: model, url: temporary, options: store.options, type: store.type)
    }

    /// Makes the copy, with a UUID of its own. No save may come until it has taken the place. Throws as `migratePersistentStore` does.
    func copy() throws {
        try FileManager.default.createDirectory(at: migration.url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try migration.check()
        let made = try migration.make()
        uuid = made.uuid
        try made.store.close()
    }

    /// Opens the copy where it is to stay.
    func open() throws {
        guard let storeClass = StoreTypes[old.type] else { Violation.misuse("the store type \(old.type) is gone") }
        let store = try storeClass.open(
            StoreOpening(
                type: old.type, model: migration.model, entities: old.entities, configurationName: old.configurationName, url: url,
                options: old.options))
        store.adopt(old.identity)
        new = store
    }

    /// Keys that the old store has handed out are not handed out by the new one. To be called while nobody takes keys.
    func raiseKeys() throws {
        guard let new, !new.isReadOnly else { return }
        for root in Set(old.entities.map(\.rootEntity)) { try new.raiseLargestKey(for: root, to: old.largestKey(for: root)) }
    }

    /// The moment at which one store becomes the other.
    func takePlace(in coordinator: NSPersistentStoreCoordinator) {
        guard let new else { return }
        migration.carryMetadata(to: new)
        new.persistentStoreCoordinator = coordinator
        old.giveItsPlace(to: new, uuid: uuid)
        coordinator.replace(old, with: new)
    }

    /// Lets go of the old store, whether it can be closed in order or not.
    func letGo(in coordinator: NSPersistentStoreCoordinator) {
        try? old.close()
        old.persistentStoreCoordinator = nil
        if let new { coordinator.followOthers(new) }
    }

    /// The old store stays.
    func cancel() { try? new?.close() }
}
