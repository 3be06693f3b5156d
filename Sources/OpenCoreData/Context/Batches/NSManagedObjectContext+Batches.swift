import Foundation

/// Batch requests: from any context of a chain straight to the stores.
extension NSBatchInsertRequest: ContextRequest {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let coordinator = try context.stores(for: "insert")
        let entity = try resolvedEntity(in: coordinator.managedObjectModel)
        guard !entity.isAbstract else {
            throw NSError.coreData(.coreData, "Entity \(entity.name ?? "?") is abstract; it has no objects that could be inserted.")
        }
        let spent = SpentRows()
        let work = BatchInsert(
            entity: entity, takenKey: BatchInsert.TakenKey(context.mergePolicy), spent: spent, next: source.rows(for: entity, reusing: spent))
        let outcome = try context.execute(.insert(work), of: self, tellsIDs: resultType == .objectIDs, in: coordinator)
        switch resultType {
        case .statusOnly: return NSBatchInsertResult(NSNumber(value: true), resultType)
        case .objectIDs: return NSBatchInsertResult(outcome.ids, resultType)
        case .count: return NSBatchInsertResult(NSNumber(value: outcome.count), resultType)
        }
    }
}

extension NSBatchUpdateRequest: ContextRequest {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let coordinator = try context.stores(for: "update")
        let entity = try resolvedEntity(in: coordinator.managedObjectModel)
        let search = NSFetchRequest<NSManagedObjectID>()
        search.entity = entity
        search.predicate = predicate
        search.includesSubentities = includesSubentities
        let work = BatchUpdate(plan: try context.batchPlan(for: search), values: try values(for: entity))
        let outcome = try context.execute(.update(work), of: self, tellsIDs: resultType == .updatedObjectIDsResultType, in: coordinator)
        switch resultType {
        case .statusOnlyResultType: return NSBatchUpdateResult(NSNumber(value: true), resultType)
        case .updatedObjectIDsResultType: return NSBatchUpdateResult(outcome.ids, resultType)
        case .updatedObjectsCountResultType: return NSBatchUpdateResult(NSNumber(value: outcome.count), resultType)
        }
    }

    private func values(for entity: NSEntityDescription) throws -> [(slot: Int, value: BatchUpdate.Value)] {
        guard let propertiesToUpdate, !propertiesToUpdate.isEmpty else {
            throw NSError.coreData(.coreData, "A batch update of \(entity.name ?? "?") needs propertiesToUpdate: there is nothing to set.")
        }
        var values: [Int: BatchUpdate.Value] = [:]
        for (key, value) in propertiesToUpdate {
            guard let name = (key.base as? NSPropertyDescription)?.nameInEntity ?? key.base as? String else {
                throw NSError.coreData(.coreData, "A batch update is told properties by name or by NSPropertyDescription, not by \(key.base).")
            }
            let isNull = (value as? NSExpression).map { if case .constant(.null) = $0.node { true } else { false } } ?? false
            for (slot, value) in try entity.layout.batchValues(name, isNull ? NSNull() : value) {
                if values[slot] != nil { throw NSError.coreData(.coreData, "A batch update sets \(entity.name ?? "?").\(name) twice.") }
                values[slot] = try Self.value(value ?? NSNull(), slot, entity.layout)
            }
        }
        return values.sorted { $0.key < $1.key }.map { (slot: $0.key, value: $0.value) }
    }

    private static func value(_ value: Any, _ slot: Int, _ layout: EntityLayout) throws -> BatchUpdate.Value {
        guard let expression = value as? NSExpression else { return .constant(try layout.batchValue(identity(value), atSlot: slot)) }
        let node = try expression.node.resolvingFetches().fitted(to: layout.entity)
        if node.isConstant { return .constant(try layout.batchValue(try node.computed(for: nil).any, atSlot: slot)) }
        if layout.relationship(atSlot: slot) != nil {
            throw NSError.coreData(
                .coreData,
                "A batch update can't compute \(layout.entity.name ?? "?").\(layout.names[slot]): a relationship is set to an object, its ID or nil.")
        }
        return .computed(node)
    }
}

extension NSBatchDeleteRequest: ContextRequest {
    func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let coordinator = try context.stores(for: "delete")
        let work: BatchDelete
        switch selection {
        case .fetch(let request): work = .found(try context.batchPlan(for: request))
        case .ids(let ids):
            let current = ids.map(\.current)
            if let unsaved = current.first(where: \.isTemporaryID) {
                throw NSError.coreData(.coreData, "A batch request can't delete \(unsaved), which no store has yet. Delete the object instead.")
            }
            work = .ids(current)
        }
        let outcome = try context.execute(.delete(work), of: self, tellsIDs: resultType == .resultTypeObjectIDs, in: coordinator)
        switch resultType {
        case .resultTypeStatusOnly: return NSBatchDeleteResult(NSNumber(value: true), resultType)
        case .resultTypeObjectIDs: return NSBatchDeleteResult(outcome.ids, resultType)
        case .resultTypeCount: return NSBatchDeleteResult(NSNumber(value: outcome.count), resultType)
        }
    }
}

extension NSManagedObjectContext {
    fileprivate func stores(for verb: String) throws -> NSPersistentStoreCoordinator {
        guard let coordinator = endOfChain else { Violation.noParent(diagnosticName, doing: "\(verb) by a batch request") }
        return coordinator
    }

