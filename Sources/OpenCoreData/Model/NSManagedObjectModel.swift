import Foundation
import Synchronization

/// The description of a graph: its entities and how they relate. It becomes immutable once a coordinator uses it.
/// Changing it traps from then on.
// Mutable only until it is frozen; freezing takes a lock, and everything is read-only from then on.
open class NSManagedObjectModel: NSObject, @unchecked Sendable {
    /// All entities.
    open var entities: [NSEntityDescription] = [] {
        willSet { checkEditable() }
        didSet {
            for entity in entities { entity.managedObjectModel = self }
        }
    }
    /// Identifiers of this version of the model, stamped into stores.
    open var versionIdentifiers: Set<AnyHashable> = [] { willSet { checkEditable() } }
    private var configurationsByName: [String: [NSEntityDescription]] = [:]
    /// Fetch requests by name, which belong to the requests' own extension of the model.
    final var templates: [String: NSObject] = [:] { willSet { checkEditable() } }
    private var frozenEntitiesByName: [String: NSEntityDescription]?
    private let freezing = Mutex(false)

    public override init() { super.init() }

    /// A model of these entities.
    public convenience init(entities: [NSEntityDescription]) {
        self.init()
        self.entities = entities
        // Observers are not called in initialisers.
        for entity in entities { entity.managedObjectModel = self }
    }

    /// One model of the entities, configurations, templates and identifiers of these, which stay as they are. Relationships and subentities lead to its
    /// own entities, by name. An entity that several have with the same version hash is taken once; traps with a sentence if their hashes differ.
    /// - Returns: nil if there are none.
    public convenience init?(byMerging models: [NSManagedObjectModel]?) {
        guard let models, !models.isEmpty else { return nil }
        self.init()
        take(models)
    }

    /// A model that says the same and can be changed, whoever uses this one.
    open override func copy() -> Any {
        let copy = NSManagedObjectModel()
        copy.take([self])
        return copy
    }

    private func take(_ models: [NSManagedObjectModel]) {
        let copies = EntityCopies(of: models.flatMap(\.entities))
        entities = copies.all
        for model in models {
            versionIdentifiers.formUnion(model.versionIdentifiers)
            for (name, members) in model.configurationsByName {
                for copy in members.compactMap({ copies[$0] }) where configurationsByName[name]?.contains(copy) != true {
                    configurationsByName[name, default: []].append(copy)
                }
                if configurationsByName[name] == nil { configurationsByName[name] = [] }
            }
            for (name, template) in model.templates { templates[name] = template.copy() as? NSObject }
        }
    }

    /// All entities by name. One without a name is found under `""`, until a coordinator refuses the model for it.
    open var entitiesByName: [String: NSEntityDescription] {
        frozenEntitiesByName ?? Dictionary(entities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { _, last in last })
    }

    /// Names of the configurations.
    open var configurations: [String] { configurationsByName.keys.sorted() }

    /// The entities of a configuration; all of them for nil or `PF_DEFAULT_CONFIGURATION_NAME`.
    open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        guard let configuration, configuration != "PF_DEFAULT_CONFIGURATION_NAME" else { return entities }
        return configurationsByName[configuration]
    }

    /// Makes a configuration of these entities, or replaces the one of that name. Traps once a coordinator uses the model.
    open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
        checkEditable()
        configurationsByName[configuration] = entities
    }

    var isFrozen: Bool { freezing.withLock { $0 } }

    private func checkEditable() {
        if isFrozen { Violation.modelIsFrozen("the model") }
    }

    /// Checks the model, numbers its entities and makes it immutable. Called by a coordinator; later calls do nothing.
    /// Traps with a sentence if the model makes no sense.
    package func freeze(completing build: (NSEntityDescription) -> Void) {
        freezing.withLock { frozen in
            guard !frozen else { return }
            ModelValidation.check(self)
            var number = 0
            var ordered: [NSEntityDescription] = []
            func visit(_ entity: NSEntityDescription) {
                number += 1
                entity.freeze(number: number)
                ordered.append(entity)
                for child in entity.subentities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) { visit(child) }
            }
            for root in entities.filter({ $0.superentity == nil }).sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) { visit(root) }
            frozenEntitiesByName = Dictionary(uniqueKeysWithValues: ordered.map { ($0.name ?? "", $0) })
            for entity in ordered { build(entity) }
            frozen = true
            ModelsInUse.add(self)
        }
    }
}

