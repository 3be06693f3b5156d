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
        /// Only the key is known: something else named the object before its own record came.
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
        for entity in configuration.entities {
            let description = NSEntityDescription()
            description.name = entity.name
            description.properties = entity.attributes.map { attribute($0, isKey: entity.key.contains($0.name)) } + bookkeeping()
            description.uniquenessConstraints = entity.key.isEmpty ? [] : [entity.key]
            description.userInfo = [ViewAnnotation.liveWhereNull: Bookkeeping.deletedAt.rawValue]
            entities[entity.name] = description
        }
        for entity in configuration.entities {
            guard let source = entities[entity.name] else { continue }
            for relationship in entity.relationships { add(relationship, to: source, entities: entities) }
        }
        for entity in configuration.entities {
            for relationship in entity.relationships { connect(relationship, of: entity.name, entities: entities) }
        }
        return NSManagedObjectModel(entities: Array(entities.values) + StateModel.entities(mirroring: configuration.entities))
    }

    /// A row that something else named first has nothing but its key, so the store must not insist on more; records are held to what is
    /// required of them when they are read.
    private static func attribute(_ configuration: AttributeConfiguration, isKey: Bool) -> NSAttributeDescription {
        let description = NSAttributeDescription(
            name: configuration.name, type: type(configuration.type), isOptional: configuration.isOptional || !isKey,
            defaultValue: configuration.defaultValue.map(value))
        description.isIndexed = configuration.isIndexed
        return description
    }

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

    private static func add(
        _ relationship: RelationshipConfiguration, to source: NSEntityDescription, entities: [String: NSEntityDescription]
    ) {
        guard let destination = entities[relationship.destination] else { return }
        let description = NSRelationshipDescription(
            name: relationship.name, destination: destination, toMany: relationship.isToMany, deleteRule: rule(relationship.onDelete),
            isOrdered: relationship.isOrdered)
        source.properties.append(description)
    }

    private static func connect(
        _ relationship: RelationshipConfiguration, of entity: String, entities: [String: NSEntityDescription]
    ) {
        guard let side = entities[entity]?.relationshipsByName[relationship.name], side.inverseRelationship == nil,
            let destination = entities[relationship.destination]
        else { return }
        if let name = relationship.inverse.name {
            side.inverseRelationship = destination.relationshipsByName[name]
            return
        }
        // Every relationship gets another end, so that deleting either object leaves no dangling reference. It is seen by nobody.
        guard let source = entities[entity] else { return }
        let inverse = NSRelationshipDescription(name: "cistern\(entity)_\(relationship.name)", destination: source, toMany: true)
        inverse.userInfo = [ViewAnnotation.column: ""]
        destination.properties.append(inverse)
        side.inverseRelationship = inverse
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
