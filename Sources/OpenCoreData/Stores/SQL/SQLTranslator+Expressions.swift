import Foundation

extension SQLTranslator {
    /// One side of a comparison.
    func operand(_ node: ExpressionNode, _ scope: SQLScope) throws -> SQLOperand {
        if node.isConstant { return try constant(try node.computed(for: nil)) }
        switch node {
        case .constant(let value): return try constant(value)
        case .evaluatedObject: return .value(scope.object.expression)
        case .variable: return try operand(start(node, scope))
        case .keyPath(let path): return try operand(path, from: .object(scope.object))
        case .keyPathOf(let base, let path): return try operand(path, from: start(base, scope))
        case .index(let base, let index): return try element(index, of: base, scope)
        case .aggregate(let elements): return .list(try elements.map { try value($0, scope) })
        case .function(let name, let arguments): return try function(name, arguments, scope)
        case .cast(let operand, let type):
            let operand = try value(operand, scope)
            return .value(try call("castObject:toType:", [operand, text(type)], type: castType(type, of: operand)))
        case .subquery: return try operand(start(node, scope))
        case .setOperation(let operation, let left, let right):
            return .setOperation(operation, try operand(left, scope), try operand(right, scope))
        case .conditional(let condition, let yes, let no): return .value(try conditional(condition, yes, no, scope))
        case .message(_, let selector, _): throw refusal("FUNCTION(…, '\(selector)')")
        case .anyKey: throw refusal("ANYKEY")
        case .opaque: throw refusal("an expression made of a block")
        case .unanswerable(let reason): throw reason.ofAFetch
        }
    }

    /// A side that must be a single value.
    func value(_ node: ExpressionNode, _ scope: SQLScope) throws -> SQLExpression {
        guard case .value(let value) = try operand(node, scope) else { throw refusal("a collection where a single value is needed") }
        return value
    }

    /// A computed value in the form of an attribute's column.
    func stored(_ computed: SQLExpression, _ node: ExpressionNode, as slot: Int, of layout: EntityLayout) throws -> String {
        if computed.type == .null { return "NULL" }
        guard let tag = computed.type.tag, let attribute = layout.attribute(atSlot: slot), attribute.kind === AttributeKind[attribute.attributeType],
            attribute.valueTransformerName == nil
        else { throw refusal("\(node.canonicalFormat) as a value of \(layout.fullName(slot))") }
        return try call(.store, tag.sql, sql(computed), String(attribute.attributeType.rawValue), layout.fullName(slot).sqlText)
    }

    private func operand(_ step: Step) throws -> SQLOperand {
        switch step {
        case .object(let object): .value(object.expression)
        case .value(let value): .value(value)
        case .collection(let collection): .collection(collection)
        }
    }

    private func operand(_ path: PredicateKeyPath, from start: Step) throws -> SQLOperand {
        if let split = path.split {
            guard let keys = split.collection.keys else { throw refusal("several operators in one key path") }
            return try aggregate(split.collectionOperator, start, collection: keys, rest: split.rest)
        }
        return try operand(follow(path.keys ?? [], from: start))
    }

    /// What a key path may start from: a variable, `SELF`, a subquery.
    private func start(_ node: ExpressionNode, _ scope: SQLScope) throws -> Step {
        switch node {
        case .evaluatedObject: return .object(scope.object)
        case .variable(let name):
            switch scope.variables[name] {
            case .object(let object)?: return .object(object)
            case .value(let value)?: return .value(value)
            case nil: throw refusal("the variable $\(name), which has no value")
            }
        case .keyPath(let path):
            guard let keys = path.keys else { throw refusal("a key of \(path)") }
            return try follow(keys, from: .object(scope.object))
        case .keyPathOf(let base, let path):
            guard let keys = path.keys else { throw refusal("a key of \(path)") }
            return try follow(keys, from: start(base, scope))
        case .subquery(let collection, let variable, let predicate):
            guard case .collection(let elements) = try start(collection, scope) else {
                throw refusal("SUBQUERY over what is not a to-many")
            }
            var inner = scope
            switch elements.element {
            case .object(let object): inner.variables[variable] = .object(object)
            case .value(let value): inner.variables[variable] = .value(value)
            }
            elements.source.conditions.append(try condition(predicate, inner))
            return .collection(elements)
        case .index(let base, let index):
            if case .element(.constant(.string(let key))) = index {
                return try start(base.appending(PredicateKeyPath(keys: [key])), scope)
            }
            throw refusal("an element of a to-many by its place")
        default: throw refusal("a key path from a computed value")
        }
    }

    private func element(_ index: PredicateIndex, of base: ExpressionNode, _ scope: SQLScope) throws -> SQLOperand {
        switch index {
        case .size:
            guard case .collection(let collection) = try operand(base, scope) else { throw refusal("[SIZE] of what is not a to-many") }
            // Of no collection there is no size; a to-many over nil is none.
            return try aggregate(.count, collection)
        case .element(.constant(.string(let key))): return try operand(base.appending(PredicateKeyPath(keys: [key])), scope)
        case .element, .first, .last: throw refusal("an element of a to-many by its place")
        }
    }

    // MARK: Constants

    func constant(_ value: PredicateValue) throws -> SQLOperand {
        if case .collection(let collection) = value {
            return .list(
                try collection.elements.map { element in
                    if case .collection = element { throw refusal("a collection of collections") }
                    return single(element)
                })
        }
        return .value(single(value))
    }

