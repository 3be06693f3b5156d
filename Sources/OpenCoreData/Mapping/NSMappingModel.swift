import Foundation

/// How what is stored under one model becomes what is stored under another, entity by entity.
// Mutable, as Apple's: whoever makes one uses it from one thread at a time.
open class NSMappingModel: NSObject, @unchecked Sendable {
    /// One for each entity of both models, in the order of their names.
    open var entityMappings: [NSEntityMapping]!

    public override init() {
        entityMappings = []
        super.init()
    }

    /// The same by name.
    open var entityMappingsByName: [String: NSEntityMapping] {
        Dictionary((entityMappings ?? []).map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// What a migration without code of the program's does: entities and properties are recognised by their names, or by the renaming identifiers of
    /// the newer model; what is new has its default.
    ///
    /// Throws 134190, with everything that stands in the way, where something would be lost or had to be guessed. Integers may become wider, or
    /// numbers of another kind that hold them; integers, decimals, UUIDs and URIs may become strings; a to-one may become a to-many.
    public static func inferredMappingModel(
        forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
    ) throws -> NSMappingModel {
        let change = try ModelChange(from: sourceModel.entities, to: destinationModel.entities), made = NSMappingModel()
        made.entityMappings = change.entities.map(NSEntityMapping.init).sorted { ($0.name ?? "") < ($1.name ?? "") }
        return made
    }
}

/// What a mapping does with the objects of an entity.
public enum NSEntityMappingType: UInt, Sendable {
    /// Nothing is said.
    case undefinedEntityMappingType = 0
    /// What a program's own migration policy does.
    case customEntityMappingType = 1
    /// The entity is new: it has no objects.
    case addEntityMappingType = 2
    /// The entity is no more: its objects go.
    case removeEntityMappingType = 3
    /// Nothing changes.
    case copyEntityMappingType = 4
    /// Its objects stay, with what became of their properties.
    case transformEntityMappingType = 5
}

/// How the objects of one entity become those of another.
// Mutable, as Apple's: whoever makes one uses it from one thread at a time.
open class NSEntityMapping: NSObject, @unchecked Sendable {
    /// Unique in a mapping model. An inferred one says what it does: `IEM_Transform_City`.
    open var name: String!
    /// What it does.
    open var mappingType: NSEntityMappingType = .undefinedEntityMappingType
    /// The entity whose objects it takes; nil for one that is new.
    open var sourceEntityName: String?
    /// The version hash of that entity.
    open var sourceEntityVersionHash: Data?
    /// The entity that they become; nil where they go.
    open var destinationEntityName: String?
    /// The version hash of that entity.
    open var destinationEntityVersionHash: Data?
    /// Where the attributes of an object come from, by name; what has no mapping has its default.
    open var attributeMappings: [NSPropertyMapping]?
    /// Where the relationships of an object come from, by name; what has no mapping is empty.
    open var relationshipMappings: [NSPropertyMapping]?
    /// Which objects it takes, where not all of its source entity: an expression that gives objects or a fetch request. `$manager` stands for the
    /// `NSMigrationManager`, which answers `fetchRequestForSourceEntityNamed:predicateString:`.
    open var sourceExpression: NSExpression?
    /// The name of the subclass of `NSEntityMigrationPolicy` that does what is done, with its module: `App.CityPolicy`; nil: what the mapping says.
    open var entityMigrationPolicyClassName: String?
    /// The same as the class itself.
    final var ownPolicyClass: AnyClass?
    /// Free annotations.
    open var userInfo: [AnyHashable: Any]?

    public override init() { super.init() }

    convenience init(_ change: EntityChange) {
        self.init()
        sourceEntityName = change.source?.name
        sourceEntityVersionHash = change.source?.versionHash
        destinationEntityName = change.destination?.name
        destinationEntityVersionHash = change.destination?.versionHash
        let what: String
        switch (change.source, change.destination) {
        case (nil, _): (mappingType, what) = (.addEntityMappingType, "Add")
        case (_, nil): (mappingType, what) = (.removeEntityMappingType, "Remove")
        case (let source?, let destination?) where source.versionHash == destination.versionHash:
            (mappingType, what) = (.copyEntityMappingType, "Copy")
        default: (mappingType, what) = (.transformEntityMappingType, "Transform")
        }
        name = "IEM_\(what)_\(change.destination?.name ?? change.source?.name ?? "")"
        guard change.source != nil, change.destination != nil else { return }
        attributeMappings = change.attributes.compactMap { attribute in
            attribute.source.map { NSPropertyMapping(attribute.destination.name, from: $0.name) }
        }
        relationshipMappings = change.relationships.compactMap { relationship in
            relationship.source.map { NSPropertyMapping(relationship.destination.name, from: $0.name) }
        }
    }
}

/// Where the value of one property comes from.
// Mutable, as Apple's: whoever makes one uses it from one thread at a time.
open class NSPropertyMapping: NSObject, @unchecked Sendable {
    /// The property of the destination.
    open var name: String?
    /// What is computed over the object it comes from: the key path of a property, in an inferred mapping.
    open var valueExpression: NSExpression?
    /// Whether the expression follows from the name, as the mapping editor has it: where the source has no such property, there is no value.
    final var isAutomatic = false
    /// Free annotations.
    open var userInfo: [AnyHashable: Any]?

    public override init() { super.init() }

    convenience init(_ name: String, from source: String) {
        self.init()
        self.name = name
        valueExpression = NSExpression(forKeyPath: source)
    }
}
