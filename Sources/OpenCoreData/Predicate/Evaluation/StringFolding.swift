import Foundation

/// Makes strings alike that differ in case or in diacritics only.
///
/// The result depends on its arguments alone, never on the user's locale, so that what memory finds, SQLite finds too: the store registers
/// this very function. Folding goes by Unicode's rules, and one letter in two spellings, composed or not, is one letter.
///
/// Foundation's folding takes microseconds a string. Scalars that fold by themselves, whatever stands beside them (ASCII, and the composed
/// letters of Latin, Greek and Cyrillic), are therefore looked up in tables, which Foundation fills once.
package enum StringFolding {
    /// The folded string; the string itself when the options ask for no folding.
    package static func fold(_ string: String, _ options: NSComparisonPredicate.Options) -> String {
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
