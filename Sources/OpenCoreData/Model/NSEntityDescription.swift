import Foundation

/// A kind of managed object: its name, class, properties and place in the inheritance tree.
/// Changing it traps once a coordinator uses the model.
// Mutable only until the model is frozen by the first coordinator that uses it; every setter checks that. Read-only from then on.
open class NSEntityDescription: NSObject, NSCopying, @unchecked Sendable {
    /// The name, unique in its model.
    open var name: String? { willSet { checkEditable() } }
    /// The class of its objects; `"NSManagedObject"` unless said otherwise. `Module.Class` is looked up at run time.
    open var managedObjectClassName: String! = "NSManagedObject" {
        willSet { checkEditable() }
        didSet { explicitClass = nil }
    }
    /// Whether no objects of exactly this entity exist.
    open var isAbstract: Bool = false { willSet { checkEditable() } }
    /// Free annotations.
    open var userInfo: [AnyHashable: Any]? { willSet { checkEditable() } }
    /// The name in the previous version of the model, if it was renamed.
    open var renamingIdentifier: String? { willSet { checkEditable() } }
    /// Changes the version hash where nothing else did.
    open var versionHashModifier: String? { willSet { checkEditable() } }
    /// Indexes that the store should keep.
    open var indexes: [NSFetchIndexDescription] = [] {
        willSet { checkEditable() }
        didSet {
            for old in oldValue where old.entity === self { old.entity = nil }
            for index in indexes { index.entity = self }
        }
    }
    /// Each inner array names the attributes that together must be unique. `[[String]]`, or descriptions of attributes. An element of a composite is named by its
    /// path, `magnitude.richter`; a composite stands for all of its elements.
    open var uniquenessConstraints: [[Any]] = [] { willSet { checkEditable() } }

    /// The entities that inherit from this one.
    open var subentities: [NSEntityDescription] = [] {
        willSet { checkEditable() }
        didSet {
            for old in oldValue where !subentities.contains(old) { old.superentity = nil }
            for entity in subentities { entity.superentity = self }
        }
    }
    /// The entity this one inherits from.
    open internal(set) var superentity: NSEntityDescription? {
        get { superanchor?.object }
        set { superanchor = newValue?.anchor }
    }
    /// The model it belongs to.
    open internal(set) weak var managedObjectModel: NSManagedObjectModel!

    /// How others refer to this entity without keeping it: by anchor, because IDs retain and release it all the time.
    let anchor = Anchor<NSEntityDescription>()
    private var superanchor: Anchor<NSEntityDescription>?
    private var ownProperties: [NSPropertyDescription] = []
    private var cachedPropertiesByName: [String: NSPropertyDescription]?
    /// Set by the graph when the model is frozen: the layout of this entity's rows.
    final var runtime: AnyObject?
    /// 1-based number, depth-first with roots in alphabetical order, as Core Data numbers `Z_ENT`. 0 until the model is frozen.
    package internal(set) var number: Int = 0
    var explicitClass: AnyClass?
    /// Whether objects are of `NSManagedObject` where the program lacks the class that is named: the name comes from a file.
    final var mayLackItsClass = false

    public override init() {
        super.init()
        anchor.set(self)
    }

    deinit { anchor.clear() }

    /// A copy that belongs to no model and can be changed, whatever uses this one: with copies of the properties that it declares and of its subentities, and
    /// without superentity. Relationships among these lead to each other; others lead where they did, and have no inverse.
    open override func copy() -> Any { EntityCopies(of: withDescendants).all[0] }

    /// As `copy()`.
    open func copy(with zone: NSZone? = nil) -> Any { copy() }

    /// All properties, inherited ones first. Setting replaces the entity's own.
    open var properties: [NSPropertyDescription] {
        get { (superentity?.properties ?? []) + ownProperties }
        set {
            checkEditable()
            let inherited = superentity?.properties ?? []
            for old in ownProperties where !newValue.contains(old) { old.entity = nil }
            ownProperties = newValue.filter { property in !inherited.contains { $0 === property } }
            for property in ownProperties { property.entity = self }
            propertiesDidChange()
        }
    }

    /// The properties declared by this entity itself.
    package var declaredProperties: [NSPropertyDescription] { ownProperties }

    /// All properties by name, inherited ones included.
    open var propertiesByName: [String: NSPropertyDescription] {
        if isFrozen, let cached = cachedPropertiesByName { return cached }
        return Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
    }

    /// The attributes among `propertiesByName`, inherited ones included.
    open var attributesByName: [String: NSAttributeDescription] {
        propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
    }

    /// The relationships among `propertiesByName`, inherited ones included.
    open var relationshipsByName: [String: NSRelationshipDescription] {
        propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
    }

    /// The direct subentities by name; theirs are not included. One without a name is found under `""`.
    open var subentitiesByName: [String: NSEntityDescription] {
        Dictionary(subentities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { _, last in last })
    }

    /// The relationships, inherited ones included, whose destination is exactly `entity`, neither its ancestors nor its subentities. In no order.
    open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
        relationshipsByName.values.filter { $0.destinationEntity === entity }
    }

    /// Whether it is `entity` or inherits from it.
    open func isKindOf(entity: NSEntityDescription) -> Bool {
        var candidate: NSEntityDescription? = self
        while let current = candidate {
            if current === entity { return true }
            candidate = current.superentity
        }
        return false
    }

    /// The topmost ancestor. All entities of a tree share one table and one sequence of primary keys.
    package var rootEntity: NSEntityDescription {
        var candidate = self
        while let ancestor = candidate.superentity { candidate = ancestor }
        return candidate
    }

    /// This entity and everything that inherits from it.
    package var withDescendants: [NSEntityDescription] { [self] + subentities.flatMap(\.withDescendants) }

    /// The uniqueness constraints as attribute names, the inherited ones first.
    package var constraintNames: [[String]] {
        (superentity?.constraintNames ?? [])
            + uniquenessConstraints.map { constraint in
                leafNames(constraint.map { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.nameInEntity ?? "\($0)" })
            }
    }

    /// Those that this entity itself declares.
    var ownConstraintNames: [[String]] { Array(constraintNames.dropFirst(superentity?.constraintNames.count ?? 0)) }

    var isFrozen: Bool { number != 0 }

    func checkEditable() {
        if isFrozen { Violation.modelIsFrozen("entity \(name ?? "?")") }
    }

    func propertiesDidChange() { cachedPropertiesByName = nil }

    func freeze(number: Int) {
        cachedPropertiesByName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
        for property in ownProperties { property.freeze() }
        self.number = number
    }
}
