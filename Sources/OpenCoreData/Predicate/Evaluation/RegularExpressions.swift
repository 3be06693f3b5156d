import Foundation
import Synchronization

/// The patterns of `MATCHES`, compiled once each.
package enum RegularExpressions {
    private struct Key: Hashable {
        let pattern: String
        let ignoresCase: Bool
    }

    // Enough for the predicates of a program; patterns that come from data must not fill the memory.
    private static let capacity = 128
    private static let compiled = Mutex<[Key: NSRegularExpression?]>([:])

    /// Whether the pattern, an ICU regular expression, covers the whole string. A pattern that is none matches nothing.
    package static func wholeMatch(_ string: String, pattern: String, options: NSComparisonPredicate.Options) -> Bool {
        var string = string
        var pattern = pattern
        if options.contains(.diacriticInsensitive) {
            string = StringFolding.fold(string, .diacriticInsensitive)
            pattern = StringFolding.fold(pattern, .diacriticInsensitive)
        }
        guard let expression = expression(pattern, ignoresCase: options.contains(.caseInsensitive)) else { return false }
        let whole = NSRange(location: 0, length: string.utf16.count)
        return expression.firstMatch(in: string, options: [], range: whole) != nil
    }

    /// Whether the text is a regular expression at all.
    package static func isValid(_ pattern: String) -> Bool {
        expression(pattern, ignoresCase: false) != nil
    }

    private static func expression(_ pattern: String, ignoresCase: Bool) -> NSRegularExpression? {
        let key = Key(pattern: pattern, ignoresCase: ignoresCase)
        return compiled.withLock { compiled in
            if let known = compiled[key] { return known }
            if compiled.count >= capacity { compiled.removeAll() }
            let expression = try? NSRegularExpression(
                pattern: "\\A(?:\(pattern))\\z", options: ignoresCase ? [.caseInsensitive] : [])
            compiled[key] = .some(expression)
            return expression
        }
    }
}
