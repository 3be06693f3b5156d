import Foundation

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
    /// Stands for an expression that nests too deep: see `PredicateEvaluationError.levels`.
    case tooDeep

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
