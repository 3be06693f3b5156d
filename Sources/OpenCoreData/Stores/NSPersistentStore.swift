import Foundation
import Synchronization

/// The name of a store type.
public let NSSQLiteStoreType = "SQLite"
/// Rows are kept in memory and are lost with the store; a URL is accepted and nothing is written to it.
public let NSInMemoryStoreType = "InMemory"
/// Rows in memory and in one file, which every save writes anew as a whole. For what is small: opening reads it all. The format is our own.
public let NSBinaryStoreType = "Binary"
/// As `NSBinaryStoreType`, in the XML that Core Data's own stores of this type have.
public let NSXMLStoreType = "XML"

/// Keys of a store's metadata.
public let NSStoreTypeKey = "NSStoreType"
/// Metadata key: the store's UUID as text, given when the store is made and kept from then on.
public let NSStoreUUIDKey = "NSStoreUUID"
/// Metadata key of SQLite stores: the model's version identifiers, `[String]`, sorted. For information; never compared.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"

/// Options for adding a store.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// SQLite: how many seconds to wait for the lock of another process; a number, default 10.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// SQLite: pragmas by name, set when a connection opens. Throws 134080 for those of the file format and for a journal mode other than WAL.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Whether SQLite counts what is in the tables when the store is opened (`ANALYZE`), so that it chooses indexes well. `Bool`.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Whether the file is written anew, without gaps, when the store is opened (`VACUUM`). `Bool`. It takes as long as the file is large.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Whether a store is opened although its version hashes differ from the model's, instead of throwing 134100. `Bool`, default false.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Whether a SQLite store made with another version of the model is brought to this one when it is opened, instead of being refused with 134100. `Bool`,
/// default false; a description says true. How is inferred, where `NSInferMappingModelAutomaticallyOption` allows it. It happens where the file stands
/// and in one transaction: whatever comes in between, the file is the old store or the new one.
///
/// Opening then throws 134140 where inferring is not allowed, 134190 where the change can't be inferred, 134110 or 134111 where objects stand against it,
/// 134130 where the file does not say which model it was made with. Nothing has changed then.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Whether a migration may infer how the objects of one model become those of the other, as `NSMappingModel.inferredMappingModel` does. `Bool`, default
/// false; a description says true.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// The option whose value is the `NSStagedMigrationManager` that brings the store to the model. It goes before the two options of migration.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"
/// The option that lets a migration leave parts of its work for later. Accepted; there is nothing to gain: a migration in place is one transaction, in which
/// a new attribute takes no time, and only a table whose columns change their types is written anew.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey = "NSPersistentStoreDeferredLightweightMigrationOptionKey"

/// Where rows live. The coordinator speaks to it in values: fetch plans, row snapshots, change sets. Every method may be called from any
/// thread; a store orders its own writes and lets reads pass beside them.
/// To make a store of your own, subclass `NSIncrementalStore` or `NSAtomicStore`: what this class requires is not public.
// State that changes is guarded by locks; subclasses say how they keep to that.
open class NSPersistentStore: NSObject, @unchecked Sendable {
    /// The Swift spelling of store types.
    public struct StoreType: RawRepresentable, Hashable, Sendable {
        /// The type as text, as `addPersistentStore(ofType:configurationName:at:options:)` takes it.
        public let rawValue: String
        /// Accepts any text; adding a store of a type that is neither built in nor registered throws 134000.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Rows in a SQLite file; a URL is required.
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        /// Rows in memory, lost with the store.
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
        /// One file, written as a whole: see `NSBinaryStoreType`.
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        /// One file of XML, written as a whole: see `NSXMLStoreType`.
        public static let xml = StoreType(rawValue: NSXMLStoreType)
    }

