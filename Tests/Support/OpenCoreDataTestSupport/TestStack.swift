import Foundation
import OpenCoreData
import Synchronization

/// A coordinator with one store in memory, and contexts on it.
public final class TestStack {
    public let coordinator: NSPersistentStoreCoordinator
    public let root: NSManagedObjectContext
    package let store: InMemoryStore
    private let log = RequestLog()

    /// - Parameter root: the type of the context whose parent is the coordinator.
    public init(_ model: NSManagedObjectModel = Company.model(), root type: NSManagedObjectContext.ConcurrencyType = .privateQueueConcurrencyType) {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = InMemoryStore(entities: model.entities)
        coordinator.add(store)
        root = NSManagedObjectContext(type)
        root.name = "root"
        root.persistentStoreCoordinator = coordinator
        store.observe { [log] in try log.note($0) }
    }

    /// A context whose parent is `parent`.
    public func child(
        of parent: NSManagedObjectContext, _ type: NSManagedObjectContext.ConcurrencyType = .privateQueueConcurrencyType, name: String = "child"
    ) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(type)
        context.name = name
        context.parent = parent
        return context
    }

    /// A second context whose parent is the coordinator.
    public func independent(
        _ type: NSManagedObjectContext.ConcurrencyType = .privateQueueConcurrencyType, policy: NSMergePolicy = .error
    ) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(type)
        context.name = "independent"
        context.persistentStoreCoordinator = coordinator
        context.mergePolicy = policy
        return context
    }

    /// What the store was asked since the last call, reservations of keys left out.
    package func requests() -> [StoreRequest] { log.take() }

    /// What the store is asked while `body` runs.
    package func requests<T>(during body: () throws -> T) rethrows -> [StoreRequest] {
        _ = log.take()
        _ = try body()
        return log.take()
    }

    /// Lets the store's next saves fail with these errors, in order.
    public func failSaves(with errors: [any Error]) { log.failSaves(with: errors) }

    /// What the store holds of an entity, past all contexts.
    public func stored(_ entity: String, _ key: String) throws -> [AnyHashable] {
        guard let description = coordinator.managedObjectModel.entitiesByName[entity] else { return [] }
        return try store.fetch(FetchPlan(entity: description)).compactMap { $0.row?[key].plain as? AnyHashable }
    }
}

/// What a store was asked.
// Guarded by the lock.
private final class RequestLog: Sendable {
    private struct State: Sendable {
        var requests: [StoreRequest] = []
        var failures: [any Error] = []
    }

    private let state = Mutex(State())

    func note(_ request: StoreRequest) throws {
        try state.withLock { state in
            if case .reserveKeys = request { return }
            state.requests.append(request)
            if case .save = request, !state.failures.isEmpty { throw state.failures.removeFirst() }
        }
    }

    func take() -> [StoreRequest] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    func failSaves(with errors: [any Error]) { state.withLock { $0.failures = errors } }
}

extension StoreRequest {
    /// The request's kind, for comparing.
    package var kind: String {
        switch self {
        case .fetch: "fetch"
        case .rows(let ids): "rows(\(ids.count))"
        case .relatedIDs: "relatedIDs"
        case .related(let keys): "related(\(keys.count))"
        case .objects: "objects"
        case .save: "save"
        case .commit: "commit"
        case .batch: "batch"
        case .reserveKeys: "reserveKeys"
        }
    }
}

/// Runs `body` while the caller holds the queues of all these contexts.
public func holding<T>(_ contexts: NSManagedObjectContext..., do body: () throws -> T) rethrows -> T {
    try holding(contexts[...], do: body)
}

private func holding<T>(_ contexts: ArraySlice<NSManagedObjectContext>, do body: () throws -> T) rethrows -> T {
    guard let first = contexts.first else { return try body() }
    return try first.performAndWait { () throws -> T in try holding(contexts.dropFirst(), do: body) }
}

/// Runs `body` while a block on the context's queue does not end before `body` has.
public func whileBusy<T>(_ context: NSManagedObjectContext, _ body: () throws -> T) rethrows -> T {
    try whileBusy(enqueueing: { context.enqueue($0) }, body)
}

/// Runs `body` while a block on the coordinator's queue does not end before `body` has.
public func whileBusy<T>(_ coordinator: NSPersistentStoreCoordinator, _ body: () throws -> T) rethrows -> T {
    try whileBusy(enqueueing: { coordinator.perform($0) }, body)
}

private func whileBusy<T>(enqueueing enqueue: (@escaping () -> Void) -> Void, _ body: () throws -> T) rethrows -> T {
    let isBusy = DispatchSemaphore(value: 0), goOn = DispatchSemaphore(value: 0)
    enqueue {
        isBusy.signal()
        goOn.wait()
    }
    isBusy.wait()
    defer { goOn.signal() }
    return try body()
}

extension NSManagedObjectContext {
    /// A new object of an entity, with values.
    @discardableResult
    public func make(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    /// `perform(_:)` without waiting, also from asynchronous code (where the language prefers the one that waits).
    public func enqueue(_ block: @escaping () -> Void) { perform(block) }

    /// The objects of an entity that match, sorted.
    public func all(_ entity: String, _ format: String? = nil, sort: String? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return try fetch(request)
    }

    /// The values of one property of all objects of an entity, sorted by it.
    public func names(_ entity: String, _ key: String = "name", _ format: String? = nil) throws -> [String] {
        try all(entity, format, sort: key).map { $0.value(forKey: key) as? String ?? "nil" }
    }
}
