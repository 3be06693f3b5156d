import Foundation

/// A property of a class that key-value coding finds by its key, as it finds methods by their names on Apple's platforms.
///
/// A class names its own in `keyedAccessors`. The key may be a property of the model, whose value then goes through the class's property, or any
/// other, like that of a computed property.
public struct KeyedAccessor: Sendable {
    /// What the value is asked for by.
    public let key: String
    let type: Any.Type
    let accepts: @Sendable (NSManagedObject.Type) -> Bool
    let read: @Sendable (NSManagedObject) -> Any?
    /// Returns whether the value was of a type that can be set. Nil: the property can only be read.
    let write: (@Sendable (NSManagedObject, Any?) -> Bool)?

    /// - Parameter property: `value(forKey:)` reads it. Setting the key goes to the row if the model knows the key; else it stops the program.
    public init<Owner: NSManagedObject, Value>(_ key: String, _ property: any KeyPath<Owner, Value> & Sendable) {
        self.init(key, property, write: nil)
    }

    /// - Parameter property: `value(forKey:)` reads it and `setValue(_:forKey:)` sets it. Numbers are converted; a value of another type, and nil
    ///   where the property is not optional, stop the program.
    public init<Owner: NSManagedObject, Value>(_ key: String, _ property: any ReferenceWritableKeyPath<Owner, Value> & Sendable) {
        self.init(key, property) { object, value in
            guard let value = KeyedValue.converted(value, to: Value.self) else { return false }
            // The table was checked when it was made.
            unsafeDowncast(object, to: Owner.self)[keyPath: property] = value
            return true
        }
    }

    private init<Owner: NSManagedObject, Value>(
        _ key: String, _ property: any KeyPath<Owner, Value> & Sendable, write: (@Sendable (NSManagedObject, Any?) -> Bool)?
    ) {
        self.key = key
        type = Value.self
        accepts = { $0 is Owner.Type }
        // As above.
        read = { KeyedValue.external(unsafeDowncast($0, to: Owner.self)[keyPath: property]) }
        self.write = write
    }
}

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

/// A method of a class that validation finds by a key, as it finds methods called `validate<Key>` on Apple's platforms.
///
/// A class names its own in `keyedValidators`. The method is called after the rules of the model were; it throws to refuse the value, and may
/// replace it.
public struct KeyedValidator: Sendable {
    /// The property whose values are checked.
    public let key: String
    let type: Any.Type
    let accepts: @Sendable (NSManagedObject.Type) -> Bool
    /// Returns whether the value was of the type that the method takes.
    let check: @Sendable (NSManagedObject, AutoreleasingUnsafeMutablePointer<AnyObject?>) throws -> Bool

    /// - Parameter method: as `Person.validateName`, where that is declared as `func validateName(_ value: inout String?) throws`.
    public init<Owner: NSManagedObject, Value: Equatable & SendableMetatype>(
        _ key: String, _ method: @escaping @Sendable (Owner) -> (inout Value?) throws -> Void
    ) {
        self.key = key
        type = Value.self
        accepts = { $0 is Owner.Type }
        check = { object, pointer in
            guard let before = KeyedValue.converted(pointer.pointee, to: Value?.self) else { return false }
            var value = before
            // The table was checked when it was made.
            try method(unsafeDowncast(object, to: Owner.self))(&value)
            if value != before { pointer.pointee = value.flatMap { KeyedValue.external($0) }.map { $0 as AnyObject } }
            return true
        }
    }
}
