import Foundation

/// Translates fetch plans into SQL. Each predicate gives the answers that its evaluation in memory gives, nil included: every comparison is
/// true or false. What has no such translation is refused with a sentence that names it.
final class SQLTranslator {
    struct Query {
        let sql: String
        let parameters: [SQLParameter]
    }

    let schema: SQLSchema
    let identity: StoreIdentity
    var dialect: any SQLDialect { schema.dialect }
    private(set) var parameters: [SQLParameter] = []
    private var aliasCount = 0
    /// Whether the answer of a comparison is turned round somewhere above it, so that it may not be NULL instead of false.
    private var isNegated = false

    init(schema: SQLSchema, identity: StoreIdentity) {
        self.schema = schema
        self.identity = identity
    }

    /// One SELECT over the plan's entity, joined, filtered, ordered and windowed. `columns` gets the alias of the entity's table.
    func query(_ plan: FetchPlan, columns: (String) -> String) throws -> Query { try computedQuery(plan) { columns($0.object.alias) } }

    /// The same where columns are computed.
    func computedQuery(_ plan: FetchPlan, columns: (SQLScope) throws -> String) throws -> Query {
        let map = try schema.map(of: plan.entity)
        let alias = newAlias(), source = SQLSource(tables: "\(map.tableName.sqlName) AS \(alias)")
        let scope = SQLScope(object: SQLObject(map: map, alias: alias, source: source))
        let numbers = schema.numbers(of: plan.entity, includingSubentities: plan.includesSubentities)
        if numbers.count < schema.tables[map.table].members.count {
            source.conditions.append("\(alias).Z_ENT IN (\(numbers.map(String.init).joined(separator: ", ")))")
        }
        if let predicate = plan.predicate { source.conditions.append(try condition(predicate, scope)) }
        let order = try plan.sort.map { try sortTerm($0, scope) } + ["\(alias).Z_PK"]
        let selected = try columns(scope)
        var sql = "SELECT \(selected) FROM \(source.clause) ORDER BY \(order.joined(separator: ", "))"
        sql += window(plan)
        return Query(sql: sql, parameters: parameters)
    }

    /// The plan's limit and offset, where it has them.
    func window(_ plan: FetchPlan) -> String {
        func placed(_ count: Int) -> String? { count > 0 ? place(.integer(Int64(count))) : nil }
        let limit = placed(plan.limit), offset = placed(plan.offset)
        return limit == nil && offset == nil ? "" : dialect.window(limit: limit, offset: offset)
    }

    func sortTerm(_ key: SortKey, _ scope: SQLScope) throws -> String {
        guard case .value(let value) = try operand(.keyPath(PredicateKeyPath(keys: key.path)), scope) else {
            throw refusal("sorting by \(key.path.joined(separator: ".")), which is a to-many")
        }
        var sql = value.sql
        if value.type == .decimal { sql = try call(.decimal, sql) }
        if key.selector != .compare && value.type == .string { sql = try call(.sortKey, sql, key.selector.kind.rawValue.sqlText) }
        return dialect.ordered(sql, isAscending: key.isAscending)
    }

    // MARK: Logic

    func condition(_ node: PredicateNode, _ scope: SQLScope) throws -> String {
        switch node {
        case .constant(let value): return dialect.truth(value)
        case .and(let children): return try bounded(try joined(children, " AND ", empty: dialect.truth(true), scope))
        case .or(let children): return try bounded(try joined(children, " OR ", empty: dialect.truth(false), scope))
        case .not(let child):
            let outer = isNegated
            isNegated = true
            defer { isNegated = outer }
            return "NOT (\(try condition(child, scope)))"
        case .comparison(let comparison):
            if comparison.left.isConstant && comparison.right.isConstant {
                return dialect.truth(try PredicateNode.comparison(comparison).selects(nil))
            }
            return try bounded(try condition(comparison, scope))
        case .opaque: throw refusal("a block predicate")
        }
    }

