public import Foundation
import ModelFiles
import Synchronization

/// A model that a stage of a migration names, with the checksum that stores of it have.
public final class NSManagedObjectModelReference: NSObject, Sendable {
    /// `NSManagedObjectModel.versionChecksum` of the model.
    public let versionChecksum: String
    private let place: Place

    private enum Place {
        case model(NSManagedObjectModel)
        case named(String, Bundle?)
        case file(URL)
        case hashes([String: Data], Bundle?)
    }

    private let found = Mutex<NSManagedObjectModel?>(nil)

    /// A model at hand.
    public init(model: NSManagedObjectModel, versionChecksum: String) {
        place = .model(model)
        self.versionChecksum = versionChecksum
    }

    /// The model that is registered under a name by `NSManagedObjectModel.register(_:named:)` when it is needed, or else a version of the package of that name, or a
    /// version of that name, among the resources of a bundle; nil: the main bundle.
    public init(name modelName: String, in bundle: Bundle? = nil, versionChecksum: String) {
        place = .named(modelName, bundle)
        self.versionChecksum = versionChecksum
    }

    /// The version with that checksum in a package `….xcdatamodeld`, or the one version `….xcdatamodel`, read when it is needed.
    public init(fileURL: URL, versionChecksum: String) {
        place = .file(fileURL)
        self.versionChecksum = versionChecksum
    }

    /// The model whose entities have these version hashes (`[String: Data]`, by name) among the resources of a bundle, read when it is needed; nil: the main bundle.
    public init(entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String) {
        var hashes: [String: Data] = [:]
        for (name, hash) in versionHash { if let name = name as? String { hashes[name] = hash as? Data } }
        place = .hashes(hashes, bundle)
        self.versionChecksum = versionChecksum
    }

    /// The model. Stops the program where there is none, or another than the checksum says; a migration throws 134504 instead.
    public var resolvedModel: NSManagedObjectModel {
        do { return try resolved() } catch { Violation.misuse(error.localizedDescription) }
    }

    func resolved() throws -> NSManagedObjectModel {
        if let known = found.withLock({ $0 }) { return known }
        let model = try look()
        if model.versionChecksum != versionChecksum {
            throw missing(
                "a model with the checksum \(versionChecksum), and the model that is there has \(model.versionChecksum): it was changed since.")
        }
        // One that is registered may be another next time.
        switch place {
        case .file, .hashes: found.withLock { $0 = model }
        case .model, .named: break
        }
        return model
    }

    private func look() throws -> NSManagedObjectModel {
        switch place {
        case .model(let model): return model
        case .named(let name, let bundle):
            if let model = NSManagedObjectModel.registered(name) { return model }
            let versions = (bundle ?? Bundle.main).modelURLs.flatMap { NSManagedObjectModel.versions(at: $0, named: name) }
            if let model = versions.first(where: { $0.versionChecksum == versionChecksum }) ?? versions.first { return model }
            throw missing(
                "the model \"\(name)\", and none is registered under that name nor among the resources: call NSManagedObjectModel.register(_:named:) first."
            )
        case .file(let url):
            do throws(ModelFileError) {
                let package = try ModelPackage(url.path)
                for name in package.versions.keys.sorted() {
                    let model = try NSManagedObjectModel(file: package.version(named: name))
                    if model.versionChecksum == versionChecksum { return model }
                }
                return try NSManagedObjectModel(file: package.current())
            } catch {
                throw missing("the model \(url.path): \(error)")
            }
        case .hashes(let hashes, let bundle):
            let metadata = [NSStoreModelVersionHashesKey: hashes]
            if let model = NSManagedObjectModel.mergedModel(from: bundle.map { [$0] }, forStoreMetadata: metadata) { return model }
            throw missing(
                "a model with the entities \(hashes.keys.sorted().joined(separator: ", ")) by their version hashes, and no resource is one.")
        }
    }

    private func missing(_ what: String) -> NSError {
        .coreData(.managedObjectModelReferenceNotFound, "A stage of the migration names \(what)")
    }
}

/// A step of a staged migration. Use one of its subclasses.
// Set up by whoever makes it, before a store is opened with it; not changed afterwards.
open class NSMigrationStage: NSObject, @unchecked Sendable {
    /// A name for diagnostics.
    open var label: String?
}

/// Versions of a model that follow each other by changes that can be inferred. A store goes through each of them whose model is registered
/// (`NSManagedObjectModel.register(_:named:)`), else from one that is known to the next: what was renamed twice in between needs the model.
// As above.
open class NSLightweightMigrationStage: NSMigrationStage, @unchecked Sendable {
    /// The checksums of the versions, the oldest first.
    public let versionChecksums: [String]

    /// A stage with the checksums of its versions, the oldest first.
    public init(_ versionChecksums: [String]) {
        self.versionChecksums = versionChecksums
        super.init()
    }
}

/// One change of a model that can be inferred, with what a program does before and after it.
///
/// The handlers are called on the thread that opens the store, while `NSStagedMigrationManager.container` has it open: before with the model from which,
/// afterwards with the one to which it goes. What they save stays, what they throw ends the opening; the next one goes on from there. A process that ends within a stage has its handlers called again.
// As above.
open class NSCustomMigrationStage: NSMigrationStage, @unchecked Sendable {
    /// The model from which it goes.
    public let currentModel: NSManagedObjectModelReference
    /// The model to which it goes.
    public let nextModel: NSManagedObjectModelReference
    /// Called before the change.
    open var willMigrateHandler: ((_ migrationManager: NSStagedMigrationManager, _ currentStage: NSCustomMigrationStage) throws -> Void)?
    /// Called after the change, also where the process ended between both.
    open var didMigrateHandler: ((_ migrationManager: NSStagedMigrationManager, _ currentStage: NSCustomMigrationStage) throws -> Void)?

    /// A stage between two versions of a model.
    public init(migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference) {
        self.currentModel = currentModel
        self.nextModel = nextModel
        super.init()
    }
}

/// Brings a store to the newest of many versions of a model, stage by stage: the value of `NSPersistentStoreStagedMigrationManagerOptionKey`.
///
/// A change that can't be inferred is divided into some that can, with code of the program's between them.
// As above; the container is set and read on the thread that opens the store.
open class NSStagedMigrationManager: NSObject, @unchecked Sendable {
    /// The stages, the oldest first.
    public let stages: [NSMigrationStage]
    /// What has the store open while a handler is called; nil else.
    open internal(set) var container: NSPersistentContainer?

    /// A manager of stages, the oldest first.
    public init(_ stages: [NSMigrationStage]) {
        self.stages = stages
        super.init()
    }
}

extension NSStagedMigrationManager: StoreStages {
    func bring<T>(_ store: StagedStore, thenOpen open: () throws -> T) throws -> T {
        try StagedMigration(manager: self, store: store).run(open)
    }
}
