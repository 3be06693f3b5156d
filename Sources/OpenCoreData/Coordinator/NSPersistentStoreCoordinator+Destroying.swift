import Foundation

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
        let source = try SQLiteStoreFile(sourceURL, options: sourceOptions)
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

    private func file(at url: URL, _ type: String, _ options: [AnyHashable: Any]?) throws -> SQLiteStoreFile {
        guard type == NSSQLiteStoreType else {
            throw NSError.coreData(
                .persistentStoreInvalidType, "A store of type \"\(type)\" has no file that this version knows; \(NSSQLiteStoreType) has one.")
        }
        let file = try SQLiteStoreFile(url, options: options)
        if let open = persistentStores.first(where: { store in store.type == type && store.url.map(file.isSame) ?? false }) {
            throw NSError.coreData(
                .persistentStoreOperation, "\(url.path) is open as store \(open.identifier ?? "?") of this coordinator: remove the store before.")
        }
        return file
    }
}
