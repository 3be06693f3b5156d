import Foundation

extension ExpressionNode {
    /// The expression with its aggregates computed.
    func aggregated(over group: [RowView], of entity: NSEntityDescription) throws -> ExpressionNode {
        try mapExpressions { expression in
            guard expression.isAggregate(of: entity), case .function(let name, let arguments) = expression else { return expression }
            let values = try group.map { try arguments[0].computed(for: $0) }
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
