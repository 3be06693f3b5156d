/// `SUBQUERY(collection, $x, predicate)`: keeps what the predicate holds for, in order.
enum Subquery {
    static func evaluate(
        collection: PredicateValue, variable: String, predicate: PredicateNode, in scope: EvaluationScope
    ) -> PredicateValue {
        var inner = scope
        let kept = Aggregates.elements(collection).filter { element in
            inner.variables[variable] = element
            return predicate.evaluate(in: inner)
        }
        let kind: PredicateCollection.Kind = if case .collection(let whole) = collection { whole.kind } else { .array }
        return .collection(PredicateCollection(kept, kind: kind))
    }
}
