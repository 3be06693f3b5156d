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

    private var destination: MigrationDestination? { StoreTypes[type]?.destination }
    /// Whether both are of one type.
    private var isSameType: Bool { StoreTypes[type]?.type == Swift.type(of: store) }

    /// Throws what can be known before anything is done: 134000 for a type that nothing can be migrated to, 134160 for a place that is taken.
    func check() throws {
        guard let destination else {
            let known = StoreTypes.all.filter { $0.value.destination != nil }.keys.sorted(by: >).joined(separator: " and ")
            throw NSError.coreData(
                .persistentStoreInvalidType, "Unknown store type \"\(type)\"; this version can migrate to \(known).")
        }
        try StoreTypes[type]?.check(store.entities, type)
        guard destination.file != nil else { return }
        _ = try NewStoreFile(url)
        if !isSameType { try checkMetadata() }
    }

    private func checkMetadata() throws {
        guard (try? PropertyListValue.bytes(carriedMetadata, format: .binary)) == nil else { return }
        throw NSError.coreData(
            .migrationManagerDestinationStore,
            "The metadata of the store must be a property list to be kept in a file; it holds \(carriedMetadata.keys.sorted().joined(separator: ", ")). "
                + "Set other metadata, then migrate. Nothing was changed.")
    }

    /// What goes over to a store of another type: what one of them keeps about itself is not the other's.
    private var carriedMetadata: [String: Any] {
        let own = [type, store.type].compactMap { StoreTypes[$0]?.destination }.reduce(into: Set<String>()) { $0.formUnion($1.ownMetadataKeys) }
        return (store.metadata ?? [:]).filter { !own.contains($0.key) && $0.key != NSStoreModelVersionIdentifiersKey }
    }

    /// Reads everything and writes it elsewhere. If it throws, nothing has changed and nothing is left over.
    func make() throws -> Made {
        destination?.file == nil ? try makeInMemory() : try makeFile()
    }

    /// What is kept about the store as a whole, also what no save has written yet.
    func carryMetadata(to made: NSPersistentStore) {
        if isSameType, destination?.file != nil {
            made.metadata = store.metadata
        } else {
            made.metadata = (made.metadata ?? [:]).merging(carriedMetadata) { _, carried in carried }
        }
    }

    private func makeInMemory() throws -> Made {
        let made = try open(at: url, options), uuid = made.identity.uuid ?? ""
        made.adopt(store.identity)
        try destination?.fill(made, store)
        try finish(made)
        return Made(store: made, uuid: uuid, file: nil)
    }

    private func makeFile() throws -> Made {
        let file = try NewStoreFile(url)
        defer { file.discard() }
        if isSameType, let source = store as? any CopyableStore {
            try source.copy(to: file.temporary)
        } else {
            let made = try open(at: file.temporary, destination?.optionsWhileFilling)
            defer { try? made.close() }
            made.adopt(store.identity)
            try destination?.fill(made, store)
            try finish(made)
            try made.close()
        }
        try file.put()
        do {
            let made = try open(at: url, options), uuid = made.identity.uuid ?? ""
            made.adopt(store.identity)
            return Made(store: made, uuid: uuid, file: file)
        } catch {
            file.remove()
            throw error
        }
    }

    /// A new store of the wanted type.
    private func open(at url: URL, _ options: [AnyHashable: Any]?) throws -> NSPersistentStore {
        guard let storeClass = StoreTypes[type] else { Violation.misuse("the store type \(type) is gone") }
        return try storeClass.open(
            StoreOpening(
                type: type, model: model, entities: store.entities, configurationName: store.configurationName, url: url, options: options))
    }

    /// Metadata, and how far a push journal was committed.
    private func finish(_ made: NSPersistentStore) throws {
        carryMetadata(to: made)
        var last = ChangeSet()
        let mark = try store.pushMark
        if mark > 0 { last.journaled = mark...mark }
        _ = try made.save(last)
    }
}
