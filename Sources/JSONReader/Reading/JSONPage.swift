import CSimdJSON

/// The bytes of one page and what is allowed of them.
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
        request.max_depth = UInt64(clamping: limits.maxDepth)
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
