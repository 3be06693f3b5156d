/// What a context's parent is: another context, or the coordinator. A context cannot tell which of the two it is.
///
/// Fetches, faults and change sets go toward the store; rows, IDs and versions come back. Everything that travels is a value, and every method
/// may be called from any thread: the answer comes from what the channel has published, without running anything on its queue.
package protocol PersistentStoreChannel: RowSource {
    /// The coordinator at the end of the chain.
    var endOfChain: NSPersistentStoreCoordinator? { get }

    /// The objects that match, in order, windowed; unsaved changes from here toward the store included unless the plan says otherwise.
    func fetch(_ plan: FetchPlan) throws -> [FetchedRow]
    /// How many objects match.
    func count(_ plan: FetchPlan) throws -> Int
    /// The members of many to-manys, with one query a relationship and store; the members' rows come into memory with it. The answers for
    /// the keys in `remembering` are kept for `relatedIDs(_:)` until something is committed.
    func prefetch(_ keys: [RelationshipKey], remembering: Set<RelationshipKey>) throws -> [RelationshipKey: [NSManagedObjectID]]
    /// Which objects have these keys.
    func objects(of entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]) throws -> [UniqueKey: FetchedRow]
    /// Tells `follower`, which it does not keep alive, of everything that goes in here.
    func add(_ follower: any ChannelFollower)
    func remove(_ follower: any ChannelFollower)
    /// Takes over a child's changes, all or nothing, and says what became of them where that is not what was handed over.
    @discardableResult
    func receive(_ changes: ChangeSet, from sender: SaveSender) throws -> ReceivedChanges
}

/// Who hands changes over, as whoever receives them has to know it. Made on the sender's queue.
package struct SaveSender: Sendable {
    /// Is not told of its own changes.
    package let follower: any ChannelFollower
    /// The number of its level.
    package let level: UInt64
    /// What stands in the history of a store.
    package let origin: SaveOrigin
    /// Whether it settles conflicts with what its parent has by now; else the later writer wins.
    package let settlesConflicts: Bool
    /// Objects that it did not change and that must be what it read.
    package let watched: [NSManagedObjectID: RowSnapshot]
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

/// Somebody who follows what goes into a channel: a context that merges its parent's changes by itself.
package protocol ChannelFollower: AnyObject, Sendable {
    /// Called on the thread that made the changes; returns at once.
    func hear(of changes: ChangedObjectIDs)
}
