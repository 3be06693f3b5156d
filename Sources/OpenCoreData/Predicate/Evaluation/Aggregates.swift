import Foundation

/// What is made of many values: the collection operators of key paths, `ANY` and `ALL`, and the functions of the same names.
enum Aggregates {
    /// `collection.@operator.rest`.
    static func apply(
        _ collectionOperator: CollectionOperator, to value: PredicateValue, rest: ArraySlice<PredicateKeyPath.Step>
    ) -> PredicateValue {
        if collectionOperator == .count {
            return PredicateValue.integer(count(value)).following(rest)
        }
        // The keys up to the next operator are asked of the elements, the rest of the outcome.
        let own = rest.prefix { if case .key = $0 { true } else { false } }
        return apply(collectionOperator, to: elements(value.following(own))).following(rest.dropFirst(own.count))
    }

    private static func apply(_ collectionOperator: CollectionOperator, to elements: [PredicateValue]) -> PredicateValue {
        switch collectionOperator {
        case .count: .integer(Int64(elements.count))
        case .sum: sum(elements)
        case .avg: average(elements)
        case .min: extreme(elements, wanted: -1)
        case .max: extreme(elements, wanted: 1)
        case .unionOfObjects, .unionOfArrays: .collection(PredicateCollection(elements, kind: .array))
        case .unionOfSets, .distinctUnionOfObjects, .distinctUnionOfArrays, .distinctUnionOfSets:
            .collection(PredicateCollection(distinct(elements), kind: .array))
        }
    }

    /// The elements of a collection; nothing for nil; a single value is one element.
    static func elements(_ value: PredicateValue) -> [PredicateValue] {
        switch value {
        case .null: []
        case .collection(let collection): collection.elements
        default: [value]
        }
    }

    /// `@count`: how many elements, nil ones included; 0 of nil.
    static func count(_ value: PredicateValue) -> Int64 {
        Int64(elements(value).count)
    }

    /// 0 of nothing. What is not a number is left out.
    static func sum(_ values: [PredicateValue]) -> PredicateValue {
        values.reduce(.integer(0)) { total, value in
            let next = Arithmetic.add(total, value)
            return next.isNull ? total : next
        }
    }

    /// Nil of nothing. What is not a number is left out.
    static func average(_ values: [PredicateValue]) -> PredicateValue {
        let numbers = values.filter { Comparison.numericOrder($0, .integer(0)) != nil }
        guard !numbers.isEmpty else { return .null }
        return switch sum(numbers) {
        case .integer(let total): .real(Double(total) / Double(numbers.count))
        case .decimal(let total): .decimal(total / Decimal(numbers.count))
        case .double(let total): .real(total / Double(numbers.count))
        default: .null
        }
    }

    /// The least (-1) or the greatest (1) of the values that have an order; nil of nothing.
    static func extreme(_ values: [PredicateValue], wanted: Int) -> PredicateValue {
        var best = PredicateValue.null
        for value in values where !value.isNull {
            if best.isNull {
                best = value
            } else if let order = Comparison.order(value, best), order.signum() == wanted {
                best = value
            }
        }
        return best
    }

    /// Each value once, in the order of the first appearances.
    static func distinct(_ values: [PredicateValue]) -> [PredicateValue] {
        var kept: [PredicateValue] = []
        for value in values where !kept.contains(where: { Comparison.equal($0, value) }) { kept.append(value) }
        return kept
    }
}
