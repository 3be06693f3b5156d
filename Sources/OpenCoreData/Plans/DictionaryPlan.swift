import Foundation

/// A fetch of dictionaries as a value: which columns, and how objects are grouped into them.
package struct DictionaryPlan: Sendable {
    package struct Column: Sendable {
        package let name: String
        package let source: Source
        /// The keys under which dictionaries have it; nil: its name. Of a composite that was asked for as one, each leaf is a column.
        var nesting: [String]?
    }

    package enum Source: Sendable {
        /// Names over to-ones to an attribute or a to-one.
        case property([String])
        case expression(ExpressionNode, NSAttributeType)
    }

    let columns: [Column]
    let entity: NSEntityDescription
    let grouping: [[String]]
    let having: PredicateNode?
    let isDistinct: Bool
    /// Whether objects are taken together.
    let isGrouped: Bool

    /// - Parameters:
    ///   - properties: the columns: names, key paths or descriptions; nil: all attributes that are stored.
    ///   - grouping: by what objects are taken together, as `properties`.
    ///   - having: which groups are wanted.
    init(_ plan: FetchPlan, fetching properties: [Any]?, groupingBy grouping: [Any]?, having: NSPredicate?, isDistinct: Bool) throws {
        let entity = plan.entity
        self.entity = entity
        self.grouping = try (grouping ?? []).flatMap { try Self.paths(of: $0, entity: entity).paths }
        if let wanted = properties {
            columns = try wanted.flatMap { try Self.columns($0, entity: entity) }
        } else {
            columns = try entity.properties.filter { $0 is NSAttributeDescription && !$0.isTransient }
                .flatMap { try Self.columns($0, entity: entity) }
        }
        self.having = try having.map { try $0.node.resolvingFetches().frozen().mapExpressions { $0.folded(for: entity) } }
        self.isDistinct = isDistinct
        let grouping = self.grouping, having = self.having
        let computes = columns.contains { column in
            if case .expression(let node, _) = column.source { return node.containsAggregate(of: entity) }
            return false
        }
        isGrouped = computes || !grouping.isEmpty
        if having != nil && grouping.isEmpty {
            throw NSError.coreData(.coreData, "havingPredicate chooses among groups; name them in propertiesToGroupBy.")
        }
        try having?.checkFetchable(entity.name, variables: Set(columns.map(\.name) + grouping.map { $0.joined(separator: ".") }))
        guard isGrouped else { return }
        let known = Set(columns.map(\.name) + grouping.map { $0.joined(separator: ".") })
        let outside = having?.mapExpressions { $0.isAggregate(of: entity) ? .constant(.null) : $0 }.keyPaths.first { !known.contains($0.description) }
        if let outside {
            throw NSError.coreData(
                .coreData, "havingPredicate names \(outside), which has no one value in a group; it may name columns and aggregates.")
        }
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

    private static func columns(_ property: Any, entity: NSEntityDescription) throws -> [Column] {
        guard let computed = property as? NSExpressionDescription else {
            let (whole, paths) = try paths(of: property, entity: entity)
            return paths.map { path in
                let name = path.joined(separator: ".")
                let keys = whole.map { [$0] + name.dropFirst($0.count + 1).split(separator: ".").map(String.init) }
                return Column(name: name, source: .property(path), nesting: keys)
            }
        }
        guard let node = try computed.expression?.node.resolvingFetches() else {
            throw CoreDataMisuse(.other, "the column \(computed.name) has no expression").survived()
        }
        try node.checkFetchable(entity.name)
        return [Column(name: computed.name, source: .expression(node.folded(for: entity), computed.expressionResultType))]
    }

    /// A property by name, by key path or by description: its path; of a composite those of its stored leaves, and its name. Traps for what a column can't hold.
    private static func paths(of property: Any, entity: NSEntityDescription) throws -> (composite: String?, paths: [[String]]) {
        guard let name = (property as? String) ?? (property as? NSPropertyDescription)?.nameInEntity else {
            throw CoreDataMisuse(.wrongType, "\(property) is not a property that can be fetched; use names or descriptions").survived()
        }
        let path = entity.folded(name.split(separator: ".").map(String.init))
        guard let composite = entity.composite(at: path) else { return (nil, [try checked(path, name, entity: entity)]) }
        let leaves = composite.storedLeafPaths.map { path.dropLast() + [$0] }
        if leaves.isEmpty { throw CoreDataMisuse(.wrongType, "\(entity.name ?? "?").\(name) is transient; no store has it").survived() }
        return (name, try leaves.map { try checked(Array($0), name, entity: entity) })
    }

    private static func checked(_ path: [String], _ name: String, entity: NSEntityDescription) throws -> [String] {
        var owner: NSEntityDescription? = entity
        for (index, key) in path.enumerated() {
            guard let current = owner else { throw CoreDataMisuse.unknownKey(name, entity: entity.name).survived() }
            switch current.layout.place(of: key) {
            case .toMany?:
                throw CoreDataMisuse(.wrongType, "\(current.name ?? "?").\(key) is a to-many; a dictionary has no room for it").survived()
            case .composite?: throw CoreDataMisuse.unknownKey(name, entity: entity.name).survived()
            case .slot(let slot)?:
                owner = current.layout.relationship(atSlot: slot)?.destinationEntity
                if current.layout.isTransient[slot] {
                    throw CoreDataMisuse(.wrongType, "\(current.name ?? "?").\(key) is transient; no store has it").survived()
                }
            case nil:
                if index == path.count - 1, key == "objectID" { return path }
                throw CoreDataMisuse.unknownKey(key, entity: current.name).survived()
            }
        }
        return path
    }

    /// Which column a sort key names.
    func place(of key: SortKey) -> Int? {
        let name = key.path.joined(separator: ".")
        return columns.firstIndex { $0.name == name }
    }
}

/// Functions over the objects of a group.
extension ExpressionNode {
    private static let aggregates: Set<String> = ["sum:", "min:", "max:", "average:", "count:"]

    /// Whether it is a function over many objects, and not over the members of a to-many of each.
    func isAggregate(of entity: NSEntityDescription) -> Bool {
        guard case .function(let name, let arguments) = self, arguments.count == 1, Self.aggregates.contains(name) else { return false }
        return !arguments[0].isCollection(of: entity)
    }

    func containsAggregate(of entity: NSEntityDescription) -> Bool {
        var found = false
        _ = mapExpressions { expression in
            if expression.isAggregate(of: entity) { found = true }
            return expression
        }
        return found
    }

    private func isCollection(of entity: NSEntityDescription) -> Bool {
        switch self {
        case .keyPath(let path):
            guard let keys = path.keys else { return false }
            var owner: NSEntityDescription? = entity
            for key in keys {
                guard let layout = owner?.layout else { return false }
                switch layout.place(of: key) {
                case .toMany?: return true
                case .slot(let slot)?: owner = layout.relationship(atSlot: slot)?.destinationEntity
                case .composite?, nil: return false
                }
            }
            return false
        case .constant(.collection), .aggregate, .subquery, .setOperation: return true
        default: return false
        }
    }
}

extension DictionaryPlan.Column {
    /// A computed value as an attribute of the column's type, if it has one.
    ///
    /// - Throws: 134060 for a number beyond 64 bits where the type is an integer: there is no such integer to give.
    func typed(_ value: AttributeValue, entity: NSEntityDescription) throws -> AttributeValue {
        guard case .expression(_, let type) = source, type != .undefinedAttributeType else { return value }
        if let typed = AttributeValue.coded(value.plain, as: type) { return typed }
        switch (type, value) {
        case (.integer16AttributeType, .double), (.integer32AttributeType, .double), (.integer64AttributeType, .double),
            (.integer16AttributeType, .decimal), (.integer32AttributeType, .decimal), (.integer64AttributeType, .decimal):
            throw NSError.coreData(
                .coreData,
                "The column \(name) of \(entity.name ?? "?") is \(value.any ?? "nil"), which does not fit an integer of 64 bits: set its "
                    + "expressionResultType to double or decimal, or compute it over fewer objects.")
        default: return value
        }
    }
}

extension AttributeValue {
    /// A computed value.
    init(_ value: PredicateValue) {
        self =
            switch value {
            case .null, .collection, .opaque: .null
            case .bool(let value): .bool(value)
            case .integer(let value): .int64(value)
            case .double(let value): .double(value)
            case .decimal(let value): .decimal(value)
            case .string(let value): .string(value)
            case .date(let value): .date(value.timeIntervalSinceReferenceDate)
            case .data(let value): .data(value)
            case .uuid(let value): .uuid(value)
            case .url(let value): .object(ObjectBox(value))
            case .object(let object): (object.identity.base as? NSManagedObjectID).map { .objectID($0) } ?? .null
            }
    }
}
