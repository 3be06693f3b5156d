import Foundation

/// What a model says of stored data, as a value that a store keeps: from it the model can be made again that the store was written with.
///
/// Not in it: transient and fetched properties, user info, and validation besides what is optional.
struct ModelArchive: Codable, Equatable, Sendable {
    struct Entity: Codable, Equatable, Sendable {
        var name: String
        var parent: String?
        var isAbstract = false
        var className: String?
        var renamingIdentifier: String?
        var versionHashModifier: String?
        /// Those that the entity itself declares, by name.
        var properties: [Property] = []
        var constraints: [[String]] = []
        var indexes: [Index] = []
    }

    struct Property: Codable, Equatable, Sendable {
        var name: String
        var isOptional = true
        var renamingIdentifier: String?
        var versionHashModifier: String?
        var isIndexed = false
        /// One of both is there.
        var attribute: Attribute?
        var relationship: Relationship?
    }

    struct Attribute: Codable, Equatable, Sendable {
        var type: UInt
        /// The kind of a program's own, and how a column holds it.
        var ownKind: String?
        var column: String?
        var transformer: String?
        var keepsInHistory = false
        /// Of a composite.
        var elements: [Property]?
    }

    struct Relationship: Codable, Equatable, Sendable {
        var destination: String
        var inverse: String?
        var deleteRule: UInt
        var minCount: Int
        var maxCount: Int
        var isOrdered: Bool
        var isToMany: Bool { maxCount != 1 }
    }

    struct Index: Codable, Equatable, Sendable {
        struct Element: Codable, Equatable, Sendable {
            var property: String
            var isAscending: Bool
        }
        var name: String
        var elements: [Element]
        /// The predicate of a partial index, in words.
        var predicate: String?
    }

    private(set) var format = 2
    var entities: [Entity]

    /// The entities, and those that they inherit from, that inherit from them or that they lead to.
    init(_ entities: [NSEntityDescription]) {
        var all: [NSEntityDescription] = [], seen: Set<ObjectIdentifier> = [], open = entities
        while let entity = open.popLast() {
            guard seen.insert(ObjectIdentifier(entity)).inserted else { continue }
            all.append(entity)
            open += entity.subentities + [entity.superentity].compactMap(\.self) + entity.relationshipsByName.values.compactMap(\.destinationEntity)
        }
        self.entities = all.sorted { ($0.name ?? "") < ($1.name ?? "") }.map(Entity.init)
    }

    /// What a store keeps; nil if it makes no sense.
    init?(_ data: Data) {
        if let known = try? JSONDecoder().decode(Self.self, from: data), known.format == 2 {
            self = known
        } else if let words = try? JSONDecoder().decode(ModelInWords.self, from: data) {
            entities = words.entities.map { $0.archived(among: words.entities) }
        } else {
            return nil
        }
    }

    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return try encoder.encode(self)
    }
}

// MARK: From a model

extension ModelArchive.Entity {
    fileprivate init(_ entity: NSEntityDescription) {
        self.init(name: entity.name ?? "")
        parent = entity.superentity?.name
        isAbstract = entity.isAbstract
        className = entity.managedObjectClassName
        renamingIdentifier = entity.renamingIdentifier
        versionHashModifier = entity.versionHashModifier
        properties = entity.declaredProperties.compactMap(ModelArchive.Property.init).sorted { $0.name < $1.name }
        constraints = entity.ownConstraintNames
        indexes = entity.indexes.map { index in
            ModelArchive.Index(
                name: index.name,
                elements: index.elements.compactMap { element in
                    element.indexedName.map { ModelArchive.Index.Element(property: $0, isAscending: element.isAscending) }
                },
                predicate: index.partialIndexPredicate?.node.canonicalFormat)
        }
    }
}

