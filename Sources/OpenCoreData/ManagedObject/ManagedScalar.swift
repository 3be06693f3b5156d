import Foundation

/// A single value: an attribute's, or a to-one's object.
public protocol ManagedScalar {
    /// The value in a slot; nil for null and for a value of another type.
    static func decode(_ value: ManagedSlot) -> Self?
    /// The value in the form that a row keeps.
    func encode() -> ManagedSlot
    /// What a null reads as where the property is not optional; nil: a trap.
    static var zero: Self? { get }
}

extension ManagedValue where Self: ManagedScalar {
    /// Reads an attribute or to-one. Null reads as `zero`, and stops the program where that is nil. So does a to-many.
    public static func read(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        guard case .slot(let slot) = place else { Violation.misuse("a to-many relationship is declared as \(Self.self)") }
        if let value = decode(ManagedSlot(object.value(atSlot: slot), object: object)) ?? zero { return value }
        Violation.misuse("\(object.entity.name ?? "?").\(object.layout.names[slot]) is nil; declare the property as optional")
    }

    /// Sets an attribute or to-one, and tracks the change. Numbers are converted to the attribute's type; other mismatches stop the program.
    public func write(to object: NSManagedObject, at place: PropertyPlace) { object.write(encode(), at: place) }
}

extension Optional: ManagedValue where Wrapped: ManagedScalar {
    /// Reads an attribute or to-one; nil for null and for a value of another type. A to-many is never nil, and stops the program if the type is no
    /// collection.
    public static func read(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        if case .composite(let number) = place {
            checkIsDictionary()
            return object.compositeValue(number) as? Wrapped
        }
        guard case .slot(let slot) = place else { return members(of: object, at: place) }
        return Wrapped.decode(ManagedSlot(object.value(atSlot: slot), object: object))
    }

    private static func checkIsDictionary() {
        if Wrapped.self != [String: Any].self { Violation.misuse("a composite attribute is declared as \(Self.self), not as [String: Any]?") }
    }

    private static func members(of object: NSManagedObject, at place: PropertyPlace) -> Self {
        guard case .toMany(let number) = place, let type = Wrapped.self as? any ManagedCollection.Type else {
            Violation.misuse("a to-many relationship is declared as \(Self.self)")
        }
        return type.members(of: object, number) as? Wrapped
    }

    /// Sets an attribute or to-one, and tracks the change; nil writes null. Of a to-many, replaces the members, by none if nil.
    public func write(to object: NSManagedObject, at place: PropertyPlace) {
        if case .toMany(let number) = place {
            object.setToMany(number, to: (self as? any ManagedCollection)?.memberObjects ?? [])
            return
        }
        if case .composite = place {
            Self.checkIsDictionary()
            return object.write(self as? [String: Any], at: place)
        }
        object.write(self?.encode() ?? ManagedSlot(.null), at: place)
    }
}

extension NSManagedObject {
    final func write(_ slot: ManagedSlot, at place: PropertyPlace) {
        if fillsRows, case .slot(let number) = place, fill(number, with: slot.value) { return }
        if case .composite(let number) = place {
            Violation.misuse("\(entity.name ?? "?").\(layout.composites[number].path) is composite; declare the property as [String: Any]?")
        }
        guard case .slot(let number) = place else { return }
        let layout = layout
        if layout.takes(slot.value, atSlot: number) {
            setValue(slot.value, atSlot: number)
        } else if let relationship = layout.relationship(atSlot: number) {
            setToOne(relationship, slot: number, to: slot.object)
        } else if case .double(let seconds) = slot.value, layout.kinds[number].compared == .date {
            setValue(.date(seconds), atSlot: number)
        } else if let attribute = layout.attribute(atSlot: number) {
            setValue(slot.value.fitting(attribute, of: entity), atSlot: number)
        }
    }
}

extension AttributeValue {
    /// Integers written to a double or decimal attribute, doubles to a float …
    fileprivate func fitting(_ attribute: NSAttributeDescription, of entity: NSEntityDescription) -> AttributeValue {
        guard let coded = AttributeValue.coded(plain, as: attribute.kind) else {
            Violation.wrongType(plain ?? "nil", key: attribute.name, entity: entity.name, expected: attribute.kind.name)
        }
        return coded
    }
}

