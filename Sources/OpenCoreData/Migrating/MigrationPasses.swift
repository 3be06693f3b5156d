import Foundation

/// The three times that a migration goes over its mappings.
struct MigrationPasses {
    let manager: NSMigrationManager

    /// How many objects of the source are in memory at a time.
    private static let partSize = 1 << 10

    /// A mapping with what carries it out.
    private struct Work {
        let mapping: NSEntityMapping
        let policy: NSEntityMigrationPolicy
    }

    func run() throws {
        let works = try (manager.mappingModel.entityMappings ?? []).filter { try isDone($0) }.map { Work(mapping: $0, policy: try policy(of: $0)) }
        for (number, work) in works.enumerated() { try create(work, share(0, number, works.count)) }
        for (number, work) in works.enumerated() { try relate(work, share(1, number, works.count)) }
        for work in works {
            try during(work, "performCustomValidation") { try work.policy.performCustomValidation(forMapping: work.mapping, manager: manager) }
            try during(work, "end") { try work.policy.end(work.mapping, manager: manager) }
        }
        manager.currentEntityMapping = NSEntityMapping()
        try manager.checkCancellation()
        try save()
    }

    /// What part of the whole one mapping is: making and relating take nine tenths of it, saving the rest.
    private func share(_ pass: Int, _ number: Int, _ count: Int) -> ClosedRange<Float> {
        let size = 0.45 / Float(max(count, 1)), start = 0.45 * Float(pass) + size * Float(number)
        return start...start + size
    }

    // MARK: Mappings

    /// Whether there is anything to do for it. Throws 134110 for one that does not fit the models.
    private func isDone(_ mapping: NSEntityMapping) throws -> Bool {
        let name = mapping.name ?? ""
        func check(_ entity: String?, _ hash: Data?, _ model: NSManagedObjectModel, _ what: String) throws {
            guard let entity else { return }
            guard let found = model.entitiesByName[entity] else {
                throw NSError.coreData(.migration, "The mapping \"\(name)\" names the \(what) entity \(entity), which its model does not have.")
            }
            if let hash, hash != found.versionHash {
                throw NSError.coreData(.migration, "The mapping \"\(name)\" was made for another version of the \(what) entity \(entity).")
            }
        }
        try check(mapping.sourceEntityName, mapping.sourceEntityVersionHash, manager.sourceModel, "source")
        try check(mapping.destinationEntityName, mapping.destinationEntityVersionHash, manager.destinationModel, "destination")
        if manager.mappingModel.entityMappings.count(where: { $0.name == mapping.name }) > 1 {
            throw NSError.coreData(.migration, "Two entity mappings are named \"\(name)\"; each needs a name of its own.")
        }
        if hasPolicy(mapping) { return true }
        switch mapping.mappingType {
        case .addEntityMappingType, .removeEntityMappingType: return false
        default: return mapping.sourceEntityName != nil || mapping.sourceExpression != nil
        }
    }

    private func hasPolicy(_ mapping: NSEntityMapping) -> Bool {
        mapping.entityMigrationPolicyClass != nil || mapping.entityMigrationPolicyClassName != nil
    }

    private func policy(of mapping: NSEntityMapping) throws -> NSEntityMigrationPolicy {
        if let own = mapping.entityMigrationPolicyClass { return own.init() }
        guard let name = mapping.entityMigrationPolicyClassName else { return NSEntityMigrationPolicy() }
        guard let found = NSClassFromString(name) as? NSEntityMigrationPolicy.Type else {
            throw NSError.coreData(
                .entityMigrationPolicy,
                "There is no subclass of NSEntityMigrationPolicy named \(name) for the mapping \"\(mapping.name ?? "")\": name it with its module, or set "
                    + "entityMigrationPolicyClass.")
        }
        return found.init()
    }

    /// What a policy throws ends the migration; what it was cancelled with stays what it is.
    private func during(_ work: Work, _ step: String, _ body: () throws -> Void) throws {
        try manager.checkCancellation()
        manager.currentEntityMapping = work.mapping
        do { try body() } catch {
            try manager.checkCancellation()
            if (error as NSError).domain == CocoaError.errorDomain, (error as NSError).code == CocoaError.Code.migration.rawValue { throw error }
            throw NSError.coreData(
                .entityMigrationPolicy,
                "\(type(of: work.policy)) failed in \(step) of the mapping \"\(work.mapping.name ?? "")\": \(error.localizedDescription)",
                underlying: error)
        }
    }

    // MARK: Making