extension ModelArchive.Property {
    /// Nil for what no store keeps.
    fileprivate init?(_ property: NSPropertyDescription) {
        guard !property.isTransient else { return nil }
        self.init(name: property.name)
        isOptional = property.isOptional
        renamingIdentifier = property.renamingIdentifier
        versionHashModifier = property.versionHashModifier
        isIndexed = property.isIndexed
        switch property {
        case let property as NSAttributeDescription:
            var made = ModelArchive.Attribute(type: property.attributeType.rawValue)
            made.transformer = property.valueTransformerName
            made.keepsInHistory = property.preservesValueInHistoryOnDeletion
            if property.ownKind != nil {
                made.ownKind = property.kind.name
                made.column = property.kind.column?.rawValue
            }
            made.elements = (property as? NSCompositeAttributeDescription)?.elements.compactMap(ModelArchive.Property.init)
            if made.elements?.isEmpty == true { return nil }
            attribute = made
        case let property as NSRelationshipDescription:
            relationship = ModelArchive.Relationship(
                destination: property.destinationEntity?.name ?? "", inverse: property.inverseRelationship?.name,
                deleteRule: property.deleteRule.rawValue, minCount: property.minCount, maxCount: property.maxCount, isOrdered: property.isOrdered)
        default: return nil
        }
    }
}

// MARK: To a model

extension ModelArchive {
    /// Why no model can be made of it.
    struct Nonsense: Error, CustomStringConvertible {
        let description: String
    }

    /// A model that says this and can still be changed.
    ///
    /// - Parameter hasClasses: objects are of the classes that the model named; else of `NSManagedObject`.
    func model(hasClasses: Bool) throws(Nonsense) -> NSManagedObjectModel {
        var made: [String: NSEntityDescription] = [:]
        for entity in entities {
            guard !entity.name.isEmpty, made[entity.name] == nil else { throw Nonsense(description: "it names the entity \"\(entity.name)\" twice") }
            made[entity.name] = try entity.unrelated(hasClass: hasClasses)
        }
        for entity in entities {
            var ancestor = entity.parent, count = 0
            while let name = ancestor {
                guard let parent = entities.first(where: { $0.name == name }), count < entities.count else {
                    throw Nonsense(description: "the superentity of \(entity.name) is not in it")
                }
                ancestor = parent.parent
                count += 1
            }
        }
        for entity in entities { made[entity.name]?.subentities = entities.filter { $0.parent == entity.name }.compactMap { made[$0.name] } }
        for entity in entities { try relate(entity, made) }
        for entity in entities { try checkInverses(entity, made) }
        for entity in entities { try finish(entity, made) }
        return NSManagedObjectModel(entities: entities.compactMap { made[$0.name] })
    }

    private func relate(_ entity: Entity, _ made: [String: NSEntityDescription]) throws(Nonsense) {
        for property in entity.properties {
            guard let relationship = property.relationship,
                let mine = made[entity.name]?.declaredProperties.first(where: { $0.name == property.name }) as? NSRelationshipDescription
            else { continue }
            guard let destination = made[relationship.destination] else {
                throw Nonsense(description: "\(entity.name).\(property.name) leads to \(relationship.destination), which is not in it")
            }
            mine.destinationEntity = destination
            guard let name = relationship.inverse else { continue }
            guard let inverse = destination.relationshipsByName[name], let owner = inverse.entity,
                let stored = entities.first(where: { $0.name == owner.name })?.properties.first(where: { $0.name == name })?.relationship,
                stored.inverse == property.name
            else { throw Nonsense(description: "\(entity.name).\(property.name) has no inverse \(name)") }
            mine.inverseRelationship = inverse
        }
    }

    /// Each must be the other's, whatever was set since.
    private func checkInverses(_ entity: Entity, _ made: [String: NSEntityDescription]) throws(Nonsense) {
        for case let mine as NSRelationshipDescription in made[entity.name]?.declaredProperties ?? [] {
            guard let inverse = mine.inverseRelationship else { continue }
            guard inverse.inverseRelationship === mine, let owner = mine.entity, inverse.destinationEntity.map({ owner.isKindOf(entity: $0) }) == true
            else {
                throw Nonsense(description: "\(entity.name).\(mine.name) and its inverse are not each other's")
            }
        }
    }