extension String: ManagedScalar, ManagedValue {
    /// The string in a slot; nil for null and for a value of another type.
    public static func decode(_ slot: ManagedSlot) -> String? {
        if case .string(let value) = slot.value { return value }
        return nil
    }
    /// This string as a string attribute keeps it.
    public func encode() -> ManagedSlot { ManagedSlot(.string(self)) }
    /// Nil: a null read through a property that is not optional stops the program.
    public static var zero: String? { nil }
}

extension Bool: ManagedScalar, ManagedValue {
    /// The truth value in a slot, or whether the number in it is not 0; nil for null and for a value of another type.
    public static func decode(_ slot: ManagedSlot) -> Bool? {
        if case .bool(let value) = slot.value { return value }
        return slot.value.real.map { $0 != 0 }
    }
    /// This value as a Boolean attribute keeps it.
    public func encode() -> ManagedSlot { ManagedSlot(.bool(self)) }
    /// False: what null reads as where the property is not optional.
    public static var zero: Bool? { false }
}

extension ManagedScalar where Self: FixedWidthInteger {
    /// The integer in a slot, cut to this type's low bits if it is too large; of another number, or a date, what is before its point. Nil for null
    /// and for a value of another type.
    public static func decode(_ slot: ManagedSlot) -> Self? {
        if case .int64(let value) = slot.value { return Self(truncatingIfNeeded: value) }
        return slot.value.real.flatMap { Int64(exactly: $0.rounded(.towardZero)) }.map { Self(truncatingIfNeeded: $0) }
    }
    /// This integer as 64 bits, which all integer attributes are kept as. Their range is checked at the save.
    public func encode() -> ManagedSlot { ManagedSlot(.int64(Int64(self))) }
    /// 0: what null reads as where the property is not optional.
    public static var zero: Self? { 0 }
}

extension AttributeValue {
    /// The number that this is for an accessor of another type than the attribute's, as Core Data's accessors of scalars convert: a date is its seconds
    /// since 2001. Nil for null and for what is no number.
    fileprivate var real: Double? {
        switch self {
        case .double(let value): value
        case .int64(let value): Double(value)
        case .bool(let value): value ? 1 : 0
        case .decimal(let value): NSDecimalNumber(decimal: value).doubleValue
        case .date(let seconds): seconds
        default: nil
        }
    }
}

extension Int: ManagedScalar, ManagedValue {}
extension Int8: ManagedScalar, ManagedValue {}
extension UInt8: ManagedScalar, ManagedValue {}
extension UInt16: ManagedScalar, ManagedValue {}
extension UInt32: ManagedScalar, ManagedValue {}
extension Int64: ManagedScalar, ManagedValue {}
extension Int32: ManagedScalar, ManagedValue {}
extension Int16: ManagedScalar, ManagedValue {}

extension Double: ManagedScalar, ManagedValue {
    /// The number in a slot, whatever kind of number it is; of a date, its seconds since 2001. Nil for null and for a value of another type.
    public static func decode(_ slot: ManagedSlot) -> Double? {
        if case .double(let value) = slot.value { return value }
        return slot.value.real
    }
    /// This number as a double attribute keeps it. NaN is refused at the save.
    public func encode() -> ManagedSlot { ManagedSlot(.double(self)) }
    /// 0: what null reads as where the property is not optional.
    public static var zero: Double? { 0 }
}

extension Float: ManagedScalar, ManagedValue {
    /// The number in a slot, rounded to 32 bits, whatever kind of number it is. Nil for null and for a value of another type.
    public static func decode(_ slot: ManagedSlot) -> Float? {
        if case .double(let value) = slot.value { return Float(value) }
        return slot.value.real.map { Float($0) }
    }
    /// This number as a double, which float attributes are kept as.
    public func encode() -> ManagedSlot { ManagedSlot(.double(Double(self))) }
    /// 0: what null reads as where the property is not optional.
    public static var zero: Float? { 0 }
}

extension Date: ManagedScalar, ManagedValue {
    /// The date in a slot; nil for null and for a value of another type.
    public static func decode(_ slot: ManagedSlot) -> Date? {
        if case .date(let value) = slot.value { return Date(timeIntervalSinceReferenceDate: value) }
        return nil
    }
    /// This date as seconds since 2001, the form that date attributes are kept in.
    public func encode() -> ManagedSlot { ManagedSlot(.date(timeIntervalSinceReferenceDate)) }
    /// Nil: a null read through a property that is not optional stops the program.
    public static var zero: Date? { nil }
}

