import Foundation

extension PredicateNode {
    /// Whether the predicate holds for the object.
    package func evaluate(_ object: Any?, variables: [String: PredicateValue] = [:]) throws(PredicateEvaluationError) -> Bool {
        try evaluate(in: EvaluationScope(object, variables: variables))
    }

    /// The same with what a caller binds to variables: values, or expressions.
    package func evaluate(_ object: Any?, bindings: [String: Any]) throws(PredicateEvaluationError) -> Bool {
        let expressions = bindings.compactMapValues { ($0 as? NSExpression)?.node }
        let node = expressions.isEmpty ? self : substituting(expressions)
        return try node.evaluate(object, variables: bindings.mapValues { PredicateValue($0) })
    }

    /// The same for a scope made once.
    package func evaluate(in scope: EvaluationScope) throws(PredicateEvaluationError) -> Bool {
        switch self {
        case .constant(let value): return value
        case .and(let children):
            for child in children where try !child.evaluate(in: scope) { return false }
            return true
        case .or(let children):
            for child in children where try child.evaluate(in: scope) { return true }
            return false
        case .not(let child): return try !child.evaluate(in: scope)
        case .comparison(let comparison): return try comparison.evaluate(in: scope)
        case .opaque(let opaque):
            return opaque.predicate.evaluate(with: scope.object, substitutionVariables: scope.variables.mapValues { $0.any ?? NSNull() })
        }
    }
}

extension PredicateComparison {
    fileprivate func evaluate(in scope: EvaluationScope) throws(PredicateEvaluationError) -> Bool {
        let left = try left.evaluate(in: scope)
        let right = try right.evaluate(in: scope)
        switch modifier {
        case .direct: return try Comparison.holds(left, right, type: type, options: options)
        case .any:
            for element in Aggregates.elements(left) where try Comparison.holds(element, right, type: type, options: options) { return true }
            return false
        case .all:
            for element in Aggregates.elements(left) where try !Comparison.holds(element, right, type: type, options: options) { return false }
            return true
        }
    }
}

extension ExpressionNode {
    /// The value of the expression for the object of the scope.
    package func evaluate(in scope: EvaluationScope) throws(PredicateEvaluationError) -> PredicateValue {
        // What takes room is done in functions of its own: this one calls itself for every level of nesting.
        switch self {
        case .constant(let value): return value
        case .evaluatedObject: return scope.evaluatedObject
        case .variable(let name):
            guard let value = scope.variables[name] else { throw .unboundVariable(name) }
            return value
        case .keyPath(let path): return scope.value(path)
        case .keyPathOf(let base, let path): return try base.evaluate(in: scope).following(path.steps[...])
        case .index(let base, let place): return try Self.element(place, of: base, in: scope)
        case .aggregate(let elements): return .collection(PredicateCollection(try Self.values(elements, in: scope), kind: .array))
        case .function(let name, let arguments): return PredicateFunction(name)?.evaluate(try Self.values(arguments, in: scope)) ?? .null
        case .message(let target, let selector, let arguments):
            return try Self.answer(of: try target.evaluate(in: scope), to: selector, try Self.values(arguments, in: scope))
        case .cast(let operand, let type): return Cast(type)?.evaluate(try operand.evaluate(in: scope)) ?? .null
        case .subquery(let collection, let variable, let predicate):
            return try Subquery.evaluate(
                collection: try collection.evaluate(in: scope), variable: variable, predicate: predicate, in: scope)
        case .setOperation(let operation, let left, let right):
            return operation.evaluate(try left.evaluate(in: scope), try right.evaluate(in: scope))
        case .conditional(let condition, let yes, let no):
            return try condition.evaluate(in: scope) ? yes.evaluate(in: scope) : no.evaluate(in: scope)
        case .anyKey: return .null
        case .opaque(let opaque): return try Self.answer(of: opaque, in: scope)
        case .unanswerable(let reason): throw reason
        }
    }

    /// What is not among the selectors that are known, the target itself answers, if it can.
    private static func answer(
        of target: PredicateValue, to selector: String, _ arguments: [PredicateValue]
    ) throws(PredicateEvaluationError) -> PredicateValue {
        if let known = PredicateMessage(rawValue: selector) { return known.evaluate(target, arguments) }
        guard case .opaque(let opaque) = target, let receiver = opaque.value as? any PredicateMessageReceiving else {
            throw .unansweredMessage(selector)
        }
        return PredicateValue(try receiver.answer(to: selector, arguments.map(\.any)))
    }

    private static func values(
        _ expressions: [ExpressionNode], in scope: EvaluationScope
    ) throws(PredicateEvaluationError) -> [PredicateValue] {
        var values: [PredicateValue] = []
        values.reserveCapacity(expressions.count)
        for expression in expressions { values.append(try expression.evaluate(in: scope)) }
        return values
    }

    private static func answer(of opaque: OpaqueExpression, in scope: EvaluationScope) throws(PredicateEvaluationError) -> PredicateValue {
        let arguments = try values(opaque.arguments, in: scope).map { $0.any ?? NSNull() }
        let bindings = NSMutableDictionary()
        for (name, value) in scope.variables { bindings.setObject(value.any ?? NSNull(), forKey: name as NSString) }
        return PredicateValue(opaque.block(scope.object, arguments, bindings))
    }

    private static func element(
        _ place: PredicateIndex, of base: ExpressionNode, in scope: EvaluationScope
    ) throws(PredicateEvaluationError) -> PredicateValue {
        let base = try base.evaluate(in: scope)
        switch place {
        case .first: return base.ownElements?.first ?? .null
        case .last: return base.ownElements?.last ?? .null
        case .size: return base.ownElements.map { .integer(Int64($0.count)) } ?? .null
        case .element(let expression):
            let place = try expression.evaluate(in: scope)
            if case .string(let key) = place { return base.value(forKey: key) }
            guard let elements = base.ownElements, let index = Arithmetic.integer(place), index >= 0, index < elements.count else { return .null }
            return elements[Int(index)]
        }
    }
}

extension PredicateValue {
    /// The elements of a collection; nil of what is none.
    fileprivate var ownElements: [PredicateValue]? {
        if case .collection(let collection) = self { collection.elements } else { nil }
    }
}

extension SetOperation {
    fileprivate func evaluate(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
        let first = Aggregates.elements(left)
        let second = Aggregates.elements(right)
        let both = PredicateCollection(second, kind: .set)
        let kept =
            switch self {
            case .union: first + second
            case .intersect: first.filter(both.contains)
            case .minus: first.filter { !both.contains($0) }
            }
        return .collection(PredicateCollection(Aggregates.distinct(kept), kind: .set))
    }
}

/// `SUBQUERY(collection, $x, predicate)`: keeps what the predicate holds for, in order.
enum Subquery {
    static func evaluate(
        collection: PredicateValue, variable: String, predicate: PredicateNode, in scope: EvaluationScope
    ) throws(PredicateEvaluationError) -> PredicateValue {
        var inner = scope
        var kept: [PredicateValue] = []
        for element in Aggregates.elements(collection) {
            inner.variables[variable] = element
            if try predicate.evaluate(in: inner) { kept.append(element) }
        }
        let kind: PredicateCollection.Kind = if case .collection(let whole) = collection { whole.kind } else { .array }
        return .collection(PredicateCollection(kept, kind: kind))
    }
}
