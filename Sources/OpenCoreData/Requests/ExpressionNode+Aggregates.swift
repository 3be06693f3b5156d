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
}
