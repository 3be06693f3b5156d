import Synchronization

/// What a root context and those above it read from while it is pinned: the stores as they are when the first of them reads, or as another context
/// has them. Safe to use from any thread.
final class ContextPin: StoresChannel {
    private enum State: Sendable {
        /// Nobody has read yet.
        case waiting
        case pinned(QueryGeneration)
        /// No store keeps past states: everything is read as it is.
        case unpinned
    }

    let coordinator: NSPersistentStoreCoordinator
    private let state: Mutex<State>

    /// To the stores as they are at the first read.
    init(_ coordinator: NSPersistentStoreCoordinator) {
        self.coordinator = coordinator
        state = Mutex(.waiting)
    }

    init(to generation: QueryGeneration) {
        coordinator = generation.coordinator
        state = Mutex(.pinned(generation))
    }

    /// What the context is pinned to; nil if that is nothing.
    var token: NSQueryGenerationToken? {
        switch state.withLock({ $0 }) {
        case .waiting: .current
        case .pinned(let generation): NSQueryGenerationToken(generation)
        case .unpinned: nil
        }
    }

    /// What is read from; nil: the coordinator. Pins at the first call, and throws what a store says that can't be read; the next call tries again.
    func generation() throws -> QueryGeneration? {
        switch state.withLock({ $0 }) {
        case .pinned(let generation): return generation
        case .unpinned: return nil
        case .waiting: break
        }
        // Without stores it is the read that fails.
        if coordinator.persistentStores.isEmpty { return nil }
        // Without the lock: it may have to wait for a save. If two threads get here, the one that is done first has pinned the context.
        let made = try coordinator.asking { try QueryGeneration.current(of: coordinator) }
        return state.withLock { state in
            if case .waiting = state { state = made.map { .pinned($0) } ?? .unpinned }
            if case .pinned(let generation) = state { return generation }
            return nil
        }
    }

    private func source() throws -> any StoresChannel { try generation() ?? coordinator }

    // MARK: Channel

    var endOfChain: NSPersistentStoreCoordinator? { coordinator }
    var subscribers: ChangeSubscribers { coordinator.subscribers }

    func fetch(_ plan: FetchPlan) throws -> [FetchedRow] { try source().fetch(plan) }
    func count(_ plan: FetchPlan) throws -> Int { try source().count(plan) }
    func dictionaries(_ table: DictionaryPlan, _ plan: FetchPlan) throws -> [[AttributeValue]]? { try source().dictionaries(table, plan) }
    func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot] { try source().rows(for: ids) }
    func relatedIDs(_ key: RelationshipKey) throws -> [NSManagedObjectID] { try source().relatedIDs(key) }

    func rowInMemory(_ id: NSManagedObjectID) -> RowLookup {
        switch state.withLock({ $0 }) {
        case .waiting: .unknown
        case .pinned(let generation): generation.rowInMemory(id)
        case .unpinned: coordinator.rowInMemory(id)
        }
    }

    func prefetch(
        _ keys: [RelationshipKey], remembering: Set<RelationshipKey>
    ) throws -> [RelationshipKey: [NSManagedObjectID]] {
        try source().prefetch(keys, remembering: remembering)
    }

    func objects(of entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]) throws -> [UniqueKey: FetchedRow] {
        try source().objects(of: entity, constraint: constraint, keys: keys)
    }

    /// What is saved meets the stores as they are: a row that changed since the state that was read is a conflict like any other.
    func receive(_ changes: ChangeSet, from sender: NSManagedObjectContext) throws -> ReceivedChanges {
        try coordinator.receive(changes, from: sender)
    }
}
