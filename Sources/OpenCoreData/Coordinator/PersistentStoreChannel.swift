/// What a context's parent is: another context, or the coordinator. A context cannot tell which of the two it is.
///
/// Fetches and faults go down, change sets go down; rows, IDs and versions come back. Everything that travels is a value, and every method
/// may be called from any thread: the answer comes from what the channel has published, without running anything on its queue.
package protocol PersistentStoreChannel: AnyObject, Sendable {
    /// The coordinator at the end of the chain.
    var endOfChain: NSPersistentStoreCoordinator? { get }

    /// The objects that match, in order, windowed; unsaved changes of this level and those below included unless the plan says otherwise.
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
