import Foundation

/// A predicate as a value: what a format string says, without the classes around it.
///
/// Every predicate has a node (`NSPredicate.node`), and everything that is done with predicates is done on nodes: evaluation in memory,
/// translation into SQL, printing. Nodes are `Sendable`; before one crosses a queue, `frozen()` puts IDs in place of managed objects.
///
/// ## Logic is two-valued
/// Each comparison is true or false, never unknown, also where an operand is nil. A store that translates a node must give the same answers:
///
/// | comparison | with a nil operand |
/// | --- | --- |
/// | `==` | nil equals nil and nothing else |
/// | `!=` | the exact negation of `==` |
/// | `<` `<=` `>` `>=` `BETWEEN` | false, `nil <= nil` included |
/// | `x IN c`, `c CONTAINS x` | true when some element equals `x` by the rule of `==`; a nil collection holds nothing |
/// | `CONTAINS` `BEGINSWITH` `ENDSWITH` `LIKE` `MATCHES` on strings | false |
/// | `ANY` over nothing | false |
/// | `ALL` over nothing | true |
/// | `NONE` over nothing | true: it is `NOT ANY` |
///
/// so that `NOT (x < 5)` holds where `x` is nil. "Nothing" is an empty collection or a path that meets nil on its way.
///
/// ## Types
/// Booleans, integers, reals and decimals are numbers and compare by value (`true` is 1). Nothing else is converted: values of different
/// types are unequal, and no ordering holds between them. Strings compare by their UTF-8 bytes, as SQLite does; `[c]` and `[d]` fold both
/// sides first (`StringFolding`). Data and UUIDs compare by bytes, dates by time, URLs by their text, objects by identity. A fetch converts its
/// constants to the types of properties before it asks anybody: see `fitted(to:)`.
package indirect enum PredicateNode: Hashable, Sendable {
    /// `TRUEPREDICATE` or `FALSEPREDICATE`.
    case constant(Bool)
    /// All hold; true when empty.
    case and([PredicateNode])
    /// At least one holds; false when empty.
    case or([PredicateNode])
    /// The opposite. `NONE` is written so, around `ANY`.
    case not(PredicateNode)
    case comparison(PredicateComparison)
    /// Code: a block predicate, or a subclass made elsewhere. It can be evaluated, and nothing else is known of it.
    case opaque(OpaquePredicate)
}

/// `left operator right`, with what stands before it (`ANY`) and after the operator (`[cd]`).
package struct PredicateComparison: Hashable, Sendable {
    package var left: ExpressionNode
    package var right: ExpressionNode
    package var modifier: NSComparisonPredicate.Modifier
    package var type: NSComparisonPredicate.Operator
    package var options: NSComparisonPredicate.Options

    package init(
        left: ExpressionNode, right: ExpressionNode, modifier: NSComparisonPredicate.Modifier = .direct,
        type: NSComparisonPredicate.Operator, options: NSComparisonPredicate.Options = []
    ) {
        self.left = left
        self.right = right
        self.modifier = modifier
        self.type = type
        self.options = options
    }
}

/// A predicate of which only the answer is known.
// Unchecked: a predicate is immutable, but its block may be bound to a thread. Who moves a node across queues asks `containsOpaque`.
package final class OpaquePredicate: Hashable, @unchecked Sendable {
    package let predicate: NSPredicate

    package init(_ predicate: NSPredicate) {
        self.predicate = predicate
    }

    package static func == (left: OpaquePredicate, right: OpaquePredicate) -> Bool {
        left.predicate === right.predicate
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(predicate))
    }
}
