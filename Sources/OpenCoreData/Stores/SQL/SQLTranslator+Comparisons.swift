import Foundation

extension SQLTranslator {
    typealias Operator = NSComparisonPredicate.Operator
    typealias Options = NSComparisonPredicate.Options

    func condition(_ comparison: PredicateComparison, _ scope: SQLScope) throws -> String {
        let left = try operand(comparison.left, scope)
        let type = comparison.type, options = comparison.options
        switch (comparison.modifier, left) {
        case (.direct, _): return try holds(left, try operand(comparison.right, scope), type, options)
        case (let modifier, .value(let value)):
            // A single value is one element; nil is none.
            let test = try holds(left, try operand(comparison.right, scope), type, options)
            if value.type == .null { return dialect.truth(modifier != .any) }
            return modifier == .any ? "(\(sql(value)) IS NOT NULL AND (\(test)))" : "(\(sql(value)) IS NULL OR (\(test)))"
        case (let modifier, .list(let elements)):
            let right = try operand(comparison.right, scope)
            let tests = try elements.map { "(\(try holds(.value($0), right, type, options)))" }
            return modifier == .any ? Self.balanced(tests, " OR ") ?? dialect.truth(false) : Self.balanced(tests, " AND ") ?? dialect.truth(true)
        case (.any, .collection(let elements)):
            let test = try holds(.value(elements.element.expression), try operand(comparison.right, scope), type, options)
            return exists(elements, where: test)
        case (_, .collection(let elements)):
            let test = try negatable { try holds(.value(elements.element.expression), try operand(comparison.right, scope), type, options) }
            return "NOT " + exists(elements, where: "NOT (\(test))")
        case (_, .setOperation): throw refusal("ANY or ALL of a set expression")
        }
    }

    private func exists(_ collection: SQLCollection, where test: String) -> String {
        collection.source.conditions.append(test)
        return "EXISTS (SELECT 1 FROM \(collection.source.clause))"
    }

    private func holds(_ left: SQLOperand, _ right: SQLOperand, _ type: Operator, _ options: Options) throws -> String {
        switch type {
        case .in: return try isMember(left, of: right, options)
        case .contains: return try isMember(right, of: left, options)
        case .between:
            guard case .value(let value) = left else { throw refusal("BETWEEN with a collection on its left") }
            guard case .list(let bounds) = right, bounds.count == 2 else {
                if case .collection = right { throw refusal("BETWEEN with a to-many on its right") }
                return dialect.truth(false)
            }
            let lower = try order(bounds[0], .lessThanOrEqualTo, value, options), upper = try order(value, .lessThanOrEqualTo, bounds[1], options)
            return "(\(lower) AND \(upper))"
        default: break
        }
        guard case .value(let first) = left, case .value(let second) = right else {
            throw refusal("the comparison of a collection as a whole; use ANY, ALL, IN or @count")
        }
        switch type {
        case .equalTo: return try equal(first, second, options)
        case .notEqualTo: return "NOT (\(try equal(first, second, options)))"
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo: return try order(first, type, second, options)
        case .beginsWith, .endsWith, .like, .matches: return try match(first, type, second, options)
        case .in, .contains, .between: return dialect.truth(false)
        }
    }

    // MARK: Equality

    /// True or false, also for nil.
    func equal(_ left: SQLExpression, _ right: SQLExpression, _ options: Options) throws -> String {
        if left.type == .transformable || right.type == .transformable {
            guard left.type == .null || right.type == .null else { throw refusal("the comparison of a transformable value") }
            return dialect.same(sql(left), sql(right))
        }
        switch (left.type, right.type) {
        case (.null, _), (_, .null): return dialect.same(sql(left), sql(right))
        case (.string, .string): return dialect.same(try folded(left, options), try folded(right, options))
        case (.number, .number), (.date, .date), (.data, .data), (.uuid, .uuid), (.url, .url): return dialect.same(sql(left), sql(right))
        case (.object(let first), .object(let second)) where first == second: return dialect.same(sql(left), sql(right))
        case (.decimal, .decimal): return dialect.same(sql(left), sql(right))
        case (.decimal, .number), (.number, .decimal):
            // A decimal has one form in a column, which a whole number has too.
            if left.isInteger || right.isInteger { return dialect.same(sql(left), sql(right)) }
            return try call(.same, tagged(left), tagged(right))
        default:
            // Of different types: the same only if both are nil.
            if left.isNeverNull || right.isNeverNull { return dialect.truth(false) }
            return "(\(sql(left)) IS NULL AND \(sql(right)) IS NULL)"
        }
    }

    private func tagged(_ value: SQLExpression) -> String { "\((value.type.tag ?? .number).sql), \(sql(value))" }

    private func folded(_ value: SQLExpression, _ options: Options) throws -> String {
        if case .string(let string)? = value.constant { return place(.text(StringFolding.fold(string, options))) }
        return options.isFolding ? try call(.fold, sql(value), "\(options.rawValue)") : sql(value)
    }

    // MARK: Order

