import Foundation
import Synchronization

/// The stores of a coordinator as they were at one moment. Stores that keep no past states are in it as they are now; stores that were added later
/// are not in it at all.
///
/// It has a row cache of its own: that of the coordinator has what is newest. The states are let go with the last token or context that has them.
final class QueryGeneration: RoutingChannel {
    let coordinator: NSPersistentStoreCoordinator
    /// Names it in archives of its token.
    let uuid = UUID()
    let rowCache = RowCache()
    /// The stores that are in it.
    let stores: [NSPersistentStore]
    /// What answers for them, in the same order.
    private let readers: [any StoreReading]
    /// Whether some of them are in it as they are now.
    private let hasLiveStores: Bool

    private init(_ coordinator: NSPersistentStoreCoordinator, _ stores: [NSPersistentStore], _ readers: [any StoreReading]) {
        self.coordinator = coordinator
        self.stores = stores
        self.readers = readers
        hasLiveStores = zip(stores, readers).contains { $0 === $1 }
        Self.living.withLock { $0[uuid] = Entry(generation: self) }
    }

    deinit { _ = Self.living.withLock { $0.removeValue(forKey: uuid) } }

    /// The stores as they are now; nil if none of them keeps a state. Throws what a store says that can't be read.
    static func current(of coordinator: NSPersistentStoreCoordinator) throws -> QueryGeneration? {
        let stores = coordinator.persistentStores
        func readers() throws -> [any StoreReading] { try stores.map { try $0.pinned() ?? $0 } }
        // One store has either all of a save or nothing. Of several, nobody is to save into the second while the first is looked at.
        let found = stores.count > 1 ? try coordinator.queue.sync { () throws in try readers() } : try readers()
        let generation = QueryGeneration(coordinator, stores, found)
        return zip(stores, found).contains { $0 !== $1 } ? generation : nil
    }

    // MARK: The living

    private struct Entry: Sendable {
        weak var generation: QueryGeneration?
    }

    private static let living = Mutex<[UUID: Entry]>([:])

    /// The generation of that name, while somebody in this process has it.
    static func named(_ uuid: UUID) -> QueryGeneration? { living.withLock { $0[uuid] }?.generation }

    // MARK: Reading

    var endOfChain: NSPersistentStoreCoordinator? { coordinator }
    var persistentStores: [NSPersistentStore] { coordinator.persistentStores }
    func add(_ follower: any ChannelFollower) { coordinator.add(follower) }
    func remove(_ follower: any ChannelFollower) { coordinator.remove(follower) }

    func ownStore(of id: NSManagedObjectID) -> NSPersistentStore? { coordinator.ownStore(of: id) }

    func reader(of store: NSPersistentStore) -> (any StoreReading)? {
        // A store that took another's place has its identity, and its past is that one's.
        guard let index = stores.firstIndex(where: { $0.identity === store.identity }) else { return nil }
        return readers[index] === stores[index] ? store : readers[index]
    }

    func asking<T>(_ body: () throws -> T) throws -> T { try coordinator.asking(body) }

    /// Whether an object is in a store that has no past.
    private func isLive(_ id: NSManagedObjectID) -> Bool {
        guard hasLiveStores, let store = ownStore(of: id) else { return false }
        return reader(of: store) === store
    }

    func rowInMemory(_ id: NSManagedObjectID) -> RowLookup {
        if isLive(id) { return coordinator.rowInMemory(id) }
        return rowCache[id].map { .row($0) } ?? .unknown
    }

    func relatedIDs(_ key: RelationshipKey) throws -> [NSManagedObjectID] {
        if isLive(key.owner) { return try coordinator.relatedIDs(key) }
        if let known = rowCache.relations[key] { return known }
        return try ownStore(of: key.owner).flatMap { reader(of: $0) }?.relatedIDs(key) ?? []
    }

    /// What is saved goes to the stores as they are.
    func receive(_ changes: ChangeSet, from sender: SaveSender) throws -> ReceivedChanges {
        try coordinator.receive(changes, from: sender)
    }
}

/// What a root context and its descendants read from while it is pinned: the stores as they are when the first of them reads, or as another context
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
    func add(_ follower: any ChannelFollower) { coordinator.add(follower) }
    func remove(_ follower: any ChannelFollower) { coordinator.remove(follower) }

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
    func receive(_ changes: ChangeSet, from sender: SaveSender) throws -> ReceivedChanges {
        try coordinator.receive(changes, from: sender)
    }
}
