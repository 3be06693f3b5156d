import Foundation

/// What attributes, relationships and fetched properties of an entity have in common.
/// Changing it traps once a coordinator uses the model.
// Mutable only until the model is frozen by the first coordinator that uses it; every setter checks that. Read-only from then on.
open class NSPropertyDescription: NSObject, NSCopying, @unchecked Sendable {
    /// The name, unique among the properties of its entity and of the entity's ancestors.
    open var name: String = "" {
        willSet { checkEditable() }
        didSet { entity?.propertiesDidChange() }
    }
    /// Whether the value may be nil at save. Default true.
    open var isOptional: Bool = true { willSet { checkEditable() } }
    /// Whether the value lives in memory only and never reaches a store.
    open var isTransient: Bool = false { willSet { checkEditable() } }
    /// What an attribute's value has to satisfy besides its bounds, each with the warning of the same number: see
    /// `setValidationPredicates(_:withValidationWarnings:)`.
    open private(set) var validationPredicates: [NSPredicate] = []
    /// What is said of a value that fails: a text, which becomes the error's description, or a number, which becomes its code (1550 to 1699).
    open private(set) var validationWarnings: [Any] = []

    /// Sets what an attribute's value has to satisfy when it is validated: by itself, and before a save. `SELF` is the value, and `length` the length of a
    /// text; nil is not asked. A value that fails is refused with 1550, or the number that stands for the warning, with the predicate under
    /// `NSValidationPredicateErrorKey`. Those of relationships and fetched properties are kept and not asked. They are no part of the version hash.
    open func setValidationPredicates(_ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?) {
        setValidationPredicates(validationPredicates ?? [], warnings: validationWarnings ?? [])
    }

    /// As above; a warning may be the code of the error.
    func setValidationPredicates(_ predicates: [NSPredicate], warnings: [Any]) {
        checkEditable()
        validationPredicates = predicates
        validationWarnings = warnings
    }

    /// Free annotations.
    open var userInfo: [AnyHashable: Any]? { willSet { checkEditable() } }
    /// The name of this property in the previous version of the model, if it was renamed. Default: its name.
    open var renamingIdentifier: String? { willSet { checkEditable() } }
    /// Changes the version hash where nothing else did.
    open var versionHashModifier: String? { willSet { checkEditable() } }
    /// Whether the store should index it.
    open var isIndexed: Bool = false { willSet { checkEditable() } }

    /// The entity that declares the property.
    open internal(set) var entity: NSEntityDescription! {
        get { owner?.object }
        set { owner = newValue?.anchor }
    }
    private var owner: Anchor<NSEntityDescription>?

    public override init() { super.init() }

    /// Another property that says the same and belongs to no entity: it can be changed whatever uses the original. A relationship has the same
    /// destination, and no inverse yet. What a subclass of the program's adds is not in it.
    open override func copy() -> Any { duplicate() }

    /// As `copy()`.
    open func copy(with zone: NSZone? = nil) -> Any { copy() }

    /// As `copy()`.
    func duplicate() -> NSPropertyDescription { filled(NSPropertyDescription()) }

    /// `copy` with what all properties have.
    final func filled<Copy: NSPropertyDescription>(_ copy: Copy) -> Copy {
        copy.name = name
        copy.isOptional = isOptional
        copy.isTransient = isTransient
        copy.userInfo = userInfo
        copy.setValidationPredicates(validationPredicates, warnings: validationWarnings)
        copy.renamingIdentifier = renamingIdentifier
        copy.versionHashModifier = versionHashModifier
        copy.isIndexed = isIndexed
        return copy
    }

    /// Called when the model is frozen.
    func freeze() {}

    /// Why the property makes no sense in a model of these entities; nil if it does.
    func complaint(in entities: [NSEntityDescription]) -> String? { nil }

    /// What rows and stores know of it: itself, or what it is composed of.
    var leaves: [NSPropertyDescription] { [self] }

    /// What the version hash says of it besides what all properties have, a line each.
    var hashLines: [String] { ["other="] }

    /// Whether it is stored in rows, or as members of relationships; else its values are found elsewhere.
    var isStored: Bool { !isTransient }

    func checkEditable() {
        if let entity, entity.isFrozen { Violation.modelIsFrozen("property \(entity.name ?? "?").\(name)") }
    }
}

/// A column of dictionary results that is computed: `sum:`, `min:`, `max:`, `average:` and `count:` over a group, or any expression over one
/// object.
// Mutable only until it is used in a fetch, as its superclass says.
open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
    /// What is computed.
    open var expression: NSExpression?
    /// The type of the result. Left undefined, the value comes as it was computed.
    open var expressionResultType: NSAttributeType = .undefinedAttributeType
    /// The same, in its Swift spelling.
    open var resultType: NSAttributeDescription.AttributeType {
        get { NSAttributeDescription.AttributeType(rawValue: expressionResultType.rawValue) }
        set { expressionResultType = NSAttributeType(rawValue: newValue.rawValue) ?? .undefinedAttributeType }
    }

    public override init() { super.init() }

    override func duplicate() -> NSPropertyDescription {
        let copy = filled(NSExpressionDescription())
        copy.expression = expression
        copy.expressionResultType = expressionResultType
        return copy
    }
}