    /// False where one is nil, or where their types have no order.
    private func order(_ left: SQLExpression, _ type: Operator, _ right: SQLExpression, _ options: Options) throws -> String {
        let symbols: [Operator: String] = [.lessThan: "<", .lessThanOrEqualTo: "<=", .greaterThan: ">", .greaterThanOrEqualTo: ">="]
        let symbol = symbols[type] ?? "<"
        switch (left.type, right.type) {
        case (.string, .string): return strict("\(try folded(left, options)) \(symbol) \(try folded(right, options))")
        case (.number, .number), (.date, .date), (.data, .data), (.uuid, .uuid), (.url, .url):
            return strict("\(sql(left)) \(symbol) \(sql(right))")
        case (.decimal, .decimal): return strict("\(try call(.decimal, sql(left))) \(symbol) \(try call(.decimal, sql(right)))")
        case (.decimal, .number), (.number, .decimal): return strict("\(try call(.order, tagged(left), tagged(right))) \(symbol) 0")
        default: return dialect.truth(false)
        }
    }

    // MARK: Strings

    private func match(_ left: SQLExpression, _ type: Operator, _ right: SQLExpression, _ options: Options) throws -> String {
        guard left.type == .string, right.type == .string else { return dialect.truth(false) }
        let options = options.subtracting(.localeSensitive)
        if !options.isFolding, case .string(let part)? = right.constant, !part.utf8.isEmpty {
            if type == .beginsWith, let end = Self.end(ofPrefix: part) {
                // A range, so that an index serves.
                return strict("(\(sql(left)) >= \(place(.text(part))) AND \(sql(left)) < \(place(end)))")
            }
            if type == .contains { return strict(dialect.contains(sql(left), place(.text(part)))) }
        }
        return try call(.match, sql(left), sql(right), "\(type.rawValue)", "\(options.rawValue)")
    }

    /// The least string that is greater than every string with this prefix: its last scalar raised by one.
    private static func end(ofPrefix prefix: String) -> SQLParameter? {
        var scalars = Array(prefix.unicodeScalars)
        guard let last = scalars.popLast() else { return nil }
        let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
        guard let raised = UnicodeScalar(next) else { return nil }
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        text.unicodeScalars.append(raised)
        return .text(text)
    }

    // MARK: Membership

    /// `IN`, and `CONTAINS` with its sides exchanged.
    private func isMember(_ part: SQLOperand, of whole: SQLOperand, _ options: Options) throws -> String {
        if case .setOperation(let operation, let first, let second) = whole {
            let inFirst = try isMember(part, of: first, options), inSecond = try negatable { try isMember(part, of: second, options) }
            switch operation {
            case .union: return "((\(inFirst)) OR (\(inSecond)))"
            case .intersect: return "((\(inFirst)) AND (\(inSecond)))"
            case .minus: return "((\(inFirst)) AND NOT (\(inSecond)))"
            }
        }
        guard case .value(let value) = part else { throw refusal("a collection as an element of another; use ANY") }
        switch whole {
        case .list(let elements): return try isMember(value, of: elements, options)
        case .collection(let collection): return exists(collection, where: try equal(value, collection.element.expression, options))
        case .value(let whole):
            if whole.type == .null { return dialect.truth(false) }
            guard whole.type == .string, value.type == .string else {
                if whole.type == .transformable { throw refusal("IN with a transformable value") }
                return dialect.truth(false)
            }
            return try match(whole, .contains, value, options)
        case .setOperation: return dialect.truth(false)
        }
    }

    private func isMember(_ value: SQLExpression, of elements: [SQLExpression], _ options: Options) throws -> String {
        if elements.count > 8, let list = try listed(value, elements, options) { return list }
        try check(value, times: elements.count)
        let tests = try elements.map { "(\(try equal(value, $0, options)))" }
        return Self.balanced(tests, " OR ") ?? dialect.truth(false)
    }

    /// Many constants as one parameter; nil where they have to be compared one by one.
    private func listed(_ value: SQLExpression, _ elements: [SQLExpression], _ options: Options) throws -> String? {
        guard value.constant == nil, value.type != .decimal, value.type != .transformable else { return nil }
        var parameters: [SQLParameter] = [], hasNull = false
        for element in elements {
            guard let constant = element.constant else { return nil }
            if element.type == .null {
                hasNull = true
            } else if element.type == value.type {
                if case .object = element.type {
                    guard let key = Int64(element.sql) else { return nil }
                    parameters.append(.integer(key))
                } else if case .string(let string) = constant {
                    parameters.append(.text(StringFolding.fold(string, options)))
                } else {
                    parameters.append(dialect.parameter(constant))
                }
            } else if value.type == .number && element.type == .decimal {
                return nil
            }
        }
        let side = value.type == .string ? try folded(value, options) : sql(value)
        let test = strict("\(side) IN (\(try list(parameters)))")
        return hasNull ? "(\(sql(value)) IS NULL OR \(test))" : test
    }

    private func list(_ parameters: [SQLParameter]) throws -> String {
        guard let list = dialect.list(parameters) else { throw refusal("a long list with a string that has a zero in it") }
        return list.query(place(list.parameter))
    }
}

extension NSComparisonPredicate.Options {
    /// Whether strings are compared in another form than their own.
    var isFolding: Bool { !isDisjoint(with: [.caseInsensitive, .diacriticInsensitive, .localeSensitive]) }
}

extension SQLExpression {
    /// Whether it is a constant other than nil, or the key of the object that is looked at.
    fileprivate var isNeverNull: Bool { constant.map { !$0.isNull } ?? false }
}
