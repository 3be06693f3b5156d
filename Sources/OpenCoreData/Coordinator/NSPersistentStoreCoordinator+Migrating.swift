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

extension NSPersistentStoreCoordinator {
    /// Takes everything out of the file of a store, which stays, empty: it can be added as a new one. Goes through SQLite, so that other processes
    /// that have the file open see it emptied, and see it whole. Where there is no file, and of a store in memory, there is nothing to do.
    ///
    /// Throws 134070 for a store that this coordinator has open (remove it before), 134000 or 134080 for a file that is no store, which is left
    /// as it is, 134030 where it can't be written.
    public func destroyPersistentStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil) throws {
        if storeType == NSInMemoryStoreType { return }
        try file(at: url, storeType, options).empty()
    }

    /// As above, with the Swift spelling of store types.
    public func destroyPersistentStore(
        at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
    }

    /// Puts what is in one store's file, its UUID too, in the place of what is in another's, in one transaction; the other need not be there. Goes
    /// through SQLite, so that what is in the log counts, and whoever has one of the files open sees it whole.
    ///
    /// Throws 134070 for a destination that this coordinator has open (remove it before), 134000 or 134080 where one of both is a file but no store,
    /// or there is no source, 134030 where the destination can't be written. Whatever it throws, the destination is as it was.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        let destination = try file(at: destinationURL, storeType, destinationOptions)
        let source = try StoreTypes.file(at: sourceURL, storeType, sourceOptions)
        if destination.isSame(as: sourceURL) {
            throw NSError.coreData(.persistentStoreOperation, "\(sourceURL.path) can't be put in its own place.")
        }
        try destination.replace(with: source)
    }

    /// As above, with the Swift spelling of store types.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom sourceURL: URL,
        sourceOptions: [AnyHashable: Any]? = nil, type storeType: NSPersistentStore.StoreType
    ) throws {
        try replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL, sourceOptions: sourceOptions,
            ofType: storeType.rawValue)
    }

    private func file(at url: URL, _ type: String, _ options: [AnyHashable: Any]?) throws -> any StoreFile {
        let file = try StoreTypes.file(at: url, type, options)
        if let open = persistentStores.first(where: { store in store.type == type && store.url.map { file.isSame(as: $0) } ?? false }) {
            throw NSError.coreData(
                .persistentStoreOperation, "\(url.path) is open as store \(open.identifier ?? "?") of this coordinator: remove the store first.")
        }
        return file
    }
}
