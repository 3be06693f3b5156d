import Foundation

extension SQLTranslator {
    /// How a column of a dictionary is read.
    enum ColumnReading {
        case stored(ColumnCoding)
        /// Integer or real, as the database finds it.
        case number
    }

    struct DictionaryQuery {
        let query: Query
        let readings: [ColumnReading]
    }

    /// One SELECT for dictionaries; nil where not all of it can be said in SQL with the results that it has in memory.
    func query(_ table: DictionaryPlan, _ plan: FetchPlan) throws -> DictionaryQuery? {
        let map = try schema.map(of: plan.entity)
        let alias = newAlias(), source = SQLSource(tables: "\(map.tableName.sqlName) AS \(alias)")
        var scope = SQLScope(object: SQLObject(map: map, alias: alias, source: source))
        var columns: [(sql: String, type: SQLType, reading: ColumnReading)] = []
        for column in table.columns {
            guard let found = try value(of: column.source, in: table, scope, map) else { return nil }
            columns.append(found)
        }
        let numbers = schema.numbers(of: plan.entity, includingSubentities: plan.includesSubentities)
        if numbers.count < schema.tables[map.table].members.count {
            source.conditions.append("\(alias).Z_ENT IN (\(numbers.map(String.init).joined(separator: ", ")))")
        }
        if let predicate = plan.predicate { source.conditions.append(try condition(predicate, scope)) }

        var groups: [String] = []
        for path in table.grouping {
            guard let group = try value(of: .property(path), in: table, scope, map) else { return nil }
            groups.append(group.sql)
        }
        // Equal dictionaries once: a group for each.
        if table.isDistinct {
            if table.isGrouped { return nil }
            groups = columns.map(\.sql)
        }
        var order: [String] = []
        for key in plan.sort {
            if table.isGrouped || table.isDistinct {
                guard let place = table.place(of: key), key.selector == .compare else { return nil }
                order.append(dialect.ordered(columns[place].sql, isAscending: key.isAscending))
            } else {
                order.append(try sortTerm(key, scope))
            }
        }
        order.append(groups.isEmpty ? "\(alias).Z_PK" : "MIN(\(alias).Z_PK)")
        var having = ""
        if let predicate = table.having {
            guard let node = try bind(predicate, of: table, columns, into: &scope, map) else { return nil }
            having = " HAVING \(try condition(node, scope))"
        }
        var sql = "SELECT \(columns.map(\.sql).joined(separator: ", ")) FROM \(source.clause)"
        if !groups.isEmpty { sql += " GROUP BY \(groups.joined(separator: ", "))\(having)" }
        // Aggregates over everything are one row: nothing to order.
        if !table.isGrouped || !groups.isEmpty { sql += " ORDER BY \(order.joined(separator: ", "))" }
        sql += window(plan)
        return DictionaryQuery(query: Query(sql: sql, parameters: parameters), readings: columns.map(\.reading))
    }

    private func value(
        of source: DictionaryPlan.Source, in table: DictionaryPlan, _ scope: SQLScope, _ map: EntityMap
    ) throws -> (sql: String, type: SQLType, reading: ColumnReading)? {
        switch source {
        case .property(let path):
            guard let coding = coding(of: path, from: map),
                case .value(let value) = try operand(.keyPath(PredicateKeyPath(keys: path)), scope)
            else { return nil }
            return (value.sql, value.type, .stored(coding))
        case .expression(let node, _):
            guard node.isAggregate(of: table.entity), case .function(let name, let arguments) = node, case .keyPath(let path) = arguments[0],
                let keys = path.keys, let coding = coding(of: keys, from: map),
                case .value(let value) = try operand(.keyPath(path), scope)
            else { return nil }
            switch name {
            case "count:": return ("COUNT(\(value.sql))", .number, .number)
            case "min:", "max:":
                guard coding != .boolean else { return nil }
                return ("\(name.dropLast().uppercased())(\(value.sql))", value.type, .stored(coding))
            case "sum:" where value.type == .number: return (dialect.total(value.sql), .number, .number)
            case "average:" where value.type == .number: return (dialect.average(value.sql), .number, .number)
            default: return nil
            }
        }
    }

    /// The coding of the attribute at the end of a path; nil for what is not compared or read as it stands.
    private func coding(of path: [String], from map: EntityMap) -> ColumnCoding? {
        var current = map
        for (index, key) in path.enumerated() {
            guard let slot = current.layout.slot(of: key), let column = current.columns[slot] else { return nil }
            if index == path.count - 1 {
                switch column.coding {
                case .integer, .boolean, .double, .date, .string, .data, .uuid: return column.coding
                case .decimal, .uri, .transformable, .reference: return nil
                }
            }
            guard let destination = current.layout.relationship(atSlot: slot)?.destinationEntity, let next = schema[destination] else { return nil }
            current = next
        }
        return nil
    }

    /// The predicate over groups with the columns it names as variables; nil where it computes what can't be said.
    private func bind(
        _ predicate: PredicateNode, of table: DictionaryPlan, _ columns: [(sql: String, type: SQLType, reading: ColumnReading)],
        into scope: inout SQLScope, _ map: EntityMap
    ) throws -> PredicateNode? {
        var bindings: [String: SQLBinding] = [:], isWhole = true
        for (column, value) in zip(table.columns, columns) { bindings[column.name] = .value(SQLExpression(sql: value.sql, type: value.type)) }
        for path in table.grouping {
            guard let value = try value(of: .property(path), in: table, scope, map) else { return nil }
            bindings[path.joined(separator: ".")] = .value(SQLExpression(sql: value.sql, type: value.type))
        }
        let outer = scope
        let node = predicate.mapExpressions { expression in
            switch expression {
            case .keyPath(let path) where bindings[path.description] != nil: return .variable(path.description)
            case .variable(let name) where bindings[name] == nil: isWhole = false
            case .function(let name, let arguments) where expression.isAggregate(of: table.entity):
                // Its key path may have become a column's variable already.
                var argument = arguments[0]
                if case .variable(let column) = argument, let path = PredicateKeyPath(column) { argument = .keyPath(path) }
                let plain = ExpressionNode.function(name, [argument])
                guard let found = try? value(of: .expression(plain, .undefinedAttributeType), in: table, outer, map) else {
                    isWhole = false
                    break
                }
                let bound = "\(name)\(bindings.count)"
                bindings[bound] = .value(SQLExpression(sql: found.sql, type: found.type))
                return .variable(bound)
            default: break
            }
            return expression
        }
        guard isWhole else { return nil }
        scope.variables.merge(bindings) { _, new in new }
        return node
    }
}
