import Foundation

/// What the property mappings of an entity mapping say of an object.
struct MigrationValues {
    let manager: NSMigrationManager
    let mapping: NSEntityMapping
    let policy: NSEntityMigrationPolicy

    func setAttributes(of destination: NSManagedObject, from source: NSManagedObject) throws {
        for property in propertyMappings(mapping.attributeMappings, { $0.attributesByName.keys }) {
            guard let name = property.name, let expression = property.valueExpression else { continue }
            guard let attribute = destination.entity.attributesByName[name] ?? destination.entity.leavesByName[name] as? NSAttributeDescription else {
                throw unknown(name, "attribute")
            }
            if property.isAutomatic, source.entity.layout.place(of: name) == nil { continue }
            let value = try evaluate(expression, property, source, destination)
            if case .composite(let number)? = destination.layout.place(of: name) {
                let found: [(slot: Int, value: AttributeValue)]
                do throws(CoreDataMisuse) { found = try destination.elements(of: number, in: value, name) } catch {
                    throw NSError.coreData(.migration, "The mapping \"\(mapping.name ?? "")\" can't set a value: \(error.message)")
                }
                for (slot, value) in found { destination.setValue(value, atSlot: slot) }
                continue
            }
            guard let fitting = Self.value(value, as: attribute.kind) else {
                throw NSError.coreData(
                    .migration,
                    "\(destination.entity.name ?? "?").\(name) can't be \(Self.words(value)): the mapping \"\(mapping.name ?? "")\" makes it of "
                        + "\(source.objectID.uriRepresentation().absoluteString), and it is declared as \(attribute.kind.name).")
            }
            // As a migration in place: what must have a value keeps its default.
            if fitting == nil, !attribute.isOptional { continue }
            destination.setValue(fitting, forKey: name)
        }
    }

    func setRelationships(of destination: NSManagedObject) throws {
        let sources = manager.sourceInstances(forEntityMappingName: mapping.name ?? "", destinationInstances: [destination])
        if sources.isEmpty { return }
        for property in propertyMappings(mapping.relationshipMappings, { $0.relationshipsByName.keys }) {
            guard let name = property.name, let expression = property.valueExpression else { continue }
            guard let relationship = destination.entity.relationshipsByName[name] else { throw unknown(name, "relationship") }
            if property.isAutomatic, !sources.contains(where: { $0.entity.relationshipsByName[name] != nil }) { continue }
            // One that was made out of several has what any of them had.
            let found = distinct(try sources.flatMap { try objects(try evaluate(expression, property, $0, destination), for: relationship) })
            if !relationship.isToMany {
                if found.count > 1 {
                    throw NSError.coreData(
                        .migration,
                        "The mapping \"\(mapping.name ?? "")\" gives \(found.count) objects for the relationship \(destination.entity.name ?? "?").\(name), "
                            + "which is to one.")
                }
                destination.setValue(found.first, forKey: name)
            } else if relationship.isOrdered {
                destination.setValue(NSOrderedSet(array: found), forKey: name)
            } else {
                destination.setValue(Set(found), forKey: name)
            }
        }
    }

    /// A mapping that copies needs to say nothing of single properties.
    private func propertyMappings(
        _ told: [NSPropertyMapping]?, _ names: (NSEntityDescription) -> Dictionary<String, some NSPropertyDescription>.Keys
    ) -> [NSPropertyMapping] {
        if let told { return told }
        guard mapping.mappingType == .copyEntityMappingType, let source = manager.sourceEntity(for: mapping),
            let destination = manager.destinationEntity(for: mapping)
        else { return [] }
        let stored = names(destination).filter { name in
            destination.propertiesByName[name]?.isStored == true && source.propertiesByName[name]?.isStored == true
        }
        return stored.sorted().map { NSPropertyMapping($0, from: $0) }
    }

    // MARK: Expressions

    private func evaluate(
        _ expression: NSExpression, _ property: NSPropertyMapping, _ source: NSManagedObject, _ destination: NSManagedObject
    ) throws -> Any? {
        let variables = NSMutableDictionary(dictionary: [
            NSMigrationManagerKey: manager, NSMigrationSourceObjectKey: source, NSMigrationDestinationObjectKey: destination,
            NSMigrationEntityMappingKey: mapping, NSMigrationPropertyMappingKey: property,
            NSMigrationEntityPolicyKey: PolicyAnswers(policy: policy, manager: manager),
        ])
        do {
            try checkKeys(expression, property, source.entity, destination.entity)
            return try expression.value(for: source, context: variables)
        } catch {
            defer { manager.failureOfAnswer = nil }
            if let failure = manager.failureOfAnswer { throw failure }
            throw NSError.coreData(
                .migration,
                "The mapping \"\(mapping.name ?? "")\" can't tell \(mapping.destinationEntityName ?? "?").\(property.name ?? "?"): "
                    + ((error as? PredicateEvaluationError)?.description ?? (error as NSError).localizedDescription),
                underlying: error)
        }
    }

    /// An object that is asked for what it does not have stops the process.
    private func checkKeys(
        _ expression: NSExpression, _ property: NSPropertyMapping, _ source: NSEntityDescription, _ destination: NSEntityDescription
    ) throws {
        let check = NSMigrationManager.KeyCheck(
            property: ObjectIdentifier(property), source: ObjectIdentifier(source), destination: ObjectIdentifier(destination))
        if manager.checkedKeys.contains(check) { return }
        try expression.node.checkKeys(
            of: source, variables: [NSMigrationSourceObjectKey: source, NSMigrationDestinationObjectKey: destination]
        ) { entity, key in
            entity.withDescendants.contains { $0.propertiesByName[key] != nil }
        }
        manager.checkedKeys.insert(check)
    }