    /// Where the store was opened; nil for one in memory that was given no URL. A subclass of the program's, or a store in memory, may be told that it is
    /// elsewhere; a store of the library with a file stays where it is: setting its URL is a misuse (see `CoreDataMisuse`). See
    /// `NSPersistentStoreCoordinator.setURL(_:for:)`, which says so by its answer.
    open var url: URL? {
        get { place.withLock { $0 } }
        set {
            if newValue == url { return }
            guard mayBeElsewhere else {
                return CoreDataMisuse(.other, "\(url?.path ?? "a store") can't be given another URL: migrate it, or remove it and add another.")
                    .survive()
            }
            place.withLock { $0 = newValue }
        }
    }
    private let place: Mutex<URL?>
    /// Whether nothing of the library's depends on where the store says it is.
    package var mayBeElsewhere: Bool { true }
    /// Which of the model's entities are kept here; `PF_DEFAULT_CONFIGURATION_NAME` where no configuration was named.
    public let configurationName: String
    /// Whether the store is only read: no new object is then assigned to it, and a save that changes its objects throws. As
    /// `NSReadOnlyPersistentStoreOption` says at first. A store that was opened for reading only stays so.
    open var isReadOnly: Bool {
        get { wasOpenedReadOnly || identity.isClosedForWriting.load(ordering: .acquiring) }
        set { identity.isClosedForWriting.store(newValue, ordering: .releasing) }
    }
    private let wasOpenedReadOnly: Bool
    /// What the store was added with; nil if no options were given.
    public let options: [AnyHashable: Any]?
    /// The model's entities that this store keeps.
    package let entities: [NSEntityDescription]
    /// Weak: the coordinator owns its stores.
    open package(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
    /// Changed only before anybody else has the store, so there is nothing to check when it is read.
    @exclusivity(unchecked)
    package final private(set) var identity: StoreIdentity
    /// Who is asked for the rows of a batch insert.
    package final let asking = AskingForRows()
    /// The UUID of a store that gave its place, and with it its identity, to another.
    private let formerIdentifier = Mutex<String?>(nil)

    /// The type that the store was added as; a subclass must override it, for this implementation traps.
    open var type: String { Violation.misuse("a store class must override `type`") }
    /// The store's UUID.
    open var identifier: String! { formerIdentifier.withLock { $0 } ?? identity.uuid }
    /// What is kept about the store as a whole; written with the next save.
    open var metadata: [String: Any]! {
        get { [NSStoreTypeKey: type, NSStoreUUIDKey: identifier ?? ""] }
        set { _ = newValue }
    }

    /// How often the store was brought to another version of its model.
    package var migrations: Int { 0 }

    /// Whether metadata was set that no save has written yet. A save of an empty change set writes it.
    package var hasUnsavedMetadata: Bool { false }

    /// - Parameter references: of a store that names itself and its objects; then its UUID is what the table says.
    package init(
        entities: [NSEntityDescription], configurationName: String?, url: URL?, options: [AnyHashable: Any]?, uuid: String,
        references: ReferenceTable? = nil
    ) {
        self.entities = entities
        self.configurationName = configurationName ?? "PF_DEFAULT_CONFIGURATION_NAME"
        place = Mutex(url)
        self.options = options
        wasOpenedReadOnly = (options?[NSReadOnlyPersistentStoreOption] as? Bool) ?? false
        self.identity = references.map { StoreIdentity(references: $0) } ?? StoreIdentity(uuid: uuid)
        super.init()
        identity.store = self
    }

    /// For subclasses, which hand on what a coordinator gives them: see `NSIncrementalStore` and `NSAtomicStore`, whose initialiser is meant to be
    /// overridden. A store of this class itself can neither be read nor written.
    public convenience init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) { self.init(entities: [], configurationName: name, url: url, options: options, uuid: "") }

    /// Reads `metadata` where that has not been done. The library's stores have it when they are open: there is nothing to do.
    open func loadMetadata() throws {}

    /// Called when the store has been added. Does nothing by itself.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

    /// Called before the store is removed. Does nothing by itself.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    /// Makes a new store one of the same place as another, so that IDs of that one are its own.
    package func adopt(_ identity: StoreIdentity) { self.identity = identity }

    /// Gives the place to `store`: every ID that belonged here belongs there.
    package final func giveItsPlace(to store: NSPersistentStore, uuid: String) {
        let mine: String? = identifier
        formerIdentifier.withLock { $0 = mine }
        identity.move(to: uuid, store: store)
    }

    package func keeps(_ entity: NSEntityDescription) -> Bool { entities.contains { $0 === entity } }

    // MARK: What a store must be able to do

    // A class gives a reader and a writer, or overrides the operations. `StoreReading` and `StoreWriting` say what they mean.

    /// What answers for the store as it is; nil for a class that does so itself.
    package var reader: (any StoreReading)? { nil }
    /// What changes the store; nil for a class that does so itself.
    package var writer: (any StoreWriting)? { nil }

    private var requiredReader: any StoreReading {
        guard let reader else { Violation.misuse("a store class must have a reader, or override what is read") }
        return reader
    }
    private var requiredWriter: any StoreWriting {
        guard let writer else { Violation.misuse("a store class must have a writer, or override what is written") }
        return writer
    }

