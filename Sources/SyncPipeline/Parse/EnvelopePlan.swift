import JSONReader
import SyncConfiguration

/// What to read of a page beside its records: where the listing goes on.
struct EnvelopePlan {
    let plan: JSONFieldPlan?
    private let cursorField: Int?
    private let hasMoreField: Int?
    private let totalField: Int?
    private let totalPagesField: Int?

    /// What a page said.
    struct Values {
        var cursor: String?
        var hasMore: Bool?
        var total: Int?
        var totalPages: Int?
    }

    init(_ pagination: PaginationConfiguration) {
        var fields: [JSONField] = []
        func field(_ path: JSONPathText?) -> Int? {
            guard let path else { return nil }
            fields.append(JSONField(path.text, path: EntityMapping.compile(path)))
            return fields.count - 1
        }
        var cursorPath: JSONPathText?
        if case .cursor(let cursor) = pagination.kind, case .path(let path) = cursor.origin { cursorPath = path }
        cursorField = field(cursorPath)
        hasMoreField = field(pagination.stop.hasMore)
        totalField = field(pagination.stop.total)
        totalPagesField = field(pagination.stop.totalPages)
        if fields.isEmpty {
            plan = nil
        } else {
            plan = JSONFieldPlan(fields)
        }
    }

    func values(_ summary: JSONPageSummary) -> Values {
        var values = Values()
        if let cursorField { values.cursor = summary.envelope[cursorField].parameterText }
        if let hasMoreField { values.hasMore = summary.envelope[hasMoreField].parameterText.flatMap { Bool($0) } }
        if let totalField { values.total = summary.envelope[totalField].parameterText.flatMap { Int($0) } }
        if let totalPagesField { values.totalPages = summary.envelope[totalPagesField].parameterText.flatMap { Int($0) } }
        return values
    }
}