    /// The objects of the destination that an expression means: those it gives, and what the objects of the source that it gives have become.
    private func objects(_ value: Any?, for relationship: NSRelationshipDescription) throws -> [NSManagedObject] {
        var result: [NSManagedObject] = []
        for element in Self.elements(value) {
            guard let object = element as? NSManagedObject else {
                throw NSError.coreData(
                    .migration,
                    "The mapping \"\(mapping.name ?? "")\" gives \(Self.words(element)) for the relationship \(relationship.entity?.name ?? "?")."
                        + "\(relationship.name): it needs objects.")
            }
            if object.managedObjectContext === manager.destinationContext {
                guard relationship.destinationEntity.map({ object.entity.isKindOf(entity: $0) }) ?? true else {
                    throw NSError.coreData(
                        .migration,
                        "The mapping \"\(mapping.name ?? "")\" gives an object of \(object.entity.name ?? "?") for the relationship "
                            + "\(relationship.entity?.name ?? "?").\(relationship.name), which is to \(relationship.destinationEntity?.name ?? "?").")
                }
                result.append(object)
            } else if let became = manager.associations.destination(of: object.objectID, kindOf: relationship.destinationEntity) {
                result.append(became)
            }
        }
        return result
    }

    private func distinct(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        var seen: Set<ObjectIdentifier> = []
        return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    static func elements(_ value: Any?) -> [Any] {
        switch value {
        case nil, is NSNull: []
        case let array as [Any]: array
        case let set as NSSet: set.allObjects
        case let set as NSOrderedSet: set.array
        case let set as Set<AnyHashable>: Array(set)
        case let single?: [single]
        }
    }

    /// A value as an attribute takes it; nil where it can't be one. An inferred mapping says no more than where a value comes from: numbers, UUIDs
    /// and addresses become strings as a migration in place writes them.
    private static func value(_ value: Any?, as kind: AttributeKind) -> Any?? {
        guard let value, !(value is NSNull) else { return .some(nil) }
        if AttributeValue.coded(value, as: kind) != nil { return value }
        guard kind.column == .string else { return nil }
        switch value {
        case let uuid as UUID: return uuid.uuidString
        case let url as URL: return url.absoluteString
        case let number as any BinaryInteger: return "\(number)"
        case let number as Decimal: return "\(number)"
        default: return nil
        }
    }

    private static func words(_ value: Any?) -> String {
        let text = value.map { "\($0)" } ?? "nil"
        return text.count <= 100 ? text : "\(text.prefix(100))…"
    }

    private func unknown(_ name: String, _ what: String) -> NSError {
        .coreData(
            .migration,
            "The mapping \"\(mapping.name ?? "")\" has a value for \(mapping.destinationEntityName ?? "?").\(name), which is no \(what) there.")
    }
}

// MARK: What expressions may ask

/// `$entityPolicy`.
private final class PolicyAnswers: PredicateMessageReceiving {
    private let policy: NSEntityMigrationPolicy
    private let manager: NSMigrationManager

    init(policy: NSEntityMigrationPolicy, manager: NSMigrationManager) {
        self.policy = policy
        self.manager = manager
    }

    func answer(to selector: String, _ arguments: [Any?]) throws(PredicateEvaluationError) -> Any? {
        do { return try policy.value(forFunction: selector, arguments: arguments) } catch {
            if !(error is PredicateEvaluationError) { manager.failureOfAnswer = error }
            throw .unansweredMessage(selector)
        }
    }
}

extension NSMigrationManager: PredicateMessageReceiving {
    /// The selectors that Xcode writes into mappings.
    package func answer(to selector: String, _ arguments: [Any?]) throws(PredicateEvaluationError) -> Any? {
        func objects(_ place: Int) -> [NSManagedObject] { MigrationValues.elements(arguments[place]).compactMap { $0 as? NSManagedObject } }
        let name = arguments.first.flatMap { $0 as? String } ?? ""
        switch selector {
        case "destinationInstancesForEntityMappingNamed:sourceInstances:":
            guard mappingModel.entityMappingsByName[name] != nil else { throw refused("no mapping is named \"\(name)\"") }
            return destinationInstances(forEntityMappingName: name, sourceInstances: objects(1))
        case "sourceInstancesForEntityMappingNamed:destinationInstances:":
            guard mappingModel.entityMappingsByName[name] != nil else { throw refused("no mapping is named \"\(name)\"") }
            return sourceInstances(forEntityMappingName: name, destinationInstances: objects(1))
        case "destinationInstancesForSourceRelationshipNamed:sourceInstances:":
            // The members themselves: whoever sets a relationship takes what they have become, by what may stand there.
            guard sourceEntity(for: currentEntityMapping)?.relationshipsByName[name] != nil else {
                throw refused("\(currentEntityMapping.sourceEntityName ?? "?") has no relationship \(name)")
            }
            return objects(1)
        case "fetchRequestForSourceEntityNamed:predicateString:":
            guard let format = arguments[1] as? String else { throw refused("the predicate for the objects of \(name) is no text") }
            return try fetchRequest(name, format)
        default: throw .unansweredMessage(selector)
        }
    }

    private func fetchRequest(_ entity: String, _ format: String) throws(PredicateEvaluationError) -> NSFetchRequest<NSManagedObject> {
        guard sourceModel.entitiesByName[entity] != nil else { throw refused("the source has no entity \(entity)") }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        do { request.predicate = try NSPredicate.parse(format) } catch { throw refused("\(error)") }
        return request
    }

    private func refused(_ reason: String) -> PredicateEvaluationError {
        failureOfAnswer = NSError.coreData(.migration, "The mapping \"\(currentEntityMapping.name ?? "")\" can't be carried out: \(reason).")
        return .unansweredMessage(reason)
    }
}
