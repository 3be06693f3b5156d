import Foundation

/// What a predicate is evaluated against: the object, and the values of the variables.
package struct EvaluationScope {
    let receiver: Receiver
    /// The object as it was passed, for blocks.
    let object: Any?
    var variables: [String: PredicateValue]

    /// How keys are looked up, found out once for an evaluation.
    enum Receiver {
        case providing(any PredicateValueProviding)
        case keyValue(any KeyValueCoding)
        case dictionary([String: Any])
        case value(PredicateValue)
    }

    package init(_ object: Any?, variables: [String: PredicateValue] = [:]) {
        self.object = object
        self.variables = variables
        receiver = Self.receiver(object)
    }

    /// For callers that know what they hold: no casts.
    package init(providing object: any PredicateValueProviding, variables: [String: PredicateValue] = [:]) {
        self.object = object
        self.variables = variables
        receiver = .providing(object)
    }

    private static func receiver(_ object: Any?) -> Receiver {
        guard let object else { return .value(.null) }
        // Each cast that fails costs as much as a comparison: the likely one first.
        if !(type(of: object) is AnyClass), let dictionary = object as? [String: Any] { return .dictionary(dictionary) }
        if let object = object as? any PredicateValueProviding { return .providing(object) }
        if let object = object as? any KeyValueCoding { return .keyValue(object) }
        if let dictionary = object as? [String: Any] { return .dictionary(dictionary) }
        return .value(PredicateValue(object))
    }

    /// `SELF`.
    var evaluatedObject: PredicateValue {
        if case .value(let value) = receiver { value } else { PredicateValue(object) }
    }

    /// The value of a key path from the evaluated object.
    func value(_ path: PredicateKeyPath) -> PredicateValue {
        guard case .key(let key)? = path.steps.first else { return evaluatedObject.following(path.steps[...]) }
        let first: PredicateValue =
            switch receiver {
            case .providing(let object): object.predicateValue(forKey: key)
            case .keyValue(let object): PredicateValue(object.value(forKey: key))
            case .dictionary(let dictionary): PredicateValue(dictionary[key])
            case .value(let value): value.value(forKey: key)
            }
        return path.steps.count == 1 ? first : first.following(path.steps.dropFirst())
    }
}

extension PredicateValue {
    /// What a key of this value answers. A key of a collection is asked of each element, and collections of collections become one.
    func value(forKey key: String) -> PredicateValue {
        switch self {
        case .null: return .null
        case .collection(let collection):
            var values: [PredicateValue] = []
            values.reserveCapacity(collection.elements.count)
            for element in collection.elements {
                let value = element.value(forKey: key)
                if case .collection(let inner) = value {
                    values.append(contentsOf: inner.elements)
                } else {
                    values.append(value)
                }
            }
            return .collection(PredicateCollection(values, kind: .array))
        case .object(let object): return Self.value(of: object.object, forKey: key) ?? (key == "self" ? self : .null)
        case .opaque(let opaque): return Self.value(of: opaque.value, forKey: key) ?? (key == "self" ? self : .null)
        // As in SQL: see `PredicateFunction`.
        case .string where key == "length": return PredicateFunction("length:")?.evaluate([self]) ?? .null
        default: return key == "self" ? self : .null
        }
    }

    /// Nil when the object has no keys at all.
    private static func value(of object: Any, forKey key: String) -> PredicateValue? {
        if let object = object as? any PredicateValueProviding { return object.predicateValue(forKey: key) }
        if let object = object as? any KeyValueCoding { return PredicateValue(object.value(forKey: key)) }
        if let dictionary = object as? [String: Any] { return PredicateValue(dictionary[key]) }
        if let dictionary = object as? NSDictionary { return PredicateValue(dictionary.object(forKey: key)) }
        return nil
    }

    /// The rest of a key path, from this value on.
    func following(_ steps: ArraySlice<PredicateKeyPath.Step>) -> PredicateValue {
        var value = self
        var steps = steps
        while let step = steps.popFirst() {
            switch step {
            case .key(let key): value = value.value(forKey: key)
            case .collectionOperator(let found): return Aggregates.apply(found, to: value, rest: steps)
            }
        }
        return value
    }
}

