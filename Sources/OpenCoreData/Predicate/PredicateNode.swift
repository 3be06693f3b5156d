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

/// One side of a comparison as a value.
package indirect enum ExpressionNode: Hashable, Sendable {
    case constant(PredicateValue)
    /// `SELF`.
    case evaluatedObject
    /// `$NAME`, without the dollar sign.
    case variable(String)
    /// A key path from the evaluated object; `SELF.name` is written so too.
    case keyPath(PredicateKeyPath)
    /// A key path from something else: `$x.name`, `SUBQUERY(…).@count`.
    case keyPathOf(ExpressionNode, PredicateKeyPath)
    /// `pets[0]`, `pets[FIRST]`, `pets[LAST]`, `pets[SIZE]`.
    case index(ExpressionNode, PredicateIndex)
    /// `{a, b}`. Braces around constants alone are a `.constant(.collection)`.
    case aggregate([ExpressionNode])
    /// A function of `PredicateFunction`, by its full name: `add:to:`, `sum:`, `now`. The operators `+ - * / **` are functions.
    case function(String, [ExpressionNode])
    /// `FUNCTION(target, 'selector', arguments)`.
    case message(ExpressionNode, String, [ExpressionNode])
    /// `CAST(x, 'NSDate')`; that of a constant is carried out when parsed.
    case cast(ExpressionNode, String)
    /// The elements of `collection` for which `predicate` holds, `variable` standing for the element.
    case subquery(collection: ExpressionNode, variable: String, predicate: PredicateNode)
    case setOperation(SetOperation, ExpressionNode, ExpressionNode)
    /// `TERNARY(predicate, a, b)`.
    case conditional(PredicateNode, ExpressionNode, ExpressionNode)
    /// `ANYKEY`, known to metadata queries alone: it equals nothing here.
    case anyKey
    /// Code: `NSExpression(block:arguments:)`.
    case opaque(OpaqueExpression)
    /// Stands for an expression that nests too deep (see `PredicateEvaluationError.levels`), or that there is none of.
    case unanswerable(PredicateEvaluationError)

    static let tooDeep = ExpressionNode.unanswerable(.tooDeep)

    /// A key path of plain keys from the evaluated object.
    package static func keys(_ keys: String...) -> ExpressionNode {
        .keyPath(PredicateKeyPath(keys: keys))
    }

    /// The expression followed by a key path, in its one normal form.
    package func appending(_ path: PredicateKeyPath) -> ExpressionNode {
        switch self {
        case _ where path.steps.isEmpty: self
        case .evaluatedObject: .keyPath(path)
        case .keyPath(let first): .keyPath(PredicateKeyPath(steps: first.steps + path.steps))
        case .keyPathOf(let base, let first): .keyPathOf(base, PredicateKeyPath(steps: first.steps + path.steps))
        default: .keyPathOf(self, path)
        }
    }

    /// Braces around elements, in their one normal form.
    package static func braces(_ elements: [ExpressionNode]) -> ExpressionNode {
        var constants: [PredicateValue] = []
        for element in elements {
            guard case .constant(let value) = element else { return .aggregate(elements) }
            constants.append(value)
        }
        return .constant(.collection(PredicateCollection(constants, kind: .array)))
    }
}

/// What stands between the brackets of an index.
package enum PredicateIndex: Hashable, Sendable {
    /// A position from 0. Outside of the collection the value is nil.
    case element(ExpressionNode)
    case first, last, size
}

/// The three operators on collections. Their result is a set.
package enum SetOperation: String, Hashable, Sendable {
    case union = "UNION"
    case intersect = "INTERSECT"
    case minus = "MINUS"
}

/// An expression of which only the value is known.
// Unchecked: the block is the caller's, and is called only where its predicate is evaluated.
package final class OpaqueExpression: Hashable, @unchecked Sendable {
    package typealias Block = (Any?, [Any], NSMutableDictionary?) -> Any

    let block: Block
    let arguments: [ExpressionNode]

    init(block: @escaping Block, arguments: [ExpressionNode]) {
        self.block = block
        self.arguments = arguments
    }

    package static func == (left: OpaqueExpression, right: OpaqueExpression) -> Bool {
        left === right
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
