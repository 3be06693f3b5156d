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
    /// As the user's language orders words.
    public static let localizedCompare = SortSelector(kind: .localizedCompare)
    /// As the user's language orders words, without regard to case.
    public static let localizedCaseInsensitiveCompare = SortSelector(kind: .localizedCaseInsensitiveCompare)
    /// As the user's language orders names of files: numbers in a name count as numbers.
    public static let localizedStandardCompare = SortSelector(kind: .localizedStandardCompare)

    /// The name of the selector, with its colon.
    public var description: String { kind.rawValue + ":" }

    /// The order of two strings. A store that sorts in SQL registers this as a collation.
    public func compare(_ first: String, _ second: String) -> ComparisonResult {
        switch kind {
        case .compare: Self.result(StringComparison.order(first, second))
        case .caseInsensitiveCompare:
            Self.result(
                StringComparison.order(
                    StringFolding.fold(first, .caseInsensitive), StringFolding.fold(second, .caseInsensitive)))
        case .localizedCompare: first.compare(second, options: [], range: nil, locale: .current)
        case .localizedCaseInsensitiveCompare: first.compare(second, options: .caseInsensitive, range: nil, locale: .current)
        case .localizedStandardCompare:
            first.compare(
                second, options: [.caseInsensitive, .numeric, .widthInsensitive, .forcedOrdering], range: nil, locale: .current)
        }
    }

    static func result(_ order: Int) -> ComparisonResult {
        order < 0 ? .orderedAscending : order == 0 ? .orderedSame : .orderedDescending
    }
}
