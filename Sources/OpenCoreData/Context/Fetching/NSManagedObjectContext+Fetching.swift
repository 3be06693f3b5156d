import Foundation

/// Finding objects.
extension NSManagedObjectContext {
    /// The objects that match, unsaved changes of this context and its parents included. Throws for an unknown entity, a missing
    /// store, a predicate that the store can't express, and 134060 for a constant that can't be compared with its property (`"abc"` with a number)
    /// and for what can't be sorted by.
    public func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
        let fetch = try prepared(request)
        return try results(of: fetch, found: answer(fetch))
    }

    /// How many objects match, unsaved changes included.
    public func count<T>(for request: NSFetchRequest<T>) throws -> Int { try count(plan(for: request)) }

    /// The request as a value.
    func plan<T>(for request: NSFetchRequest<T>) throws -> FetchPlan {
        checkQueue()
        readInbox()
        guard let model = endOfChain?.managedObjectModel else { Violation.noParent(diagnosticName, doing: "fetch") }
        var plan = FetchPlan(entity: try request.resolvedEntity(in: model))
        plan.includesSubentities = request.includesSubentities
        if let node = try request.predicate?.node.resolvingFetches() {
            try node.checkFetchable(plan.entity.name)
            plan.predicate = try node.frozen().fitted(to: plan.entity)
        }
        plan.limit = request.fetchLimit
        plan.offset = request.fetchOffset
        plan.includesPendingChanges = request.includesPendingChanges
        plan.affectedStores = request.affectedStores.map { $0.map(\.identity) }
        plan.sort = try (request.sortDescriptors ?? []).map { try SortKey($0, of: plan.entity) }
        if plan.includesPendingChanges { publish() }
        return plan
    }

    // MARK: By ID

    /// The object with this ID: registered, or a fault. Never does I/O, never fails.
    public func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        checkQueue()
        if let known = registry[objectID] { return known }
        if objectID.successor != nil { readInbox() }
        let id = objectID.current
        return registry[id] ?? materialise(FetchedRow(id: id, row: nil), asFault: true)
    }

    /// The object with this ID if this context has it already, or has changes of it that a child pushed.
    public func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        checkQueue()
        if objectID.successor != nil { readInbox() }
        let id = objectID.current
        if let known = registry[id] { return known }
        return chain.withLock { level.change(of: id) } == nil ? nil : materialise(FetchedRow(id: id, row: nil), asFault: true)
    }

    /// The object with this ID, realised. Throws 133000 if it does not exist.
    public func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        checkQueue()
        readInbox()
        let objectID = objectID.current
        if let known = registry[objectID], !known.isFaulted, known.state != .detached { return known }
        guard let row = try row(for: objectID) else {
            throw NSError.coreData(
                .managedObjectReferentialIntegrity, "There is no object \(objectID).", userInfo: [NSAffectedObjectsErrorKey: [objectID]])
        }
        let object = materialise(FetchedRow(id: objectID, row: row), asFault: false)
        if object.isFaulted { try object.realise() }
        return object
    }

    /// The current row of an object at this level.
    func row(for id: NSManagedObjectID) throws -> RowSnapshot? {
        publish()
        return try rows(for: [id])[id]
    }

    /// Whether this level has anything to say about any row.
    var mayHaveChanges: Bool { chain.withLock { level.hasChanges } }

    /// The instance for a row: the registered one, or a new one in the state that this level gives it.
    ///
    /// - Parameter mayBePending: false where the caller knows that this level has no changes.
    /// - Parameter stamp: the chain's before the row was fetched.
    func materialise(_ found: FetchedRow, asFault: Bool, mayBePending: Bool = true, stamp: UInt64 = 0) -> NSManagedObject {
        if let known = registry[found.id] {
            if known.isFaulted, let row = found.row {
                known.row = row
                known.wasFetched(at: stamp)
            }
            return known
        }
        let object = found.id.entity.objectClass.make(existing: found.id, in: self)
        object.row = found.row
        object.wasFetched(at: stamp)
        let change = mayBePending ? chain.withLock { level.change(of: found.id) } : nil
        if let change { object.take(change) }
        // What a child pushed is kept by the level; an object of it is retained only while it has something of its own to say.
        registry.add(object)
        if !asFault && object.isFaulted && object.row != nil { object.fire() }
        return object
    }

    // MARK: Faults

    /// The values of a fault: from the nearest level that has them in memory, else what the fetch brought, else from the store. Nil: the row
    /// is gone. Throws what the store says where it could not be read, which tells nothing about the row.
    func loadRow(for object: NSManagedObject) throws -> RowSnapshot? {
        // Nothing was pushed, saved or merged anywhere since the fetch that brought the row.
        if let fetched = object.row, object.isFetched(at: chain.stamp(with: rowCache)) { return fetched }
        if object.row == nil { forgetStaleRow(of: object.objectID) }
        switch rowInMemory(object.objectID) {
        case .row(let row): return row
        case .deleted: return nil
        case .unknown: break
        }
        if let fetched = object.row, !chain.hasBeenPinned { return fetched }
        if let batch = object.batch { return try load(batch, for: object) }
        if let source, !object.objectID.isTemporaryID {
            return try source.rows(for: [object.objectID])[object.objectID]
        }
        return nil
    }

    /// The members of a to-many. Throws what the store says.
    func loadMembers(_ key: RelationshipKey) throws -> [NSManagedObjectID] {
        publish()
        return try relatedIDs(key)
    }

    func isDeleted(_ id: NSManagedObjectID) -> Bool {
        if let object = registry[id] { return object.isDeleted }
        if case .deleted = rowInMemory(id) { return true }
        return false
    }
}

extension NSManagedObject {
    /// Takes over what the level has pending for this object.
    func take(_ change: PendingRow) {
        row = change.row ?? row
        ownsRow = false
        isFaulted = false
        base = change.base
        changed = change.changed
        isPublished = true
        state =
            switch change.kind {
            case .inserted: .inserted
            case .updated: .updated
            case .deleted: .deleted
            }
    }
}

/// The objects of one batch of a fetch (`fetchBatchSize`): faults without values, until the first of them is used. Then the rows of all are
/// loaded with one query. On the context's queue.
final class FetchBatch {
    let ids: ArraySlice<NSManagedObjectID>
    /// Whether all of them are realised when their rows come.
    let realises: Bool
    /// Relationships whose targets are loaded with them.
    let prefetched: PrefetchPaths
    /// Whether nobody has loaded the rows yet.
    var isWaiting = true

    init(_ ids: ArraySlice<NSManagedObjectID>, _ options: ObjectFetchOptions) {
        self.ids = ids
        realises = !options.asFaults
        prefetched = options.prefetched
    }
}

/// What a fetch of objects asks for beyond the objects.
struct ObjectFetchOptions {
    /// 0: all at once.
    var batchSize = 0
    var asFaults = true
    var prefetched = PrefetchPaths([])
    /// Objects that are realised already take over the values found.
    var refreshes = false
    /// Whether rows are fetched together with the identities.
    var includesRows: Bool { batchSize == 0 && loadsRows }
    private var loadsRows = true

    init<T>(_ request: NSFetchRequest<T>) {
        loadsRows = request.includesPropertyValues || !request.returnsObjectsAsFaults
        batchSize = loadsRows ? max(0, request.fetchBatchSize) : 0
        asFaults = request.returnsObjectsAsFaults
        prefetched = PrefetchPaths(request.relationshipKeyPathsForPrefetching ?? [])
        refreshes = request.shouldRefreshRefetchedObjects
    }
}
