import Foundation

/// Makes strings alike that differ in case or in diacritics only.
///
/// The result depends on its arguments alone, never on the user's locale, so that what memory finds, SQLite finds too: the store registers
/// this very function. ASCII is folded in place; everything else by Unicode's rules.
package enum StringFolding {
    // Case and diacritics as they are for no language in particular: `I` becomes `i` also for a Turkish user.
    private static let locale = Locale(identifier: "en_US_POSIX")

    /// The folded string; the string itself when the options ask for no folding.
    package static func fold(_ string: String, _ options: NSComparisonPredicate.Options) -> String {
        let ignoresCase = options.contains(.caseInsensitive)
        let ignoresDiacritics = options.contains(.diacriticInsensitive)
        guard ignoresCase || ignoresDiacritics else { return string }
        if let folded = foldASCII(string, ignoresCase: ignoresCase) { return folded }
        var compare: String.CompareOptions = []
        if ignoresCase { compare.insert(.caseInsensitive) }
        if ignoresDiacritics { compare.insert(.diacriticInsensitive) }
        // Composed before and after, so that one letter in two spellings is one letter.
        return string.precomposedStringWithCanonicalMapping
            .folding(options: compare, locale: locale)
            .precomposedStringWithCanonicalMapping
    }

    /// The folded form of a string that is all ASCII, else nil.
    private static func foldASCII(_ string: String, ignoresCase: Bool) -> String? {
        var string = string
        return string.withUTF8 { bytes -> String? in
            var hasUpper = false
            for byte in bytes {
                if byte >= 0x80 { return nil }
                if byte >= 0x41, byte <= 0x5A { hasUpper = true }
            }
            if !hasUpper || !ignoresCase { return String(decoding: bytes, as: UTF8.self) }
            return String(unsafeUninitializedCapacity: bytes.count) { buffer in
                for (index, byte) in bytes.enumerated() {
                    buffer[index] = byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
                }
                return bytes.count
            }
        }
    }
}
