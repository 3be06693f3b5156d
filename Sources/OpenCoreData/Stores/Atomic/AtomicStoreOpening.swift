import Foundation

/// Opens or makes a store that keeps a file.
struct AtomicStoreOpening {
    private let opening: StoreOpening
    private let format: any AtomicFormat
    private let options: SQLiteStoreOptions
    private let isReadOnly: Bool
    private let file: AtomicFile

    init(_ opening: StoreOpening, format: any AtomicFormat) throws {
        guard let url = opening.url else { throw NSError.coreData(.persistentStoreOpen, "A store of type \(opening.type) needs a URL.") }
        self.opening = opening
        self.format = format
        options = try SQLiteStoreOptions(opening.options)
        isReadOnly = opening.options?[NSReadOnlyPersistentStoreOption] as? Bool ?? false
        file = try AtomicFile(url, timeout: options.timeout)
    }

    /// Throws 134080 or 134000 for a file that is no such store, 134020 for a model that it can't hold, 134100 for one of another version of the model, and
    /// what migrating throws.
    func open() throws -> NSPersistentStore {
        try AtomicCoding(entities: opening.entities, format: format, path: file.path).check()
        var found = try file.read()
        if found == nil {
            if isReadOnly {
                throw NSError.coreData(
                    .persistentStoreOpen, "\(file.path) can't be opened for reading: there is no store there. Open it for writing once to create it.")
            }
            do { return try create() } catch {
                // Another process may have been faster.
                found = try file.read()
                if found == nil { throw error }
            }
        }
        var document = try format.document(found ?? Data(), path: file.path)
        if let type = document.metadata.values[NSStoreTypeKey] as? String, type != format.type {
            throw NSError.coreData(.persistentStoreTypeMismatch, "\(file.path) is a store of type \(type), not \(format.type).")
        }
        if isOfModel(document) { return try opened(document) }
        guard options.ignoresVersion else { return try migrated(document) }
        // What it holds is of this model, or it is refused. A file that says nothing of its model was written by others, who know it by their own hashes.
        if document.metadata.values[StoreMetadataCoding.modelKey] != nil { try stamp(&document) }
        return try opened(document)
    }

    private func opened(_ document: AtomicDocument) throws -> AtomicFileStore {
        let store = AtomicFileStore(opening, format: format, file: file, uuid: document.uuid)
        try store.load(document)
        return store
    }

    private func create() throws -> AtomicFileStore {
        let uuid = UUID().uuidString
        var document = AtomicDocument(uuid: uuid, metadata: .init(values: [StoreMetadataCoding.frameworkVersionKey: 1]))
        try stamp(&document)
        let store = try opened(document)
        try store.write()
        return store
    }

    private func stamp(_ document: inout AtomicDocument) throws {
        document.metadata.values[NSStoreTypeKey] = format.type
        StoreMetadataCoding.stamp(&document.metadata.values, entities: opening.entities, model: opening.model)
        document.metadata.values[StoreMetadataCoding.modelKey] = try ModelArchive(opening.entities).encoded()
    }

    // MARK: Another version of the model

    private func isOfModel(_ document: AtomicDocument) -> Bool {
        document.metadata.values[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:] == StoreMetadataCoding.hashes(of: opening.entities)
    }

    /// As SQLite does it in its own file: the rows go there and come back. The file is the old store until the new one takes its place.
    private func migrated(_ document: AtomicDocument) throws -> NSPersistentStore {
        let metadata = document.metadata.values
        let archive = (metadata[StoreMetadataCoding.modelKey] as? Data).flatMap { ModelArchive($0) }
        func otherModel(_ remedy: String) -> NSError {
            var differences = archive?.differences(to: ModelArchive(opening.entities)) ?? []
            if differences.isEmpty { differences = ["its version hashes differ"] }
            return .coreData(
                .persistentStoreIncompatibleVersionHash,
                "\(file.path) was made with another version of the model: \(differences.joined(separator: "; ")). \(remedy)",
                userInfo: ["metadata": metadata.filter { !StoreMetadataCoding.hiddenKeys.contains($0.key) }])
        }
        if let due = metadata[StoreMetadataCoding.dueStageKey] as? String, due != opening.model.versionChecksum {
            throw otherModel("A stage of a migration to the version \(due) is not over: open it with its NSStagedMigrationManager.")
        }
        guard options.migrates else {
            throw otherModel("Open it with the model it was made with, migrate it, or move it away so that a new one is made.")
        }
        if isReadOnly { throw otherModel("It is opened read-only, so it can't be migrated: open it for writing once.") }
        guard options.infersMapping else {
            throw NSError.coreData(
                .migrationMissingMappingModel,
                "\(file.path) was made with another version of the model, and the program has no mapping to this one among its resources. Add one, with both "
                    + "versions of the model, or set \(NSInferMappingModelAutomaticallyOption) to have it inferred. Nothing was changed.")
        }
        guard let before = try? archive?.model(hasClasses: false) else {
            throw NSError.coreData(.migrationMissingSourceModel, "\(file.path) does not say which model it was made with. Nothing was changed.")
        }
        before.freeze()
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("OpenCoreData-\(UUID().uuidString).sqlite")
        defer { NewStoreFile.remove(place) }
        do {
            let old = AtomicFileStore(with(before), format: format, file: file, uuid: document.uuid)
            try old.load(document)
            let moved = try SQLiteStore(
                model: before, entities: before.entities, configurationName: nil, url: place, options: [SQLitePersistentWALOption: false])
            moved.adopt(old.identity)
            try moved.fill(from: old)
            try moved.close()
            let brought = try SQLiteStore(
                model: opening.model, entities: opening.entities, configurationName: opening.configurationName, url: place,
                options: [
                    SQLitePersistentWALOption: false, NSMigratePersistentStoresAutomaticallyOption: true,
                    NSInferMappingModelAutomaticallyOption: true,
                ])
            defer { try? brought.close() }
            var renewed = document
            renewed.objects = []
            renewed.metadata.values[StoreMetadataCoding.migrationsKey] = StoreMetadataCoding.migrations(metadata) + 1
            try stamp(&renewed)
            let store = try opened(renewed)
            brought.adopt(store.identity)
            try store.fill(from: brought)
            try store.write()
            return store
        } catch let error as NSError {
            // What is said of the file in between is meant of this one.
            let sentence = error.localizedDescription
            guard sentence.contains(place.path) else { throw error }
            throw NSError(
                domain: error.domain, code: error.code,
                userInfo: error.userInfo.merging([NSLocalizedDescriptionKey: sentence.replacingOccurrences(of: place.path, with: file.path)]) { $1 })
        }
    }

    private func with(_ model: NSManagedObjectModel) -> StoreOpening {
        StoreOpening(
            type: opening.type, model: model, entities: model.entities, configurationName: nil, url: opening.url, options: opening.options,
            coordinator: opening.coordinator)
    }
}
