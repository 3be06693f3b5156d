extension ExpressionNode {
    /// The expression with what the fetches within it find in their places, so that a store can be asked it. Throws what they say, and 134060 for a
    /// variable without a value.
    func resolvingFetches() throws -> ExpressionNode {
        try mapExpressions { expression in
            guard let fetch = expression.fetch else { return expression }
            return .constant(PredicateValue(try fetch.receiver.found(try fetch.arguments.map { try $0.computed(for: nil).any })))
        }
    }
}

extension PredicateNode {
    /// The predicate with what the fetches within it find in their places, as an expression has it.
    func resolvingFetches() throws -> PredicateNode { try mapExpressions { try $0.fetch == nil ? $0 : $0.resolvingFetches() } }
}
