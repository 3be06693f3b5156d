import Foundation

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
                case nil: return false
                }
            }
            return false
        case .constant(.collection), .aggregate, .subquery, .setOperation: return true
        default: return false
        }
    }

    /// The expression with its aggregates computed.
    func aggregated(over group: [RowView], of entity: NSEntityDescription) -> ExpressionNode {
        mapExpressions { expression in
            guard expression.isAggregate(of: entity), case .function(let name, let arguments) = expression else { return expression }
            let values = group.map { arguments[0].evaluate(in: EvaluationScope($0)) }
            switch name {
            case "count:": return .constant(.integer(Int64(values.count { !$0.isNull })))
            case "sum:": return .constant(Aggregates.sum(values))
            case "average:": return .constant(Aggregates.average(values))
            case "min:": return .constant(Aggregates.extreme(values, wanted: -1))
            default: return .constant(Aggregates.extreme(values, wanted: 1))
            }
        }
    }
}

extension RowView {
    /// The value at the end of names over to-ones.
    func attributeValue(_ path: [String]) -> AttributeValue {
        guard let last = path.last else { return .null }
        var current = self
        for name in path.dropLast() {
            guard case .objectID(let target) = current.row[name], let next = current.view(of: target) else { return .null }
            current = next
        }
        return last == "objectID" ? .objectID(current.id) : current.row[last]
    }
}

extension AttributeValue {
    /// A computed value, as an attribute of this type if one is given.
    init(_ value: PredicateValue, as type: NSAttributeType) {
        let plain: AttributeValue =
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
        self = type == .undefinedAttributeType ? plain : AttributeValue.coded(plain.plain, as: type) ?? plain
    }
}
