import Foundation

/// An attribute whose value follows from others.
/// Changing it traps once a coordinator uses the model. No store of this version computes it: adding one throws 134020.
// Mutable only until the model is frozen, as its superclass says.
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// From what: a key path, `uppercase:`, `lowercase:` or `canonical:` of one, `relationship.@count`, `relationship.attribute.@sum`, or `now()`.
    open var derivationExpression: NSExpression? { willSet { checkEditable() } }

    public override init() { super.init() }

    override func duplicate() -> NSPropertyDescription {
        let copy = filledAttribute(NSDerivedAttributeDescription())
        copy.derivationExpression = derivationExpression
        return copy
    }
}
