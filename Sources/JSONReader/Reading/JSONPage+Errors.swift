import CSimdJSON

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
            return error(.ambiguousEnvelope, "a key on the way to the records or to an envelope value stands twice", offset: offset)
        case CSJ_FAILURE_OUT_OF_MEMORY: return error(.outOfMemory, "there is no memory for a document of this size", offset: offset)
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
