import Foundation

/// Files of stores, whether or not somebody has them open.
extension NSPersistentStoreCoordinator {
    /// Takes everything out of the file of a store, which stays, empty: it can be added as a new one. Goes through SQLite, so that other processes
    /// that have the file open see it emptied, and see it whole. Where there is no file, and of a store in memory, there is nothing to do.
    ///
    /// Throws 134070 for a store that this coordinator has open (remove it before), 134000 or 134080 for a file that is no store, which is left
    /// as it is, 134030 where it can't be written. With `NSPersistentStoreForceDestroyOption` a file that is damaged or no store is removed; one that
    /// somebody else uses, a folder, and what can't be read is left as it is all the same.
    public func destroyPersistentStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil) throws {
        if storeType == NSInMemoryStoreType { return }
        let file = try file(at: url, storeType, options)
        do {
            try file.empty()
        } catch {
            guard options?[NSPersistentStoreForceDestroyOption] as? Bool == true, Self.isOfTheContent(error), Self.isFile(url) else { throw error }
            // The file last: without it, the others mean nothing to anybody.
            for name in ["-wal", "-shm", "-journal", ""] where FileManager.default.fileExists(atPath: url.path + name) {
                try FileManager.default.removeItem(atPath: url.path + name)
            }
        }
    }

    /// Whether what is in a file is the reason, and not who uses it, the disk, or a right that is missing.
    private static func isOfTheContent(_ error: any Error) -> Bool {
        let error = error as NSError, underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError
        if let code = error.userInfo[NSSQLiteErrorDomain] as? Int { return [11, 26].contains(code & 0xff) }
        if let underlying { return isOfTheContent(underlying) }
        return error.domain == NSCocoaErrorDomain && [134000, 134080, CocoaError.Code.fileReadCorruptFile.rawValue].contains(error.code)
    }

    private static func isFile(_ url: URL) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType) == .typeRegular
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

    // MARK: Metadata

    /// What is kept about a store as a whole, read from its file, which nobody needs to have open: type, UUID, the model's version hashes and
    /// identifiers, and what was set.
    ///
    /// Throws 134000 for a type without files, 134080 or 134000 for a file that is no store or is not there.
    public static func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try StoreTypes.file(at: url, storeType, options).metadata()
    }

    /// As above, with the Swift spelling of store types.
    public static func metadataForPersistentStore(
        type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: type.rawValue, at: url, options: options)
    }

    /// The same of a store of whatever type with a file, where none is named.
    @available(*, deprecated, message: "Use metadataForPersistentStore(type:at:options:)")
    public static func metadataForPersistentStore(ofType storeType: String?, at url: URL) throws -> [String: Any] {
        try StoreTypes.anyFile(at: url, storeType).metadata()
    }

    /// The same, of a store of whatever type with a file, where none is named.
    @available(*, deprecated, message: "Use setMetadata(_:type:at:options:)")
    public static func setMetadata(_ metadata: [String: Any]?, forPersistentStoreOfType storeType: String?, at url: URL) throws {
        try StoreTypes.anyFile(at: url, storeType).setMetadata(metadata ?? [:])
    }

    /// Sets what is kept about a store as a whole, in its file. Type, UUID and version hashes stay what they are. A coordinator that has the store
    /// open goes on with what it read, and may write that: set it there.
    ///
    /// Throws as reading does, and 134030 where the file can't be written.
    public static func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws {
        try StoreTypes.file(at: url, storeType, options).setMetadata(metadata ?? [:])
    }

    /// As above, with the Swift spelling of store types.
    public static func setMetadata(
        _ metadata: [String: Any]?, type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws {
        try setMetadata(metadata, forPersistentStoreOfType: type.rawValue, at: url, options: options)
    }

    // MARK: The model

    /// The model that a store was made with, or migrated to last, as its file tells it: entities, what is stored of them, constraints and indexes; not
    /// what is transient, user info, defaults and rules for values. Nobody needs to have the file open, and nothing in it changes.
    ///
    /// Throws 134130 where the file does not say, and as reading its metadata does.
    public static func cachedModelForPersistentStore(at url: URL, options: [AnyHashable: Any]? = nil) throws -> NSManagedObjectModel {
        guard let model = try StoreTypes.file(at: url, NSSQLiteStoreType, options).model() else {
            throw NSError.coreData(.migrationMissingSourceModel, "\(url.path) does not say which model it was made with.")
        }
        return model
    }
}

extension NSPersistentStore {
    /// What is kept about a store as a whole, read from its file, which nobody needs to have open: of whichever type with a file it is. A class of the
    /// program's own has a function of its own. Throws as `NSPersistentStoreCoordinator.metadataForPersistentStore(type:at:options:)` does.
    public class func metadataForPersistentStore(with url: URL) throws -> [String: Any] { try StoreTypes.anyFile(at: url, nil).metadata() }

    /// Sets it there. Throws as `NSPersistentStoreCoordinator.setMetadata(_:type:at:options:)` does.
    public class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        try StoreTypes.anyFile(at: url, nil).setMetadata(metadata ?? [:])
    }
}

extension StoreTypes {
    /// The file of a store of a type, or, where none is named, of the first whose files it is one of. Throws what the type that is asked last says.
    fileprivate static func anyFile(at url: URL, _ type: String?) throws -> any StoreFile {
        if let type { return try file(at: url, type, nil) }
        for type in [NSXMLStoreType, NSBinaryStoreType] {
            if let file = try? file(at: url, type, nil), (try? file.metadata()) != nil { return file }
        }
        return try file(at: url, NSSQLiteStoreType, nil)
    }
}