    /// A balanced tree: SQLite allows expressions only a thousand deep.
    private func joined(_ children: [PredicateNode], _ word: String, empty: String, _ scope: SQLScope) throws -> String {
        Self.balanced(try children.map { "(\(try condition($0, scope)))" }, word) ?? empty
    }

    static func balanced(_ terms: [String], _ word: String) -> String? {
        guard terms.count > 8 else { return terms.isEmpty ? nil : terms.joined(separator: word) }
        let middle = terms.count / 2
        guard let left = balanced(Array(terms[..<middle]), word), let right = balanced(Array(terms[middle...]), word) else { return nil }
        return "(\(left))\(word)(\(right))"
    }

    /// A comparison that is NULL where an operand is: fine as it stands, but not where it is turned round.
    func strict(_ sql: String) -> String { isNegated ? dialect.orFalse(sql) : sql }

    /// Translates what must be two-valued wherever it stands: inside of CASE, or where it is counted.
    func negatable<T>(_ body: () throws -> T) rethrows -> T {
        let outer = isNegated
        isNegated = true
        defer { isNegated = outer }
        return try body()
    }

    // MARK: Parts

    func newAlias() -> String {
        aliasCount += 1
        return "t\(aliasCount)"
    }

    /// The place of a new parameter. Numbered, because the parts of a query are not made in the order in which they stand.
    func place(_ parameter: SQLParameter) -> String {
        parameters.append(parameter)
        return dialect.place(parameters.count)
    }

    /// The longest condition. A value that is compared several times stands there several times, with all that is in it: nested, that doubles with
    /// every level.
    private static let longest = 4_000_000

    func bounded(_ sql: String) throws -> String {
        guard sql.utf8.count <= Self.longest else { throw tooLong() }
        return sql
    }

    /// The same for what stands there `times` times, before it is written.
    func check(_ value: SQLExpression, times: Int) throws {
        if value.sql.utf8.count.multipliedReportingOverflow(by: times).partialValue > Self.longest { throw tooLong() }
    }

    private func tooLong() -> NSError { refusal("a predicate that needs more than \(Self.longest) characters of SQL") }

    /// A function that computes as predicates do in memory.
    func call(_ function: SQLFunction, _ arguments: String...) throws -> String {
        guard let sql = dialect.call(function, arguments) else { throw refusal("what it has no function for (\(function.rawValue))") }
        return sql
    }

    func refusal(_ what: String) -> NSError { Self.refusal(what, by: dialect) }

    static func refusal(_ what: String, by dialect: any SQLDialect) -> NSError {
        NSError.coreData(
            .coreData,
            "A \(dialect.name) store can't translate \(what). Change the predicate, or fetch more and filter in memory.")
    }
}

extension ExpressionNode {
    /// Whether the value depends on nothing but the expression.
    var isConstant: Bool {
        switch self {
        case .constant, .anyKey: true
        case .evaluatedObject, .variable, .keyPath, .subquery, .opaque, .unanswerable: false
        case .keyPathOf(let base, _): base.isConstant
        case .index(let base, .element(let place)): base.isConstant && place.isConstant
        case .index(let base, _): base.isConstant
        case .aggregate(let elements): elements.allSatisfy(\.isConstant)
        case .function(_, let arguments): arguments.allSatisfy(\.isConstant)
        case .message(let target, _, let arguments): target.isConstant && arguments.allSatisfy(\.isConstant)
        case .cast(let operand, _): operand.isConstant
        case .setOperation(_, let left, let right): left.isConstant && right.isConstant
        case .conditional(let condition, let yes, let no): condition.isConstant && yes.isConstant && no.isConstant
        }
    }
}

extension PredicateNode {
    fileprivate var isConstant: Bool {
        switch self {
        case .constant: true
        case .and(let children), .or(let children): children.allSatisfy(\.isConstant)
        case .not(let child): child.isConstant
        case .comparison(let comparison): comparison.left.isConstant && comparison.right.isConstant
        case .opaque: false
        }
    }
}