    package func fetch(_ plan: FetchPlan) throws -> [FetchedRow] { try requiredReader.fetch(plan) }
    package func count(_ plan: FetchPlan) throws -> Int { try reader?.count(plan) ?? fetch(plan).count }
    package func dictionaries(_ table: DictionaryPlan, _ plan: FetchPlan) throws -> [[AttributeValue]]? { try reader?.dictionaries(table, plan) }
    package func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot] { try requiredReader.rows(for: ids) }
    package func relatedIDs(_ key: RelationshipKey) throws -> [NSManagedObjectID] { try requiredReader.relatedIDs(key) }
    package func related(_ keys: [RelationshipKey]) throws -> [RelationshipKey: [FetchedRow]] {
        if let reader { return try reader.related(keys) }
        var members: [RelationshipKey: [NSManagedObjectID]] = [:]
        for key in keys { members[key] = try relatedIDs(key) }
        let rows = try rows(for: Array(Set(members.values.joined())))
        return members.mapValues { ids in ids.compactMap { id in rows[id].map { FetchedRow(id: id, row: $0) } } }
    }
    package func objects(of entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]) throws -> [UniqueKey: FetchedRow] {
        try requiredReader.objects(of: entity, constraint: constraint, keys: keys)
    }

    package func save(_ changes: ChangeSet) throws -> SavedRows { try requiredWriter.save(changes) }
    package func prepare(_ changes: ChangeSet, _ body: (any PreparedSave) throws -> Void) throws { try requiredWriter.prepare(changes, body) }
    /// Carries a batch request out and then calls `body`, once: what that does not commit is taken back before this returns. Throws 134091 for a store
    /// that knows no batch requests.
    package func prepare(_ batch: BatchPlan, _ body: (any PreparedBatch) throws -> Void) throws {
        throw NSError.coreData(
            .persistentStoreUnsupportedRequestType,
            "Stores of type \(type) know no batch requests; \(url?.path ?? "the store") can't execute \(Swift.type(of: batch.request)). "
                + "Change objects, and save.")
    }
    package func reserveKeys(for root: NSEntityDescription, count: Int) throws -> Range<Int64> {
        try requiredWriter.reserveKeys(for: root, count: count)
    }
    package func readyKeys(for root: NSEntityDescription, atMost count: Int) -> Range<Int64>? { writer?.readyKeys(for: root, atMost: count) }
    package func releaseKeys(for root: NSEntityDescription, unused: Range<Int64>) { writer?.releaseKeys(for: root, unused: unused) }
    package func largestKey(for root: NSEntityDescription) throws -> Int64 {
        try writer?.largestKey(for: root) ?? reserveKeys(for: root, count: 1).lowerBound
    }
    package func raiseLargestKey(for root: NSEntityDescription, to key: Int64) throws { try requiredWriter.raiseLargestKey(for: root, to: key) }
    package func takeKeys(_ keys: ClosedRange<Int64>, for root: NSEntityDescription) throws -> Bool {
        try requiredWriter.takeKeys(keys, for: root)
    }

    /// What the store holds now, to be read from later whatever is committed meanwhile; kept as long as somebody has it, and not longer than the
    /// store is open. Nil where the store can't keep that.
    package func pinned() throws -> (any StoreReading)? { nil }

    /// When it commits its part of a save into several stores.
    package var commitTurn: CommitTurn { .transaction }

    /// Through which entry of a push journal everything has been committed here; 0 at first. Written by `save(_:)`, in the same transaction.
    /// What other processes committed meanwhile is known, too. Throws if it can't be read.
    package var pushMark: UInt64 { get throws { 0 } }

    /// Returns when what `save(_:)` wrote survives loss of power, as far as the store can survive anything. Throws what the disk says.
    package func makeCommitsDurable() throws {}

    /// Gives these new objects the identities that they have in the store, where their keys are not that already. Called before their IDs become
    /// permanent without a save; a save does it by itself.
    package func obtainReferences(for rows: [(id: NSManagedObjectID, row: RowSnapshot?)]) throws {}

    /// Lets go of files and connections. The store is not used afterwards.
    package func close() throws {}
}

extension NSPersistentStore: StoreReading, StoreWriting {}

/// Answers what one store holds: now, or at a moment in the past. Every method may be called from any thread.
package protocol StoreReading: AnyObject, Sendable {
    /// The objects that match, in order, windowed by the plan's offset and limit. Rows included where the plan asks for them.
    /// Throws 134060 for a predicate that the store cannot express.
    func fetch(_ plan: FetchPlan) throws -> [FetchedRow]
    /// How many objects match.
    func count(_ plan: FetchPlan) throws -> Int
    /// The values of dictionaries, in the order of the columns; nil where the store can't compute them, so that they are computed from rows.
    func dictionaries(_ table: DictionaryPlan, _ plan: FetchPlan) throws -> [[AttributeValue]]?
    /// The rows of these IDs; those that are gone are left out.
    func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot]
    /// The members of a to-many, in order if it is ordered.
    func relatedIDs(_ key: RelationshipKey) throws -> [NSManagedObjectID]
    /// The members of many to-manys with their rows, each in order if it is ordered: asked once a relationship, not once a key, where the store can
    /// do that. Keys without members may be left out.
    func related(_ keys: [RelationshipKey]) throws -> [RelationshipKey: [FetchedRow]]
    /// Which objects have these keys, for the constraint of that number in the entity's layout. One query however many keys.
    func objects(of entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]) throws -> [UniqueKey: FetchedRow]
}

