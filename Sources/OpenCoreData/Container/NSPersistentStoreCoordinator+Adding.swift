import Foundation

extension NSPersistentStoreCoordinator {
    /// Opens the store that is described and adds it. The handler is called once: before this returns, or, where the description says so, on
    /// another thread when the store is there. It is given what `addPersistentStore` throws, and 134080 for options that such a store ignores.
    public func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription, completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        guard storeDescription.shouldAddStoreAsynchronously else { return block(storeDescription, failure(adding: storeDescription)) }
        // The handler goes to the thread that opens the store, and is called there once.
        let handler = Unchecked(value: block)
        DispatchQueue.global().async { [self] in handler.value(storeDescription, failure(adding: storeDescription)) }
    }

    private func failure(adding description: NSPersistentStoreDescription) -> (any Error)? {
        do {
            try description.checkOptions()
            try addPersistentStore(
                ofType: description.storeType, configurationName: description.configuration, at: description.url, options: description.options)
            return nil
        } catch {
            return error
        }
    }
}

extension NSPersistentStoreDescription {
    /// The type of the store that is opened. SQLite without a file is a store in memory.
    var storeType: String { type == NSSQLiteStoreType && url?.path == "/dev/null" ? NSInMemoryStoreType : type }

    /// What a store of a type does with its options. The two of migration are everybody's: a store that can't migrate refuses another model.
    private static func obeyedOptions(ofType type: String) -> Set<String>? {
        let everybody: Set = [
            NSReadOnlyPersistentStoreOption, NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
            NSPersistentStoreRemoteChangeNotificationPostOptionKey,
        ]
        return switch type {
        case NSInMemoryStoreType: everybody
        case NSSQLiteStoreType:
            everybody.union([
                NSPersistentStoreTimeoutOption, NSSQLitePragmasOption, NSSQLiteAnalyzeOption, NSSQLiteManualVacuumOption,
                NSIgnorePersistentStoreVersioningOption,
                NSPersistentStoreConnectionPoolMaxSizeKey, SQLitePersistentWALOption, SQLiteQuickCheckOption,
                NSPersistentHistoryTrackingKey,
            ])
        default: nil
        }
    }

    /// Throws 134080 for an option that would be ignored.
    func checkOptions() throws {
        // By the type that was asked for: at /dev/null the options of a file are meant for a file that may come back.
        guard let obeyed = Self.obeyedOptions(ofType: type) else { return }
        let ignored = Set(options.keys).subtracting(obeyed).sorted()
        if !ignored.isEmpty {
            throw NSError.coreData(
                .persistentStoreOpen, "A store of type \(type) would ignore the option \(ignored.joined(separator: ", ")). Leave it out.")
        }
    }
}
