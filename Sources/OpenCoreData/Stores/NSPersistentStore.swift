import Foundation
import Synchronization

/// The name of a store type.
public let NSSQLiteStoreType = "SQLite"
/// Rows are kept in memory and are lost with the store; a URL is accepted and nothing is written to it.
public let NSInMemoryStoreType = "InMemory"
/// Not built in: adding a store of this type throws 134000 unless a class is registered for it.
public let NSBinaryStoreType = "Binary"
/// Not built in: adding a store of this type throws 134000 unless a class is registered for it.
public let NSXMLStoreType = "XML"

/// Keys of a store's metadata.
public let NSStoreTypeKey = "NSStoreType"
/// Metadata key: the store's UUID as text, given when the store is made and kept from then on.
public let NSStoreUUIDKey = "NSStoreUUID"
/// Metadata key: the version hash of each entity by its name, `[String: Data]`. It must agree with the model when a store is opened.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
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
/// Accepted, but without effect: a store made with another version of the model is refused with 134100 in any case.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Accepted, but without effect, as `NSMigratePersistentStoresAutomaticallyOption` is.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"

/// Where rows live. The coordinator speaks to it in values: fetch plans, row snapshots, change sets. Every method may be called from any
/// thread; a store orders its own writes and lets reads pass beside them.
/// To make a store of your own, subclass `NSIncrementalStore`: what this class requires is not public.
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
        /// Not built in: see `NSBinaryStoreType`.
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        /// Not built in: see `NSXMLStoreType`.
        public static let xml = StoreType(rawValue: NSXMLStoreType)
    }

    /// Where the store was opened; nil for one in memory that was given no URL.
    public let url: URL?
    /// Which of the model's entities are kept here; `PF_DEFAULT_CONFIGURATION_NAME` where no configuration was named.
    public let configurationName: String
    /// Whether `NSReadOnlyPersistentStoreOption` was given: no new object is then assigned to this store.
    public let isReadOnly: Bool
    /// What the store was added with; nil if no options were given.
    public let options: [AnyHashable: Any]?
    /// The model's entities that this store keeps.
    package let entities: [NSEntityDescription]
    /// Weak: the coordinator owns its stores.
    open package(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
    /// Changed only before anybody else has the store, so there is nothing to check when it is read.
    @exclusivity(unchecked)
    package final private(set) var identity: StoreIdentity
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

    /// Whether metadata was set that no save has written yet. A save of an empty change set writes it.
    package var hasUnsavedMetadata: Bool { false }

    /// - Parameter references: of a store that names itself and its objects; then its UUID is what the table says.
    package init(
        entities: [NSEntityDescription], configurationName: String?, url: URL?, options: [AnyHashable: Any]?, uuid: String,
        references: ReferenceTable? = nil
    ) {
        self.entities = entities
        self.configurationName = configurationName ?? "PF_DEFAULT_CONFIGURATION_NAME"
        self.url = url
        self.options = options
        self.isReadOnly = (options?[NSReadOnlyPersistentStoreOption] as? Bool) ?? false
        self.identity = references.map { StoreIdentity(references: $0) } ?? StoreIdentity(uuid: uuid)
        super.init()
        identity.store = self
    }

    /// Called when the store has been added. Does nothing by itself.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

    /// Called before the store is removed. Does nothing by itself.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    /// Makes a new store one of the same place as another, so that IDs of that one are its own.
    package final func adopt(_ identity: StoreIdentity) { self.identity = identity }

    /// Gives the place to `store`: every ID that belonged here belongs there.
    package final func giveItsPlace(to store: NSPersistentStore, uuid: String) {
        let mine: String? = identifier
        formerIdentifier.withLock { $0 = mine }
        identity.move(to: uuid, store: store)
    }

    package func keeps(_ entity: NSEntityDescription) -> Bool { entities.contains { $0 === entity } }

    // MARK: What a store must be able to do

    /// The objects that match, in order, windowed by the plan's offset and limit. Rows included where the plan asks for them.
    /// Throws 134060 for a predicate that the store cannot express.
    package func fetch(_ plan: FetchPlan) throws -> [FetchedRow] { Violation.misuse("a store class must override fetch(_:)") }

    /// How many objects match.
    package func count(_ plan: FetchPlan) throws -> Int { try fetch(plan).count }

    /// The values of dictionaries, in the order of the columns; nil where the store can't compute them, so that they are computed from rows.
    package func dictionaries(_ table: DictionaryPlan, _ plan: FetchPlan) throws -> [[AttributeValue]]? { nil }

    /// The rows of these IDs; those that are gone are left out.
    package func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot] {
        Violation.misuse("a store class must override rows(for:)")
    }

    /// The members of a to-many, in order if it is ordered.
    package func relatedIDs(_ key: RelationshipKey) throws -> [NSManagedObjectID] {
        Violation.misuse("a store class must override relatedIDs(_:)")
    }

    /// The members of many to-manys with their rows, each in order if it is ordered. A store overrides this to ask once a relationship, not
    /// once a key; keys without members may be left out.
    package func related(_ keys: [RelationshipKey]) throws -> [RelationshipKey: [FetchedRow]] {
        var members: [RelationshipKey: [NSManagedObjectID]] = [:]
        for key in keys { members[key] = try relatedIDs(key) }
        let rows = try rows(for: Array(Set(members.values.joined())))
        return members.mapValues { ids in ids.compactMap { id in rows[id].map { FetchedRow(id: id, row: $0) } } }
    }

    /// Which objects have these keys, for the constraint of that number in the entity's layout. One query however many keys.
    package func objects(
        of entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]
    ) throws -> [UniqueKey: FetchedRow] {
        Violation.misuse("a store class must override objects(of:constraint:keys:)")
    }

    /// What the store holds now, to be read from later whatever is committed meanwhile; kept as long as somebody has it, and not longer than the
    /// store is open. Nil where the store can't keep that.
    package func pinned() throws -> (any StoreReading)? { nil }

    /// Writes all or nothing. On success every row is committed with its new version, which the result tells by ID.
    /// Throws `StoreConflict` for rows whose stored version is not the one the change started from, and for violated constraints.
    package func save(_ changes: ChangeSet) throws -> SavedRows { Violation.misuse("a store class must override save(_:)") }

    /// Checks and writes as `save(_:)` does and then calls `body`, once: what that does not commit is taken back before this returns.
    /// Throws what `save(_:)` throws before `body` is called, and what `body` throws.
    package func prepare(_ changes: ChangeSet, _ body: (any PreparedSave) throws -> Void) throws {
        Violation.misuse("a store class must override prepare(_:_:)")
    }

    /// When it commits its part of a save into several stores.
    package var commitTurn: CommitTurn { .transaction }

    /// Through which entry of a push journal everything has been committed here; 0 at first. Written by `save(_:)`, in the same transaction.
    /// What other processes committed meanwhile is known, too. Throws if it can't be read.
    package var pushMark: UInt64 { get throws { 0 } }

    /// Returns when what `save(_:)` wrote survives loss of power, as far as the store can survive anything. Throws what the disk says.
    package func makeCommitsDurable() throws {}

    /// Takes at least `count` primary keys out of circulation for the tree of `root`.
    package func reserveKeys(for root: NSEntityDescription, count: Int) throws -> Range<Int64> {
        Violation.misuse("a store class must override reserveKeys(for:count:)")
    }

    /// Gives back the keys that were reserved and not used, if nobody reserved more in the meantime. Best effort.
    package func releaseKeys(for root: NSEntityDescription, unused: Range<Int64>) {}

    /// Gives these new objects the identities that they have in the store, where their keys are not that already. Called before their IDs become
    /// permanent without a save; a save does it by itself.
    package func obtainReferences(for rows: [(id: NSManagedObjectID, row: RowSnapshot?)]) throws {}

    /// The largest primary key of the tree of `root` that was ever taken out of circulation or used.
    package func largestKey(for root: NSEntityDescription) throws -> Int64 { try reserveKeys(for: root, count: 1).lowerBound }

    /// Takes all primary keys up to `key` out of circulation for the tree of `root`.
    package func raiseLargestKey(for root: NSEntityDescription, to key: Int64) throws {
        Violation.misuse("a store class that others migrate to must override raiseLargestKey(for:to:)")
    }

    /// Has `handler` called after somebody else (another store object, another process) has committed to where this store keeps its rows, on any
    /// thread. A store that nobody else can write to never calls it.
    package func followOthers(_ handler: @escaping @Sendable () -> Void) {}

    /// Lets go of files and connections. The store is not used afterwards.
    package func close() throws {}
}

