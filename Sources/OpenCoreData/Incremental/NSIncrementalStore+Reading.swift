import Foundation

/// What the engine asks of a store, put to a subclass in its terms.
extension NSIncrementalStore {
    /// Runs calls of the subclass's methods, one after the other with those from other threads.
    func ordered<T>(_ body: (NSManagedObjectContext) throws -> T) throws -> T {
        try order.sync { () throws -> T in
            // IDs that are made while objects are read are not those of the new objects.
            let outer = obtaining
            obtaining = nil
            defer { obtaining = outer }
            if let currentContext { return try currentContext.performAndWait { () throws -> T in try body(currentContext) } }
            return try withContext { try body($0) }
        }
    }

    /// A context for one call. In `order`.
    func withContext<T>(_ body: (NSManagedObjectContext) throws -> T) throws -> T {
        guard let coordinator = persistentStoreCoordinator else {
            throw NSError.coreData(.persistentStoreOperation, "The store \(identifier ?? "?") has been removed from its coordinator.")
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType), outer = currentContext
        context.name = "NSIncrementalStore"
        context.persistentStoreCoordinator = coordinator
        context.registry.log.silence()
        currentContext = context
        defer { currentContext = outer }
        return try context.performAndWait { () throws -> T in try body(context) }
    }

    // MARK: Finding

