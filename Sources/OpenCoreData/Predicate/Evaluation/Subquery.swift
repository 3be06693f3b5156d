import Foundation

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