extension Data: ManagedScalar, ManagedValue {
    /// The bytes in a slot; nil for null and for a value of another type.
    public static func decode(_ slot: ManagedSlot) -> Data? {
        if case .data(let value) = slot.value { return value }
        return nil
    }
    /// These bytes as a binary data attribute keeps them.
    public func encode() -> ManagedSlot { ManagedSlot(.data(self)) }
    /// Nil: a null read through a property that is not optional stops the program.
    public static var zero: Data? { nil }
}

extension UUID: ManagedScalar, ManagedValue {
    /// The UUID in a slot; nil for null and for a value of another type.
    public static func decode(_ slot: ManagedSlot) -> UUID? {
        if case .uuid(let value) = slot.value { return value }
        return nil
    }
    /// This UUID as a UUID attribute keeps it.
    public func encode() -> ManagedSlot { ManagedSlot(.uuid(self)) }
    /// Nil: a null read through a property that is not optional stops the program.
    public static var zero: UUID? { nil }
}

extension Decimal: ManagedScalar, ManagedValue {
    /// The number of a decimal attribute, exactly; nil for null and for a value of another type, integers and doubles included.
    public static func decode(_ slot: ManagedSlot) -> Decimal? {
        if case .decimal(let value) = slot.value { return value }
        return nil
    }
    /// This number as a decimal attribute keeps it, exactly. NaN is refused at the save.
    public func encode() -> ManagedSlot { ManagedSlot(.decimal(self)) }
    /// 0: what null reads as where the property is not optional.
    public static var zero: Decimal? { 0 }
}

extension URL: ManagedScalar, ManagedValue {
    /// The URL of a URI or transformable attribute; nil for null and for a value of another type.
    public static func decode(_ slot: ManagedSlot) -> URL? {
        if case .object(let box) = slot.value { return box.value.base as? URL }
        return nil
    }
    /// This URL as a URI attribute keeps it.
    public func encode() -> ManagedSlot { ManagedSlot(.object(ObjectBox(self))) }
    /// Nil: a null read through a property that is not optional stops the program.
    public static var zero: URL? { nil }
}

extension NSManagedObject: ManagedScalar {
    /// The target of a to-one, in the context of the object read: a fault if it is not registered there. Nil for null, for an object without a
    /// context, and for a target of another class.
    public static func decode(_ slot: ManagedSlot) -> Self? {
        guard case .objectID(let id) = slot.value, let owner = slot.object else { return nil }
        return (owner.context?.object(with: id) ?? owner.probe?.target(id)) as? Self
    }
    /// A reference to this object, as a to-one keeps it.
    public func encode() -> ManagedSlot { ManagedSlot(.objectID(objectID), object: self) }
    /// Nil: an empty to-one read through a property that is not optional stops the program.
    public static var zero: Self? { nil }
}

extension Set: ManagedValue where Element: NSManagedObject {
    /// The members of a to-many, as objects of the owner's context; members of another class are left out. Empty without a context.
    public static func read(from object: NSManagedObject, at place: PropertyPlace) -> Set<Element> {
        guard case .toMany(let number) = place, let context = object.context else { return [] }
        return Set(object.memberIDs(number).compactMap { context.object(with: $0) as? Element })
    }

    /// Replaces the members of a to-many; inverses follow.
    public func write(to object: NSManagedObject, at place: PropertyPlace) {
        if case .toMany(let number) = place { object.setToMany(number, to: Array(self)) }
    }
}

extension Array: ManagedValue where Element: NSManagedObject {
    /// An ordered to-many, in order.
    public static func read(from object: NSManagedObject, at place: PropertyPlace) -> [Element] {
        guard case .toMany(let number) = place, let context = object.context else { return [] }
        return object.memberIDs(number).compactMap { context.object(with: $0) as? Element }
    }

    /// Replaces the members of an ordered to-many, in this order; inverses follow.
    public func write(to object: NSManagedObject, at place: PropertyPlace) {
        if case .toMany(let number) = place { object.setToMany(number, to: self) }
    }
}
