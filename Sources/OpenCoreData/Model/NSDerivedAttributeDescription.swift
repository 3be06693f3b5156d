import Foundation

/// An attribute whose value follows from others: a SQLite store finds it anew with each save that changes what it follows from, and saved objects
/// have it then. Other objects have it once they are refreshed or merged. What is set is overwritten.
///
/// Changing it traps once a coordinator uses the model. Adding a store that is not of SQLite throws 134020, and so does an expression that no row
/// of the store can tell.
// Mutable only until the model is frozen, as its superclass says.
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// From what: a key path, `uppercase:`, `lowercase:` or `canonical:` of one, `relationship.@count`, `relationship.attribute.@sum`, or `now()`.
    open var derivationExpression: NSExpression? { willSet { checkEditable() } }

    public override init() { super.init() }

    override var isComputed: Bool { true }

    override func duplicate() -> NSPropertyDescription {
        let copy = filledAttribute(NSDerivedAttributeDescription())
        copy.derivationExpression = derivationExpression
        return copy
    }
}
