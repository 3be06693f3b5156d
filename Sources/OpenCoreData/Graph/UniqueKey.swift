/// The values of one uniqueness constraint of a row: a dictionary key. A key with a null in it is not a key (SQL's rule).
package enum UniqueKey: Hashable, Sendable {
    case one(AttributeValue)
    case many([AttributeValue])

    /// The key of a row; nil if one of its values is null.
    package init?(_ row: RowSnapshot, slots: [Int]) {
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
