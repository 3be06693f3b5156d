import JSONReader
import SyncConfiguration

/// What to read of a page besides its records: where the listing continues.
struct EnvelopePlan: Sendable {
    let plan: JSONFieldPlan?
    private let cursorField: Int?
    private let cursorIsLink: Bool
    private let hasMoreField: Int?
    private let totalField: Int?
    private let totalPagesField: Int?

    /// What a page said.
    struct Values {
        var cursor: String?
        var hasMore: Bool?
        var total: Int?
        var totalPages: Int?
        /// What is present but cannot be read: rule and path.
        var unreadable: [String] = []
    }

    private let names: [String]

    init(_ pagination: PaginationConfiguration) {
        var fields: [JSONField] = [], names: [String] = []
        func field(_ path: JSONPath?, _ name: String) -> Int? {
            guard let path else { return nil }
            fields.append(JSONField("\(path)", path: path))
            names.append("\(name) at \(path)")
            return fields.count - 1
        }
        var cursorPath: JSONPath?
        if case .path(let path)? = pagination.kind.tokenOrigin { cursorPath = path }
        cursorIsLink = pagination.kind.tokenIsLink
        cursorField = field(cursorPath, cursorIsLink ? "the next link" : "the cursor")
        hasMoreField = field(pagination.stop.hasMore, "has_more")
        totalField = field(pagination.stop.total, "total")
        totalPagesField = field(pagination.stop.totalPages, "total_pages")
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
        values.cursor = read(cursorField) { value in
            if cursorIsLink { return value.stringValue }
            return value.boolValue == nil ? value.parameterText : nil
        }
        values.hasMore = read(hasMoreField) { $0.parameterText.flatMap { Bool($0) } }
        values.total = read(totalField) { $0.parameterText.flatMap { Int($0) } }
        values.totalPages = read(totalPagesField) { $0.parameterText.flatMap { Int($0) } }
        return values
    }
}
