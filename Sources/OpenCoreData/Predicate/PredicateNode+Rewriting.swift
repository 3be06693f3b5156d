extension PredicateNode {
    /// The node with every expression replaced. The inner ones are replaced first.
    package func mapExpressions(_ transform: (ExpressionNode) -> ExpressionNode) -> PredicateNode {
        switch self {
        case .constant, .opaque: return self
        case .and(let children): return .and(children.map { $0.mapExpressions(transform) })
        case .or(let children): return .or(children.map { $0.mapExpressions(transform) })
        case .not(let child): return .not(child.mapExpressions(transform))
        case .comparison(var comparison):
            comparison.left = comparison.left.mapExpressions(transform)
            comparison.right = comparison.right.mapExpressions(transform)
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

    /// The node with values in place of variables. A variable that a `SUBQUERY` declares keeps its meaning inside of it.
    package func substituting(_ values: [String: PredicateValue]) -> PredicateNode {
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

    fileprivate func visit(bound: Set<String>, _ body: (ExpressionNode, Set<String>) -> Void) {
        switch self {
        case .constant, .opaque: break
        case .and(let children), .or(let children): for child in children { child.visit(bound: bound, body) }
        case .not(let child): child.visit(bound: bound, body)
        case .comparison(let comparison):
            comparison.left.visit(bound: bound, body)
            comparison.right.visit(bound: bound, body)
        }
    }
}

extension ExpressionNode {
    /// The expression with every expression in it replaced, and then itself.
    package func mapExpressions(_ transform: (ExpressionNode) -> ExpressionNode) -> ExpressionNode {
        transform(mapChildren({ $0.mapExpressions(transform) }, { $0.mapExpressions(transform) }))
    }

    fileprivate func mapOwnConstant(_ transform: (PredicateValue) -> PredicateValue) -> ExpressionNode {
        guard case .constant(let value) = self else { return self }
        return .constant(value.mapping(transform))
    }

    /// See `PredicateNode.substituting(_:)`.
    package func substituting(_ values: [String: PredicateValue]) -> ExpressionNode {
        switch self {
        case .variable(let name): return values[name].map { .constant($0) } ?? self
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
        _ expression: (ExpressionNode) -> ExpressionNode, _ predicate: (PredicateNode) -> PredicateNode
    ) -> ExpressionNode {
        switch self {
        case .constant, .evaluatedObject, .variable, .keyPath, .anyKey, .opaque: self
        case .keyPathOf(let base, let path): expression(base).appending(path)
        case .index(let base, .element(let place)): .index(expression(base), .element(expression(place)))
        case .index(let base, let place): .index(expression(base), place)
        case .aggregate(let elements): .aggregate(elements.map(expression))
        case .function(let name, let arguments): .function(name, arguments.map(expression))
        case .message(let target, let selector, let arguments): .message(expression(target), selector, arguments.map(expression))
        case .cast(let operand, let type): .cast(expression(operand), type)
        case .subquery(let collection, let variable, let body):
            .subquery(collection: expression(collection), variable: variable, predicate: predicate(body))
        case .setOperation(let operation, let left, let right): .setOperation(operation, expression(left), expression(right))
        case .conditional(let condition, let yes, let no): .conditional(predicate(condition), expression(yes), expression(no))
        }
    }

    fileprivate func visit(bound: Set<String>, _ body: (ExpressionNode, Set<String>) -> Void) {
        body(self, bound)
        switch self {
        case .constant, .evaluatedObject, .variable, .keyPath, .anyKey: break
        case .opaque(let opaque): for argument in opaque.arguments { argument.visit(bound: bound, body) }
        case .keyPathOf(let base, _), .cast(let base, _): base.visit(bound: bound, body)
        case .index(let base, let place):
            base.visit(bound: bound, body)
            if case .element(let expression) = place { expression.visit(bound: bound, body) }
        case .aggregate(let elements), .function(_, let elements): for element in elements { element.visit(bound: bound, body) }
        case .message(let target, _, let arguments):
            target.visit(bound: bound, body)
            for argument in arguments { argument.visit(bound: bound, body) }
        case .subquery(let collection, let variable, let predicate):
            collection.visit(bound: bound, body)
            predicate.visit(bound: bound.union([variable]), body)
        case .setOperation(_, let left, let right):
            left.visit(bound: bound, body)
            right.visit(bound: bound, body)
        case .conditional(let condition, let yes, let no):
            condition.visit(bound: bound, body)
            yes.visit(bound: bound, body)
            no.visit(bound: bound, body)
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
