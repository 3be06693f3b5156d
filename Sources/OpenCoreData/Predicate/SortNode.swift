import CSwiftRuntime
public import Foundation

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

/// How a sort descriptor compares strings.
///
/// On Apple's platforms these are selectors of `NSString`, `#selector(NSString.caseInsensitiveCompare(_:))`. Selectors need Objective-C;
/// these values have the same names: `NSSortDescriptor(key: "name", ascending: true, selector: .caseInsensitiveCompare)`.
public struct SortSelector: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Hashable, Sendable {
        case compare
        case caseInsensitiveCompare
        case localizedCompare
        case localizedCaseInsensitiveCompare
        case localizedStandardCompare
    }

    package let kind: Kind

    /// By UTF-8 bytes, which is the order of code points and of SQLite.
    public static let compare = SortSelector(kind: .compare)
    /// By bytes after Unicode's case folding: the same in every locale.
    public static let caseInsensitiveCompare = SortSelector(kind: .caseInsensitiveCompare)
    /// As the user's language orders words. Which language is found out once, when the process first sorts so: see `Collation`.
    public static let localizedCompare = SortSelector(kind: .localizedCompare)
    /// As the user's language orders words, without regard to case.
    public static let localizedCaseInsensitiveCompare = SortSelector(kind: .localizedCaseInsensitiveCompare)
    /// As the user's language orders names of files: numbers in a name count as numbers.
    public static let localizedStandardCompare = SortSelector(kind: .localizedStandardCompare)

    /// The name of the selector, with its colon.
    public var description: String { kind.rawValue + ":" }

    /// The order of two strings: that of their bytes, or of their keys.
    public func compare(_ first: String, _ second: String) -> ComparisonResult {
        guard let left = key(first), let right = key(second) else { return Self.result(StringComparison.order(first, second)) }
        return Self.result(Comparison.orderData(left, right))
    }

    /// The bytes that a string is ordered by, in SQL and in memory; nil: its own.
    package func key(_ string: String) -> Data? {
        switch kind {
        case .compare: nil
        case .caseInsensitiveCompare: Data(StringFolding.fold(string, .caseInsensitive).utf8)
        case .localizedCompare: Collation.words.key(string)
        case .localizedCaseInsensitiveCompare: Collation.wordsOfAnyCase.key(string)
        case .localizedStandardCompare: Collation.fileNames.key(string)
        }
    }

    static func result(_ order: Int) -> ComparisonResult {
        order < 0 ? .orderedAscending : order == 0 ? .orderedSame : .orderedDescending
    }
}

/// Lets an initialiser in an extension of `NSSortDescriptor` return a subclass, which only initialisers in protocol extensions can.
public protocol SortKeyInitializable {}

/// How a language orders strings: ICU's collation, which Foundation brings along.
///
/// A collation gives each string a key, bytes that are in the order of the strings. Foundation's own comparison of two strings goes round in
/// circles where case does not count ("ß", "ss"), and takes longer: sorting and merging need one order that everybody keeps to, a store that sorts
/// in SQL and memory alike.
// Unchecked: nobody changes a collator that was made, and ICU lets any thread read one.
package final class Collation: @unchecked Sendable {
    /// Words: letter by letter, then accents, then case, small letters first.
    package static let words = Collation(ICU_TERTIARY, countsNumbers: false)
    /// Words whose case does not count.
    package static let wordsOfAnyCase = Collation(ICU_SECONDARY, countsNumbers: false)
    /// Words in which digits are numbers.
    package static let fileNames = Collation(ICU_TERTIARY, countsNumbers: true)

    /// The user's locale when the process asked for an order the first time. A change of it later changes nothing: a merge of what is sorted already
    /// would go wrong.
    package static let locale = Locale.current

    private let collator: UnsafeMutableRawPointer?

    private init(_ strength: Int, countsNumbers: Bool) {
        // The computer's locale orders by code points, which `compare:` is for.
        let name = Self.locale.identifier.hasPrefix("en_US_POSIX") ? "" : Self.locale.identifier
        var status: Int32 = 0
        collator = swift_ucol_open(name, &status)
        guard let collator else { return }
        func set(_ attribute: Int, _ value: Int) { swift_ucol_setAttribute(collator, Int32(attribute), Int32(value), &status) }
        set(ICU_STRENGTH, strength)
        // One letter in two spellings is one letter.
        set(ICU_NORMALIZATION_MODE, ICU_ON)
        if countsNumbers { set(ICU_NUMERIC_COLLATION, ICU_ON) }
    }

    deinit { swift_ucol_close(collator) }

    /// The bytes that a string is ordered by; equal where the language sees no difference.
    package func key(_ string: String) -> Data {
        // Without its data ICU has no order; that of the code points is one, too.
        guard let collator else { return Data(string.utf8) }
        let units = Array(string.utf16)
        var key = [UInt8](repeating: 0, count: max(32, units.count * 4))
        var length = Self.write(units, collator, &key)
        if length > key.count {
            key = [UInt8](repeating: 0, count: length)
            length = Self.write(units, collator, &key)
        }
        // Without the zero at its end.
        return Data(key.prefix(max(0, length - 1)))
    }

    private static func write(_ units: [UInt16], _ collator: UnsafeMutableRawPointer, _ key: inout [UInt8]) -> Int {
        Int(swift_ucol_getSortKey(collator, units, Int32(units.count), &key, Int32(key.count)))
    }
}
