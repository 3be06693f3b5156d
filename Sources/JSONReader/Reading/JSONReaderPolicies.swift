import CSimdJSON
import JSONPaths

/// How to treat what JSON leaves open. The defaults are those of the configuration's `[defaults.parse]`.
///
/// A policy that refuses a record looks at the whole record, including values that no field asks for: whether a record is good does not depend on the
/// requested fields. Outside of the records there is no record to refuse: there, such values are taken as they are, except for ``DuplicateKeys``.
public struct JSONReaderPolicies: Sendable, Hashable {
    /// A key that appears twice in one object. Keys compare by their decoded bytes.
    ///
    /// On the path to the record list or to an envelope value, `rejectRecord` refuses the page, because paging by the wrong one of two cursors cannot
    /// be corrected; `last` refuses the page if the record list appears twice, because records of the first have already been handed out. The same
    /// holds of the names in an object that a wildcard of the path goes over.
    public enum DuplicateKeys: Sendable, Hashable {
        /// The record gets a ``JSONRecord/problem``; the others are not touched.
        case rejectRecord
        /// The last value counts; nothing of the earlier ones is left.
        case last
        /// The value that was met first counts; later ones are passed over.
        case first
    }

    /// Bytes that are not UTF-8.
    public enum InvalidUTF8: Sendable, Hashable {
        /// The page fails with ``JSONReaderError/Kind/invalidUTF8``.
        case rejectPage
        /// Each maximal malformed sequence becomes U+FFFD before anything else; hashes and raw bytes are of the repaired text.
        case replace
    }

    /// An escape such as `\uD800` without its other half.
    public enum LoneSurrogates: Sendable, Hashable {
        /// U+FFFD for each.
        case replace
        /// The record gets a ``JSONRecord/problem``.
        case rejectRecord
    }

    /// `\u0000` in a string.
    public enum NULInText: Sendable, Hashable {
        /// The character stays in the text, as U+0000.
        case keep
        /// The text without it; raw JSON stays as it is.
        case strip
        /// The record gets a ``JSONRecord/problem``.
        case rejectRecord
    }

    /// A number that most programs cannot represent.
    public enum Numbers: Sendable, Hashable {
        /// As ``JSONCell/bigNumber(_:)`` with all its digits.
        case keep
        /// The record gets a ``JSONRecord/problem``.
        case rejectRecord
    }

    /// A byte order mark (UTF-8) before the document.
    public enum ByteOrderMark: Sendable, Hashable {
        /// The mark is skipped; offsets count its bytes.
        case skip
        /// The page fails with ``JSONReaderError/Kind/encoding``.
        case rejectPage
    }

    /// An empty body, or one of white space only.
    public enum EmptyBody: Sendable, Hashable {
        /// The page fails with ``JSONReaderError/Kind/emptyBody``.
        case error
        /// A page without records.
        case noRecords
    }

    /// A document that is good JSON and has nothing where its records should be; with a wildcard in their path, nothing in one of the values that it goes
    /// over.
    public enum AbsentRecords: Sendable, Hashable {
        /// The page fails with ``JSONReaderError/Kind/recordsMissing``.
        case error
        /// A page without records.
        case noRecords
    }

    /// `parse.duplicate_keys`, default `rejectRecord`.
    public var duplicateKeys = DuplicateKeys.rejectRecord
    /// `parse.invalid_utf8`, default `rejectPage`.
    public var invalidUTF8 = InvalidUTF8.rejectPage
    /// `parse.lone_surrogates`, default `replace`.
    public var loneSurrogates = LoneSurrogates.replace
    /// `parse.nul_in_text`, default `keep`.
    public var nulInText = NULInText.keep
    /// An integer outside of int64.
    public var bigIntegers = Numbers.keep
    /// A number with fraction or exponent beyond the largest double, as `1e400`. (One so small that its double is zero, as `1e-999`, is
    /// always kept as ``JSONCell/bigNumber(_:)``: it is exact as a decimal and has no double.)
    public var numberOverflow = Numbers.rejectRecord
    /// `parse.bom`, default `skip`; of UTF-8 only: that of UTF-16 or UTF-32 always refuses the page.
    public var byteOrderMark = ByteOrderMark.skip
    /// `parse.empty_body`, default `error`: ``JSONReaderError/Kind/emptyBody`` is thrown.
    public var emptyBody = EmptyBody.error
    /// `parse.records_absent`, default `error`: ``JSONReaderError/Kind/recordsMissing`` is thrown.
    public var absentRecords = AbsentRecords.error

    /// The defaults of `[defaults.parse]`.
    public init() {}
}

/// The limits on a page. The defaults are those of the configuration's `[defaults.limits]`.
///
/// Limits hold for all of the document, also for values nobody asked for. Beyond ``maxDepth`` or ``maxRecordsPerPage`` the page is
/// refused; the other limits refuse the record in which they are exceeded, or the page when that happens outside of the records.
public struct JSONReaderLimits: Sendable, Hashable {
    /// Arrays and objects inside each other; the outermost one counts. `max_depth`.
    public var maxDepth = 128
    /// How many of them are around what is read, in the page that it was cut from.
    var levelsAround = 0
    /// Bytes of a string after decoding its escapes. `max_string`.
    public var maxString = 4 << 20
    /// Bytes of a key after decoding its escapes. `max_key`.
    public var maxKey = 1 << 10
    /// Digits of a number, before and after the point and in the exponent together. `max_number_digits`.
    public var maxNumberDigits = 1000
    /// Records in one page, bad ones included. `max_records_per_page`.
    public var maxRecordsPerPage = 20_000
    /// Cells taken out of one record, nested records and items of arrays included, so that a small text cannot claim much memory:
    /// a cell takes about 30 bytes. `max_cells`; not in the configuration.
    public var maxCells = 1_000_000

    /// The defaults of `[defaults.limits]`, and a million cells.
    public init() {}
}

/// The plans of one walk.
final class JSONReading {
    let locator: JSONLocator?
    let plan: JSONFieldPlan
    let envelope: JSONFieldPlan?

    init(locator: JSONLocator?, plan: JSONFieldPlan, envelope: JSONFieldPlan?) {
        self.locator = locator
        self.plan = plan
        self.envelope = envelope
    }
}

/// The path of a record list, compiled.
final class JSONLocator {
    let compiled: OpaquePointer

    init(_ path: JSONPath) {
        compiled = csj_plan_create()
        csj_plan_add_field(compiled)
        JSONFieldPlan.add(path, to: compiled, capture: CSJ_CAPTURE_LOCATE, nested: nil)
        csj_plan_seal(compiled)
    }

    deinit {
        csj_plan_destroy(compiled)
    }
}
