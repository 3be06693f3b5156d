public import Foundation

/// A comparison of two expressions.
///
/// Foundation on Linux has a class of this name that cannot be made, so the type is ours. A call,
/// `NSComparisonPredicate(leftExpression:…)`, finds the right one by itself; a file that writes the name of the type leaves out
/// `import Foundation`, which comes along with this module anyway.
public final class NSComparisonPredicate: NSPredicate {
    /// What is compared, where the left expression has many values.
    public enum Modifier: UInt, Sendable {
        /// The value itself.
        case direct = 0
        /// Every element.
        case all = 1
        /// At least one element.
        case any = 2
    }

    /// The operators. With nil every operator but `equalTo`, `notEqualTo` and `in` is false; values of different types are unequal.
    public enum Operator: UInt, Sendable {
        /// `<`: false where the two sides have no order, as between different types.
        case lessThan = 0
        /// `<=`: false where the two sides have no order, as between different types.
        case lessThanOrEqualTo = 1
        /// `>`: false where the two sides have no order, as between different types.
        case greaterThan = 2
        /// `>=`: false where the two sides have no order, as between different types.
        case greaterThanOrEqualTo = 3
        /// `==`: nil is the same as nil.
        case equalTo = 4
        /// `!=`: true of values of different types.
        case notEqualTo = 5
        /// The whole string is covered by a regular expression.
        case matches = 6
        /// The whole string is covered by a pattern with `*` and `?`.
        case like = 7
        /// The left string starts with the right one; false where either is no string.
        case beginsWith = 8
        /// The left string stops with the right one; false where either is no string.
        case endsWith = 9
        /// The left is an element, or a part, of the right.
        case `in` = 10
        /// The right is an element, or a part, of the left.
        case contains = 99
        /// The left lies within the two bounds on the right, or on one of them.
        case between = 100
    }

    /// How strings are compared.
    public struct Options: OptionSet, Hashable, Sendable {
        /// The options as bits, with Apple's values: 1 is `[c]`, 2 is `[d]`, 4 is `[n]`, 8 is `[l]`.
        public let rawValue: UInt

        /// Accepts any bits; unknown ones are kept.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// `[c]`
        public static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// `[n]`: the strings are known to be normalised. They are compared by bytes, as they are without options.
        public static let normalized = Options(rawValue: 4)
        /// `[l]`: `==`, `!=`, `<`, `<=`, `>`, `>=`, `BETWEEN` and `IN` go by the rules of the user's language, as the localized selectors of sort
        /// descriptors do; nothing else does.
        public static let localeSensitive = Options(rawValue: 8)
    }

    /// The comparison as a value; of expressions that nest too deep, what stands for that.
    package let comparison: PredicateComparison

    /// Makes a comparison. Expressions that nest too deep are accepted here; evaluating or fetching with the predicate then fails.
    public init(
        leftExpression: NSExpression, rightExpression: NSExpression, modifier: Modifier = .direct, type: Operator, options: Options = []
    ) {
        comparison =
            PredicateComparison(
                left: leftExpression.node, right: rightExpression.node, modifier: modifier, type: type, options: options
            ).limited
        super.init(value: true)
    }

    package init(_ comparison: PredicateComparison) {
        self.comparison = comparison
        super.init(value: true)
    }

    /// Predicates are archived as their texts, not as objects.
    public required init?(coder: NSCoder) {
        nil
    }

    /// What stands before the operator, as a new expression at each call.
    public var leftExpression: NSExpression { NSExpression.make(comparison.left) }
    /// What stands after the operator, as a new expression at each call.
    public var rightExpression: NSExpression { NSExpression.make(comparison.right) }
    /// How the two sides are compared; `.equalTo` where the expressions nest too deep.
    public var predicateOperatorType: Operator { comparison.type }
    /// Whether the left value itself, every element of it, or at least one must satisfy the comparison.
    public var comparisonPredicateModifier: Modifier { comparison.modifier }
    /// What is ignored where strings are compared; empty: nothing, they compare by their bytes.
    public var options: Options { comparison.options }

    public override var predicateFormat: String { wrappedNode.canonicalFormat }
    public override func evaluate(with object: Any?) -> Bool { evaluateWrappedNode(object, nil) }
    public override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        evaluateWrappedNode(object, bindings)
    }
    public override func isEqual(_ object: Any?) -> Bool { isEqualWrappedNode(object) }
    public override var hash: Int { comparison.hashValue }
    public override func copy(with zone: NSZone? = nil) -> Any { self }
}

extension NSComparisonPredicate: PredicateNodeWrapping {
    var wrappedNode: PredicateNode { .comparison(comparison) }
}
