/// The selectors that `FUNCTION(target, 'selector', …)` understands. There is no Objective-C to send others to.
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
