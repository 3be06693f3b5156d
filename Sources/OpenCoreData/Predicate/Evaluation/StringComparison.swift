import Foundation

/// The operators on two strings. A store that filters in SQL registers `matches` rather than imitate it.
package enum StringComparison {
    /// Whether the operator holds between the strings. Only the operators on strings and the six comparisons are asked here. Throws for `MATCHES`
    /// alone.
    package static func matches(
        _ left: String, _ right: String, type: NSComparisonPredicate.Operator, options: NSComparisonPredicate.Options
    ) throws(PredicateEvaluationError) -> Bool {
        if type == .matches { return try RegularExpressions.wholeMatch(left, pattern: right, options: options) }
        // A part of a string has no place in a language's order.
        let options = options.subtracting(.localeSensitive)
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

/// Makes strings alike that differ in case or in diacritics only.
///
/// The result depends on its arguments alone, never on the user's locale, so that what memory finds, SQLite finds too: the store registers
/// this very function. Folding goes by Unicode's rules, and one letter in two spellings, composed or not, is one letter.
///
/// Foundation's folding takes microseconds a string. Scalars that fold by themselves, whatever stands beside them (ASCII, and the composed
/// letters of Latin, Greek and Cyrillic), are therefore looked up in tables, which Foundation fills once.
package enum StringFolding {
    /// The folded string; the string itself when the options ask for no folding. Of `[l]` it is what a language orders strings by: not to be shown.
    package static func fold(_ string: String, _ options: NSComparisonPredicate.Options) -> String {
        if options.contains(.localeSensitive) {
            let collation: Collation = options.contains(.caseInsensitive) ? .wordsOfAnyCase : .words
            let text = options.contains(.diacriticInsensitive) ? fold(string, .diacriticInsensitive) : string
            // A scalar for each byte, so that the strings are ordered as the bytes are.
            var key = ""
            for byte in collation.key(text) { key.unicodeScalars.append(UnicodeScalar(byte)) }
            return key
        }
        let table: FoldingTable
        switch (options.contains(.caseInsensitive), options.contains(.diacriticInsensitive)) {
        case (false, false): return string
        case (true, false): table = .ignoringCase
        case (false, true): table = .ignoringDiacritics
        case (true, true): table = .ignoringBoth
        }
        return table.fold(string) ?? foldByFoundation(string, options)
    }

    // Case and diacritics as they are for no language in particular: `I` becomes `i` also for a Turkish user.
    private static let locale = Locale(identifier: "en_US_POSIX")

    /// The meaning of folding, for any string.
    package static func foldByFoundation(_ string: String, _ options: NSComparisonPredicate.Options) -> String {
        var compare: String.CompareOptions = []
        if options.contains(.caseInsensitive) { compare.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { compare.insert(.diacriticInsensitive) }
        // Composed before and after: Foundation compares scalars.
        return string.precomposedStringWithCanonicalMapping
            .folding(options: compare, locale: locale)
            .precomposedStringWithCanonicalMapping
    }
}

/// What each of the common scalars folds to.
private struct FoldingTable: Sendable {
    static let ignoringCase = FoldingTable(.caseInsensitive)
    static let ignoringDiacritics = FoldingTable(.diacriticInsensitive)
    static let ignoringBoth = FoldingTable([.caseInsensitive, .diacriticInsensitive])

    /// Blocks of scalars of which none combines with its neighbours.
    private static let covered: [Range<UInt32>] = [0..<0x300, 0x370..<0x483, 0x48A..<0x530, 0x1E00..<0x2000]
    private static let limit = 0x2000

    /// By scalar: the UTF-8 bytes it folds to, the first lowest, and their number in the highest byte. 0 is "not here".
    private let entries: [UInt64]

    private init(_ options: NSComparisonPredicate.Options) {
        var entries = [UInt64](repeating: 0, count: Self.limit)
        for block in Self.covered {
            for value in block {
                guard let scalar = Unicode.Scalar(value), scalar.properties.canonicalCombiningClass == .notReordered else { continue }
                let folded = StringFolding.foldByFoundation(String(Character(scalar)), options).utf8
                guard folded.count <= 7 else { continue }
                var entry = UInt64(folded.count) << 56
                for (index, byte) in folded.enumerated() { entry |= UInt64(byte) << UInt64(8 * index) }
                entries[Int(value)] = entry
            }
        }
        self.entries = entries
    }

    /// The folded string, or nil when a scalar in it is not in the table.
    func fold(_ string: String) -> String? {
        var string = string
        return string.withUTF8 { source in
            entries.withUnsafeBufferPointer { entries in Self.fold(source, entries) }
        }
    }

    private static func fold(_ source: UnsafeBufferPointer<UInt8>, _ entries: UnsafeBufferPointer<UInt64>) -> String? {
        var isKnown = true
        // No scalar of the table, at least one byte long, folds to more than seven bytes; most strings stay as long as they are.
        let folded = String(unsafeUninitializedCapacity: 7 * source.count) { target in
            var read = 0
            var written = 0
            while read < source.count {
                let scalar = Self.scalar(source, &read)
                let entry = scalar < limit ? entries[scalar] : 0
                if entry == 0 {
                    isKnown = false
                    return 0
                }
                for index in 0..<Int(entry >> 56) {
                    target[written] = UInt8(truncatingIfNeeded: entry >> UInt64(8 * index))
                    written += 1
                }
            }
            return written
        }
        return isKnown ? folded : nil
    }

    /// The scalar at a place of valid UTF-8; those of four bytes are beyond the table anyway.
    private static func scalar(_ source: UnsafeBufferPointer<UInt8>, _ place: inout Int) -> Int {
        let first = Int(source[place])
        if first < 0x80 {
            place += 1
            return first
        }
        if first < 0xE0 {
            defer { place += 2 }
            return (first & 0x1F) << 6 | Int(source[place + 1]) & 0x3F
        }
        if first < 0xF0 {
            defer { place += 3 }
            return (first & 0x0F) << 12 | (Int(source[place + 1]) & 0x3F) << 6 | Int(source[place + 2]) & 0x3F
        }
        place += 4
        return limit
    }
}
