import Foundation
import Synchronization

/// The description of a graph: its entities and how they relate. It becomes immutable once a coordinator uses it.
/// Changing it traps from then on.
// Mutable only until it is frozen; freezing takes a lock, and everything is read-only from then on.
open class NSManagedObjectModel: NSObject, NSCopying, @unchecked Sendable {
    /// All entities.
    open var entities: [NSEntityDescription] = [] {
        willSet { checkEditable() }
        didSet {
            for entity in entities { entity.managedObjectModel = self }
        }
    }
    /// Identifiers of this version of the model, stamped into stores.
    open var versionIdentifiers: Set<AnyHashable> = [] { willSet { checkEditable() } }
    /// What people read in place of names, by `Entity/NAME`, `Property/NAME/Entity/ENTITY`, `Property/NAME` (of whatever entity) and `ErrorString/TEXT`. Errors of
    /// validation say it.
    open var localizationDictionary: [String: String]? { willSet { checkEditable() } }
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

    /// As `copy()`.
    open func copy(with zone: NSZone? = nil) -> Any { copy() }

    private func take(_ models: [NSManagedObjectModel]) {
        let copies = EntityCopies(of: models.flatMap(\.entities))
        entities = copies.all
        for model in models {
            versionIdentifiers.formUnion(model.versionIdentifiers)
            if let words = model.localizationDictionary {
                localizationDictionary = (localizationDictionary ?? [:]).merging(words) { first, _ in first }
            }
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
            if let complaint = ModelComplaint(about: self) { Violation.invalidModel(complaint.message) }
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
