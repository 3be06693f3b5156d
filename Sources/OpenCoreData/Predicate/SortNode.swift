package import Foundation

/// A sort descriptor as a value.
///
/// Nil comes first when ascending and last when descending, as in SQLite. Values of different types, which only a property of undefined
/// type has, are ordered by type: numbers, dates, strings, URLs, UUIDs, data. Values without an order, objects above all, are all alike.
package struct SortNode: Hashable, Sendable {
    package var keyPath: PredicateKeyPath
    package var ascending: Bool
    package var selector: SortSelector

    package init(keyPath: PredicateKeyPath, ascending: Bool, selector: SortSelector = .compare) {
        self.keyPath = keyPath
        self.ascending = ascending
        self.selector = selector
    }

    /// The order of two objects.
    package func compare(_ first: Any, _ second: Any) -> ComparisonResult {
        compare(values: value(of: first), value(of: second))
    }

    /// What an object is ordered by.
    package func value(of object: Any) -> PredicateValue {
        EvaluationScope(object).value(keyPath)
    }

    /// The order of two objects whose values are known.
    package func compare(values first: PredicateValue, _ second: PredicateValue) -> ComparisonResult {
        let result = ascendingOrder(first, second)
        if ascending { return result }
        return switch result {
        case .orderedAscending: .orderedDescending
        case .orderedDescending: .orderedAscending
        case .orderedSame: .orderedSame
        }
    }

    private func ascendingOrder(_ first: PredicateValue, _ second: PredicateValue) -> ComparisonResult {
        if case .string(let first) = first, case .string(let second) = second { return selector.compare(first, second) }
        if let order = Comparison.order(first, second) { return SortSelector.result(order) }
        return SortSelector.result(first.rank - second.rank)
    }
}

extension PredicateValue {
    fileprivate var rank: Int {
        switch self {
        case .null: 0
        case .bool, .integer, .double, .decimal: 1
        case .date: 2
        case .string: 3
        case .url: 4
        case .uuid: 5
        case .data: 6
        case .object, .collection, .opaque: 7
        }
    }
}
