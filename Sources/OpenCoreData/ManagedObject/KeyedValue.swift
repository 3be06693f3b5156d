import Foundation

/// Values between properties of a class and key-value coding.
enum KeyedValue {
    /// As key-value coding hands out the values of rows: no optional around them, numbers as `NSNumber`.
    static func external(_ value: Any) -> Any? {
        switch value {
        case let value as any OptionalValue: value.wrapped.flatMap { external($0) }
        case let value as any KeyedConvertible: value.encode().value.any
        default: value
        }
    }

    /// A value as a property of this type takes it; nil if it can't be one.
    static func converted<Value>(_ value: Any?, to type: Value.Type) -> Value? {
        guard let value, !(value is NSNull) else {
            // Nothing, or no members.
            return (type as? any OptionalValue.Type)?.nothing as? Value ?? members([], of: type)
        }
        if let value = value as? Value { return value }
        let wrapped = (type as? any OptionalValue.Type)?.wrappedType ?? type
        if let convertible = wrapped as? any KeyedConvertible.Type { return convertible.converted(value) as? Value }
        switch value {
        case let objects as Set<NSManagedObject>: return members(Array(objects), of: type)
        case let objects as [NSManagedObject]: return members(objects, of: type)
        case let objects as NSOrderedSet: return members(objects.array.compactMap { $0 as? NSManagedObject }, of: type)
        case let objects as NSSet: return members(objects.allObjects.compactMap { $0 as? NSManagedObject }, of: type)
        default: return nil
        }
    }

    private static func members<Value>(_ objects: [NSManagedObject], of type: Value.Type) -> Value? {
        if let set = Set(objects) as? Value { return set }
        if let array = objects as? Value { return array }
        return NSOrderedSet(array: objects) as? Value ?? NSSet(array: objects) as? Value
    }
}

/// Any optional.
private protocol OptionalValue {
    static var nothing: Any { get }
    static var wrappedType: Any.Type { get }
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate static var nothing: Any { Self.none as Any }
    fileprivate static var wrappedType: Any.Type { Wrapped.self }
    fileprivate var wrapped: Any? { map { $0 } }
}

/// The types that values of Foundation's classes and other number types are converted to.
protocol KeyedConvertible: ManagedScalar {
    static func converted(_ value: Any) -> Self?
}

extension KeyedConvertible {
    fileprivate static func decoded(_ value: Any, as type: NSAttributeType) -> Self? {
        AttributeValue.coded(value, as: type).flatMap { decode(ManagedSlot($0)) }
    }
}

extension KeyedConvertible where Self: FixedWidthInteger {
    static func converted(_ value: Any) -> Self? { Int64.decoded(value, as: .integer64AttributeType).flatMap { Self(exactly: $0) } }
}

extension Int: KeyedConvertible {}
extension Int64: KeyedConvertible {}
extension Int32: KeyedConvertible {}
extension Int16: KeyedConvertible {}

extension Double: KeyedConvertible {
    static func converted(_ value: Any) -> Double? { decoded(value, as: .doubleAttributeType) }
}

extension Float: KeyedConvertible {
    static func converted(_ value: Any) -> Float? { decoded(value, as: .doubleAttributeType) }
}

extension Bool: KeyedConvertible {
    static func converted(_ value: Any) -> Bool? { decoded(value, as: .booleanAttributeType) }
}

extension Decimal: KeyedConvertible {
    static func converted(_ value: Any) -> Decimal? { decoded(value, as: .decimalAttributeType) }
}

extension String: KeyedConvertible {
    static func converted(_ value: Any) -> String? { decoded(value, as: .stringAttributeType) }
}

extension Date: KeyedConvertible {
    static func converted(_ value: Any) -> Date? { decoded(value, as: .dateAttributeType) }
}

extension Data: KeyedConvertible {
    static func converted(_ value: Any) -> Data? { decoded(value, as: .binaryDataAttributeType) }
}

extension UUID: KeyedConvertible {
    static func converted(_ value: Any) -> UUID? { decoded(value, as: .UUIDAttributeType) }
}
