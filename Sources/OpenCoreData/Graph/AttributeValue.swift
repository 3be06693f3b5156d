import Foundation

/// One value of a row. Small (24 bytes), `Sendable`, and never an `Any`: what travels between levels, caches and the store.
///
/// Strings are equal when their UTF-8 bytes are, as in a store and in predicates: see `AttributeValue+Equality.swift`.
package enum AttributeValue: Hashable, Sendable {
    case null
    case int64(Int64)
    case double(Double)
    case bool(Bool)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case string(String)
    case data(Data)
    case uuid(UUID)
    case decimal(Decimal)
    /// The value of a to-one relationship.
    case objectID(NSManagedObjectID)
    /// A value with a class of its own: URI, transformable.
    case object(ObjectBox)

    package var isNull: Bool {
        if case .null = self { return true }
        return false
    }

    /// The target of a to-one.
    package var objectID: NSManagedObjectID? {
        if case .objectID(let id) = self { return id }
        return nil
    }

    /// Roughly what it takes in memory, in bytes.
    package var cost: Int {
        switch self {
        case .string(let string): 24 + (string.utf8.count > 15 ? string.utf8.count + 32 : 0)
        case .data(let data): 24 + data.count
        default: 24
        }
    }
}

/// Holds a value that has no case of its own.
// The boxed value is never mutated in place: setting an attribute makes a new box.
package final class ObjectBox: Hashable, @unchecked Sendable {
    package let value: AnyHashable

    package init(_ value: AnyHashable) { self.value = value }

    package static func == (left: ObjectBox, right: ObjectBox) -> Bool { left === right || left.value == right.value }
    package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
