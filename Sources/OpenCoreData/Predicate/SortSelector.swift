public import Foundation

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
