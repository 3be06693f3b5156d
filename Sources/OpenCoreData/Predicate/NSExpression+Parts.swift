public import Foundation

/// The parts of an expression. Each is there for the types that have it, and traps for the others.
extension NSExpression {
    public var expressionType: ExpressionType {
        switch node {
        case .constant(.collection): .aggregate
        case .constant: .constantValue
        case .evaluatedObject: .evaluatedObject
        case .variable: .variable
        case .keyPath: .keyPath
        case .keyPathOf, .index, .function, .message, .cast: .function
        case .aggregate: .aggregate
        case .subquery: .subquery
        case .setOperation(.union, _, _): .unionSet
        case .setOperation(.intersect, _, _): .intersectSet
        case .setOperation(.minus, _, _): .minusSet
        case .conditional: .conditional
        case .anyKey: .anyKey
        case .opaque, .tooDeep: .block
        }
    }

    public var constantValue: Any? {
        guard case .constant(let value) = node else { PredicateViolations.expressionHasNo("constantValue", self) }
        return value.any
    }

    public var keyPath: String {
        guard case .keyPath(let path) = node else { PredicateViolations.expressionHasNo("keyPath", self) }
        return path.description
    }

    public var variable: String {
        switch node {
        case .variable(let name), .subquery(_, let name, _): return name
        default: PredicateViolations.expressionHasNo("variable", self)
        }
    }

    /// The name of the function: `sum:`, `add:to:`; `valueForKeyPath:` for a key path from another expression, `objectFrom:withIndex:`
    /// for an index.
    public var function: String {
        switch node {
        case .function(let name, _), .message(_, let name, _): return name
        case .keyPathOf: return "valueForKeyPath:"
        case .index: return "objectFrom:withIndex:"
        case .cast: return "castObject:toType:"
        default: PredicateViolations.expressionHasNo("function", self)
        }
    }

    /// What the function is asked of.
    public var operand: NSExpression {
        switch node {
        case .message(let target, _, _), .keyPathOf(let target, _): return NSExpression(target)
        default: PredicateViolations.expressionHasNo("operand", self)
        }
    }

    public var arguments: [NSExpression]? {
        switch node {
        case .function(_, let arguments), .message(_, _, let arguments): arguments.map(NSExpression.init)
        case .keyPathOf(_, let path): [NSExpression(.keyPath(path))]
        case .index(let base, .element(let place)): [NSExpression(base), NSExpression(place)]
        case .index(let base, _): [NSExpression(base)]
        case .cast(let operand, let type): [NSExpression(operand), NSExpression(.constant(.string(type)))]
        case .opaque(let opaque): opaque.arguments.map(NSExpression.init)
        default: nil
        }
    }

    /// The elements of an aggregate as expressions; the collection of a subquery as one.
    public var collection: Any {
        switch node {
        case .aggregate(let elements): return elements.map(NSExpression.init)
        case .constant(.collection(let collection)): return collection.elements.map { NSExpression(.constant($0)) }
        case .subquery(let collection, _, _): return NSExpression(collection)
        default: PredicateViolations.expressionHasNo("collection", self)
        }
    }

    public var predicate: NSPredicate {
        switch node {
        case .subquery(_, _, let predicate), .conditional(let predicate, _, _): return NSPredicate.make(predicate)
        default: PredicateViolations.expressionHasNo("predicate", self)
        }
    }

    public var left: NSExpression {
        guard case .setOperation(_, let left, _) = node else { PredicateViolations.expressionHasNo("left", self) }
        return NSExpression(left)
    }

    public var right: NSExpression {
        guard case .setOperation(_, _, let right) = node else { PredicateViolations.expressionHasNo("right", self) }
        return NSExpression(right)
    }

    public var `true`: NSExpression {
        guard case .conditional(_, let yes, _) = node else { PredicateViolations.expressionHasNo("true", self) }
        return NSExpression(yes)
    }

    public var `false`: NSExpression {
        guard case .conditional(_, _, let no) = node else { PredicateViolations.expressionHasNo("false", self) }
        return NSExpression(no)
    }
}
