/// How deep predicates nest. Everything that is done with them goes down to their leaves, on the stack of whoever does it, which may be small;
/// so nothing is made that nests deeper than `PredicateEvaluationError.levels`. In its place stands an expression that says so.
extension PredicateNode {
    /// Stands for a predicate that nests too deep.
    static let tooDeep = unanswerable(.tooDeep)

    /// Stands for a predicate that has no answer.
    static func unanswerable(_ reason: PredicateEvaluationError) -> PredicateNode {
        .comparison(PredicateComparison(left: .unanswerable(reason), right: .unanswerable(reason), type: .equalTo))
    }

    /// The predicate, or what stands for it where it nests too deep.
    var limited: PredicateNode { isNested(within: PredicateEvaluationError.levels) ? self : .tooDeep }

    /// Whether it goes at most that deep.
    func isNested(within levels: Int) -> Bool {
        guard levels > 0 else { return false }
        return switch self {
        case .constant, .opaque: true
        case .and(let children), .or(let children): children.allSatisfy { $0.isNested(within: levels - 1) }
        case .not(let child): child.isNested(within: levels - 1)
        case .comparison(let comparison):
            comparison.left.isNested(within: levels - 1) && comparison.right.isNested(within: levels - 1)
        }
    }

    /// Throws for what no object can be asked: nesting that is too deep, a variable without a value, a pattern that is none.
    ///
    /// - Parameter known: the variables that will have a value.
    package func checkAnswerable(variables known: Set<String> = []) throws(PredicateEvaluationError) {
        var failure: PredicateEvaluationError?
        visit(bound: known) { expression, bound in
            guard failure == nil else { return }
            failure = expression.ownFailure(bound)
        } comparison: { comparison in
            guard failure == nil, comparison.type == .matches, case .constant(.string(let pattern)) = comparison.right else { return }
            if !RegularExpressions.isValid(pattern) { failure = .malformedPattern(pattern) }
        }
        if let failure { throw failure }
    }
}

extension PredicateComparison {
    /// The comparison, or what stands for it where it nests too deep.
    var limited: PredicateComparison {
        let isFlat = PredicateNode.comparison(self).isNested(within: PredicateEvaluationError.levels)
        return isFlat ? self : PredicateComparison(left: .tooDeep, right: .tooDeep, type: .equalTo)
    }
}

extension ExpressionNode {
    /// The expression, or what stands for it where it nests too deep.
    var limited: ExpressionNode { isNested(within: PredicateEvaluationError.levels) ? self : .tooDeep }

    /// Whether it goes at most that deep.
    func isNested(within levels: Int) -> Bool {
        guard levels > 0 else { return false }
        return switch self {
        case .evaluatedObject, .variable, .keyPath, .anyKey, .unanswerable: true
        case .constant(let value): value.isNested(within: levels)
        case .keyPathOf(let base, _), .cast(let base, _): base.isNested(within: levels - 1)
        case .index(let base, .element(let place)): base.isNested(within: levels - 1) && place.isNested(within: levels - 1)
        case .index(let base, _): base.isNested(within: levels - 1)
        case .aggregate(let elements), .function(_, let elements): elements.allSatisfy { $0.isNested(within: levels - 1) }
        case .message(let target, _, let arguments):
            target.isNested(within: levels - 1) && arguments.allSatisfy { $0.isNested(within: levels - 1) }
        case .subquery(let collection, _, let predicate):
            collection.isNested(within: levels - 1) && predicate.isNested(within: levels - 1)
        case .setOperation(_, let left, let right): left.isNested(within: levels - 1) && right.isNested(within: levels - 1)
        case .conditional(let condition, let yes, let no):
            condition.isNested(within: levels - 1) && yes.isNested(within: levels - 1) && no.isNested(within: levels - 1)
        case .opaque(let opaque): opaque.arguments.allSatisfy { $0.isNested(within: levels - 1) }
        }
    }

    /// See `PredicateNode.checkAnswerable(variables:)`.
    package func checkAnswerable() throws(PredicateEvaluationError) {
        try PredicateNode.comparison(PredicateComparison(left: self, right: .constant(.null), type: .equalTo)).checkAnswerable()
    }

    /// Why this expression itself, whatever is in it, has no value.
    fileprivate func ownFailure(_ bound: Set<String>) -> PredicateEvaluationError? {
        switch self {
        case .unanswerable(let reason): reason
        case .variable(let name): bound.contains(name) ? nil : .unboundVariable(name)
        default: nil
        }
    }
}

extension PredicateValue {
    fileprivate func isNested(within levels: Int) -> Bool {
        guard case .collection(let collection) = self else { return true }
        return levels > 0 && collection.elements.allSatisfy { $0.isNested(within: levels - 1) }
    }
}
