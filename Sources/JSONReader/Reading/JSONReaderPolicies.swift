/// How to take what JSON leaves open. The defaults are those of the configuration's `[defaults.parse]`.
///
/// A policy that refuses a record looks at the whole record, also at values nobody asked for: whether a record is good does not depend on
/// the fields wanted of it. Outside of the records there is no record to refuse: there, such values are taken as they are, except for
/// ``DuplicateKeys``.
public struct JSONReaderPolicies: Sendable, Hashable {
    /// A key that stands twice in one object. Keys compare by their decoded bytes.
    ///
    /// On the way to the record list or to an envelope value, `rejectRecord` refuses the page, since paging by one of two cursors cannot be
    /// put right; `last` refuses the page if the record list stands twice, since records of the first are already out.
    public enum DuplicateKeys: Sendable, Hashable {
        case rejectRecord
        /// The last value counts; nothing of the earlier ones is left.
        case last
        case first
    }

    /// Bytes that are not UTF-8.
    public enum InvalidUTF8: Sendable, Hashable {
        case rejectPage
        /// Each maximal malformed sequence becomes U+FFFD before anything else; hashes and raw bytes are of the repaired text.
        case replace
    }

    /// An escape such as `\uD800` without its other half.
    public enum LoneSurrogates: Sendable, Hashable {
        /// U+FFFD for each.
        case replace
        case rejectRecord
    }

    /// `\u0000` in a string.
    public enum NULInText: Sendable, Hashable {
        case keep
        /// The text without it; raw JSON stays as it is.
        case strip
        case rejectRecord
    }

    /// A number that cannot be what most programs would make of it.
    public enum Numbers: Sendable, Hashable {
        /// As ``JSONCell/bigNumber(_:)`` with all its digits.
        case keep
        case rejectRecord
    }

    /// A byte order mark (UTF-8) before the document.
    public enum ByteOrderMark: Sendable, Hashable {
        case skip
        case rejectPage
    }

    /// A body of nothing, or of white space only.
    public enum EmptyBody: Sendable, Hashable {
        case error
        /// A page without records.
        case noRecords
    }

    public var duplicateKeys = DuplicateKeys.rejectRecord
    public var invalidUTF8 = InvalidUTF8.rejectPage
    public var loneSurrogates = LoneSurrogates.replace
    public var nulInText = NULInText.keep
    /// An integer outside of int64.
    public var bigIntegers = Numbers.keep
    /// A number with fraction or exponent beyond the largest double, as `1e400`. (One so small that its double is zero, as `1e-999`, is
    /// always kept as ``JSONCell/bigNumber(_:)``: it is exact as a decimal and has no double.)
    public var numberOverflow = Numbers.rejectRecord
    public var byteOrderMark = ByteOrderMark.skip
    public var emptyBody = EmptyBody.error

    public init() {}
}
