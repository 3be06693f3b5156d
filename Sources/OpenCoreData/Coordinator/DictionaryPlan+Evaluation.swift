import Foundation

/// Dictionaries computed in memory, by the rules of predicates.
extension DictionaryPlan {
    /// The values of each dictionary, in the order of the columns and of the types that these ask for: from the store where it can say it, else from
    /// the objects' rows.
    func evaluate(_ plan: FetchPlan, in stores: some StoresChannel) throws -> [[AttributeValue]] {
        let found = try computed(plan, in: stores)
        let isTyped = columns.contains { if case .expression(_, let type) = $0.source { type != .undefinedAttributeType } else { false } }
        return isTyped ? try found.map { values in try zip(columns, values).map { try $0.typed($1, entity: entity) } } : found
    }

    private func computed(_ plan: FetchPlan, in stores: some StoresChannel) throws -> [[AttributeValue]] {
        if let told = try stores.dictionaries(self, plan) { return told }
        var rows = plan
        rows.includesRows = true
        if isGrouped || isDistinct {
            rows.limit = 0
            rows.offset = 0
        }
        if isGrouped { rows.sort = [] }
        let reader = CheckedReader(stores)
        let found = try stores.fetch(rows).compactMap { fetched in
            fetched.row.map { RowView(id: fetched.id, row: $0, reader: reader) }
        }
        guard isGrouped else {
            let values = try found.map { view in try columns.map { try value(of: $0, view) } }
            try reader.check()
            return isDistinct ? plan.windowed(Self.distinct(values)) : values
        }
        var result: [[AttributeValue]] = []
        for group in groups(found) {
            let values = try columns.map { try value(of: $0, group) }
            if let having, try !holds(having, values, group) { continue }
            result.append(values)
        }
        try reader.check()
        if isDistinct { result = Self.distinct(result) }
        return plan.windowed(sorted(result, by: plan.sort))
    }

    private func groups(_ rows: [RowView]) -> [[RowView]] {
        // Without groups named, everything is one, also where there is nothing.
        if grouping.isEmpty { return [rows] }
        var places: [[AttributeValue]: Int] = [:], result: [[RowView]] = []
        for row in rows {
            let key = grouping.map { row.attributeValue($0) }
            if let place = places[key] {
                result[place].append(row)
            } else {
                places[key] = result.count
                result.append([row])
            }
        }
        return result
    }

    private func value(of column: Column, _ view: RowView) throws -> AttributeValue {
        switch column.source {
        case .property(let path): view.attributeValue(path)
        case .expression(let node, _): AttributeValue(try node.computed(for: view))
        }
    }

    private func value(of column: Column, _ group: [RowView]) throws -> AttributeValue {
        switch column.source {
        case .property(let path): group.first?.attributeValue(path) ?? .null
        case .expression(let node, _):
            AttributeValue(try node.aggregated(over: group, of: entity).computed(for: group.first))
        }
    }

    /// Columns are known by their names, as keys and as variables; aggregates are computed over the group.
    private func holds(_ predicate: PredicateNode, _ values: [AttributeValue], _ group: [RowView]) throws -> Bool {
        var named: [String: PredicateValue] = [:]
        for path in grouping { named[path.joined(separator: ".")] = PredicateValue((group.first?.attributeValue(path) ?? .null).plain) }
        for (column, value) in zip(columns, values) { named[column.name] = PredicateValue(value.plain) }
        let node = try predicate.mapExpressions { expression in
            if expression.isAggregate(of: entity) { return try expression.aggregated(over: group, of: entity) }
            if case .keyPath(let path) = expression, let value = named[path.description] { return .constant(value) }
            if case .variable(let name) = expression, let value = named[name] { return .constant(value) }
            return expression
        }
        return try node.selects(group.first)
    }

    private func sorted(_ values: [[AttributeValue]], by keys: [SortKey]) -> [[AttributeValue]] {
        let places = keys.compactMap { key in place(of: key).map { (place: $0, key: key) } }
        if places.isEmpty { return values }
        return values.enumerated().sorted { left, right in
            for (place, key) in places {
                switch RowOrdering.compare(key.sortable(left.element[place]), key.sortable(right.element[place])) {
                case .orderedSame: continue
                case .orderedAscending: return key.isAscending
                case .orderedDescending: return !key.isAscending
                }
            }
            return left.offset < right.offset
        }
        .map(\.element)
    }

    private static func distinct(_ values: [[AttributeValue]]) -> [[AttributeValue]] {
        var seen: Set<[AttributeValue]> = []
        return values.filter { seen.insert($0).inserted }
    }

    /// The dictionary of these values; nil has no entry.
    func dictionary(_ values: [AttributeValue]) -> NSDictionary {
        let result = NSMutableDictionary()
        var nested: [String: Any] = [:]
        for (column, value) in zip(columns, values) {
            guard let value = value.any else { continue }
            if let keys = column.nesting { nested.nest(value, under: keys[...]) } else { result.setObject(value, forKey: column.name as NSString) }
        }
        for (name, value) in nested { result.setObject(value, forKey: name as NSString) }
        return result
    }
}
