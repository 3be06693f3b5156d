import JSONReader
import SyncConfiguration

/// What to read of a page besides its records: where the listing continues.
struct EnvelopePlan: Sendable {
    let plan: JSONFieldPlan?
    private let cursorField: Int?
    /// The same as JSON text: a number goes into the next request in its own digits.
    private let cursorTextField: Int?
    private let cursorIsLink: Bool
    private let hasMoreField: Int?
    private let totalField: Int?
    private let totalPagesField: Int?
    /// Of GraphQL: whether there are errors, and what the first one says.
    private let errorsField: Int?
    private let messageField: Int?
    /// What the next run goes on from, the same as JSON text, and whether it is an address.
    private let tokenField: Int?
    private let tokenTextField: Int?
    private let tokenIsLink: Bool
    /// Whether a page has to say whether there is more.
    private let needsHasMore: Bool

    /// What a page said.
    struct Values {
        var cursor: String?
        /// Whether that is a number.
        var isCursorNumber = false
        var hasMore: Bool?
        var total: Int?
        var totalPages: Int?
        /// What GraphQL's first error says; nil: there is none.
        var firstError: String?
        /// What the next run goes on from.
        var token: String?
        /// What is present but cannot be read: rule and path.
        var unreadable: [String] = []
    }

    private let names: [String]

    /// - Parameters:
    ///   - isGraphQL: whether a success may hold errors.
    ///   - token: what runs go on from; nil: nothing that pages give.
    init(_ pagination: PaginationConfiguration, isGraphQL: Bool = false, token: DeltaToken? = nil) {
        var fields: [JSONField] = [], names: [String] = []
        func field(_ path: JSONPath?, _ name: String, _ capture: JSONField.Capture = .value) -> Int? {
            guard let path else { return nil }
            fields.append(JSONField("\(path)", path: path, capture: capture))
            names.append("\(name) at \(path)")
            return fields.count - 1
        }
        var cursorPath: JSONPath?
        if case .path(let path)? = pagination.kind.tokenOrigin { cursorPath = path }
        cursorIsLink = pagination.kind.tokenIsLink
        cursorField = field(cursorPath, cursorIsLink ? "the next link" : "the cursor")
        cursorTextField = field(cursorIsLink ? nil : cursorPath, "the cursor", .raw)
        needsHasMore = pagination.kind.hasMorePath != nil
        hasMoreField = field(pagination.kind.hasMorePath ?? pagination.stop.hasMore, needsHasMore ? "whether there is more" : "has_more")
        totalField = field(pagination.stop.total, "total")
        totalPagesField = field(pagination.stop.totalPages, "total_pages")
        errorsField = field(isGraphQL ? "$.errors" : nil, "errors")
        messageField = field(isGraphQL ? "$.errors[0].message" : nil, "the message")
        tokenIsLink = token?.parameter == nil
        tokenField = field(token?.path, "the token")
        tokenTextField = field(tokenIsLink ? nil : token?.path, "the token", .raw)
        self.names = names
        if fields.isEmpty {
            plan = nil
        } else {
            plan = JSONFieldPlan(fields)
        }
    }

    func values(_ summary: JSONPageSummary) -> Values {
        var values = Values()
        func read<T>(_ field: Int?, _ convert: (JSONValue) -> T?) -> T? {
            guard let field, !summary.envelope[field].isNil else { return nil }
            let value = convert(summary.envelope[field])
            if value == nil { values.unreadable.append(names[field]) }
            return value
        }
        // A boolean does not name a page, and neither does an object. Nothing but a text is an address.
        func token(_ value: JSONValue, isLink: Bool, _ textField: Int?) -> String? {
            if isLink { return value.stringValue }
            switch value {
            case .string(let text): return text
            case .int64, .double, .bigNumber:
                guard let textField, case .raw(let digits) = summary.envelope[textField] else { return nil }
                return digits
            case .missing, .null, .bool, .raw: return nil
            }
        }
        values.cursor = read(cursorField) { token($0, isLink: cursorIsLink, cursorTextField) }
        values.token = read(tokenField) { token($0, isLink: tokenIsLink, tokenTextField) }
        values.isCursorNumber = values.cursor != nil && cursorField.map { summary.envelope[$0].stringValue == nil } == true
        values.hasMore = read(hasMoreField) { $0.parameterText.flatMap { Bool($0) } }
        // A response that said that there is nothing has no body that would say anything.
        if needsHasMore, values.hasMore == nil, values.unreadable.isEmpty, summary.recordList != .emptyBody, let hasMoreField {
            values.unreadable.append(names[hasMoreField])
        }
        if let errorsField, let messageField, summary.envelope[errorsField].holdsErrors {
            let message = summary.envelope[messageField].stringValue ?? ""
            values.firstError = message.isEmpty ? summary.envelope[errorsField].parameterText ?? "an error without a message" : message
        }
        values.total = read(totalField) { $0.parameterText.flatMap { Int($0) } }
        values.totalPages = read(totalPagesField) { $0.parameterText.flatMap { Int($0) } }
        return values
    }
}

extension JSONValue {
    /// Whether it is a list of errors that has any, or what some servers say in place of one. An error need not say anything.
    fileprivate var holdsErrors: Bool {
        switch self {
        case .missing, .null: false
        case .bool(let flag): flag
        case .int64(let number): number != 0
        case .double, .bigNumber: true
        case .string(let text): !text.isEmpty
        case .raw(let text): !["[]", "{}"].contains(String(decoding: text.utf8.filter { !" \t\r\n".utf8.contains($0) }, as: UTF8.self))
        }
    }
}