/// An object that answers selectors of its own in `FUNCTION(target, 'selector', …)`: what a migration gives its expressions as variables.
package protocol PredicateMessageReceiving: AnyObject {
    /// - Parameter arguments: as a caller expects them: numbers, strings, objects, arrays.
    /// - Throws: `PredicateEvaluationError.unansweredMessage` for a selector that it does not know.
    func answer(to selector: String, _ arguments: [Any?]) throws(PredicateEvaluationError) -> Any?
}

/// Who answers an expression that fetches: `fetch:context:countOnly:`, which says what the expression is. Fetching is not known to predicates.
package protocol PredicateFetching: PredicateMessageReceiving, Sendable {
    /// The expression of such a node.
    func expression(of node: ExpressionNode) -> NSExpression
    /// What is found. Throws what the fetch says.
    ///
    /// - Parameter arguments: the request, the context, whether only a count is wanted.
    func found(_ arguments: [Any?]) throws -> Any
}

extension ExpressionNode {
    /// Of an expression that fetches: who answers it, and what it is told: the request, the context, whether only a count is wanted.
    package var fetch: (receiver: any PredicateFetching, arguments: [ExpressionNode])? {
        guard case .message(.constant(.opaque(let target)), _, let arguments) = self, let receiver = target.value as? any PredicateFetching
        else { return nil }
        return (receiver, arguments)
    }

    /// How many arguments a selector takes that is sent to this; nil where nobody could answer it.
    func argumentCount(of selector: String) -> Int? {
        if let known = PredicateMessage(rawValue: selector) { return known.argumentCount }
        guard case .variable = self, !selector.isEmpty else { return nil }
        return selector.count { $0 == ":" }
    }
}

/// The selectors that `FUNCTION(target, 'selector', …)` understands whatever the target is. There is no Objective-C to send others to.
package enum PredicateMessage: String, Sendable, CaseIterable {
    case valueForKey = "valueForKey:"
    case valueForKeyPath = "valueForKeyPath:"
    case objectForKey = "objectForKey:"
    case uppercaseString, lowercaseString, length, count
    case intValue, integerValue, longLongValue, doubleValue, floatValue, boolValue, stringValue

    var argumentCount: Int {
        switch self {
        case .valueForKey, .valueForKeyPath, .objectForKey: 1
        default: 0
        }
    }

    func evaluate(_ target: PredicateValue, _ arguments: [PredicateValue]) -> PredicateValue {
        guard arguments.count == argumentCount else { return .null }
        switch self {
        case .valueForKey, .objectForKey:
            guard case .string(let key) = arguments[0] else { return .null }
            return target.value(forKey: key)
        case .valueForKeyPath:
            guard case .string(let text) = arguments[0], let path = PredicateKeyPath(text) else { return .null }
            return target.following(path.steps[...])
        case .uppercaseString: return function("uppercase:", target)
        case .lowercaseString: return function("lowercase:", target)
        case .length: return function("length:", target)
        case .count: return .integer(Aggregates.count(target))
        case .intValue, .integerValue, .longLongValue:
            guard case .double(let number)? = Cast("NSNumber")?.evaluate(target) else { return Cast.number(target) }
            return Arithmetic.integer(.double(number)).map { .integer($0) } ?? .null
        case .doubleValue, .floatValue: return Arithmetic.real(Cast.number(target)).map { .real($0) } ?? .null
        case .boolValue:
            let number = Cast.number(target)
            return number.isNull ? .null : .bool(Comparison.numericOrder(number, .integer(0)) != 0)
        case .stringValue: return Cast("NSString")?.evaluate(target) ?? .null
        }
    }

    private func function(_ name: String, _ argument: PredicateValue) -> PredicateValue {
        PredicateFunction(name)?.evaluate([argument]) ?? .null
    }
}
