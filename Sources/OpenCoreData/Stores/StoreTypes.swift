import Foundation
import Synchronization

/// What it takes to open a store.
package struct StoreOpening {
    package let type: String
    package let model: NSManagedObjectModel
    package let entities: [NSEntityDescription]
    package let configurationName: String?
    package let url: URL?
    package let options: [AnyHashable: Any]?
    /// Who will add the store.
    package let coordinator: NSPersistentStoreCoordinator?

    package init(
        type: String, model: NSManagedObjectModel, entities: [NSEntityDescription], configurationName: String?, url: URL?,
        options: [AnyHashable: Any]?, coordinator: NSPersistentStoreCoordinator? = nil
    ) {
        self.type = type
        self.model = model
        self.entities = entities
        self.configurationName = configurationName
        self.url = url
        self.options = options
        self.coordinator = coordinator
    }
}

/// The class of the stores of a type. Whoever adds, migrates or destroys stores asks it, and knows none by name.
// A class never changes and may be used anywhere.
package struct StoreClass: @unchecked Sendable {
    package let type: AnyClass
    /// Opens a store, or makes it.
    package let open: @Sendable (StoreOpening) throws -> NSPersistentStore
    /// How such a store takes the place of another; nil: nothing can be migrated to it.
    package let destination: MigrationDestination?
    /// Whether it computes derived attributes.
    package let derives: Bool
    /// Whether it keeps the elements of composite attributes.
    private let composes: Bool

    package init(
        _ type: AnyClass, destination: MigrationDestination? = nil, derives: Bool = false, composes: Bool = false,
        open: @escaping @Sendable (StoreOpening) throws -> NSPersistentStore
    ) {
        self.type = type
        self.destination = destination
        self.derives = derives
        self.composes = composes
        self.open = open
    }

    /// Throws 134020 for entities with values that nobody would compute or keep in such a store.
    func check(_ entities: [NSEntityDescription], _ type: String) throws {
        if !composes {
            for entity in entities {
                for case let attribute as NSCompositeAttributeDescription in entity.properties where !attribute.isTransient {
                    throw NSError.coreData(
                        .persistentStoreIncompatibleSchema,
                        "\(entity.name ?? "?").\(attribute.name) is a composite attribute, which a store of type \(type) does not keep; those of the library do. "
                            + "Leave the entity out of the store's configuration, or give it plain attributes.")
                }
            }
        }
        if derives { return }
        for entity in entities {
            for case let attribute as NSDerivedAttributeDescription in entity.properties where !attribute.isTransient {
                throw NSError.coreData(
                    .persistentStoreIncompatibleSchema,
                    "\(entity.name ?? "?").\(attribute.name) is a derived attribute, which a store of type \(type) does not compute; one of SQLite does. "
                        + "Leave the entity out of the store's configuration, or make it a plain attribute and set it in willSave().")
            }
        }
    }
}

/// Where what a store holds can be moved to.
package struct MigrationDestination: Sendable {
    /// The keys of its metadata that a store of the type sets itself, and that no other store's values take the place of.
    package let ownMetadataKeys: Set<String>
    /// Fills a new store, which is nobody's yet and has the identity of the source, with all that the source holds: keys and versions, too.
    package let fill: @Sendable (_ store: NSPersistentStore, _ source: NSPersistentStore) throws -> Void
    /// What it is opened with to be filled, under a name that it does not keep.
    package let optionsWhileFilling: [String: Bool]
    /// What is done to its files while no store has them open; nil: it has none.
    package let file: (@Sendable (URL, [AnyHashable: Any]?) throws -> any StoreFile)?

    package init(
        ownMetadataKeys: Set<String>, fill: @escaping @Sendable (NSPersistentStore, NSPersistentStore) throws -> Void,
        optionsWhileFilling: [String: Bool] = [:],
        file: (@Sendable (URL, [AnyHashable: Any]?) throws -> any StoreFile)? = nil
    ) {
        self.ownMetadataKeys = ownMetadataKeys
        self.fill = fill
        self.optionsWhileFilling = optionsWhileFilling
        self.file = file
    }
}

/// The file of a store that is not open here. Other processes may have it open.
package protocol StoreFile: Sendable {
    /// Whether both are one file, whatever it is called.
    func isSame(as other: URL) -> Bool
    /// Whether there is a file with a store in it; a file without anything in it is as good as none. Throws as reading metadata does.
    func holdsStore() throws -> Bool
    /// Takes everything out of it, so that it is as good as new. Where there is no file there is nothing to do.
    func empty() throws
    /// Puts what is in another file of its type in its place, in one transaction.
    func replace(with source: any StoreFile) throws
    /// Has another store of its type made of it at a place beside it, and puts what is in that in the place of what is here: all at once, or nothing. Whoever writes
    /// meanwhile waits, or makes it fail. What `make` throws, this throws.
    ///
    /// - Parameter make: false: there is nothing to do any more.
    func remake(_ make: (_ place: URL) throws -> Bool) throws
    /// What is kept about the store as a whole. Throws 134080 or 134000 where there is no store.
    func metadata() throws -> [String: Any]
    /// Sets that, but for what is the store's own.
    func setMetadata(_ metadata: [String: Any]) throws
    /// The model that the store was made with, or migrated to; nil where it does not say. Throws as reading metadata does.
    func model() throws -> NSManagedObjectModel?
    /// The stage of a migration that has begun and is not over, by the checksum of the version it leads to; nil: none.
    func dueStage() throws -> String?
    /// Keeps that.
    func setDueStage(_ checksum: String?) throws
    /// What a store that is made of it is opened with, so that it goes on having what this one has whatever it is opened with.
    func lastingOptions() throws -> [AnyHashable: Any]
}

extension StoreFile {
    package func lastingOptions() throws -> [AnyHashable: Any] { [:] }
}

/// The types of stores that can be added, in the whole process.
package enum StoreTypes {
    /// What is built in. The only place that names the stores of the library.
    private static let builtIn: [String: StoreClass] = [
        NSSQLiteStoreType: SQLiteStore.storeClass, NSInMemoryStoreType: InMemoryStore.storeClass,
        NSBinaryStoreType: AtomicFileStore.storeClass(BinaryStoreFormat()), NSXMLStoreType: AtomicFileStore.storeClass(XMLStoreFormat()),
    ]
    private static let registered = Mutex<[String: StoreClass]>([:])

    /// The class of the stores of a type; nil for one that is not known.
    package static subscript(type: String) -> StoreClass? { builtIn[type] ?? registered.withLock { $0[type] } }

    package static var all: [String: StoreClass] { registered.withLock { $0 }.merging(builtIn) { _, own in own } }

    /// The file of a store that is not open. Throws 134000 for a type that has none.
    package static func file(at url: URL, _ type: String, _ options: [AnyHashable: Any]?) throws -> any StoreFile {
        guard let open = self[type]?.destination?.file else {
            throw NSError.coreData(
                .persistentStoreInvalidType,
                "A store of type \"\(type)\" has no file that this version knows; those of type \(NSSQLiteStoreType), \(NSBinaryStoreType) and \(NSXMLStoreType) have."
            )
        }
        return try open(url, options)
    }

    /// Traps for a type that is built in.
    package static func checkIsFree(_ type: String) {
        if builtIn[type] != nil { Violation.misuse("the store type \(type) is the library's own; give yours another name") }
    }

    /// Takes a type in that is free; nil takes it back.
    package static func register(_ storeClass: StoreClass?, for type: String) {
        checkIsFree(type)
        registered.withLock { $0[type] = storeClass }
    }
}
