import Foundation

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
}
