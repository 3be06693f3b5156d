import Foundation

/// Finding objects.
extension NSManagedObjectContext {
    /// The objects that match, unsaved changes of this context and the levels below included. Throws for an unknown entity, a missing
    /// store, and a predicate that the store can't express.
    public func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
        let plan = try plan(for: request)
        switch request.resultType {
        case .managedObjectIDResultType:
            return try fetch(idsOnly(plan)).compactMap { $0.id as? T }
        case .dictionaryResultType:
            return try dictionaries(plan, properties: request.propertiesToFetch).compactMap { $0 as? T }
        case .countResultType:
            return [NSNumber(value: try count(plan))].compactMap { $0 as? T }
        default:
            let found = try fetch(plan)
            return found.compactMap { materialise($0, asFault: request.returnsObjectsAsFaults) as? T }
        }
    }

    /// How many objects match, unsaved changes included.
    public func count<T>(for request: NSFetchRequest<T>) throws -> Int { try count(plan(for: request)) }

    private func plan<T>(for request: NSFetchRequest<T>) throws -> FetchPlan {
        checkQueue()
        receiveMail()
        guard let model = endOfChain?.managedObjectModel else { Violation.noParent(diagnosticName, doing: "fetch") }
        var plan = FetchPlan(entity: try request.resolvedEntity(in: model))
        plan.includesSubentities = request.includesSubentities
        plan.predicate = request.predicate?.node.frozen()
        plan.limit = request.fetchLimit
        plan.offset = request.fetchOffset
        plan.includesPendingChanges = request.includesPendingChanges
        plan.sort = (request.sortDescriptors ?? []).map { descriptor in
            guard let node = descriptor.node, let path = node.keyPath.keys else {
                Violation.misuse("a fetch can sort by NSSortDescriptor(key:ascending:) only")
            }
            return SortKey(path: path, isAscending: node.ascending, isCaseInsensitive: node.selector != .compare)
        }
        if plan.includesPendingChanges { publish() }
        return plan
    }

    private func idsOnly(_ plan: FetchPlan) -> FetchPlan {
        var plan = plan
        plan.includesRows = false
        return plan
    }

    /// Dictionaries show what the store holds, never unsaved changes.
    private func dictionaries(_ plan: FetchPlan, properties: [Any]?) throws -> [NSDictionary] {
        var plan = plan
        plan.includesPendingChanges = false
        let names = properties?.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
        return try fetch(plan).compactMap { found in
            guard let row = found.row else { return nil }
            let result = NSMutableDictionary()
            for (slot, name) in row.layout.names.enumerated() {
                let wanted = names?.contains(name) ?? (row.layout.attribute(atSlot: slot) != nil && !row.layout.isTransient[slot])
                if wanted, let value = row[slot].any { result.setObject(value, forKey: name as NSString) }
            }
            return result
        }
    }

    // MARK: By ID

    /// The object with this ID: registered, or a fault. Never does I/O, never fails.
    public func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        checkQueue()
        if let known = registry[objectID] { return known }
        return materialise(FetchedRow(id: objectID, row: nil), asFault: true)
    }

    /// The object with this ID if this context has it already.
    public func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        checkQueue()
        return registry[objectID]
    }

    /// The object with this ID, realised. Throws 133000 if it does not exist.
    public func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        checkQueue()
        receiveMail()
        if let known = registry[objectID], !known.isFaulted, known.state != .detached { return known }
        guard let row = try row(for: objectID) else {
            throw NSError.coreData(
                .managedObjectReferentialIntegrity, "There is no object \(objectID).", userInfo: [NSAffectedObjectsErrorKey: [objectID]])
        }
        let object = materialise(FetchedRow(id: objectID, row: row), asFault: false)
        if object.isFaulted { object.fire() }
        return object
    }

    /// The current row of an object at this level.
    func row(for id: NSManagedObjectID) throws -> RowSnapshot? {
        publish()
        return try rows(for: [id])[id]
    }

    /// The instance for a row: the registered one, or a new one in the state that this level gives it.
    func materialise(_ found: FetchedRow, asFault: Bool) -> NSManagedObject {
        if let known = registry[found.id] { return known }
        let object = found.id.entity.objectClass.init(existing: found.id, in: self)
        object.row = found.row
        let change = chain.withLock { level.hasChanges ? level.change(of: found.id) : nil }
        if let change { object.take(change) }
        registry.add(object, held: change != nil)
        if !asFault && object.isFaulted && object.row != nil { object.fire() }
        return object
    }

    // MARK: Faults

    /// The values of a fault: from the nearest level that has them in memory, else what the fetch brought, else from the store.
    func loadRow(for object: NSManagedObject) -> RowSnapshot? {
        if object.row == nil { forgetStaleRow(of: object.objectID) }
        switch rowInMemory(object.objectID) {
        case .row(let row): return row
        case .deleted: return nil
        case .unknown: break
        }
        if let fetched = object.row { return fetched }
        if let coordinator = endOfChain, !object.objectID.isTemporaryID {
            return (try? coordinator.rows(for: [object.objectID]))?[object.objectID]
        }
        return nil
    }

    func loadMembers(_ key: RelationshipKey) -> [NSManagedObjectID] {
        publish()
        return (try? relatedIDs(key)) ?? []
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