/// Changes one store. Every method may be called from any thread; a store orders its own writes and lets reads pass beside them.
package protocol StoreWriting: AnyObject, Sendable {
    /// Writes all or nothing. On success every row is committed with its new version, which the result tells by ID.
    /// Throws `StoreConflict` for rows whose stored version is not the one the change started from, and for violated constraints.
    func save(_ changes: ChangeSet) throws -> SavedRows
    /// Checks and writes as `save(_:)` does and then calls `body`, once: what that does not commit is taken back before this returns.
    /// Throws what `save(_:)` throws before `body` is called, and what `body` throws.
    func prepare(_ changes: ChangeSet, _ body: (any PreparedSave) throws -> Void) throws
    /// Takes at least `count` primary keys out of circulation for the tree of `root`.
    func reserveKeys(for root: NSEntityDescription, count: Int) throws -> Range<Int64>
    /// Primary keys in a row that are out of circulation already, `count` of them or fewer: nobody waits for them. Nil if there are none.
    func readyKeys(for root: NSEntityDescription, atMost count: Int) -> Range<Int64>?
    /// Gives back the keys that were reserved and not used, if nobody reserved more in the meantime. Best effort.
    func releaseKeys(for root: NSEntityDescription, unused: Range<Int64>)
    /// The largest primary key of the tree of `root` that was ever taken out of circulation or used.
    func largestKey(for root: NSEntityDescription) throws -> Int64
    /// Takes all primary keys up to `key` out of circulation for the tree of `root`.
    func raiseLargestKey(for root: NSEntityDescription, to key: Int64) throws
    /// Takes these keys, and all below them, out of circulation for the tree of `root` if all that went before are below them: asked and done in one step.
    ///
    /// - Returns: whether that was done, so that nobody else has them or will get them.
    func takeKeys(_ keys: ClosedRange<Int64>, for root: NSEntityDescription) throws -> Bool
}

extension StoreWriting {
    /// `save(_:)` of a store that needs nothing else for it than `prepare(_:_:)`.
    package func preparedAndCommitted(_ changes: ChangeSet) throws -> SavedRows {
        var saved = SavedRows()
        try prepare(changes) { saved = try $0.commit() }
        return saved
    }
}

/// A store whose rows others write to as well: another store object, another process.
package protocol SharedStore: NSPersistentStore {
    /// Has `handler` called after somebody else has committed, on any thread.
    func followOthers(_ handler: @escaping @Sendable () -> Void)
    /// Has `handler` called, on any thread and once, if others have committed since this was asked last. Returns at once.
    func askForOthers(_ handler: @escaping @Sendable () -> Void)
}

/// A store that keeps sums of its rows.
package protocol SummingStore: NSPersistentStore {
    /// See `NSPersistentStoreCoordinator.adoptRows`.
    func adoptRows(_ runs: [ClosedRange<Int64>], of entity: NSEntityDescription, emptying attribute: String) throws -> AdoptedRows
}

/// A store that counts rows without reading them.
package protocol CountingStore: NSPersistentStore {
    /// How many of the rows with primary keys in these runs a plan finds among what is committed.
    func count(_ plan: FetchPlan, among runs: [ClosedRange<Int64>]) throws -> Int
}

/// Rows that were taken as somebody else has left them.
package struct AdoptedRows {
    var keys: Set<Int64> = []
    /// Objects with other values that the store computed of them.
    var computed: [NSManagedObjectID] = []
}

/// A store whose file can be copied while others write to it.
package protocol CopyableStore: NSPersistentStore {
    /// Makes a file of all that is committed, with a UUID of its own.
    func copy(to url: URL) throws
    /// Hands out a store that holds what this one holds at one moment.
    func withSnapshot(_ body: (NSPersistentStore) throws -> Void) throws
}

/// A store that is told which of its objects contexts have.
package protocol RegistrationKeeping: NSPersistentStore {
    /// Called from anywhere, also while an object is being freed; returns at once.
    func note(_ registration: Registration)
}

/// What a context tells a store of its objects.
package enum Registration: Sendable {
    case registered(NSManagedObjectID)
    case unregistered(NSManagedObjectID)
}

extension NSManagedObjectID {
    /// The store that holds the object; nil while the ID is temporary, and after the store was removed.
    public var persistentStore: NSPersistentStore? {
        isTemporaryID ? nil : storeIdentity.store as? NSPersistentStore
    }
}
