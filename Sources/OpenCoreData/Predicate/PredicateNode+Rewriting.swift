extension PredicateNode {
    /// The node with every expression replaced. The inner ones are replaced first.
    package func mapExpressions(_ transform: (ExpressionNode) throws -> ExpressionNode) rethrows -> PredicateNode {
        switch self {
        case .constant, .opaque: return self
        case .and(let children): return .and(try children.map { try $0.mapExpressions(transform) })
        case .or(let children): return .or(try children.map { try $0.mapExpressions(transform) })
        case .not(let child): return .not(try child.mapExpressions(transform))
        case .comparison(var comparison):
            comparison.left = try comparison.left.mapExpressions(transform)
            comparison.right = try comparison.right.mapExpressions(transform)
            return .comparison(comparison)
        }
    }

    /// The node with every constant replaced, those inside of collections too.
    package func mapConstants(_ transform: (PredicateValue) -> PredicateValue) -> PredicateNode {
        mapExpressions { $0.mapOwnConstant(transform) }
    }

    /// The node with identities in place of objects, so that no managed object crosses a queue with it.
    package func frozen() -> PredicateNode {
        mapConstants { value in
            if case .object(let object) = value { .object(object.frozen) } else { value }
        }
    }

    /// The node with expressions in place of variables. A variable that a `SUBQUERY` declares keeps its meaning inside of it.
    package func substituting(_ values: [String: ExpressionNode]) -> PredicateNode {
        switch self {
        case .constant, .opaque: return self
        case .and(let children): return .and(children.map { $0.substituting(values) })
        case .or(let children): return .or(children.map { $0.substituting(values) })
        case .not(let child): return .not(child.substituting(values))
        case .comparison(var comparison):
            comparison.left = comparison.left.substituting(values)
            comparison.right = comparison.right.substituting(values)
            return .comparison(comparison)
        }
    }

    /// The names of the variables that need a value.
    package var freeVariables: Set<String> {
        var names: Set<String> = []
        visit(bound: []) { expression, bound in
            if case .variable(let name) = expression, !bound.contains(name) { names.insert(name) }
        }
        return names
    }

    /// The key paths from the evaluated object, each as often as it is named.
    package var keyPaths: [PredicateKeyPath] {
        var paths: [PredicateKeyPath] = []
        visit(bound: []) { expression, _ in
            if case .keyPath(let path) = expression { paths.append(path) }
        }
        return paths
    }

    /// Whether there is code in it, which only evaluation understands.
    package var containsOpaque: Bool {
        switch self {
        case .constant: return false
        case .opaque: return true
        case .and(let children), .or(let children): return children.contains(where: \.containsOpaque)
        case .not(let child): return child.containsOpaque
        case .comparison:
            var found = false
            visit(bound: []) { expression, _ in
                switch expression {
                case .opaque: found = true
                case .subquery(_, _, let predicate), .conditional(let predicate, _, _): found = found || predicate.containsOpaque
                default: break
                }
            }
            return found
        }
    }

    /// Calls `body` for every expression with the variables that are bound there, and `whole` for every comparison.
    func visit(
        bound: Set<String>, _ body: (ExpressionNode, Set<String>) -> Void, comparison whole: (PredicateComparison) -> Void = { _ in }
    ) {
        switch self {
        case .constant, .opaque: break
        case .and(let children), .or(let children): for child in children { child.visit(bound: bound, body, comparison: whole) }
        case .not(let child): child.visit(bound: bound, body, comparison: whole)
        case .comparison(let comparison):
            whole(comparison)
            comparison.left.visit(bound, body, whole)
            comparison.right.visit(bound, body, whole)
        }
    }
}

extension ExpressionNode {
    /// The expression with every expression in it replaced, and then itself.
    package func mapExpressions(_ transform: (ExpressionNode) throws -> ExpressionNode) rethrows -> ExpressionNode {
        try transform(try mapChildren({ try $0.mapExpressions(transform) }, { try $0.mapExpressions(transform) }))
    }

