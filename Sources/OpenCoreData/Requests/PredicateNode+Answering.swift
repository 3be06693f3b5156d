import Foundation

/// Predicates and expressions as fetches ask them: what has no answer is the error 134060.
extension PredicateNode {
    /// Whether the predicate holds for an object.
    package func selects(_ object: Any?) throws -> Bool {
        do { return try evaluate(object) } catch { throw error.ofAFetch }
    }

    /// Throws for what could not be answered for any object: nesting that is too deep, a variable without a value, a pattern that is none.
    ///
    /// - Parameters:
    ///   - name: what is fetched.
    ///   - known: the variables that will have a value.
    package func checkFetchable(_ name: String?, variables known: Set<String> = []) throws {
        do { try checkAnswerable(variables: known) } catch { throw error.fetching(name) }
    }
}

extension ExpressionNode {
    /// The value for an object.
    package func computed(for object: Any?) throws -> PredicateValue {
        do { return try evaluate(in: EvaluationScope(object)) } catch { throw error.ofAFetch }
    }

    /// See `PredicateNode.checkFetchable(_:variables:)`.
    package func checkFetchable(_ name: String?) throws {
        do { try checkAnswerable() } catch { throw error.fetching(name) }
    }
}

extension PredicateEvaluationError {
    /// As a fetch throws it.
    package var ofAFetch: NSError { NSError.coreData(.coreData, description) }

    fileprivate func fetching(_ name: String?) -> NSError { NSError.coreData(.coreData, "\(name ?? "?") can't be fetched. \(description)") }
}
