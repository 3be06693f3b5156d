import Foundation

/// Carries out what a staged migration manager says for one store, before it is opened.
struct StagedMigration {
    let manager: NSStagedMigrationManager
    let store: StagedStore

    /// One version of the model, in the order of the stages.
    private struct Version {
        let checksum: String
        /// The stage that leads to it from the one before, and its model, where that is a program's own.
        var stage: NSCustomMigrationStage?
        /// Whoever names it.
        var reference: NSManagedObjectModelReference?
        /// Its model, where a stage names it or it is registered.
        var model: NSManagedObjectModel? { (try? reference?.resolved()) ?? NSManagedObjectModel.registered(versionChecksum: checksum) }
    }

    /// Brings the store to the model and opens it, while nobody else does so by stages: they wait. Else one that has seen an earlier version would
    /// bring it back there.
    func run<T>(_ open: () throws -> T) throws -> T {
        let lock = try StageLock(store.url)
        defer { lock.release() }
        try run()
        return try open()
    }

    /// Goes on until the store is of a version from which the model can be inferred. Throws 134504 where no stage names the store's version, the model's, or a
    /// model that is needed; 134506 where the store is of a newer one than the model; what a handler throws, and what migrating does.
    private func run() throws {
        guard try file.holdsStore() else { return }
        let versions = self.versions
        while let now = try standing(in: versions) {
            // What can't be found is said before anything changes.
            for version in versions[now.place...now.last].dropFirst() { if let stage = version.stage { try check(stage) } }
            if let due = now.due { try finish(due) }
            // One at a time, as far as there are models: what each renames is known by it alone.
            guard let next = versions[now.place...now.last].dropFirst().first(where: { $0.stage != nil || $0.model != nil }) else { return }
            if let stage = next.stage { try carryOut(stage) } else if let model = next.model { try with(model, nil) {} }
        }
    }

    /// The versions that the stages name: one that ends a stage and begins the next is one.
    private var versions: [Version] {
        var result: [Version] = []
        func add(_ version: Version) {
            guard let last = result.last, last.checksum == version.checksum, version.stage == nil else { return result.append(version) }
            result[result.count - 1].reference = last.reference ?? version.reference
        }
        for stage in manager.stages {
            switch stage {
            case let stage as NSLightweightMigrationStage: for checksum in stage.versionChecksums { add(Version(checksum: checksum)) }
            case let stage as NSCustomMigrationStage:
                add(Version(checksum: stage.currentModel.versionChecksum, reference: stage.currentModel))
                add(Version(checksum: stage.nextModel.versionChecksum, stage: stage, reference: stage.nextModel))
            default: break
            }
        }
        return result
    }

    private struct Standing {
        /// Where the store and the model are among the versions.
        let place: Int
        let last: Int
        /// The stage whose change is made, and whose end is not.
        let due: NSCustomMigrationStage?
    }

    /// Nil where there is nothing to do.
    private func standing(in versions: [Version]) throws -> Standing? {
        let file = try self.file, metadata = try file.metadata(), due = try file.dueStage()
        let dueStage = due.flatMap { due in versions.first { $0.stage != nil && $0.checksum == due }?.stage }
        if let due, dueStage == nil {
            throw NSError.coreData(
                .managedObjectModelReferenceNotFound,
                "A stage that leads \(store.url.path) to the version \(due) is not over, and no stage of the migration leads there any more: add it. "
                    + "Nothing was changed.", userInfo: ["metadata": metadata])
        }
        if due == nil, isOf(store.model, metadata) { return nil }
        let checksum = VersionChecksum.of(metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:])
        guard let place = versions.lastIndex(where: { isOf($0, metadata) || $0.checksum == checksum }) else {
            throw NSError.coreData(
                .managedObjectModelReferenceNotFound,
                "\(store.url.path) was made with a version of the model that no stage of the migration names: its checksum is \(checksum). Nothing was "
                    + "changed.", userInfo: ["metadata": metadata])
        }
        let wanted = store.model.versionChecksum
        guard let last = versions.lastIndex(where: { $0.checksum == wanted }) else {
            throw NSError.coreData(
                .managedObjectModelReferenceNotFound,
                "No stage of the migration names the model, whose checksum is \(wanted): add one that leads to it. Nothing was changed.")
        }
        if last < place {
            throw NSError.coreData(
                .stagedMigrationBackwardMigration,
                "\(store.url.path) is of a later version than the model: it can't be migrated backwards. Open it with a newer version of the program. "
                    + "Nothing was changed.", userInfo: ["metadata": metadata])
        }
        return Standing(place: place, last: last, due: dueStage)
    }

    /// Whether the store is of a version, as far as it keeps it in this configuration; no, where no model is at hand.
    private func isOf(_ version: Version, _ metadata: [String: Any]) -> Bool {
        version.model.map { isOf($0, metadata) } ?? false
    }

    private func isOf(_ model: NSManagedObjectModel, _ metadata: [String: Any]) -> Bool {
        model.isConfiguration(withName: store.configurationName, compatibleWithStoreMetadata: metadata)
    }

    private var file: any StoreFile {
        get throws { try StoreTypes.file(at: store.url, store.type, store.options) }
    }

    // MARK: Stages

    private func check(_ stage: NSCustomMigrationStage) throws {
        _ = try (stage.currentModel.resolved(), stage.nextModel.resolved())
    }

    /// From the version that is there, by inference, to the one that the stage begins with; then the stage.
    private func carryOut(_ stage: NSCustomMigrationStage) throws {
        let next = try stage.nextModel.resolved()
        try with(try stage.currentModel.resolved(), stage) { try stage.willMigrateHandler?(manager, stage) }
        // Should the process end between the change and what comes after it, the next one knows.
        try mark(stage.didMigrateHandler == nil ? nil : stage.nextModel.versionChecksum)
        try with(next, stage) { try stage.didMigrateHandler?(manager, stage) }
        try mark(nil)
    }

    private func finish(_ stage: NSCustomMigrationStage) throws {
        let model = try stage.nextModel.resolved()
        // Before the change nothing is due yet.
        if isOf(model, try file.metadata()) {
            try with(model, stage) { try stage.didMigrateHandler?(manager, stage) }
        }
        try mark(nil)
    }

    private func mark(_ checksum: String?) throws { try file.setDueStage(checksum) }

    /// Has the store open with a model, to which it is brought, while a handler is called.
    private func with(_ model: NSManagedObjectModel, _ stage: NSMigrationStage?, _ body: () throws -> Void) throws {
        let name = stage?.label ?? store.url.deletingPathExtension().lastPathComponent
        let container = NSPersistentContainer(name: name, managedObjectModel: model), coordinator = container.persistentStoreCoordinator
        // For whoever asks the container what it has; a description has no place for every value of an option.
        let description = NSPersistentStoreDescription(url: store.url)
        (description.type, description.configuration) = (store.type, store.configurationName)
        container.persistentStoreDescriptions = [description]
        let migrating = [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
        let opened = try coordinator.addPersistentStore(
            ofType: store.type, configurationName: store.configurationName, at: store.url,
            options: (store.options ?? [:]).merging(migrating) { _, own in own })
        manager.container = container
        defer { manager.container = nil }
        do { try body() } catch {
            try? coordinator.remove(opened)
            throw error
        }
        try coordinator.remove(opened)
    }
}
