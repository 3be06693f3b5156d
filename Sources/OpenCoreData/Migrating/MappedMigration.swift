import Foundation

/// Brings a store to another version of its model by a mapping among the resources of the program, before it is opened.
struct MappedMigration: StoreMappings {
    let store: StagedStore
    let bundles: [Bundle]

    init(_ store: StagedStore, bundles: [Bundle] = Bundle.loaded) {
        self.store = store
        self.bundles = bundles
    }

    static func bring(_ store: StagedStore) throws { try MappedMigration(store).run() }

    /// Does nothing where no mapping leads from the store's version of the model to this one, or migrating is not asked for. Throws what `NSMigrationManager` does, 134140 where a mapping can't be
    /// read: it may be the one. Whatever it throws, the store is as it was.
    func run() throws {
        func isSet(_ option: String) -> Bool { store.options?[option] as? Bool ?? false }
        guard isSet(NSMigratePersistentStoresAutomaticallyOption), !isSet(NSReadOnlyPersistentStoreOption),
            !isSet(NSIgnorePersistentStoreVersioningOption), StoreTypes[store.type]?.destination?.file != nil
        else { return }
        let mappings = BundledMappings(bundles)
        guard !mappings.isEmpty, try file.holdsStore(), try change(mappings) != nil else { return }
        do {
            try file.remake { place in
                // Another process may have been faster.
                guard let change = try change(mappings) else { return false }
                do { try make(change, at: place) } catch { throw described(error, place) }
                return true
            }
        } catch {
            // It was.
            let isDone = (try? change(mappings) == nil) ?? false
            if !isDone { throw error }
        }
    }

    private var file: any StoreFile {
        get throws { try StoreTypes.file(at: store.url, store.type, store.options) }
    }

    private struct Change {
        let source: NSManagedObjectModel
        let mapping: NSMappingModel
        /// What the new store is opened with because the old one has it.
        let lasting: [AnyHashable: Any]
    }

    /// Nil for a store that is of the model, in the middle of a stage, or of a version from which no mapping leads here.
    private func change(_ mappings: BundledMappings) throws -> Change? {
        let file = try self.file, metadata = try file.metadata()
        if store.model.isConfiguration(withName: store.configurationName, compatibleWithStoreMetadata: metadata) { return nil }
        guard try file.dueStage() == nil else { return nil }
        let found: BundledMappings.Found?
        do {
            // Versions may differ only where the store has no part in them: then it is of all of these.
            found = try mappings.mapping(
                to: store.model, from: { $0.isConfiguration(withName: store.configurationName, compatibleWithStoreMetadata: metadata) })
        } catch {
            throw NSError.coreData(
                .migrationMissingMappingModel,
                "\(store.url.path) was made with another version of the model, and a mapping among the resources of the program can't be read: \(error). "
                    + "Nothing was changed.", underlying: error, userInfo: ["metadata": metadata])
        }
        return try found.map { Change(source: $0.source, mapping: $0.mapping, lasting: try file.lastingOptions()) }
    }

    private func make(_ change: Change, at place: URL) throws {
        let configuration = store.configurationName
        func keeps(_ name: String?, _ model: NSManagedObjectModel) -> Bool {
            name.map { name in model.entities(forConfigurationName: configuration)?.contains { $0.name == name } == true } ?? true
        }
        change.mapping.entityMappings = change.mapping.entityMappings.filter {
            keeps($0.sourceEntityName, change.source) && keeps($0.destinationEntityName, store.model)
        }
        func opening(_ url: URL, _ lasting: [AnyHashable: Any] = [:]) -> NSMigrationManager.Place {
            let options = (store.options ?? [:]).merging(lasting) { $1 }
            return NSMigrationManager.Place(url: url, type: store.type, options: options, configuration: configuration)
        }
        try NSMigrationManager(sourceModel: change.source, destinationModel: store.model).make(
            from: opening(store.url), by: change.mapping, at: opening(place, change.lasting))
    }

    /// What is said of the file in between is meant of the store.
    private func described(_ error: any Error, _ place: URL) -> any Error {
        let error = error as NSError, sentence = error.localizedDescription
        guard sentence.contains(place.path) else { return error }
        let words = sentence.replacingOccurrences(of: place.path, with: store.url.path)
        return NSError(domain: error.domain, code: error.code, userInfo: error.userInfo.merging([NSLocalizedDescriptionKey: words]) { $1 })
    }
}
