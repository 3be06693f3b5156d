/// A uniqueness constraint as the rows of one entity have it. It equals that of every other entity of the tree that inherits it: a key is one among the
/// rows of all of them. A push and the stores ask it what a row's key is, and whether a change gives the row another.
package struct UniquenessConstraint: Hashable, Sendable {
    /// Its number, the same in every entity that has it.
    package let number: Int
    /// The slots of its attributes.
    package let slots: [Int]
    /// Which entity declares it. Tables that are keyed by constraints may outlive the model.
    private let name: ObjectIdentifier
    private unowned let declaring: NSEntityDescription
    /// The entity that declares it. The model must be alive.
    package var declarer: NSEntityDescription { declaring }

    /// - Parameter entity: whose slots those are.
    init(number: Int, of entity: NSEntityDescription, slots: [Int]) {
        var declarer = entity
        while let ancestor = declarer.superentity, ancestor.constraintNames.count > number { declarer = ancestor }
        self.number = number
        self.slots = slots
        declaring = declarer
        name = ObjectIdentifier(declarer)
    }

    package static func == (left: Self, right: Self) -> Bool { left.number == right.number && left.name == right.name }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(number)
        hasher.combine(name)
    }

    /// The key of a row; nil if one of its values is null.
    package func key(of row: RowSnapshot) -> UniqueKey? { UniqueKey(row, slots: slots) }

    /// Whether what was changed can have given the row another key.
    package func isTouched(by change: PendingRow) -> Bool {
        change.kind == .inserted || slots.contains { change.changed.contains($0) }
    }

    /// The key that a changed row has now and did not have before, if there is one.
    func newKey(of change: PendingRow) -> UniqueKey? {
        guard isTouched(by: change), let row = change.row, let key = key(of: row) else { return nil }
        guard let base = change.base else { return key }
        return self.key(of: base) == key ? nil : key
    }
}

/// The values of one uniqueness constraint of a row: a dictionary key. A key with a null in it is not a key (SQL's rule).
package enum UniqueKey: Hashable, Sendable {
    case one(AttributeValue)
    case many([AttributeValue])

    fileprivate init?(_ row: RowSnapshot, slots: [Int]) {
        if slots.count == 1 {
            let value = row[slots[0]]
            if value.isNull { return nil }
            self = .one(value)
        } else {
            var values: [AttributeValue] = []
            values.reserveCapacity(slots.count)
            for slot in slots {
                let value = row[slot]
                if value.isNull { return nil }
                values.append(value)
            }
            self = .many(values)
        }
    }

    package init(_ values: [AttributeValue]) {
        self = values.count == 1 ? .one(values[0]) : .many(values)
    }

    package var values: [AttributeValue] {
        switch self {
        case .one(let value): [value]
        case .many(let values): values
        }
    }
}
