import Foundation

/// A raw-representable type as a property's type: `enum Mood: Int16, ManagedValue, ManagedScalar`, then `@Managed var mood: Mood?`. The row keeps the raw
/// value, so the attribute is of the raw value's type.
extension ManagedScalar where Self: RawRepresentable, RawValue: ManagedScalar {
    /// The value with the raw value in a slot; nil for null and for a raw value that the type doesn't know.
    public static func decode(_ slot: ManagedSlot) -> Self? { RawValue.decode(slot).flatMap { Self(rawValue: $0) } }
    /// The raw value as its attribute keeps it.
    public func encode() -> ManagedSlot { rawValue.encode() }
    /// What the raw value of a null is, if there is such a value: 0 for integers.
    public static var zero: Self? { RawValue.zero.flatMap { Self(rawValue: $0) } }
}

extension ManagedValue where Self: ManagedScalar & RawRepresentable, RawValue: ManagedScalar {
    /// Reads an attribute. Null reads as `zero`, and stops the program where that is nil; so does a raw value that the type doesn't know.
    public static func read(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        guard case .slot(let slot) = place else { Violation.misuse("a to-many relationship is declared as \(Self.self)") }
        let value = object.value(atSlot: slot)
        if let read = value.isNull ? zero : decode(ManagedSlot(value, object: object)) { return read }
        let name = "\(object.entity.name ?? "?").\(object.layout.names[slot])"
        Violation.misuse("\(name) is \(value.plain ?? "nil"), which is no \(Self.self); declare the property as optional")
    }
}

/// A `Codable` type as a property's type: `struct Address: ManagedCodable`, then `@Managed var address: Address?`. The attribute is of binary data, and
/// the row keeps the value as JSON with sorted keys, so that equal values are equal bytes.
///
/// Predicates and sort descriptors do not look into it; what they are to find is an attribute of its own, or an element of a composite one.
public protocol ManagedCodable: Codable, ManagedValue, ManagedScalar {}

extension ManagedCodable {
    /// The value in a slot; nil for null and for what can't be decoded.
    public static func decode(_ slot: ManagedSlot) -> Self? {
        guard case .data(let data) = slot.value else { return nil }
        return try? JSONDecoder().decode(Self.self, from: data)
    }

    /// The value as JSON. Stops the program for one that JSON has no form for, such as a number that is not finite.
    public func encode() -> ManagedSlot {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        do { return ManagedSlot(.data(try encoder.encode(self))) } catch { Violation.misuse("\(self) can't be kept as JSON: \(error)") }
    }

    /// Nil: a null read through a property that is not optional stops the program.
    public static var zero: Self? { nil }
}
