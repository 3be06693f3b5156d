import Foundation
import Synchronization

/// The stores of a coordinator as they were at one moment. Stores that keep no past states are in it as they are now; stores that were added later
/// are not in it at all.
///
/// It has a row cache of its own: that of the coordinator holds what is newest. The states are let go with the last token or context that holds them.
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

    /// The generation of that name, while somebody in this process holds it.
    static func named(_ uuid: UUID) -> QueryGeneration? { living.withLock { $0[uuid] }?.generation }

    // MARK: Reading

    var endOfChain: NSPersistentStoreCoordinator? { coordinator }
    var persistentStores: [NSPersistentStore] { coordinator.persistentStores }
    var subscribers: ChangeSubscribers { coordinator.subscribers }

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
    func receive(_ changes: ChangeSet, from sender: NSManagedObjectContext) throws -> ReceivedChanges {
        try coordinator.receive(changes, from: sender)
    }
}
