import CSwiftRuntime
import Foundation

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