    /// The plan as a request.
    private func request(_ plan: FetchPlan, _ type: NSFetchRequestResultType) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = plan.entity
        request.predicate = plan.predicate.map(NSPredicate.make)
        if !plan.sort.isEmpty {
            request.sortDescriptors = plan.sort.map { key in
                NSSortDescriptor(key: key.path.joined(separator: "."), ascending: key.isAscending, selector: key.selector)
            }
        }
        request.fetchLimit = plan.limit
        request.fetchOffset = plan.offset
        request.includesSubentities = plan.includesSubentities
        request.includesPendingChanges = false
        request.includesPropertyValues = plan.includesRows
        request.resultType = type
        return request
    }

    func found(_ plan: FetchPlan) throws -> [FetchedRow] {
        try ordered { context in
            let needsRows = plan.includesRows || plan.includesSortValues
            let type: NSFetchRequestResultType = needsRows ? .managedObjectResultType : .managedObjectIDResultType
            let ids = try ids(in: execute(request(plan, type), with: context), saidBy: "a fetch of \(plan.entity.name ?? "?")")
            // Whatever became of the save that brought them: the store has them.
            references.noteStored(ids.lazy.map(\.key))
            guard needsRows else { return ids.map { FetchedRow(id: $0, row: nil) } }
            return try ids.compactMap { id in try row(of: id, context).map { FetchedRow(id: id, row: $0) } }
        }
    }

    func counted(_ plan: FetchPlan) throws -> Int {
        try ordered { context in
            let answer = try execute(request(plan, .countResultType), with: context)
            if let number = answer as? Int { return number }
            if let numbers = answer as? [Int] { if numbers.count == 1 { return numbers[0] } }
            if let numbers = answer as? [NSNumber], numbers.count == 1 { return numbers[0].intValue }
            return try ids(in: answer, saidBy: "a request that counts \(plan.entity.name ?? "?")").count
        }
    }

    /// The IDs in what a subclass returned. Throws 134060 if there is something else.
    private func ids(in answer: Any, saidBy what: String) throws -> [NSManagedObjectID] {
        guard let elements = Self.elements(answer) else {
            throw NSError.coreData(
                .coreData,
                "The store \(Swift.type(of: self)) answered \(what) with a \(Swift.type(of: answer)); it should be an array of objects or IDs.")
        }
        return try elements.map { element in
            guard let id = (element as? NSManagedObjectID) ?? (element as? NSManagedObject)?.objectID else {
                throw NSError.coreData(
                    .coreData, "The store \(Swift.type(of: self)) answered \(what) with \(element) among others; all should be objects or IDs.")
            }
            return try own(id, saidBy: what)
        }
    }

    private static func elements(_ answer: Any) -> [Any]? {
        switch answer {
        case let ids as [NSManagedObjectID]: ids
        case let objects as [NSManagedObject]: objects
        case let ids as Set<NSManagedObjectID>: Array(ids)
        case let objects as Set<NSManagedObject>: Array(objects)
        case let array as NSArray: array.map { $0 }
        case let set as NSSet: set.map { $0 }
        case let ordered as NSOrderedSet: ordered.map { $0 }
        case let array as [Any]: array
        default: nil
        }
    }

    private func own(_ id: NSManagedObjectID, saidBy what: String) throws -> NSManagedObjectID {
        guard id.storeIdentity === identity else {
            throw NSError.coreData(
                .managedObjectExternalRelationship,
                "The store \(Swift.type(of: self)) answered \(what) with \(id), which is an object of another store.")
        }
        return id
    }

    // MARK: Values

    /// The row of an object, nil if it is gone.
    func row(of id: NSManagedObjectID, _ context: NSManagedObjectContext) throws -> RowSnapshot? {
        guard let node = try node(of: id, context) else { return nil }
        return try row(of: id, node, context)
    }

    /// Nil: there is no such object.
    func node(of id: NSManagedObjectID, _ context: NSManagedObjectContext) throws -> NSIncrementalStoreNode? {
        guard references.mayBeStored(id.key) else { return nil }
        guard let node = try unlessMissing({ try newValuesForObject(with: id, with: context) }) else {
            references.noteMissing(id.key)
            return nil
        }
        references.noteStored(CollectionOfOne(id.key))
        return node
    }

    private func unlessMissing<T>(_ body: () throws -> T) throws -> T? {
        do { return try body() } catch {
            let told = error as NSError
            let isMissing = told.domain == CocoaError.errorDomain && told.code == CocoaError.Code.managedObjectReferentialIntegrity.rawValue
            guard isMissing else { throw error }
            return nil
        }
    }

    func row(of id: NSManagedObjectID, _ node: NSIncrementalStoreNode, _ context: NSManagedObjectContext) throws -> RowSnapshot {
        let layout = id.layout
        let row = RowSnapshot.make(layout, version: Int64(bitPattern: node.version))
        for slot in 0..<layout.count where !layout.isTransient[slot] {
            switch layout.slots[slot] {
            case .attribute(let attribute):
                let told = node.value(for: attribute)
                guard let value = AttributeValue.coded(told, as: attribute.kind) else {
                    throw NSError.coreData(
                        .coreData,
                        "The store \(Swift.type(of: self)) gave \(told ?? "nil") as the value of \(attribute.name) of \(id), which is not of its type."
                    )
                }
                row.update(slot, to: value)
            case .toOne(let relationship):
                if let target = try target(of: relationship, id, node.value(for: relationship), context) { row.update(slot, to: .objectID(target)) }
            }
        }
        return row
    }

    private func target(
        of relationship: NSRelationshipDescription, _ id: NSManagedObjectID, _ told: Any?, _ context: NSManagedObjectContext
    ) throws -> NSManagedObjectID? {
        let answer = try told ?? newValue(forRelationship: relationship, forObjectWith: id, with: context)
        if answer is NSNull { return nil }
        let what = "the to-one \(relationship.name) of \(id)"
        guard let target = (answer as? NSManagedObjectID) ?? (answer as? NSManagedObject)?.objectID else {
            throw NSError.coreData(
                .coreData, "The store \(Swift.type(of: self)) answered \(what) with \(answer); it should be an object ID or NSNull.")
        }
        return try own(target, saidBy: what)
    }

    func members(_ key: RelationshipKey) throws -> [NSManagedObjectID] {
        guard references.mayBeStored(key.owner.key) else { return [] }
        return try ordered { context in
            let relationship = key.relationship
            let answer = try unlessMissing { try newValue(forRelationship: relationship, forObjectWith: key.owner, with: context) }
            guard let answer, !(answer is NSNull) else { return [] }
            return try ids(in: answer, saidBy: "the to-many \(relationship.name) of \(key.owner)")
        }
    }

    // MARK: Unique keys

    func owners(
        of keys: [UniqueKey], _ entity: NSEntityDescription, constraint: Int
    ) throws -> [UniqueKey: FetchedRow] {
        let owner = entity.layout.constraints[constraint].declarer, layout = owner.layout
        let slots = layout.constraints[constraint].slots
        var plan = FetchPlan(entity: owner)
        func constant(_ value: AttributeValue) -> PredicateValue { PredicateValue(value.plain) }
        if slots.count == 1 {
            let values = PredicateCollection(keys.compactMap { $0.values.first.map(constant) }, kind: .array)
            plan.predicate = .comparison(
                PredicateComparison(left: .keys(layout.names[slots[0]]), right: .constant(.collection(values)), type: .in))
        } else {
            plan.predicate = .or(
                keys.map { key in
                    .and(
                        zip(slots, key.values).map { slot, value in
                            .comparison(
                                PredicateComparison(left: .keys(layout.names[slot]), right: .constant(constant(value)), type: .equalTo))
                        })
                })
        }
        let wanted = Set(keys)
        var result: [UniqueKey: FetchedRow] = [:]
        for fetched in try found(plan) {
            guard let row = fetched.row, let key = row.layout.constraints[constraint].key(of: row), wanted.contains(key) else { continue }
            result[key] = fetched
        }
        return result
    }
}