    /// What is found in the stores alone.
    fileprivate func batchPlan<T>(for request: NSFetchRequest<T>) throws -> FetchPlan {
        var plan = try plan(for: request)
        plan.includesPendingChanges = false
        plan.includesRows = false
        return plan
    }

    fileprivate func execute(
        _ work: BatchPlan.Work, of request: NSPersistentStoreRequest, tellsIDs: Bool, in coordinator: NSPersistentStoreCoordinator
    ) throws -> BatchOutcome {
        let origin = SaveOrigin(author: transactionAuthor, contextName: name)
        return try coordinator.execute(
            BatchPlan(
                work: work, tellsIDs: tellsIDs, request: request, affectedStores: request.affectedStores.map { $0.map(\.identity) }, origin: origin,
                queue: coordinator.queue))
    }
}

/// What a row knows an object by.
private func identity(_ value: Any) -> Any { (value as? NSManagedObject)?.objectID ?? value }

extension BatchInsert.TakenKey {
    fileprivate init(_ policy: NSMergePolicy) {
        switch policy.mergeType {
        case .errorMergePolicyType: self = .refuse
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: self = .keep
        case .mergeByPropertyObjectTrumpMergePolicyType: self = .update
        case .overwriteMergePolicyType: self = .replace
        }
    }
}

extension NSBatchInsertRequest.Source {
    /// What hands out row after row, and nil after the last.
    fileprivate func rows(for entity: NSEntityDescription, reusing spent: SpentRows) -> () throws -> BatchInsert.Row? {
        let layout = entity.layout
        switch self {
        case .dictionaries(let dictionaries):
            var rest = dictionaries.makeIterator()
            var slots = SlotsByName(layout, reusing: spent)
            return { try rest.next().map { try slots.row($0) } }
        case .dictionaryHandler(let handler):
            var slots = SlotsByName(layout, reusing: spent)
            return {
                let dictionary = NSMutableDictionary()
                if handler(dictionary) { return nil }
                return try slots.row(dictionary.lazy.map { (key: $0.key as? String ?? "\($0.key)", value: $0.value) })
            }
        case .managedObjectHandler(let handler):
            let object = entity.makeObject(in: nil)
            object.startFillingRows()
            let refused = Set(layout.partnerSlots).union((0..<layout.count).filter { layout.isTransient[$0] })
            let toOnes = layout.toOneSlots
            let checked = (0..<layout.count).filter { layout.kinds[$0].isChecked }.map { (slot: $0, kind: layout.kinds[$0]) }
            return {
                guard !handler(object), let row = object.row else {
                    object.fillsRows = false
                    return nil
                }
                let given = object.changed
                for number in object.changedToManys.slots { _ = try layout.batchSlot(of: layout.toManys[number].name) }
                // A composite that is set sets all of its elements.
                for slot in refused where given.contains(slot) && !(layout.isInComposite(slot) && row[slot].isNull) {
                    _ = try layout.batchSlot(of: layout.names[slot])
                }
                for slot in toOnes where given.contains(slot) {
                    row.update(slot, to: try layout.batchValue(row[slot].objectID, atSlot: slot))
                }
                for (slot, kind) in checked where given.contains(slot) && !kind.admits(row[slot]) {
                    throw NSError.noValue(row[slot].plain, of: layout, slot: slot)
                }
                object.beginRow(in: spent.next())
                return BatchInsert.Row(values: row, given: given)
            }
        }
    }
}

/// Rows out of dictionaries. Names are looked up once: those of the next dictionary are the same as a rule.
private struct SlotsByName {
    private let layout: EntityLayout
    private let spent: SpentRows
    private let kinds: [AttributeKind]
    private var known: [String: Int] = [:]
    /// The first of those, which are found by their words sooner than by a hash.
    private var first: [(name: String, slot: Int)] = []

    init(_ layout: EntityLayout, reusing spent: SpentRows) {
        self.layout = layout
        self.spent = spent
        kinds = layout.kinds
    }

    mutating func row(_ pairs: some Sequence<(key: String, value: Any)>) throws -> BatchInsert.Row {
        let row = spent.next() ?? RowSnapshot.defaults(layout), values = row.ownValues
        var given = SlotSet()
        for (name, value) in pairs {
            guard let slot = try slot(of: name) else {
                for (slot, value) in try layout.batchValues(name, value) {
                    row.update(slot, to: try layout.batchValue(value, atSlot: slot))
                    given.insert(slot)
                }
                continue
            }
            given.insert(slot)
            if let plain = AttributeValue.exact(value, as: kinds[slot]), kinds[slot].admits(plain) {
                values[slot] = plain
            } else {
                values[slot] = try layout.batchValue(layout.relationship(atSlot: slot) == nil ? value : identity(value), atSlot: slot)
            }
        }
        return BatchInsert.Row(values: row, given: given)
    }

    /// Nil for a composite.
    private mutating func slot(of name: String) throws -> Int? {
        for number in first.indices where StringBytes.areSame(first[number].name, name) { return first[number].slot }
        if let slot = known[name] { return slot }
        if case .composite? = layout.place(of: name) { return nil }
        let slot = try layout.batchSlot(of: name)
        known[name] = slot
        if first.count < 32 { first.append((name, slot)) }
        return slot
    }
}