    private func finish(_ entity: Entity, _ made: [String: NSEntityDescription]) throws(Nonsense) {
        guard let mine = made[entity.name] else { return }
        let properties = mine.leavesByName
        guard Set(mine.leaves.map(\.name)).count == mine.leaves.count else {
            throw Nonsense(description: "\(entity.name) has two properties of one name")
        }
        for constraint in entity.constraints {
            for name in constraint {
                guard properties[name].map({ ($0 as? NSRelationshipDescription)?.isToMany != true }) == true else {
                    throw Nonsense(description: "a constraint of \(entity.name) names \(name)")
                }
            }
        }
        mine.uniquenessConstraints = entity.constraints.filter { !$0.isEmpty }
        mine.indexes = entity.indexes.map { index in
            let described = NSFetchIndexDescription(
                name: index.name,
                elements: index.elements.compactMap { element in
                    guard let property = mine.propertiesByName[element.property] ?? mine.element(at: element.property) else { return nil }
                    let made = NSFetchIndexElementDescription(property: property)
                    made.isAscending = element.isAscending
                    return made
                })
            // Without it the index is as good: it only holds more.
            described.partialIndexPredicate = index.predicate.flatMap { try? NSPredicate.parse($0) }
            return described
        }
    }
}

extension ModelArchive.Entity {
    /// Without what leads to other entities.
    fileprivate func unrelated(hasClass: Bool) throws(ModelArchive.Nonsense) -> NSEntityDescription {
        let made = NSEntityDescription()
        made.name = name
        made.isAbstract = isAbstract
        if hasClass, let className { made.managedObjectClassName = className }
        made.mayLackItsClass = true
        made.renamingIdentifier = renamingIdentifier
        made.versionHashModifier = versionHashModifier
        var declared: [NSPropertyDescription] = []
        for property in properties { declared.append(try property.unrelated(in: name)) }
        made.properties = declared
        return made
    }
}

extension ModelArchive.Property {
    fileprivate func unrelated(in entity: String) throws(ModelArchive.Nonsense) -> NSPropertyDescription {
        guard !name.isEmpty else { throw ModelArchive.Nonsense(description: "a property of \(entity) has no name") }
        let made: NSPropertyDescription
        if let relationship {
            let mine = NSRelationshipDescription()
            mine.deleteRule = NSDeleteRule(rawValue: relationship.deleteRule) ?? .nullifyDeleteRule
            mine.minCount = relationship.minCount
            mine.maxCount = relationship.maxCount
            mine.isOrdered = relationship.isOrdered
            made = mine
        } else {
            guard let attribute, let type = NSAttributeType(rawValue: attribute.type) else {
                throw ModelArchive.Nonsense(description: "\(entity).\(name) has no type")
            }
            let composite = attribute.elements.map { _ in NSCompositeAttributeDescription() }
            let mine = composite ?? NSAttributeDescription()
            mine.attributeType = type
            mine.valueTransformerName = attribute.transformer
            mine.preservesValueInHistoryOnDeletion = attribute.keepsInHistory
            if let kind = attribute.ownKind {
                mine.ownKind = AttributeKind(kind, column: attribute.column.flatMap(ColumnCoding.init), compared: nil, form: nil) { _ in nil }
            } else if type == .undefinedAttributeType {
                throw ModelArchive.Nonsense(description: "\(entity).\(name) has no type")
            }
            if let composite { try compose(composite, of: attribute.elements ?? [], in: entity) }
            made = mine
        }
        made.name = name
        made.isOptional = isOptional
        made.renamingIdentifier = renamingIdentifier
        made.versionHashModifier = versionHashModifier
        made.isIndexed = isIndexed
        return made
    }

    private func compose(
        _ composite: NSCompositeAttributeDescription, of elements: [ModelArchive.Property], in entity: String
    ) throws(ModelArchive.Nonsense) {
        var made: [NSAttributeDescription] = []
        for element in elements {
            guard let part = try element.unrelated(in: "\(entity).\(name)") as? NSAttributeDescription else {
                throw ModelArchive.Nonsense(description: "\(entity).\(name) has the element \(element.name), which is no attribute")
            }
            made.append(part)
        }
        composite.elements = made
        if let complaint = composite.complaintAboutElements() { throw ModelArchive.Nonsense(description: "\(entity).\(name) \(complaint)") }
    }
}
