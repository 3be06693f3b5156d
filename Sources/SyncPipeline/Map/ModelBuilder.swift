import Foundation
public import OpenCoreData
public import SyncConfiguration

/// Makes the managed object model of a configuration: its entities, with the bookkeeping attributes that every mirrored row carries, and the
/// pipeline's own entities.
public enum ModelBuilder {
    /// The names of the bookkeeping attributes. A view shows those that have a column name.
    package enum Bookkeeping: String, CaseIterable, Sendable {
        /// The hash of the record's raw bytes.
        case hash = "cisternHash"
        case firstSeen = "cisternFirstSeen"
        case lastChanged = "cisternLastChanged"
        /// The number of the run that wrote the row last.
        case run = "cisternRun"
        /// Set while the row is a tombstone.
        case deletedAt = "cisternDeletedAt"
        /// Only the key is known: something else named the object before its own record arrived.
        case stub = "cisternStub"

        var column: String? {
            switch self {
            case .hash: nil
            case .firstSeen: "_first_seen"
            case .lastChanged: "_last_changed"
            case .run: "_run"
            case .deletedAt: "_deleted_at"
            case .stub: "_stub"
            }
        }

        var type: NSAttributeDescription.AttributeType {
            switch self {
            case .hash, .run: .integer64
            case .firstSeen, .lastChanged, .deletedAt: .date
            case .stub: .boolean
            }
        }
    }

    /// A new, editable model. The configuration was validated when it was read.
    public static func model(for configuration: ModelConfiguration) -> NSManagedObjectModel {
        var entities: [String: NSEntityDescription] = [:]
        // Set in one go once they are complete: an entity checks all its properties whenever they change.
        var properties: [String: [NSPropertyDescription]] = [:]
        for entity in configuration.entities {
            let description = NSEntityDescription()
            description.name = entity.name
            description.renamingIdentifier = configuration.renamed[entity.name]
            properties[entity.name] = entity.attributes.map { attribute($0, isKey: entity.key.contains($0.name)) } + bookkeeping()
            for property in properties[entity.name] ?? [] { property.renamingIdentifier = configuration.renamed["\(entity.name).\(property.name)"] }
            description.userInfo = [ViewAnnotation.liveWhereNull: Bookkeeping.deletedAt.rawValue]
            entities[entity.name] = description
        }
        let sides = relationships(of: configuration, entities: entities)
        for entity in configuration.entities {
            properties[entity.name, default: []] += entity.relationships.compactMap { sides[entity.name]?[$0.name] }
        }
        let pairs = inverses(of: sides, configuration, entities: entities, properties: &properties)
        for entity in configuration.entities {
            entities[entity.name]?.properties = properties[entity.name] ?? []
            entities[entity.name]?.uniquenessConstraints = entity.key.isEmpty ? [] : [entity.key]
        }
        for (side, inverse) in pairs where side.inverseRelationship == nil { side.inverseRelationship = inverse }
        let model = NSManagedObjectModel(entities: Array(entities.values) + StateModel.entities(mirroring: configuration.entities))
        model.versionIdentifiers = ["\(configuration.version)"]
        return model
    }

    /// A row that something else named first has only its key, so the store must not require more; records are checked for required values when they
    /// are read.
    private static func attribute(_ configuration: AttributeConfiguration, isKey: Bool) -> NSAttributeDescription {
        let description = NSAttributeDescription(
            name: configuration.name, type: type(configuration.type), isOptional: configuration.isOptional || !isKey,
            defaultValue: configuration.defaultValue.map(value))
        description.isIndexed = configuration.isIndexed
        if configuration.name == EntityConfiguration.keyAttribute { description.userInfo = [ViewAnnotation.column: keyColumn] }
        return description
    }

    /// The column of a key that records do not say.
    static let keyColumn = "_key"

    private static func bookkeeping() -> [NSPropertyDescription] {
        Bookkeeping.allCases.map { item in
            let description = NSAttributeDescription(name: item.rawValue, type: item.type)
            description.userInfo = [ViewAnnotation.column: item.column ?? ""]
            return description
        }
    }

    private static func type(_ type: AttributeType) -> NSAttributeDescription.AttributeType {
        switch type {
        case .int16: .integer16
        case .int32: .integer32
        case .int64: .integer64
        case .decimal: .decimal
        case .double: .double
        case .bool: .boolean
        case .string, .json: .string
        case .date: .date
        case .uuid: .uuid
        case .uri: .uri
        case .data: .binaryData
        }
    }

    private static func value(_ value: AttributeDefault) -> Any {
        switch value {
        case .integer(let value): value
        case .decimal(let value): value
        case .double(let value): value
        case .bool(let value): value
        case .string(let value): value
        case .date(let value): value
        case .uuid(let value): value
        case .uri(let value): value
        }
    }

    /// The relationships of the configuration, by entity and name.
    private static func relationships(
        of configuration: ModelConfiguration, entities: [String: NSEntityDescription]
    ) -> [String: [String: NSRelationshipDescription]] {
        var sides: [String: [String: NSRelationshipDescription]] = [:]
        for entity in configuration.entities {
            for relationship in entity.relationships {
                guard let destination = entities[relationship.destination] else { continue }
                let side = NSRelationshipDescription(
                    name: relationship.name, destination: destination, toMany: relationship.isToMany, deleteRule: rule(relationship.onDelete),
                    isOrdered: relationship.isOrdered)
                side.renamingIdentifier = configuration.renamed["\(entity.name).\(relationship.name)"]
                sides[entity.name, default: [:]][relationship.name] = side
            }
        }
        return sides
    }

    /// Pairs up relationships. Every relationship gets an inverse, so that deleting either object leaves no dangling reference; an undeclared inverse
    /// is made here, joins the destination's properties, and is invisible outside.
    private static func inverses(
        of sides: [String: [String: NSRelationshipDescription]], _ configuration: ModelConfiguration, entities: [String: NSEntityDescription],
        properties: inout [String: [NSPropertyDescription]]
    ) -> [(NSRelationshipDescription, NSRelationshipDescription)] {
        var pairs: [(NSRelationshipDescription, NSRelationshipDescription)] = []
        for entity in configuration.entities {
            for relationship in entity.relationships {
                guard let side = sides[entity.name]?[relationship.name], let source = entities[entity.name] else { continue }
                if let name = relationship.inverse.name {
                    if let inverse = sides[relationship.destination]?[name] { pairs.append((side, inverse)) }
                    continue
                }
                let inverse = NSRelationshipDescription(name: "cistern\(entity.name)_\(relationship.name)", destination: source, toMany: true)
                inverse.userInfo = [ViewAnnotation.column: ""]
                properties[relationship.destination, default: []].append(inverse)
                pairs.append((side, inverse))
            }
        }
        return pairs
    }

    private static func rule(_ rule: RelationshipConfiguration.DeleteRule) -> NSDeleteRule {
        switch rule {
        case .nullify: .nullifyDeleteRule
        case .cascade: .cascadeDeleteRule
        case .deny: .denyDeleteRule
        case .noAction: .noActionDeleteRule
        }
    }
}
