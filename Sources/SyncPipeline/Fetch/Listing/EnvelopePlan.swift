import JSONReader
import SyncConfiguration

/// What to read of a page besides its records: where the listing continues, and what it is judged by.
struct EnvelopePlan: Sendable {
    let plan: JSONFieldPlan?
    private let cursorField: Int?
    /// The same as JSON text: a number goes into the next request in its own digits.
    private let cursorTextField: Int?
    private let cursorIsLink: Bool
    /// Of a list of links: which one.
    private let relation: String?
    private let hasMoreField: Int?
    private let lastField: Int?
    private let totalField: Int?
    private let totalPagesField: Int?
    /// What the page is judged by before anything else is made of it.
    private let judgedFields: Range<Int>
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
        /// What the next run goes on from.
        var token: String?
        /// What is present but cannot be read: rule and path.
        var unreadable: [String] = []
    }

    private let names: [String]

    /// - Parameters:
    ///   - judged: what has to be known before anything else is made of a page.
    ///   - token: what runs go on from; nil: nothing that pages give.
    init(_ pagination: PaginationConfiguration, judged: [JSONField] = [], token: DeltaToken? = nil) {
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
        relation = pagination.kind.relationInBody
        cursorField = field(cursorPath, cursorIsLink ? "the next link" : "the cursor")
        cursorTextField = field(cursorIsLink ? nil : cursorPath, "the cursor", .raw)
        needsHasMore = pagination.kind.hasMorePath != nil
        hasMoreField = field(pagination.kind.hasMorePath ?? pagination.stop.hasMore, needsHasMore ? "whether there is more" : "has_more")
        lastField = field(needsHasMore ? nil : pagination.stop.last, "last")
        totalField = field(pagination.stop.total, "total")
        totalPagesField = field(pagination.stop.totalPages, "total_pages")
        tokenIsLink = token?.parameter == nil
        tokenField = field(token?.path, "the token")
        tokenTextField = field(tokenIsLink ? nil : token?.path, "the token", .raw)
        judgedFields = fields.count..<fields.count + judged.count
        fields += judged
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
        values.cursor = read(cursorField) { value in
            if let relation { return LinkList.target(of: relation, in: value) }
            return token(value, isLink: cursorIsLink, cursorTextField)
        }
        values.token = read(tokenField) { token($0, isLink: tokenIsLink, tokenTextField) }
        values.isCursorNumber = values.cursor != nil && cursorField.map { summary.envelope[$0].stringValue == nil } == true
        values.hasMore = read(hasMoreField) { $0.parameterText.flatMap { Bool($0) } }
        if let isLast = read(lastField, { $0.parameterText.flatMap { Bool($0) } }) { values.hasMore = !isLast }
        // A response that said that there is nothing has no body that would say anything.
        if needsHasMore, values.hasMore == nil, values.unreadable.isEmpty, summary.recordList != .emptyBody, let hasMoreField {
            values.unreadable.append(names[hasMoreField])
        }
        values.total = read(totalField) { $0.parameterText.flatMap { Int($0) } }
        values.totalPages = read(totalPagesField) { $0.parameterText.flatMap { Int($0) } }
        return values
    }

    /// Of the values of the plan's fields, those that a page is judged by.
    func judged(among values: [JSONValue]) -> [JSONValue] {
        values.count < judgedFields.upperBound ? [] : Array(values[judgedFields])
    }
}