    /// The parameter is placed when the expression is used: see `SQLExpression.sql` of a constant in `placed`.
    private func single(_ value: PredicateValue) -> SQLExpression {
        switch value {
        case .null: return SQLExpression(sql: "NULL", type: .null, constant: value)
        case .bool, .integer, .double: return SQLExpression(sql: "", type: .number, constant: value)
        case .decimal: return SQLExpression(sql: "", type: .decimal, constant: value)
        case .string: return SQLExpression(sql: "", type: .string, constant: value)
        case .date: return SQLExpression(sql: "", type: .date, constant: value)
        case .data: return SQLExpression(sql: "", type: .data, constant: value)
        case .uuid: return SQLExpression(sql: "", type: .uuid, constant: value)
        case .url: return SQLExpression(sql: "", type: .url, constant: value)
        case .object(let object):
            guard let id = object.identity.base as? NSManagedObjectID, let map = schema[id.entity], map.entity === id.entity,
                id.storeIdentity.isSame(as: identity)
            else { return SQLExpression(sql: "NULL", type: .stranger, constant: value) }
            return SQLExpression(sql: String(id.key), type: .object(table: map.table), constant: value)
        case .collection, .opaque: return SQLExpression(sql: "NULL", type: .stranger, constant: value)
        }
    }

    /// The expression as it stands in SQL: a constant becomes a parameter.
    func sql(_ expression: SQLExpression) -> String {
        guard expression.sql.isEmpty, let constant = expression.constant else { return expression.sql }
        return place(dialect.parameter(constant))
    }

    private func text(_ string: String) -> SQLExpression { SQLExpression(sql: "", type: .string, constant: .string(string)) }

    // MARK: Functions

    private func function(_ name: String, _ arguments: [ExpressionNode], _ scope: SQLScope) throws -> SQLOperand {
        let aggregates: [String: CollectionOperator] = ["sum:": .sum, "count:": .count, "min:": .min, "max:": .max, "average:": .avg]
        if let aggregated = aggregates[name], arguments.count == 1 {
            guard case .collection(let elements) = try operand(arguments[0], scope) else { throw refusal("\(name) of what is not a to-many") }
            return try aggregate(aggregated, elements)
        }
        if name == "distinct:", arguments.count == 1 { return try operand(arguments[0], scope) }
        guard name != "median:", name != "now", PredicateFunction(name)?.argumentCount == arguments.count else {
            throw refusal("the function \(name)")
        }
        let values = try arguments.map { try value($0, scope) }
        let arithmetic = ["add:to:": "+", "from:subtract:": "-", "multiply:by:": "*", "divide:by:": "/"]
        if let sign = arithmetic[name] {
            if values.contains(where: { !$0.type.isNumeric }) { return .value(SQLExpression(sql: "NULL", type: .null)) }
            if values.allSatisfy({ $0.type == .number }) {
                // The constant keeps its own type: SQLite would take a parameter of no affinity the same way.
                return .value(SQLExpression(sql: "(\(sql(values[0])) \(sign) \(sql(values[1])))", type: .number))
            }
            guard values.allSatisfy({ $0.type == .decimal || $0.isInteger }) else {
                throw refusal("arithmetic between a decimal and a number that may be real")
            }
            return .value(try call(name, values, type: .decimal))
        }
        switch name {
        case let name where PredicateFunction.ofText.contains(name): return .value(try call(name, values, type: .string))
        case "abs:": return .value(try call(name, values, type: values[0].type == .decimal ? .decimal : .number))
        case "castObject:toType:":
            guard case .string(let type)? = values[1].constant else { throw refusal("a cast to a type that is not constant") }
            return .value(try call(name, values, type: castType(type, of: values[0])))
        default: return .value(try call(name, values, type: .number))
        }
    }

    /// A function of predicates, called from SQL.
    private func call(_ name: String, _ values: [SQLExpression], type: SQLType) throws -> SQLExpression {
        let tags = try values.map { value -> ValueTag in
            guard let tag = value.type.tag else { throw refusal("the function \(name) of objects") }
            return tag
        }
        let tagText = String(decoding: tags.map(\.rawValue), as: UTF8.self)
        guard let called = dialect.call(.call, [name.sqlText, tagText.sqlText] + values.map { sql($0) }) else {
            throw refusal("the function \(name)")
        }
        return SQLExpression(sql: called, type: type)
    }

    private func castType(_ name: String, of value: SQLExpression) throws -> SQLType {
        switch Cast(name)?.target {
        case .number?: return value.type == .decimal ? .decimal : .number
        case .decimal?: return .decimal
        case .string?: return .string
        case .date?: return .date
        case .data?: return .data
        case .uuid?: return .uuid
        case .url?: return .url
        case nil: throw refusal("CAST to \(name)")
        }
    }

    private func conditional(
        _ test: PredicateNode, _ yes: ExpressionNode, _ no: ExpressionNode, _ scope: SQLScope
    ) throws -> SQLExpression {
        let first = try value(yes, scope), second = try value(no, scope)
        let type: SQLType
        switch (first.type, second.type) {
        case (let same, let other) where same == other: type = same
        case (.null, let other), (let other, .null): type = other
        default: throw refusal("TERNARY between values of different types")
        }
        let tested = try negatable { try condition(test, scope) }
        return SQLExpression(sql: "CASE WHEN \(tested) THEN \(sql(first)) ELSE \(sql(second)) END", type: type)
    }
}

extension SQLExpression {
    /// Whether it is known to be an integer or a boolean.
    var isInteger: Bool {
        switch constant {
        case .integer?, .bool?: true
        default: false
        }
    }
}
