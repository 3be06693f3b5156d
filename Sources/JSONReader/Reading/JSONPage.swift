import CSimdJSON

/// The bytes of one page and what is allowed in them.
struct JSONPage {
    /// As it was given.
    let whole: UnsafeBufferPointer<UInt8>
    /// Without the byte order mark.
    let document: UnsafeBufferPointer<UInt8>
    let limits: JSONReaderLimits
    let policies: JSONReaderPolicies

    enum Beginning {
        case empty
        case document
    }

    init(whole: UnsafeBufferPointer<UInt8>, limits: JSONReaderLimits, policies: JSONReaderPolicies) {
        self.whole = whole
        self.limits = limits
        self.policies = policies
        let hasMark = whole.starts(with: [0xEF, 0xBB, 0xBF])
        document = hasMark ? UnsafeBufferPointer(rebasing: whole.dropFirst(3)) : whole
    }

    var markLength: Int { whole.count - document.count }

    /// The page with U+FFFD for what is not UTF-8, if that is wanted and there is such a thing.
    func repaired() -> [UInt8]? {
        guard policies.invalidUTF8 == .replace, csj_is_utf8(whole.baseAddress, whole.count) == 0 else { return nil }
        return Array(String(decoding: whole, as: UTF8.self).utf8)
    }

    /// What can be told from the first bytes.
    func checkBeginning() throws(JSONReaderError) -> Beginning {
        if markLength > 0 && policies.byteOrderMark == .rejectPage {
            throw JSONReaderError(.encoding, "a byte order mark stands before the document", offset: 0, in: whole)
        }
        // A JSON document starts with an ASCII character, so a zero byte among the first two means wider code units.
        if whole.starts(with: [0xFE, 0xFF]) || whole.starts(with: [0xFF, 0xFE]) || document.prefix(2).contains(0) {
            throw JSONReaderError(.encoding, "UTF-16, UTF-32 or zero bytes where JSON, which is UTF-8, was expected", offset: 0, in: whole)
        }
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        if document.allSatisfy(isSpace) {
            guard policies.emptyBody == .noRecords else {
                throw JSONReaderError(.emptyBody, "the body is empty where a JSON document was expected", offset: 0, in: whole)
            }
            return .empty
        }
        return .document
    }

    func request(_ reading: JSONReading) -> csj_request {
        var request = csj_request()
        request.body = document.baseAddress
        request.length = document.count
        request.locator = reading.locator?.compiled
        request.plan = reading.plan.compiled
        request.envelope = reading.envelope?.compiled
        request.max_depth = UInt64(clamping: limits.maxDepth - limits.levelsAround)
        request.max_string = UInt64(clamping: limits.maxString)
        request.max_key = UInt64(clamping: limits.maxKey)
        request.max_number_digits = UInt64(clamping: limits.maxNumberDigits)
        request.max_records = UInt64(clamping: limits.maxRecordsPerPage)
        request.max_cells = UInt64(clamping: limits.maxCells)
        request.duplicate_keys =
            switch policies.duplicateKeys {
            case .rejectRecord: UInt8(CSJ_DUPLICATES_REJECT)
            case .last: UInt8(CSJ_DUPLICATES_LAST)
            case .first: UInt8(CSJ_DUPLICATES_FIRST)
            }
        request.lone_surrogates =
            switch policies.loneSurrogates {
            case .replace: UInt8(CSJ_SURROGATES_REPLACE)
            case .rejectRecord: UInt8(CSJ_SURROGATES_REJECT)
            }
        request.nul_in_text =
            switch policies.nulInText {
            case .keep: UInt8(CSJ_NUL_KEEP)
            case .strip: UInt8(CSJ_NUL_STRIP)
            case .rejectRecord: UInt8(CSJ_NUL_REJECT)
            }
        request.number_overflow = JSONPage.code(policies.numberOverflow)
        request.big_integers = JSONPage.code(policies.bigIntegers)
        return request
    }

    private static func code(_ policy: JSONReaderPolicies.Numbers) -> UInt8 {
        switch policy {
        case .keep: UInt8(CSJ_NUMBERS_KEEP)
        case .rejectRecord: UInt8(CSJ_NUMBERS_REJECT)
        }
    }
}

extension JSONPage {
    /// An error at an offset in the document.
    func error(_ kind: JSONReaderError.Kind, _ message: String, offset: Int) -> JSONReaderError {
        JSONReaderError(kind, message, offset: offset + markLength, in: whole)
    }