    fileprivate func mapOwnConstant(_ transform: (PredicateValue) -> PredicateValue) -> ExpressionNode {
        guard case .constant(let value) = self else { return self }
        return .constant(value.mapping(transform))
    }

    /// See `PredicateNode.substituting(_:)`.
    package func substituting(_ values: [String: ExpressionNode]) -> ExpressionNode {
        switch self {
        case .variable(let name): return values[name] ?? self
        case .subquery(let collection, let variable, let predicate):
            var inner = values
            inner[variable] = nil
            return .subquery(
                collection: collection.substituting(values), variable: variable, predicate: predicate.substituting(inner))
        case .aggregate(let elements): return .braces(elements.map { $0.substituting(values) })
        default: return mapChildren({ $0.substituting(values) }, { $0.substituting(values) })
        }
    }

    private func mapChildren(
        _ expression: (ExpressionNode) throws -> ExpressionNode, _ predicate: (PredicateNode) throws -> PredicateNode
    ) rethrows -> ExpressionNode {
        switch self {
        case .constant, .evaluatedObject, .variable, .keyPath, .anyKey, .opaque, .unanswerable: self
        case .keyPathOf(let base, let path): try expression(base).appending(path)
        case .index(let base, .element(let place)): .index(try expression(base), .element(try expression(place)))
        case .index(let base, let place): .index(try expression(base), place)
        case .aggregate(let elements): .aggregate(try elements.map(expression))
        case .function(let name, let arguments): .function(name, try arguments.map(expression))
        case .message(let target, let selector, let arguments): .message(try expression(target), selector, try arguments.map(expression))
        case .cast(let operand, let type): .cast(try expression(operand), type)
        case .subquery(let collection, let variable, let body):
            .subquery(collection: try expression(collection), variable: variable, predicate: try predicate(body))
        case .setOperation(let operation, let left, let right): .setOperation(operation, try expression(left), try expression(right))
        case .conditional(let condition, let yes, let no):
            .conditional(try predicate(condition), try expression(yes), try expression(no))
        }
    }

    fileprivate func visit(
        _ bound: Set<String>, _ body: (ExpressionNode, Set<String>) -> Void, _ whole: (PredicateComparison) -> Void
    ) {
        body(self, bound)
        switch self {
        case .constant, .evaluatedObject, .variable, .keyPath, .anyKey, .unanswerable: break
        case .opaque(let opaque): for argument in opaque.arguments { argument.visit(bound, body, whole) }
        case .keyPathOf(let base, _), .cast(let base, _): base.visit(bound, body, whole)
        case .index(let base, let place):
            base.visit(bound, body, whole)
            if case .element(let expression) = place { expression.visit(bound, body, whole) }
        case .aggregate(let elements), .function(_, let elements): for element in elements { element.visit(bound, body, whole) }
        case .message(let target, _, let arguments):
            target.visit(bound, body, whole)
            for argument in arguments { argument.visit(bound, body, whole) }
        case .subquery(let collection, let variable, let predicate):
            collection.visit(bound, body, whole)
            predicate.visit(bound: bound.union([variable]), body, comparison: whole)
        case .setOperation(_, let left, let right):
            left.visit(bound, body, whole)
            right.visit(bound, body, whole)
        case .conditional(let condition, let yes, let no):
            condition.visit(bound: bound, body, comparison: whole)
            yes.visit(bound, body, whole)
            no.visit(bound, body, whole)
        }
    }
}

extension PredicateValue {
    /// The value replaced, or, of a collection, its elements.
    fileprivate func mapping(_ transform: (PredicateValue) -> PredicateValue) -> PredicateValue {
        guard case .collection(let collection) = self else { return transform(self) }
        return .collection(PredicateCollection(collection.elements.map { $0.mapping(transform) }, kind: collection.kind))
    }
}
