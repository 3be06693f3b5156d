import Foundation
import GRDB

/// Opening a file that was made with another version of the model.
extension SQLiteStoreOpening {
    /// The store as the model wants it: as it is, or migrated where that is asked for. Throws 134010, and 134100 for one of another model.
    func brought(_ probe: Probe) throws -> Probe {
        if let type = probe.metadata[NSStoreTypeKey] as? String, type != NSSQLiteStoreType {
            throw NSError.coreData(.persistentStoreTypeMismatch, "\(url.path) is a store of type \(type), not \(NSSQLiteStoreType).")
        }
        if options.ignoresVersion || isForeign(probe) { return probe }
        if isOfModel(probe) { return try refreshed(probe) }
        // What a stage was to do with the values would never be done.
        if let due = probe.metadata[StoreMetadataCoding.dueStageKey] as? String, due != model?.versionChecksum {
            throw otherModel(probe, "A stage of a migration to the version \(due) is not over: open it with its NSStagedMigrationManager.")
        }
        guard options.migrates else {
            throw otherModel(probe, "Open it with the model it was made with, migrate it, or move it away so that a new one is made.")
        }
        if isReadOnly { throw otherModel(probe, "It is opened read-only, so it can't be migrated: open it for writing once.") }
        guard options.infersMapping else {
            throw NSError.coreData(
                .migrationMissingMappingModel,
                "\(url.path) was made with another version of the model, and the program has no mapping to this one among its resources. Add one, with both "
                    + "versions of the model, or set \(NSInferMappingModelAutomaticallyOption) to have it inferred. Nothing was changed.",
                userInfo: ["metadata": probe.metadata])
        }
        return try migrate()
    }

    /// A store of this model, with what no hash tells of: indexes, and what is called otherwise in the next version. Without that it is as good, so
    /// nothing that goes wrong here matters. Throws 3072 where the watch ends it: then it is to be done another time.
    private func refreshed(_ probe: Probe) throws -> Probe {
        let wanted = ModelArchive(entities)
        guard !isReadOnly, probe.model != wanted else { return probe }
        if mayBeRefreshed(probe) {
            do { return try migrate() } catch let error as CocoaError where error.code == .userCancelled { throw error } catch {}
        }
        // Its hashes say that it is of this model, whatever it says else.
        return
            (try? inTransaction { database in
                guard let found = try read(database, checksFile: false), isOfModel(found) else { return nil }
                try SQLiteMigration.write(wanted, in: database)
                return found
            }) ?? probe
    }

    /// Whether a store of this model differs from it in what no hash tells of, and nothing of that has another name.
    func mayBeRefreshed(_ probe: Probe) -> Bool {
        guard let archive = probe.model, archive != ModelArchive(entities), let before = try? archive.model(hasClasses: false),
            let change = try? ModelChange(from: before.entities, to: entities)
        else { return false }
        return !change.renames
    }

    /// On a connection of its own.
    private func inTransaction<T>(_ body: (Database) throws -> T?) throws -> T? {
        let queue = try DatabaseQueue(path: url.path, configuration: configuration(forProbe: false))
        defer { try? queue.close() }
        return try queue.inDatabase { database in
            var result: T?
            try database.inTransaction(.immediate) {
                result = try body(database)
                return .commit
            }
            return result
        }
    }

    /// Whether Apple's framework made the file, with entities of these names: its hashes say nothing here, so the tables are compared.
    func isForeign(_ probe: Probe) -> Bool {
        probe.isForeign && Set((probe.metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]).keys) == Set(entities.compactMap(\.name))
    }

    func isOfModel(_ probe: Probe) -> Bool {
        probe.metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:] == StoreMetadataCoding.hashes(of: entities)
    }

    private func otherModel(_ probe: Probe, _ remedy: String) -> NSError {
        let stored = probe.metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:], wanted = StoreMetadataCoding.hashes(of: entities)
        var differences = probe.model?.differences(to: ModelArchive(entities)) ?? []
        if differences.isEmpty {
            for name in Set(stored.keys).union(wanted.keys).sorted() where stored[name] != wanted[name] {
                differences.append(
                    wanted[name] == nil
                        ? "entity \(name) is only in the store"
                        : stored[name] == nil ? "entity \(name) is only in the model" : "entity \(name) differs")
            }
        }
        return NSError.coreData(
            .persistentStoreIncompatibleVersionHash,
            "\(url.path) was made with another version of the model: \(differences.joined(separator: "; ")). \(remedy)",
            userInfo: ["metadata": probe.metadata])
    }

    /// Brings the file to the model, whoever else does so at the same time. Throws 134130 where it does not say which model it was made with, 134190 where
    /// the change can't be inferred, 134110 and 134111 where its objects don't allow it, and what the disk says. Then nothing has changed.
    private func migrate() throws -> Probe {
        let queue = try DatabaseQueue(path: url.path, configuration: configuration(forProbe: false))
        defer { try? queue.close() }
        var found: Probe?, isCommitting = false
        try queue.inDatabase { database in
            try database.inTransaction(.immediate) {
                guard let probe = try read(database, checksFile: false) else { return .rollback }
                found = probe
                if isOfModel(probe), probe.model == ModelArchive(entities) { return .rollback }
                try SQLiteMigration(
                    url: url, probe: probe, source: try source(of: probe), entities: entities, model: model, sumsRows: options.sumsRows,
                    watch: options.migrationWatch
                ).run(in: database)
                found = try read(database, checksFile: false)
                if options.migrationWatch?.goesOn(.committing, 0) == false { throw MigrationWatch.givenUp("The migration of \(url.path)") }
                isCommitting = true
                return .commit
            }
        }
        if isCommitting { _ = options.migrationWatch?.goesOn(.committing, 1) }
        guard let found else { throw NSError.coreData(.persistentStoreOpen, "\(url.path) is empty now: another program emptied it. Open it again.") }
        return found
    }

    /// A model that a file was made with, and what the file keeps of it.
    struct SourceModel {
        /// Entities do not keep each other.
        let model: NSManagedObjectModel
        let entities: [NSEntityDescription]
    }

    /// What a file keeps, by the model that it was made with. Throws 134130 where it does not say, or not so that it makes sense.
    func source(of probe: Probe) throws -> SourceModel {
        let found: NSManagedObjectModel
        do {
            guard let archive = probe.model else { throw ModelArchive.Nonsense(description: "it does not say with which") }
            found = try archive.model(hasClasses: false)
        } catch {
            throw NSError.coreData(
                .migrationMissingSourceModel,
                "\(url.path) was made with another version of the model, and its own makes no sense: \(error). Open it with the model it was made with. "
                    + "Nothing was changed.",
                userInfo: ["metadata": probe.metadata])
        }
        found.freeze()
        let kept = probe.metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        return SourceModel(model: found, entities: found.entities.filter { kept[$0.name ?? ""] != nil })
    }

    /// Reads from the file while nobody has it open here.
    func reading<T>(_ body: (Database) throws -> T) throws -> T {
        do {
            let queue = try DatabaseQueue(path: url.path, configuration: configuration(forProbe: true))
            defer { try? queue.close() }
            return try queue.read(body)
        } catch {
            throw described(error)
        }
    }
}
