import Foundation
import Synchronization

/// The description of a graph: its entities and how they relate. It becomes immutable once a coordinator uses it.
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
    private var frozenEntitiesByName: [String: NSEntityDescription]?
    private let freezing = Mutex(false)

    public override init() { super.init() }

    /// A model of these entities.
    public convenience init(entities: [NSEntityDescription]) {
        self.init()
        self.entities = entities
    }

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
        }
    }
}
