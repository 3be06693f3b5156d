import Foundation
import Synchronization

/// A model, a coordinator and a main-queue context, made together.
///
/// Make it, change `persistentStoreDescriptions` if the default does not fit, call `loadPersistentStores`, then use `viewContext` and
/// contexts of the background. All of them are connected to the coordinator; none is another's parent.
// The descriptions are guarded by a lock; everything else is immutable or safe by itself.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
    /// The container's name, and that of its store's file unless a description says otherwise.
    public let name: String
    /// The context of the main queue.
    open var viewContext: NSManagedObjectContext { mainContext }
    private let mainContext: NSManagedObjectContext
    /// The model given to the initializer, or registered under the container's name. Immutable, since the coordinator uses it.
    public let managedObjectModel: NSManagedObjectModel
    /// The coordinator that `loadPersistentStores` adds stores to. All contexts of the container are connected to it.
    public let persistentStoreCoordinator: NSPersistentStoreCoordinator
    private let descriptions = Mutex<[NSPersistentStoreDescription]>([])

    /// A container with a model. Nothing is touched on disk until its stores are loaded.
    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        self.name = name
        managedObjectModel = model
        persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        persistentStoreCoordinator.name = name
        mainContext = NSManagedObjectContext(.mainQueueConcurrencyType)
        mainContext.name = "viewContext"
        mainContext.persistentStoreCoordinator = persistentStoreCoordinator
        super.init()
        let file = Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
        persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
    }

    /// A container with the model that was registered under its name by `NSManagedObjectModel.register(_:named:)`, or else with the model
    /// `NAME.xcdatamodeld` among the resources of the program. Stops the program, with a sentence, if there is none or it can't be read.
    public convenience init(name: String) {
        self.init(name: name, managedObjectModel: NSManagedObjectModel.registered(name) ?? Self.model(inFileNamed: name))
    }

    private static func model(inFileNamed name: String) -> NSManagedObjectModel {
        let files = Bundle.main.models(named: name)
        guard let file = files.first, files.count == 1 else {
            if files.count > 1 {
                Violation.misuse(
                    "there are \(files.count) models named \"\(name)\" for the container: \(files.map(\.path).joined(separator: ", ")); use "
                        + "init(name:managedObjectModel:)")
            }
            Violation.misuse(
                "there is no model named \"\(name)\" for the container: call NSManagedObjectModel.register(_:named:) first, put "
                    + "\(name).xcdatamodeld among the program's resources, or use init(name:managedObjectModel:)")
        }
        do throws(ModelFileError) {
            return try NSManagedObjectModel(readingContentsOf: file)
        } catch {
            Violation.misuse("the model \"\(name)\" for the container can't be read: \(error)")
        }
    }

    /// Where stores are kept unless a description says otherwise: a directory named after the program in the user's directory for the data of
    /// applications. It is made when the first store is loaded. Override it to keep them elsewhere.
    open class func defaultDirectoryURL() -> URL {
        let support =
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share", isDirectory: true)
        return support.appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true)
    }

    /// Which stores to load: one SQLite store in the default directory, unless set.
    open var persistentStoreDescriptions: [NSPersistentStoreDescription] {
        get { descriptions.withLock { $0 } }
        set { descriptions.withLock { $0 = newValue } }
    }

    /// Opens the stores that are described. The handler is called once for each, with the error if it could not be opened: before this
    /// returns, or on another thread where the description asks for that. A store that is loaded already is left alone, and the handler called for it.
    open func loadPersistentStores(completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void) {
        for description in persistentStoreDescriptions {
            if let url = description.url, description.storeType != NSInMemoryStoreType,
                persistentStoreCoordinator.persistentStore(for: url) != nil
            {
                block(description, nil)
                continue
            }
            do {
                try makeDefaultDirectory(for: description)
            } catch {
                block(description, error)
                continue
            }
            persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block)
        }
    }

    /// The default directory is the container's to make; any other is somebody else's.
    private func makeDefaultDirectory(for description: NSPersistentStoreDescription) throws {
        let directory = Self.defaultDirectoryURL()
        guard let url = description.url, description.storeType != NSInMemoryStoreType, !description.isReadOnly,
            url.deletingLastPathComponent().standardizedFileURL.path == directory.standardizedFileURL.path
        else { return }
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch {
            throw NSError.coreData(.persistentStoreOpen, "The directory \(directory.path) can't be created.", underlying: error)
        }
    }

    // MARK: Contexts

    /// A new context with a queue of its own.
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Runs a block with a new context, on the context's queue, and returns at once.
    open func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        context.perform { block(context) }
    }

    /// Runs a block with a new context, on the context's queue, and gives its value or throws its error.
    public nonisolated(nonsending) func performBackgroundTask<T>(
        _ block: @escaping (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        let context = newBackgroundContext()
        return try await context.perform { try block(context) }
    }

    /// As above, for a block that can't fail.
    public nonisolated(nonsending) func performBackgroundTask<T>(_ block: @escaping (NSManagedObjectContext) -> T) async -> T {
        let context = newBackgroundContext()
        return await context.perform { block(context) }
    }
}

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

    /// Opens the store that is described, on a thread that may wait for it, and adds it. Throws what the handler of the other function is given.
    ///
    /// - Returns: the description.
    @discardableResult
    public nonisolated(nonsending) func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription
    ) async throws -> NSPersistentStoreDescription {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue.global().async { [self] in
                if let error = failure(adding: storeDescription) { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
        return storeDescription
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
            NSPersistentStoreStagedMigrationManagerOptionKey, NSPersistentStoreDeferredLightweightMigrationOptionKey,
            NSPersistentStoreRemoteChangeNotificationPostOptionKey,
        ]
        return switch type {
        case NSInMemoryStoreType, NSBinaryStoreType, NSXMLStoreType: everybody
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

extension NSManagedObjectModel {
    private static let named = Mutex<[String: NSManagedObjectModel]>([:])

    /// Makes a model known as the one of that name, for `NSPersistentContainer(name:)`: what a compiled model in the program's bundle is on Apple's
    /// platforms. Another that was known by the name before is forgotten; containers that were made with it keep it.
    public static func register(_ model: NSManagedObjectModel, named name: String) { named.withLock { $0[name] = model } }

    /// The model of a version that was registered, under whatever name.
    static func registered(versionChecksum: String) -> NSManagedObjectModel? {
        named.withLock { Array($0.values) }.first { $0.versionChecksum == versionChecksum }
    }

    /// The model that was registered under a name.
    static func registered(_ name: String) -> NSManagedObjectModel? { named.withLock { $0[name] } }
}
