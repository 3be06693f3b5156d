import Foundation

/// The operators on two strings. A store that filters in SQL registers `matches` rather than imitate it.
package enum StringComparison {
    /// Whether the operator holds between the strings. Only the operators on strings and the six comparisons are asked here. Throws for `MATCHES`
    /// alone.
    package static func matches(
        _ left: String, _ right: String, type: NSComparisonPredicate.Operator, options: NSComparisonPredicate.Options
    ) throws(PredicateEvaluationError) -> Bool {
        if type == .matches { return try RegularExpressions.wholeMatch(left, pattern: right, options: options) }
        let left = StringFolding.fold(left, options)
        let right = StringFolding.fold(right, options)
        return switch type {
        case .equalTo: equalBytes(left, right)
        case .notEqualTo: !equalBytes(left, right)
        case .lessThan: order(left, right) < 0
        case .lessThanOrEqualTo: order(left, right) <= 0
        case .greaterThan: order(left, right) > 0
        case .greaterThanOrEqualTo: order(left, right) >= 0
        case .beginsWith: left.utf8.starts(with: right.utf8)
        case .endsWith: hasSuffix(left, right)
        case .contains: contains(left, right)
        case .in: contains(right, left)
        case .like: LikePattern(right).matches(left)
        case .matches, .between: false
        }
    }

    /// Equality of bytes. Swift's `==` would call two spellings of one letter equal, which SQLite does not.
    package static func equalBytes(_ left: String, _ right: String) -> Bool {
        // Without a copy of the strings, which `withUTF8` would need: several times as fast.
        let isEqual = left.utf8.withContiguousStorageIfAvailable { first in
            right.utf8.withContiguousStorageIfAvailable { second in
                first.count == second.count && orderBytes(first, second) == 0
            }
        }
        return (isEqual ?? nil) ?? left.utf8.elementsEqual(right.utf8)
    }

    /// Negative, zero or positive, by the order of bytes: that of SQLite's BINARY collation, and of code points.
    package static func order(_ left: String, _ right: String) -> Int {
        var left = left
        var right = right
        return left.withUTF8 { first in right.withUTF8 { second in orderBytes(first, second) } }
    }

    /// `memcmp`, and the shorter first.
    static func orderBytes(_ first: UnsafeBufferPointer<UInt8>, _ second: UnsafeBufferPointer<UInt8>) -> Int {
        guard let left = first.baseAddress, let right = second.baseAddress else { return first.count - second.count }
        let difference = Int(memcmp(left, right, min(first.count, second.count)))
        return difference != 0 ? difference : first.count - second.count
    }

    private static func find(_ part: UnsafeBufferPointer<UInt8>, in whole: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let wanted = part.baseAddress, let first = part.first else { return true }
        guard var here = whole.baseAddress else { return false }
        let end = here + whole.count
        while end - here >= part.count, let hit = memchr(here, Int32(first), end - here - part.count + 1) {
            let start = UnsafePointer(hit.assumingMemoryBound(to: UInt8.self))
            if memcmp(start, wanted, part.count) == 0 { return true }
            here = start + 1
        }
        return false
    }

    private static func hasSuffix(_ string: String, _ suffix: String) -> Bool {
        let start = string.utf8.count - suffix.utf8.count
        return start >= 0 && string.utf8.dropFirst(start).elementsEqual(suffix.utf8)
    }

    /// Whether the bytes of `part` stand somewhere in the string.
    static func contains(_ string: String, _ part: String) -> Bool {
        var string = string
        var part = part
        return string.withUTF8 { whole in
            part.withUTF8 { part in find(part, in: whole) }
        }
    }
}
