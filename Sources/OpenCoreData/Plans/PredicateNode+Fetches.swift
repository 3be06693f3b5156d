extension ExpressionNode {
    /// The expression with what the fetches within it find in their places, so that a store can be asked it. Throws what they say, and 134060 for a
    /// variable without a value.
    func resolvingFetches() throws -> ExpressionNode {
        try PredicateNode.comparison(PredicateComparison(left: self, right: .constant(.null), type: .equalTo)).checkKeysOfFetches()
        return try settlingFetches()
    }

    fileprivate func settlingFetches() throws -> ExpressionNode {
        try mapExpressions { expression in
            guard let fetch = expression.fetch else { return expression }
            return .constant(PredicateValue(try fetch.receiver.found(try fetch.arguments.map { try $0.computed(for: nil).any })))
        }
    }
}

extension PredicateNode {
    /// The predicate with what the fetches within it find in their places, as an expression has it.
    func resolvingFetches() throws -> PredicateNode {
        try checkKeysOfFetches()
        return try mapExpressions { try $0.fetch == nil ? $0 : $0.settlingFetches() }
    }

    /// Throws 134060 for a key of what a fetch finds: a store would be asked it of IDs, and have no answer.
    fileprivate func checkKeysOfFetches() throws {
        var path: PredicateKeyPath?
        visit(bound: []) { expression, _ in
            if case .keyPathOf(let base, let keys) = expression, base.fetch != nil { path = path ?? keys }
        }
        guard let path else { return }
        throw NSError.coreData(
            .coreData,
            "What a fetch within a predicate finds can be compared, and has no key \(path). Compare objects, or have the request fetch "
                + "what the key leads to.")
    }
}
