import Foundation

/// A fetch of dictionaries as a value: which columns, and how objects are grouped into them. What a store holds is fetched and computed here,
/// by the same rules as in predicates.
struct DictionaryPlan: Sendable {
    struct Column: Sendable {
        let name: String
        let source: Source
    }

    enum Source: Sendable {
        /// Names over to-ones to an attribute or a to-one.
        case property([String])
        case expression(ExpressionNode, NSAttributeType)
    }

    let columns: [Column]
    private let entity: NSEntityDescription
    private let grouping: [[String]]
    private let having: PredicateNode?
    private let isDistinct: Bool
    /// Whether objects are taken together.
    private let isGrouped: Bool

    init<T>(_ request: NSFetchRequest<T>, _ plan: FetchPlan) throws {
        let entity = plan.entity
        self.entity = entity
        grouping = try (request.propertiesToGroupBy ?? []).map { try Self.path(of: $0, entity: entity) }
        if let wanted = request.propertiesToFetch {
            columns = try wanted.map { try Self.column($0, entity: entity) }
        } else {
            let layout = entity.layout
            columns = layout.slots.indices.filter { layout.attribute(atSlot: $0) != nil && !layout.isTransient[$0] }
                .map { Column(name: layout.names[$0], source: .property([layout.names[$0]])) }
        }
        having = request.havingPredicate?.node.frozen()
        isDistinct = request.returnsDistinctResults
        let computes = columns.contains { column in
            if case .expression(let node, _) = column.source { return node.containsAggregate(of: entity) }
            return false
        }
        isGrouped = computes || !grouping.isEmpty
        if having != nil && grouping.isEmpty {
            throw NSError.coreData(.coreData, "havingPredicate chooses among groups; name them in propertiesToGroupBy.")
        }
        guard isGrouped else { return }
        for column in columns {
            switch column.source {
            case .property(let path) where !grouping.contains(path):
                throw NSError.coreData(
                    .coreData, "The column \(column.name) has no one value in a group: name it in propertiesToGroupBy, or compute it by sum:, min: …")
            default: break
            }
        }
        for key in plan.sort where place(of: key) == nil {
            throw NSError.coreData(.coreData, "Groups can be sorted by their columns only, not by \(key.path.joined(separator: ".")).")
        }
    }

    private static func column(_ property: Any, entity: NSEntityDescription) throws -> Column {
        guard let computed = property as? NSExpressionDescription else {
            let path = try path(of: property, entity: entity)
            return Column(name: path.joined(separator: "."), source: .property(path))
        }
        guard let node = computed.expression?.node else { Violation.misuse("the column \(computed.name) has no expression") }
        return Column(name: computed.name, source: .expression(node, computed.expressionResultType))
    }

    /// A property by name, by key path or by description. Traps for what a column can't hold.
    private static func path(of property: Any, entity: NSEntityDescription) throws -> [String] {
        guard let name = (property as? String) ?? (property as? NSPropertyDescription)?.name else {
            Violation.misuse("\(property) is no property that can be fetched; use names or descriptions")
        }
        let path = name.split(separator: ".").map(String.init)
        var owner: NSEntityDescription? = entity
        for (index, key) in path.enumerated() {
            guard let current = owner else { Violation.unknownKey(name, entity: entity.name) }
            switch current.layout.place(of: key) {
            case .toMany?: Violation.misuse("\(current.name ?? "?").\(key) is a to-many; a dictionary has no room for it")
            case .slot(let slot)?:
                owner = current.layout.relationship(atSlot: slot)?.destinationEntity
                if current.layout.isTransient[slot] { Violation.misuse("\(current.name ?? "?").\(key) is transient; no store has it") }
            case nil:
                if index == path.count - 1, key == "objectID" { return path }
                Violation.unknownKey(key, entity: current.name)
            }
        }
        return path
    }

    // MARK: Evaluation

    /// The values of each dictionary, in the order of the columns.
    func evaluate(_ plan: FetchPlan, in context: NSManagedObjectContext) throws -> [[AttributeValue]] {
        guard let coordinator = context.endOfChain else { return [] }
        var rows = plan
        rows.includesRows = true
        if isGrouped || isDistinct {
            rows.limit = 0
            rows.offset = 0
        }
        if isGrouped { rows.sort = [] }
        let found = try coordinator.fetch(rows).compactMap { fetched in
            fetched.row.map { RowView(id: fetched.id, row: $0, channel: coordinator) }
        }
        guard isGrouped else {
            let values = found.map { view in columns.map { value(of: $0, view) } }
            return isDistinct ? plan.windowed(Self.distinct(values)) : values
        }
        var result: [[AttributeValue]] = []
        for group in groups(found) {
            let values = columns.map { value(of: $0, group) }
            if let having, !holds(having, values, group) { continue }
            result.append(values)
        }
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

    private func value(of column: Column, _ view: RowView) -> AttributeValue {
        switch column.source {
        case .property(let path): view.attributeValue(path)
        case .expression(let node, let type): AttributeValue(node.evaluate(in: EvaluationScope(view)), as: type)
        }
    }

    private func value(of column: Column, _ group: [RowView]) -> AttributeValue {
        switch column.source {
        case .property(let path): group.first?.attributeValue(path) ?? .null
        case .expression(let node, let type):
            AttributeValue(node.aggregated(over: group, of: entity).evaluate(in: EvaluationScope(group.first)), as: type)
        }
    }

    /// Columns are known by their names, as keys and as variables; aggregates are computed over the group.
    private func holds(_ predicate: PredicateNode, _ values: [AttributeValue], _ group: [RowView]) -> Bool {
        var named: [String: PredicateValue] = [:]
        for path in grouping { named[path.joined(separator: ".")] = PredicateValue((group.first?.attributeValue(path) ?? .null).plain) }
        for (column, value) in zip(columns, values) { named[column.name] = PredicateValue(value.plain) }
        let node = predicate.mapExpressions { expression in
            if expression.isAggregate(of: entity) { return expression.aggregated(over: group, of: entity) }
            if case .keyPath(let path) = expression, let value = named[path.description] { return .constant(value) }
            if case .variable(let name) = expression, let value = named[name] { return .constant(value) }
            return expression
        }
        return node.evaluate(in: EvaluationScope(group.first))
    }

    private func place(of key: SortKey) -> Int? {
        let name = key.path.joined(separator: ".")
        return columns.firstIndex { $0.name == name }
    }

    private func sorted(_ values: [[AttributeValue]], by keys: [SortKey]) -> [[AttributeValue]] {
        let places = keys.compactMap { key in place(of: key).map { (place: $0, key: key) } }
        if places.isEmpty { return values }
        return values.enumerated().sorted { left, right in
            for (place, key) in places {
                switch RowOrdering.compare(RowOrdering.folded(left.element[place], key), RowOrdering.folded(right.element[place], key)) {
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
        for (column, value) in zip(columns, values) {
            if let value = value.any { result.setObject(value, forKey: column.name as NSString) }
        }
        return result
    }
}