    /// The error for what made the walk stop.
    func error(code: Int, offset: Int) -> JSONReaderError {
        if let limit = limit(code) { return error(.limit(limit), "\(limit.subject) over the limit \(limit)", offset: offset) }
        switch code {
        case CSJ_FAILURE_EMPTY: return error(.emptyBody, "the body is empty where a JSON document was expected", offset: offset)
        case CSJ_FAILURE_UTF8: return error(.invalidUTF8, "not UTF-8", offset: offset)
        case CSJ_FAILURE_TRAILING_DATA: return error(.trailingData, "the document has ended, but something follows", offset: offset)
        case CSJ_FAILURE_AMBIGUOUS_ENVELOPE:
            return error(.ambiguousEnvelope, "a key on the path to the records or to an envelope value appears twice", offset: offset)
        case CSJ_FAILURE_OUT_OF_MEMORY: return error(.outOfMemory, "not enough memory for a document of this size", offset: offset)
        default: return error(.syntax, JSONPage.syntaxMessage(code), offset: offset)
        }
    }

    private func limit(_ code: Int) -> JSONLimit? {
        switch code {
        case CSJ_FAILURE_MAX_DEPTH: JSONLimit(.maxDepth, limits.maxDepth)
        case CSJ_FAILURE_MAX_STRING: JSONLimit(.maxString, limits.maxString)
        case CSJ_FAILURE_MAX_KEY: JSONLimit(.maxKey, limits.maxKey)
        case CSJ_FAILURE_MAX_NUMBER_DIGITS: JSONLimit(.maxNumberDigits, limits.maxNumberDigits)
        case CSJ_FAILURE_MAX_RECORDS: JSONLimit(.maxRecordsPerPage, limits.maxRecordsPerPage)
        case CSJ_FAILURE_MAX_CELLS: JSONLimit(.maxCells, limits.maxCells)
        case CSJ_FAILURE_TOO_LARGE: JSONLimit(.maxDocument, Int(UInt32.max))
        default: nil
        }
    }

    private static func syntaxMessage(_ code: Int) -> String {
        switch code {
        case CSJ_FAILURE_CONTROL_CHARACTER: "a control character inside a string must be written as an escape"
        case CSJ_FAILURE_UNCLOSED_STRING: "a string is not closed"
        case CSJ_FAILURE_UNEXPECTED_END: "the document ends in the middle"
        case CSJ_FAILURE_EXPECTED_VALUE: "expected a value"
        case CSJ_FAILURE_EXPECTED_KEY: "expected a key in double quotes"
        case CSJ_FAILURE_EXPECTED_COLON: "expected \":\" after a key"
        case CSJ_FAILURE_EXPECTED_COMMA_OR_BRACE: "expected \",\" or \"}\""
        case CSJ_FAILURE_EXPECTED_COMMA_OR_BRACKET: "expected \",\" or \"]\""
        case CSJ_FAILURE_BAD_LITERAL: "expected true, false or null"
        case CSJ_FAILURE_BAD_NUMBER: "this is not how JSON writes a number"
        case CSJ_FAILURE_BAD_ESCAPE: "this escape does not exist in JSON"
        default: "not a JSON document"
        }
    }
}

/// What a page was, once it has been walked to its end.
public struct JSONPageSummary: Sendable, Hashable {
    /// What was at the path of the record list.
    public enum RecordList: Sendable, Hashable {
        /// A list; it may have been empty. Where the path has a wildcard: whatever was there, but for one of the next.
        case array
        /// One object: it was the only record.
        case singleObject
        /// `null`: taken as a list without records. Whoever deletes by absence may want to know. Of several lists one `null` is enough.
        case null
        /// The body was empty, and the policy allows that.
        case emptyBody
        /// There was no list, and the policy allows that.
        case absent
    }

    /// Records handed out, bad ones included.
    public var recordCount: Int
    /// Records with a ``JSONRecord/problem``.
    public var badRecordCount: Int
    /// Distinguishes a list without records from a `null` or an empty body, which have no records either.
    public var recordList: RecordList
    /// There was something that a wildcard of the path went over, and no record in any of it.
    public var hasEmptyLists = false
    /// The values of the envelope plan's fields, in their order.
    public var envelope: [JSONValue]
    /// Malformed UTF-8 was replaced (policy `invalid_utf8 = "replace"`); offsets and hashes are of the repaired text.
    public var wasRepaired: Bool
}
