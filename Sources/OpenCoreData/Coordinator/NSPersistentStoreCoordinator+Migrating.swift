import Foundation
import Synchronization

extension NSPersistentStoreCoordinator {
    /// Writes all that a store holds to a new store of any type and puts that in the old one's place, which is closed and leaves: "Save As".
    ///
    /// The new store has a UUID of its own and the metadata that was set for the old one. Primary keys and versions stay, so contexts go on working:
    /// their objects and IDs, those of unsaved objects too, belong to the new store, and the URIs of the IDs name it. Unsaved changes stay unsaved and
    /// are saved to the new store. The old file stays as it is.
    ///
    /// Saves through this coordinator wait meanwhile; fetches don't. `.NSPersistentStoreCoordinatorWillRemoveStore` is posted before, and
    /// `.NSPersistentStoreCoordinatorStoresDidChange` with the old and the new store under `NSUUIDChangedPersistentStoresKey` after.
    ///
    /// Throws 134000 for a type that nothing can be migrated to, 134160 where there is a file already (it is never written over) or no place for one,
    /// 134070 for a store that is not this coordinator's and while a document keeps a push journal, and what reading and writing throw. Whatever it
    /// throws, the old store is still there and nothing of the new one is.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
    ) throws -> NSPersistentStore {
        let migration = StoreMigration(store: store, model: managedObjectModel, url: URL, options: options, type: storeType)
        try checkCanMove(store)
        try migration.check()
        // Before anything is read: an observer may have something to save yet.
        NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
        let made = try queue.sync {
            try checkCanMove(store)
            let made = try migration.make()
            do { try replace(migration, with: made) } catch {
                made.discard()
                throw error
            }
            return made.store
        }
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: [NSUUIDChangedPersistentStoresKey: [store, made]])
        return made
    }

    /// As above, with the Swift spelling of store types.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil, type storeType: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
    }

    // MARK: When it is opened

    /// Ends what a migration left for later: nothing, since a store is migrated as a whole when it is added.
    public func finishDeferredLightweightMigration() throws {}

    /// Ends one part of what a migration left for later: nothing, as above.
    public func finishDeferredLightweightMigrationTask() throws {}

    /// Opens a store, after it has been brought to the model by a mapping among the resources of the program, if one leads there.
    func mapped<T>(
        _ options: [AnyHashable: Any]?, _ type: String, _ configuration: String?, _ url: URL?, _ open: ([AnyHashable: Any]?) throws -> T
    ) throws -> T {
        if let url {
            let mappings: any StoreMappings.Type = MappedMigration.self
            try mappings.bring(
                StagedStore(type: type, url: url, model: managedObjectModel, configurationName: configuration, options: options))
        }
        return try open(options)
    }

    /// Opens a store, after it has been brought as far as the stages of a migration go, if its options have any.
    func staged<T>(
        _ options: [AnyHashable: Any]?, _ type: String, _ configuration: String?, _ url: URL?, _ open: ([AnyHashable: Any]?) throws -> T
    ) throws -> T {
        guard let value = options?[NSPersistentStoreStagedMigrationManagerOptionKey] else {
            return try mapped(options, type, configuration, url, open)
        }
        guard let stages = value as? any StoreStages else {
            throw NSError.coreData(
                .persistentStoreOpen,
                "\(NSPersistentStoreStagedMigrationManagerOptionKey) needs an NSStagedMigrationManager, not \(Swift.type(of: value)).")
        }
        var rest = options ?? [:]
        rest[NSPersistentStoreStagedMigrationManagerOptionKey] = nil
        // In memory there is never an earlier version; and what is only read is not migrated.
        guard StoreTypes[type]?.destination?.file != nil, let url, (rest[NSReadOnlyPersistentStoreOption] as? Bool) != true else {
            return try open(rest)
        }
        let store = StagedStore(type: type, url: url, model: managedObjectModel, configurationName: configuration, options: rest)
        // What is left is between versions of one stage.
        rest[NSMigratePersistentStoresAutomaticallyOption] = true
        rest[NSInferMappingModelAutomaticallyOption] = true
        return try stages.bring(store) { try open(rest) }
    }

    private func checkCanMove(_ store: NSPersistentStore) throws {
        guard persistentStores.contains(store) else {
            throw NSError.coreData(
                .persistentStoreOperation, "The store \(store.identifier ?? "?") is not one of this coordinator's; it can't be migrated from here.")
        }
        if store.identity.references != nil {
            throw NSError.coreData(
                .persistentStoreOperation,
                "The store \(store.identifier ?? "?") gives its objects references of its own, which no other store would recognise; it can't be "
                    + "migrated. Insert its objects into a new store.")
        }
        if pushRecorder.withLock({ $0 }) != nil {
            throw NSError.coreData(
                .persistentStoreOperation,
                "The store at \(url(for: store).path) can't be migrated: a document keeps a push journal for it, which names the store. Turn "
                    + "pushJournaling off, open the document again and save it first.")
        }
    }

    /// The moment at which one store becomes the other. If it throws, it has not come.
    private func replace(_ migration: StoreMigration, with made: StoreMigration.Made) throws {
        let old = migration.store, new = made.store
        // Objects are inserted meanwhile: their keys must not be handed out again by the new store.
        try keys.pausing {
            if !new.isReadOnly {
                for root in Set(old.entities.map(\.rootEntity)) { try new.raiseLargestKey(for: root, to: old.largestKey(for: root)) }
            }
            migration.carryMetadata(to: new)
            new.persistentStoreCoordinator = self
            old.giveItsPlace(to: new, uuid: made.uuid)
            replace(old, with: new)
        }
        rowCache.removeAll()
        // It has left, whether it could be closed in order or not.
        try? old.close()
        old.persistentStoreCoordinator = nil
        followOthers(new)
    }
}

/// A store that is to be brought to a model before it is opened.
struct StagedStore {
    let type: String
    let url: URL
    /// The model to which it is brought.
    let model: NSManagedObjectModel
    let configurationName: String?
    /// Without the stages.
    let options: [AnyHashable: Any]?
}

/// What brings a store to a model by the stages of a program, before it is opened.
protocol StoreStages: AnyObject {
    /// Nobody else does that with the store meanwhile, nor while it is opened.
    func bring<T>(_ store: StagedStore, thenOpen open: () throws -> T) throws -> T
}

/// What brings a store to a model by a mapping of the program's, before it is opened.
protocol StoreMappings {
    /// Does nothing where no mapping leads there.
    static func bring(_ store: StagedStore) throws
}