    private func create(_ work: Work, _ share: ClosedRange<Float>) throws {
        let mapping = work.mapping
        try during(work, "begin") { try work.policy.begin(mapping, with: manager) }
        let sources = try sources(of: mapping)
        for start in stride(from: 0, to: sources.count, by: Self.partSize) {
            let ids = sources[start..<min(start + Self.partSize, sources.count)]
            for object in try objects(ids) {
                try during(work, "createDestinationInstances") {
                    try work.policy.createDestinationInstances(forSource: object, in: mapping, manager: manager)
                }
            }
            manager.sourceContext.refreshAllObjects()
            manager.progressed(to: share.lowerBound + (share.upperBound - share.lowerBound) * Float(start) / Float(sources.count))
        }
        try during(work, "endInstanceCreation") { try work.policy.endInstanceCreation(forMapping: mapping, manager: manager) }
    }

    /// The objects that a mapping takes: those of its entity, not of those below, which have mappings of their own.
    private func sources(of mapping: NSEntityMapping) throws -> [NSManagedObjectID] {
        manager.currentEntityMapping = mapping
        let found = try mapping.sourceExpression.map { try asked($0, mapping) }
        if let found, !(found is NSFetchRequest<NSManagedObject>) {
            return try MigrationValues.elements(found).map { element in
                guard let object = element as? NSManagedObject, object.managedObjectContext === manager.sourceContext else {
                    throw NSError.coreData(
                        .migration, "The source expression of the mapping \"\(mapping.name ?? "")\" gives what is no object of the source.")
                }
                return object.objectID
            }
        }
        if let wanted = found as? NSFetchRequest<NSManagedObject> { return try manager.sourceContext.fetch(wanted).map(\.objectID) }
        guard let name = mapping.sourceEntityName, mapping.mappingType != .addEntityMappingType else { return [] }
        let request = NSFetchRequest<NSManagedObjectID>(entityName: name)
        request.includesSubentities = false
        request.resultType = .managedObjectIDResultType
        return try manager.sourceContext.fetch(request)
    }

    private func asked(_ expression: NSExpression, _ mapping: NSEntityMapping) throws -> Any? {
        do {
            return try expression.value(
                for: nil, context: [NSMigrationManagerKey: manager, NSMigrationEntityMappingKey: mapping] as NSMutableDictionary)
        } catch {
            defer { manager.failureOfAnswer = nil }
            throw manager.failureOfAnswer
                ?? NSError.coreData(
                    .migration, "The source expression of the mapping \"\(mapping.name ?? "")\" has no value: \(error)", underlying: error)
        }
    }

    /// In the order of the IDs, with their rows.
    private func objects(_ ids: ArraySlice<NSManagedObjectID>) throws -> [NSManagedObject] {
        var found: [NSManagedObjectID: NSManagedObject] = [:]
        for (name, ids) in Dictionary(grouping: ids, by: { $0.entity.name ?? "" }) {
            let request = NSFetchRequest<NSManagedObject>(entityName: name)
            request.predicate = NSPredicate(format: "SELF IN %@", ids)
            request.returnsObjectsAsFaults = false
            try manager.sourceContext.fetch(request).forEach { found[$0.objectID] = $0 }
        }
        return ids.compactMap { found[$0] }
    }

    // MARK: Relating

    private func relate(_ work: Work, _ share: ClosedRange<Float>) throws {
        let mapping = work.mapping, made = manager.destinationInstances(forEntityMappingName: mapping.name ?? "", sourceInstances: nil)
        for start in stride(from: 0, to: made.count, by: Self.partSize) {
            let part = Array(made[start..<min(start + Self.partSize, made.count)])
            // Read together, and kept until they are used.
            let sources = try objects(manager.associations.sources(mapping.name ?? "", of: part)[...])
            for object in part where !object.isDeleted {
                try during(work, "createRelationships") { try work.policy.createRelationships(forDestination: object, in: mapping, manager: manager) }
            }
            withExtendedLifetime(sources) { manager.sourceContext.refreshAllObjects() }
            manager.progressed(to: share.lowerBound + (share.upperBound - share.lowerBound) * Float(start) / Float(made.count))
        }
        try during(work, "endRelationshipCreation") { try work.policy.endRelationshipCreation(forMapping: mapping, manager: manager) }
    }

    // MARK: Saving

    private func save() throws {
        do { try manager.destinationContext.save() } catch {
            let isConstraint = (error as NSError).code == CocoaError.Code.managedObjectConstraintMerge.rawValue
            throw NSError.coreData(
                isConstraint ? .migrationConstraintViolation : .migration,
                "The objects can't be saved under the new model: \(error.localizedDescription)", underlying: error)
        }
    }
}
