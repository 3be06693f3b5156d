import Synchronization

/// What a context's parent is: another context, or the coordinator. A context cannot tell which of the two it is.
///
/// Fetches, faults and change sets go toward the store; rows, IDs and versions come back. Everything that travels is a value, and every method
/// may be called from any thread: the answer comes from what the channel has published, without running anything on its queue.
package protocol PersistentStoreChannel: AnyObject, Sendable {
    /// The coordinator at the end of the chain.
    var endOfChain: NSPersistentStoreCoordinator? { get }

    /// The objects that match, in order, windowed; unsaved changes from here toward the store included unless the plan says otherwise.
    func fetch(_ plan: FetchPlan) throws -> [FetchedRow]
    /// How many objects match.
    func count(_ plan: FetchPlan) throws -> Int
    /// The current row of an object if some level or the row cache has it in memory; never touches a store.
    func rowInMemory(_ id: NSManagedObjectID) -> RowLookup
    /// The current rows of these objects; those that do not exist are left out.
    func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot]
    /// The members of a to-many, in order if it is ordered.
    func relatedIDs(_ key: RelationshipKey) throws -> [NSManagedObjectID]
    /// The members of many to-manys, with one query a relationship and store; the members' rows come into memory with it. The answers for
    /// the keys in `remembering` are kept for `relatedIDs(_:)` until something is committed.
    func prefetch(_ keys: [RelationshipKey], remembering: Set<RelationshipKey>) throws -> [RelationshipKey: [NSManagedObjectID]]
    /// Which objects have these keys.
    func objects(of entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]) throws -> [UniqueKey: FetchedRow]
    /// Who follows what goes in here.
    var subscribers: ChangeSubscribers { get }
    /// Takes over a child's changes, all or nothing, and says what became of them where that is not what was handed over.
    @discardableResult
    func receive(_ changes: ChangeSet, from sender: NSManagedObjectContext) throws -> ReceivedChanges
}

/// What memory knows of a row.
package enum RowLookup: Sendable {
    case unknown
    case row(RowSnapshot)
    case deleted
}

/// A channel whose answers come from stores: the coordinator, or a state of the stores that a root context is pinned to.
package protocol StoresChannel: PersistentStoreChannel {
    /// The values of dictionaries where one store is asked and can tell them; nil: they have to be computed from rows.
    func dictionaries(_ table: DictionaryPlan, _ plan: FetchPlan) throws -> [[AttributeValue]]?
}

/// A channel that takes requests apart by stores and keeps the rows that came by.
package protocol RoutingChannel: StoresChannel {
    var persistentStores: [NSPersistentStore] { get }
    /// The store that an ID belongs to; nil for an ID of another stack.
    func ownStore(of id: NSManagedObjectID) -> NSPersistentStore?
    /// What answers for a store; nil: the store is not asked.
    func reader(of store: NSPersistentStore) -> (any StoreReading)?
    var rowCache: RowCache { get }
    /// Runs what asks the stores; more than once where they change meanwhile.
    func asking<T>(_ body: () throws -> T) throws -> T
}

/// Reads rows and members for those who evaluate predicates and sort in memory, where nothing can be thrown, and remembers the first failure: a
/// row that could not be read is no row that is gone. Whoever made it asks `check()` before the outcome is believed.
final class CheckedReader: Sendable {
    let channel: any PersistentStoreChannel
    private let failure = Mutex<(any Error)?>(nil)

    init(_ channel: any PersistentStoreChannel) { self.channel = channel }

    func row(of id: NSManagedObjectID) -> RowSnapshot? {
        if case .row(let row) = channel.rowInMemory(id) { return row }
        do { return try channel.rows(for: [id])[id] } catch {
            remember(error)
            return nil
        }
    }

    func members(_ key: RelationshipKey) -> [NSManagedObjectID] {
        do { return try channel.relatedIDs(key) } catch {
            remember(error)
            return []
        }
    }

    private func remember(_ error: any Error) { failure.withLock { if $0 == nil { $0 = error } } }

    /// Throws what the first reading that failed said.
    func check() throws {
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
