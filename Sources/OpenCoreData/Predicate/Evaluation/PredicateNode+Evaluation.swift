import Foundation

extension PredicateNode {
    /// Whether the predicate holds for the object. Traps when a variable has no value: see `freeVariables`.
    package func evaluate(_ object: Any?, variables: [String: PredicateValue] = [:]) -> Bool {
        evaluate(in: EvaluationScope(object, variables: variables))
    }

    /// The same for a scope made once.
    package func evaluate(in scope: EvaluationScope) -> Bool {
        switch self {
        case .constant(let value): value
        case .and(let children): children.allSatisfy { $0.evaluate(in: scope) }
        case .or(let children): children.contains { $0.evaluate(in: scope) }
        case .not(let child): !child.evaluate(in: scope)
        case .comparison(let comparison): comparison.evaluate(in: scope)
        case .opaque(let opaque):
            opaque.predicate.evaluate(with: scope.object, substitutionVariables: scope.variables.mapValues { $0.any ?? NSNull() })
        }
    }
}

extension PredicateComparison {
    fileprivate func evaluate(in scope: EvaluationScope) -> Bool {
        let left = left.evaluate(in: scope)
        let right = right.evaluate(in: scope)
        return switch modifier {
        case .direct: Comparison.holds(left, right, type: type, options: options)
        case .any: Aggregates.elements(left).contains { Comparison.holds($0, right, type: type, options: options) }
        case .all: Aggregates.elements(left).allSatisfy { Comparison.holds($0, right, type: type, options: options) }
        }
    }
}

extension ExpressionNode {
    /// The value of the expression for the object of the scope.
    package func evaluate(in scope: EvaluationScope) -> PredicateValue {
        switch self {
        case .constant(let value): return value
        case .evaluatedObject: return scope.evaluatedObject
        case .variable(let name):
            guard let value = scope.variables[name] else { PredicateViolations.unboundVariable(name) }
            return value
        case .keyPath(let path): return scope.value(path)
        case .keyPathOf(let base, let path): return base.evaluate(in: scope).following(path.steps[...])
        case .index(let base, let place): return Self.element(place, of: base.evaluate(in: scope), in: scope)
        case .aggregate(let elements):
            return .collection(PredicateCollection(elements.map { $0.evaluate(in: scope) }, kind: .array))
        case .function(let name, let arguments):
            return PredicateFunction(name)?.evaluate(arguments.map { $0.evaluate(in: scope) }) ?? .null
        case .message(let target, let selector, let arguments):
            return PredicateMessage(rawValue: selector)?
                .evaluate(target.evaluate(in: scope), arguments.map { $0.evaluate(in: scope) }) ?? .null
        case .cast(let operand, let type): return Cast(type)?.evaluate(operand.evaluate(in: scope)) ?? .null
        case .subquery(let collection, let variable, let predicate):
            return Subquery.evaluate(
                collection: collection.evaluate(in: scope), variable: variable, predicate: predicate, in: scope)
        case .setOperation(let operation, let left, let right):
            return operation.evaluate(left.evaluate(in: scope), right.evaluate(in: scope))
        case .conditional(let condition, let yes, let no):
            return condition.evaluate(in: scope) ? yes.evaluate(in: scope) : no.evaluate(in: scope)
        case .anyKey: return .null
        case .opaque(let opaque):
            let arguments = opaque.arguments.map { $0.evaluate(in: scope).any ?? NSNull() }
            let bindings = NSMutableDictionary()
            for (name, value) in scope.variables { bindings.setObject(value.any ?? NSNull(), forKey: name as NSString) }
            return PredicateValue(opaque.block(scope.object, arguments, bindings))
        }
    }

    private static func element(_ place: PredicateIndex, of base: PredicateValue, in scope: EvaluationScope) -> PredicateValue {
        if case .element(let expression) = place, case .string(let key) = expression.evaluate(in: scope) {
            return base.value(forKey: key)
        }
        guard case .collection(let collection) = base else { return .null }
        switch place {
        case .first: return collection.elements.first ?? .null
        case .last: return collection.elements.last ?? .null
        case .size: return .integer(Int64(collection.elements.count))
        case .element(let expression):
            guard let index = Arithmetic.integer(expression.evaluate(in: scope)), index >= 0, index < collection.elements.count
            else { return .null }
            return collection.elements[Int(index)]
        }
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
