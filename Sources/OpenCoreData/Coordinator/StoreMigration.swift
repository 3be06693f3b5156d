import Foundation

/// Makes the store that is to take another's place: the same rows, keys, versions and metadata, and a UUID of its own.
struct StoreMigration {
    let store: NSPersistentStore
    let model: NSManagedObjectModel
    let url: URL
    let options: [AnyHashable: Any]?
    let type: String

    /// The new store, which has the old one's identity already, and what takes it away again.
    struct Made {
        let store: NSPersistentStore
        let uuid: String
        let file: NewStoreFile?

        func discard() {
            try? store.close()
            file?.remove()
        }
    }

    /// Throws what can be known before anything is done: 134000 for a type that nothing can be migrated to, 134160 for a place that is taken.
    func check() throws {
        switch type {
        case NSInMemoryStoreType: break
        case NSSQLiteStoreType:
            _ = try NewStoreFile(url)
            if !(store is SQLiteStore) { try checkMetadata() }
        default:
            throw NSError.coreData(
                .persistentStoreInvalidType,
                "Unknown store type \"\(type)\"; this version can migrate to \(NSSQLiteStoreType) and \(NSInMemoryStoreType).")
        }
    }

    private func checkMetadata() throws {
        guard (try? StoreMetadataCoding.data(carriedMetadata)) == nil else { return }
        throw NSError.coreData(
            .migrationManagerDestinationStore,
            "The metadata of the store must be a property list to be kept in a file; it holds \(carriedMetadata.keys.sorted().joined(separator: ", ")). "
                + "Set other metadata, then migrate. Nothing was changed.")
    }

    /// What goes over to a store of another type: what one of them keeps about itself is not the other's.
    private var carriedMetadata: [String: Any] {
        (store.metadata ?? [:]).filter { !SQLiteStore.ownKeys.contains($0.key) && $0.key != NSStoreModelVersionIdentifiersKey }
    }

    /// Reads everything and writes it elsewhere. If it throws, nothing has changed and nothing is left over.
    func make() throws -> Made {
        type == NSInMemoryStoreType ? try makeInMemory() : try makeFile()
    }

    /// What is kept about the store as a whole, also what no save has written yet.
    func carryMetadata(to made: NSPersistentStore) {
        if store is SQLiteStore, made is SQLiteStore {
            made.metadata = store.metadata
            return
        }
        made.metadata = (made.metadata ?? [:]).merging(carriedMetadata) { _, carried in carried }
    }

    // MARK: Memory

    private func makeInMemory() throws -> Made {
        let made = InMemoryStore(entities: store.entities, configurationName: store.configurationName, url: url, options: options)
        let uuid = made.identity.uuid ?? ""
        made.adopt(store.identity)
        try withSource { try $0.forEachPart { made.fill($0) } }
        try finish(made)
        return Made(store: made, uuid: uuid, file: nil)
    }

    /// What is read: instead of a file a copy of it, so that everything is read as it was at one moment, whoever writes to the file meanwhile.
    private func withSource(_ body: (NSPersistentStore) throws -> Void) throws {
        guard let store = store as? SQLiteStore else { return try body(store) }
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("OpenCoreData-\(UUID().uuidString).sqlite")
        defer { NewStoreFile.remove(place) }
        try store.copy(to: place)
        let copy = try openFile(at: place, [SQLitePersistentWALOption: false, NSIgnorePersistentStoreVersioningOption: true])
        defer { try? copy.close() }
        copy.adopt(store.identity)
        try body(copy)
    }

    // MARK: Files

    private func makeFile() throws -> Made {
        let file = try NewStoreFile(url)
        defer { file.discard() }
        if let store = store as? SQLiteStore {
            try store.copy(to: file.temporary)
        } else {
            let made = try openFile(at: file.temporary, [SQLitePersistentWALOption: false])
            defer { try? made.close() }
            made.adopt(store.identity)
            try made.fill(from: store)
            try finish(made)
            try made.close()
        }
        try file.put()
        do {
            let made = try openFile(at: url, options)
            let uuid = made.identity.uuid ?? ""
            made.adopt(store.identity)
            return Made(store: made, uuid: uuid, file: file)
        } catch {
            file.remove()
            throw error
        }
    }

    private func openFile(at url: URL, _ options: [AnyHashable: Any]?) throws -> SQLiteStore {
        try SQLiteStore(model: model, entities: store.entities, configurationName: store.configurationName, url: url, options: options)
    }

    // MARK: Both

    /// Metadata, and how far a push journal was committed.
    private func finish(_ made: NSPersistentStore) throws {
        carryMetadata(to: made)
        var last = ChangeSet()
        let mark = try store.pushMark
        if mark > 0 { last.journaled = mark...mark }
        _ = try made.save(last)
    }
}
