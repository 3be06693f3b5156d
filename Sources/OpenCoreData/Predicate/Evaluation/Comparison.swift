import Foundation

/// Equality and order of values: the table in `PredicateNode`, row by row.
package enum Comparison {
    /// Whether the operator holds between two values that are not under `ANY` or `ALL`.
    package static func holds(
        _ left: PredicateValue, _ right: PredicateValue, type: NSComparisonPredicate.Operator, options: NSComparisonPredicate.Options
    ) throws(PredicateEvaluationError) -> Bool {
        switch type {
        case .equalTo: equal(left, right, options)
        case .notEqualTo: !equal(left, right, options)
        case .lessThan: order(left, right, options).map { $0 < 0 } ?? false
        case .lessThanOrEqualTo: order(left, right, options).map { $0 <= 0 } ?? false
        case .greaterThan: order(left, right, options).map { $0 > 0 } ?? false
        case .greaterThanOrEqualTo: order(left, right, options).map { $0 >= 0 } ?? false
        case .between: isBetween(left, right, options)
        case .in: isMember(left, of: right, options)
        case .contains: isMember(right, of: left, options)
        case .beginsWith, .endsWith, .like, .matches:
            if case .string(let string) = left, case .string(let pattern) = right {
                try StringComparison.matches(string, pattern, type: type, options: options)
            } else {
                false
            }
        }
    }

    /// Whether two values are the same. Nil is the same as nil.
    package static func equal(
        _ left: PredicateValue, _ right: PredicateValue, _ options: NSComparisonPredicate.Options = []
    ) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.string(let first), .string(let second)):
            options.isEmpty
                ? StringComparison.equalBytes(first, second)
                : StringComparison.equalBytes(StringFolding.fold(first, options), StringFolding.fold(second, options))
        case (.date(let first), .date(let second)): first == second
        case (.data(let first), .data(let second)): first == second
        case (.uuid(let first), .uuid(let second)): first == second
        case (.url(let first), .url(let second)): StringComparison.equalBytes(first.absoluteString, second.absoluteString)
        case (.object(let first), .object(let second)): first == second
        case (.collection(let first), .collection(let second)): equal(first, second, options)
        case (.opaque(let first), .opaque(let second)): first == second
        default: numericOrder(left, right) == 0
        }
    }

    /// Negative, zero or positive; nil where there is no order: with a nil value, and between different types.
    package static func order(
        _ left: PredicateValue, _ right: PredicateValue, _ options: NSComparisonPredicate.Options = []
    ) -> Int? {
        switch (left, right) {
        case (.string(let first), .string(let second)):
            StringComparison.order(StringFolding.fold(first, options), StringFolding.fold(second, options))
        case (.date(let first), .date(let second)):
            sign(first.timeIntervalSinceReferenceDate, second.timeIntervalSinceReferenceDate)
        case (.data(let first), .data(let second)): orderData(first, second)
        case (.uuid(let first), .uuid(let second)):
            withUnsafeBytes(of: first.uuid) { first in
                withUnsafeBytes(of: second.uuid) { second in Int(memcmp(first.baseAddress!, second.baseAddress!, 16)) }
            }
        case (.url(let first), .url(let second)): StringComparison.order(first.absoluteString, second.absoluteString)
        default: numericOrder(left, right)
        }
    }

    static func orderData(_ first: Data, _ second: Data) -> Int {
        first.withUnsafeBytes { first in
            second.withUnsafeBytes { second in
                StringComparison.orderBytes(first.bindMemory(to: UInt8.self), second.bindMemory(to: UInt8.self))
            }
        }
    }

    private static func equal(
        _ first: PredicateCollection, _ second: PredicateCollection, _ options: NSComparisonPredicate.Options
    ) -> Bool {
        if first.kind == .set || second.kind == .set {
            return first.elements.allSatisfy { element in second.elements.contains { equal($0, element, options) } }
                && second.elements.allSatisfy { element in first.elements.contains { equal($0, element, options) } }
        }
        return first.elements.count == second.elements.count
            && zip(first.elements, second.elements).allSatisfy { equal($0, $1, options) }
    }

    /// `IN`: an element of a collection, or a part of a string.
    private static func isMember(
        _ value: PredicateValue, of whole: PredicateValue, _ options: NSComparisonPredicate.Options
    ) -> Bool {
        switch (value, whole) {
        case (_, .collection(let collection)):
            if options.isEmpty { return collection.contains(value) }
            return collection.elements.contains { equal($0, value, options) }
        case (.string(let part), .string(let string)):
            let options = options.subtracting(.localeSensitive)
            return StringComparison.contains(StringFolding.fold(string, options), StringFolding.fold(part, options))
        default: return false
        }
    }

    private static func isBetween(
        _ value: PredicateValue, _ bounds: PredicateValue, _ options: NSComparisonPredicate.Options
    ) -> Bool {
        guard case .collection(let bounds) = bounds, bounds.elements.count == 2,
            let lower = order(bounds.elements[0], value, options), let upper = order(value, bounds.elements[1], options)
        else { return false }
        return lower <= 0 && upper <= 0
    }
}

// MARK: - Numbers

extension Comparison {
    /// The order of two numbers by value, whatever their types; nil when one is no number.
    package static func numericOrder(_ left: PredicateValue, _ right: PredicateValue) -> Int? {
        switch (left, right) {
        case (.integer(let first), .integer(let second)): return sign(first, second)
        case (.double(let first), .double(let second)):
            return first.isNaN || second.isNaN ? nil : sign(first, second)
        case (.bool(let flag), _): return numericOrder(.integer(flag ? 1 : 0), right)
        case (_, .bool(let flag)): return numericOrder(left, .integer(flag ? 1 : 0))
        case (.integer(let integer), .double(let double)): return order(integer, double)
        case (.double(let double), .integer(let integer)): return order(integer, double).map { -$0 }
        case (.decimal(let first), .decimal(let second)): return sign(first, second)
        case (.decimal(let first), .integer(let second)): return sign(first, Decimal(second))
        case (.integer(let first), .decimal(let second)): return sign(Decimal(first), second)
        // The decimal goes to the nearest real: 0.1 as one is 0.1 as the other.
        case (.decimal(let first), .double(let second)): return second.isNaN ? nil : sign(real(first), second)
        case (.double(let first), .decimal(let second)): return first.isNaN ? nil : sign(first, real(second))
        default: return nil
        }
    }

    /// Exact, also beyond 2⁵³ where not every integer is a real.
    private static func order(_ integer: Int64, _ double: Double) -> Int? {
        if double.isNaN { return nil }
        if double >= 0x1p63 { return -1 }
        if double < -0x1p63 { return 1 }
        let whole = double.rounded(.towardZero)
        let order = sign(integer, Int64(whole))
        return order != 0 ? order : sign(whole, double)
    }

    static func real(_ decimal: Decimal) -> Double {
        NSDecimalNumber(decimal: decimal).doubleValue
    }

    private static func sign<Value: Comparable>(_ first: Value, _ second: Value) -> Int {
        first < second ? -1 : first == second ? 0 : 1
    }
}