/// What a save did: the committed versions of inserted and updated rows.
package struct SavedRows: Sendable {
    package var versions: IDTable<Int64>

    package init(versions: IDTable<Int64> = [:]) { self.versions = versions }
}

/// Why a store refused a save without harm: another writer was there first. The coordinator turns it into Apple's conflicts and asks
/// the merge policy.
package enum StoreConflict: Error, Sendable {
    /// Rows whose version in the store is not the one the change started from; the stored row is nil if it was deleted.
    case versions([VersionConflict])
    /// Rows whose unique key another row already has.
    case constraints([KeyConflict])
    /// To-ones that would name rows that are gone.
    case references([ReferenceConflict])

    package struct VersionConflict: Sendable {
        package let id: NSManagedObjectID
        package let stored: RowSnapshot?

        package init(id: NSManagedObjectID, stored: RowSnapshot?) {
            self.id = id
            self.stored = stored
        }
    }

    package struct ReferenceConflict: Sendable {
        /// The row that refers.
        package let id: NSManagedObjectID
        /// The to-one's place in its layout.
        package let slot: Int
        /// The row that is gone.
        package let target: NSManagedObjectID
        /// Whether the save sets the reference; else it deletes what is referred to.
        package let isNew: Bool

        package init(id: NSManagedObjectID, slot: Int, target: NSManagedObjectID, isNew: Bool) {
            self.id = id
            self.slot = slot
            self.target = target
            self.isNew = isNew
        }
    }

    package struct KeyConflict: Sendable {
        /// The row that could not be written.
        package let id: NSManagedObjectID
        /// The number of the constraint in the entity's layout.
        package let constraint: Int
        package let key: UniqueKey
        /// The row that has the key.
        package let owner: NSManagedObjectID
        package let stored: RowSnapshot?

        package init(id: NSManagedObjectID, constraint: Int, key: UniqueKey, owner: NSManagedObjectID, stored: RowSnapshot?) {
            self.id = id
            self.constraint = constraint
            self.key = key
            self.owner = owner
            self.stored = stored
        }
    }
}

