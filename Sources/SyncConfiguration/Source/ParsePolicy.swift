/// `parse`: how odd JSON is treated.
///
/// These decide what JSON leaves open. A rejected record is set aside, with the reason, and affects nothing else.
public struct ParsePolicy: Sendable, Hashable {
    /// A key that appears twice in one object.
    public enum DuplicateKeys: String, Sendable, Hashable, CaseIterable {
        /// The record is set aside; the default. On the way to the record list or to paging values, the page fails; so it does where a name stands twice
        /// in a map that the path of the records goes over.
        case rejectRecord = "reject-record"
        /// The last value counts.
        case last
        /// The value that was met first counts.
        case first
    }

    /// Bytes that are not UTF-8.
    public enum InvalidUTF8: String, Sendable, Hashable, CaseIterable {
        /// The page is not used and the run fails; the default.
        case rejectPage = "reject-page"
        /// U+FFFD stands for them.
        case replace
    }

    /// An escape such as `\uD800` without its other half.
    public enum LoneSurrogates: String, Sendable, Hashable, CaseIterable {
        /// U+FFFD stands for it.
        case replace
        /// The record is set aside.
        case rejectRecord = "reject-record"
    }

    /// `\u0000` in a text.
    public enum NULInText: String, Sendable, Hashable, CaseIterable {
        /// The character stays in the text; the default.
        case keep
        /// The text without it.
        case strip
        /// The record is set aside.
        case rejectRecord = "reject-record"
    }

    /// A number that few programs can represent.
    public enum LargeNumbers: String, Sendable, Hashable, CaseIterable {
        /// All its digits count.
        case decimal
        /// The record is set aside.
        case rejectRecord = "reject-record"
    }

    /// A byte order mark before the document.
    public enum ByteOrderMark: String, Sendable, Hashable, CaseIterable {
        /// The mark is skipped; the default.
        case skip
        /// The page is not used and the run fails.
        case rejectPage = "reject-page"
    }

    /// An empty body, or one of white space only.
    public enum EmptyBody: String, Sendable, Hashable, CaseIterable {
        /// The page is not used and the run fails; the default.
        case error
        /// An empty list.
        case noRecords = "no-records"
    }

    /// A body that is good JSON and has nothing at `records`, or, where that has a wildcard, nothing of the rest of it in one of the values it goes over.
    public enum AbsentRecords: String, Sendable, Hashable, CaseIterable {
        /// The page is not used and the run fails; the default.
        case error
        /// An empty list: some services leave an empty list out.
        case noRecords = "no-records"
    }

    /// `parse.duplicate_keys`, default `reject-record`.
    public var duplicateKeys = DuplicateKeys.rejectRecord
    /// `parse.invalid_utf8`, default `reject-page`: the run fails.
    public var invalidUTF8 = InvalidUTF8.rejectPage
    /// `parse.lone_surrogates`, default `replace`.
    public var loneSurrogates = LoneSurrogates.replace
    /// `parse.nul_in_text`, default `keep`.
    public var nulInText = NULInText.keep
    /// Integers outside of int64.
    public var bigIntegers = LargeNumbers.decimal
    /// Numbers beyond the largest double, as `1e400`.
    public var numberOverflow = LargeNumbers.rejectRecord
    /// `parse.bom`, default `skip`.
    public var byteOrderMark = ByteOrderMark.skip
    /// `parse.empty_body`, default `error`: the run fails.
    public var emptyBody = EmptyBody.error
    /// `parse.records_absent`, default `error`: the run fails.
    public var recordsAbsent = AbsentRecords.error
    /// `parse.content_types`: media types that are taken; `*` stands for a part of a name. A body that says no type is taken, too. Those here are JSON's: where
    /// `format` or `unpack` say something else, the built-in ones are theirs.
    public var contentTypes = ["application/json", "application/*+json", "text/json"]

    /// The built-in values.
    public init() {}
}