/// The models that coordinators took, for as long as somebody keeps them.
enum ModelsInUse {
    private struct Reference: Sendable {
        weak var model: NSManagedObjectModel?
    }

    private static let references = Mutex<[Reference]>([])

    /// The newest first.
    static var all: [NSManagedObjectModel] { references.withLock { $0.compactMap(\.model) }.reversed() }

    static func add(_ model: NSManagedObjectModel) {
        references.withLock { references in
            references.removeAll { $0.model == nil }
            references.append(Reference(model: model))
        }
    }
}

/// What must hold before a model can be used. Each breach stops the program with a sentence naming entity and property.
enum ModelValidation {
    static func check(_ model: NSManagedObjectModel) {
        var names: Set<String> = []
        for entity in model.entities {
            guard let name = entity.name, !name.isEmpty else { Violation.invalidModel("an entity has no name") }
            if !names.insert(name).inserted { Violation.invalidModel("two entities are named \(name)") }
            if let parent = entity.superentity, !model.entities.contains(where: { $0 === parent }) {
                Violation.invalidModel("the superentity of \(name) is not in the model")
            }
            checkProperties(of: entity, name: name, in: model)
            checkConstraints(of: entity, name: name)
        }
    }

    private static func checkProperties(of entity: NSEntityDescription, name: String, in model: NSManagedObjectModel) {
        var seen: Set<String> = []
        for property in entity.properties {
            if property.name.isEmpty { Violation.invalidModel("a property of \(name) has no name") }
            if !seen.insert(property.name).inserted { Violation.invalidModel("\(name) has two properties named \(property.name)") }
            if let attribute = property as? NSAttributeDescription {
                if attribute.attributeType == .undefinedAttributeType && !attribute.isTransient {
                    Violation.invalidModel("attribute \(name).\(attribute.name) has no type")
                }
            } else if let complaint = property.complaint(in: model.entities) {
                Violation.invalidModel("fetched property \(name).\(property.name) \(complaint)")
            } else if let relationship = property as? NSRelationshipDescription {
                guard let destination = relationship.destinationEntity else {
                    Violation.invalidModel("relationship \(name).\(relationship.name) has no destination entity")
                }
                guard model.entities.contains(where: { $0 === destination }) else {
                    Violation.invalidModel("the destination of \(name).\(relationship.name) is not in the model")
                }
                if let inverse = relationship.inverseRelationship {
                    guard inverse.inverseRelationship === relationship else {
                        Violation.invalidModel("the inverse of \(name).\(relationship.name) names another inverse")
                    }
                    guard let owner = inverse.entity, destination.isKindOf(entity: owner) else {
                        Violation.invalidModel("the inverse of \(name).\(relationship.name) does not belong to \(destination.name ?? "?")")
                    }
                }
            }
        }
    }

    private static func checkConstraints(of entity: NSEntityDescription, name: String) {
        let attributes = entity.attributesByName, relationships = entity.relationshipsByName
        for constraint in entity.constraintNames {
            if constraint.isEmpty { Violation.invalidModel("\(name) has an empty uniqueness constraint") }
            for key in constraint {
                let isToOne = relationships[key].map { !$0.isToMany } ?? false
                let isStored = attributes[key].map { !$0.isTransient } ?? false
                if !isStored && !isToOne {
                    Violation.invalidModel("uniqueness constraint of \(name) names \"\(key)\", which is not a stored attribute or to-one")
                }
            }
        }
    }
}