/// Answers what one store holds: now, or at a moment in the past. Every method may be called from any thread; `NSPersistentStore` says what they mean.
package protocol StoreReading: AnyObject, Sendable {
    func fetch(_ plan: FetchPlan) throws -> [FetchedRow]
    func count(_ plan: FetchPlan) throws -> Int
    func dictionaries(_ table: DictionaryPlan, _ plan: FetchPlan) throws -> [[AttributeValue]]?
    func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot]
    func relatedIDs(_ key: RelationshipKey) throws -> [NSManagedObjectID]
    func related(_ keys: [RelationshipKey]) throws -> [RelationshipKey: [FetchedRow]]
    func objects(of entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]) throws -> [UniqueKey: FetchedRow]
}

extension NSPersistentStore: StoreReading {}

/// A save that a store has checked and written, and that counts as soon as it is committed. Of one that is not, nothing is ever there.
package protocol PreparedSave: AnyObject {
    /// Throws what the store says; then nothing of the save is there.
    func commit() throws -> SavedRows
}

/// When a store commits its part of a save into several.
package enum CommitTurn: Int, Comparable, Sendable {
    /// Before all transactions: it writes when it commits, and may refuse to for reasons of its own.
    case untilRefused
    /// A transaction. That it can't be committed is rare.
    case transaction
    /// After all transactions: it can't fail.
    case always

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A save that needs no transaction: of nothing, or of what is written when it is committed.
final class UnwrittenSave: PreparedSave {
    private let write: () throws -> SavedRows

    init(_ write: @escaping () throws -> SavedRows) { self.write = write }

    func commit() throws -> SavedRows { try write() }
}

extension NSPersistentStore {
    /// `save(_:)` of a store that needs nothing else for it than `prepare(_:_:)`.
    final func preparedAndCommitted(_ changes: ChangeSet) throws -> SavedRows {
        var saved = SavedRows()
        try prepare(changes) { saved = try $0.commit() }
        return saved
    }
}

/// A store that can record its saves.
package protocol HistoryKeeping: NSPersistentStore {
    /// Whether it does.
    var keepsHistory: Bool { get }
    /// The number of the last transaction that was recorded, by whomever; 0 if there was none.
    func lastTransactionNumber() throws -> Int64
    /// The transactions after a place, or all, ascending. With a number, throws 134301 if not all transactions after that one are there.
    ///
    /// - Parameters:
    ///   - isWanted: asked of each transaction before its changes are read.
    ///   - limit: at most how many; nil: no limit.
    func history(
        after place: HistoryPlace?, withChanges: Bool, limit: Int?, where isWanted: ((HistoryRecord) throws -> Bool)?
    ) throws -> [HistoryRecord]
    /// Deletes the transactions before a place: how many there were.
    func deleteHistory(before place: HistoryPlace) throws -> Int
}
