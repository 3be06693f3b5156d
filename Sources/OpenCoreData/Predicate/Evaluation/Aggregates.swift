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

    /// 0 of nothing. What is not a number is left out. Integers are added exactly, in whatever order they come: their sum is an integer, or real where
    /// it does not fit 64 bits.
    static func sum(_ values: [PredicateValue]) -> PredicateValue {
        var whole = WholeTotal(), others: PredicateValue?
        for value in values {
            switch value {
            case .integer(let number): whole.add(number)
            case .bool(let flag): whole.add(flag ? 1 : 0)
            default:
                let next = Arithmetic.add(others ?? .integer(0), value)
                if !next.isNull { others = next }
            }
        }
        switch others {
        case .decimal(let total)?: return .decimal(total + whole.decimal)
        case .double(let total)?: return .real(total + whole.real)
        default: return whole.integer.map { .integer($0) } ?? .real(whole.real)
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

/// A sum of integers, exact at any size. All zeros is nothing.
struct WholeTotal {
    // Not one Int128: SQLite's memory for aggregates is aligned to eight bytes only.
    private var high: Int64 = 0
    private var low: UInt64 = 0

    private var sum: Int128 { Int128(high) << 64 | Int128(low) }

    mutating func add(_ number: Int64) {
        let next = sum + Int128(number)
        high = Int64(truncatingIfNeeded: next >> 64)
        low = UInt64(truncatingIfNeeded: next)
    }

    /// Nil if it does not fit.
    var integer: Int64? { Int64(exactly: sum) }

    var real: Double { Double(sum) }

    var decimal: Decimal { integer.map { Decimal($0) } ?? Decimal(string: sum.description) ?? .nan }
}

/// Numbers in expressions, as SQLite reckons: two integers give an integer, a real makes the result real, integers that overflow become
/// real, anything with nil or with what is no number is nil, and so is a division by zero.
enum Arithmetic {
    static func add(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
        combine(left, right, { $0.addingReportingOverflow($1) }, { $0 + $1 }, { $0 + $1 })
    }

    static func subtract(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
        combine(left, right, { $0.subtractingReportingOverflow($1) }, { $0 - $1 }, { $0 - $1 })
    }

    static func multiply(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
        combine(left, right, { $0.multipliedReportingOverflow(by: $1) }, { $0 * $1 }, { $0 * $1 })
    }

    /// Two integers: what is after the point is cut off.
    static func divide(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
        if Comparison.numericOrder(right, .integer(0)) == 0 { return .null }
        return combine(left, right, { $0.dividedReportingOverflow(by: $1) }, { $0 / $1 }, { $0 / $1 })
    }

    /// The remainder, with the sign of the dividend.
    static func modulus(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
        guard let first = integer(left), let second = integer(right), second != 0 else { return .null }
        return .integer(second == -1 ? 0 : first % second)
    }

    /// Always real.
    static func power(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
        guard let base = real(left), let exponent = real(right) else { return .null }
        return .real(pow(base, exponent))
    }

    /// A function of one real number.
    static func map(_ value: PredicateValue, _ function: (Double) -> Double) -> PredicateValue {
        real(value).map { .real(function($0)) } ?? .null
    }

    /// Like `map`, but whole numbers stay as they are.
    static func round(_ value: PredicateValue, _ rule: FloatingPointRoundingRule) -> PredicateValue {
        switch value {
        case .integer: value
        case .bool(let flag): .integer(flag ? 1 : 0)
        default: map(value) { $0.rounded(rule) }
        }
    }

    static func absolute(_ value: PredicateValue) -> PredicateValue {
        switch value {
        case .integer(let number) where number != .min: .integer(Swift.abs(number))
        case .bool(let flag): .integer(flag ? 1 : 0)
        case .decimal(let number): .decimal(Swift.abs(number))
        default: map(value, Swift.abs)
        }
    }

    /// A number cut to an integer; nil of what is none or does not fit.
    static func integer(_ value: PredicateValue) -> Int64? {
        switch value {
        case .bool(let flag): flag ? 1 : 0
        case .integer(let number): number
        case .double, .decimal: real(value).flatMap { Int64(exactly: $0.rounded(.towardZero)) }
        default: nil
        }
    }

    static func real(_ value: PredicateValue) -> Double? {
        switch value {
        case .bool(let flag): flag ? 1 : 0
        case .integer(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): Comparison.real(number)
        default: nil
        }
    }

    private static func combine(
        _ left: PredicateValue, _ right: PredicateValue, _ integers: (Int64, Int64) -> (partialValue: Int64, overflow: Bool),
        _ decimals: (Decimal, Decimal) -> Decimal, _ reals: (Double, Double) -> Double
    ) -> PredicateValue {
        switch (left, right) {
        case (.integer(let first), .integer(let second)):
            let result = integers(first, second)
            return result.overflow ? .real(reals(Double(first), Double(second))) : .integer(result.partialValue)
        case (.bool(let flag), _): return combine(.integer(flag ? 1 : 0), right, integers, decimals, reals)
        case (_, .bool(let flag)): return combine(left, .integer(flag ? 1 : 0), integers, decimals, reals)
        case (.decimal(let first), .decimal(let second)): return exact(decimals(first, second))
        case (.decimal(let first), .integer(let second)): return exact(decimals(first, Decimal(second)))
        case (.integer(let first), .decimal(let second)): return exact(decimals(Decimal(first), second))
        default:
            guard let first = real(left), let second = real(right) else { return .null }
            return .real(reals(first, second))
        }
    }

    private static func exact(_ value: Decimal) -> PredicateValue {
        value.isNaN ? .null : .decimal(value)
    }
}
