import Foundation

extension ManagedValue where Self: ManagedScalar {
    public static func read(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        guard case .slot(let slot) = place else { Violation.misuse("a to-many relationship is declared as \(Self.self)") }
        if let value = decode(ManagedSlot(object.value(atSlot: slot), object: object)) ?? zero { return value }
        Violation.misuse("\(object.entity.name ?? "?").\(object.layout.names[slot]) is nil; declare the property as optional")
    }

    public func write(to object: NSManagedObject, at place: PropertyPlace) { object.write(encode(), at: place) }
}

extension Optional: ManagedValue where Wrapped: ManagedScalar {
    public static func read(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        guard case .slot(let slot) = place else { Violation.misuse("a to-many relationship is declared as \(Self.self)") }
        return Wrapped.decode(ManagedSlot(object.value(atSlot: slot), object: object))
    }

    public func write(to object: NSManagedObject, at place: PropertyPlace) {
        object.write(self?.encode() ?? ManagedSlot(.null), at: place)
    }
}

extension NSManagedObject {
    fileprivate func write(_ slot: ManagedSlot, at place: PropertyPlace) {
        guard case .slot(let number) = place else { return }
        let layout = layout
        if slot.value.isPlain(for: layout.types[number]) {
            setValue(slot.value, atSlot: number)
        } else if let relationship = layout.relationship(atSlot: number) {
            setToOne(relationship, slot: number, to: slot.object)
        } else if let attribute = layout.attribute(atSlot: number) {
            setValue(slot.value.fitting(attribute, of: entity), atSlot: number)
        }
    }
}

extension AttributeValue {
    /// Whether a value is what an attribute of this type holds.
    fileprivate func isPlain(for type: NSAttributeType) -> Bool {
        switch (self, type) {
        case (.string, .stringAttributeType), (.date, .dateAttributeType), (.bool, .booleanAttributeType), (.double, .doubleAttributeType),
            (.int64, .integer64AttributeType), (.int64, .integer32AttributeType), (.int64, .integer16AttributeType),
            (.decimal, .decimalAttributeType), (.uuid, .UUIDAttributeType), (.data, .binaryDataAttributeType):
            true
        case (.null, let type): type != .objectIDAttributeType
        default: false
        }
    }

    /// Integers written to a double or decimal attribute, doubles to a float …
    fileprivate func fitting(_ attribute: NSAttributeDescription, of entity: NSEntityDescription) -> AttributeValue {
        guard let coded = AttributeValue.coded(plain, as: attribute.attributeType) else {
            Violation.wrongType(plain ?? "nil", key: attribute.name, entity: entity.name, expected: "\(attribute.attributeType)")
        }
        return coded
    }
}

extension String: ManagedScalar, ManagedValue {
    public static func decode(_ slot: ManagedSlot) -> String? {
        if case .string(let value) = slot.value { return value }
        return nil
    }
    public func encode() -> ManagedSlot { ManagedSlot(.string(self)) }
    public static var zero: String? { nil }
}

extension Bool: ManagedScalar, ManagedValue {
    public static func decode(_ slot: ManagedSlot) -> Bool? {
        if case .bool(let value) = slot.value { return value }
        return nil
    }
    public func encode() -> ManagedSlot { ManagedSlot(.bool(self)) }
    public static var zero: Bool? { false }
}

extension ManagedScalar where Self: FixedWidthInteger {
    public static func decode(_ slot: ManagedSlot) -> Self? {
        if case .int64(let value) = slot.value { return Self(truncatingIfNeeded: value) }
        return nil
    }
    public func encode() -> ManagedSlot { ManagedSlot(.int64(Int64(self))) }
    public static var zero: Self? { 0 }
}

extension Int: ManagedScalar, ManagedValue {}
extension Int64: ManagedScalar, ManagedValue {}
extension Int32: ManagedScalar, ManagedValue {}
extension Int16: ManagedScalar, ManagedValue {}

extension Double: ManagedScalar, ManagedValue {
    public static func decode(_ slot: ManagedSlot) -> Double? {
        if case .double(let value) = slot.value { return value }
        return nil
    }
    public func encode() -> ManagedSlot { ManagedSlot(.double(self)) }
    public static var zero: Double? { 0 }
}

extension Float: ManagedScalar, ManagedValue {
    public static func decode(_ slot: ManagedSlot) -> Float? {
        if case .double(let value) = slot.value { return Float(value) }
        return nil
    }
    public func encode() -> ManagedSlot { ManagedSlot(.double(Double(self))) }
    public static var zero: Float? { 0 }
}

extension Date: ManagedScalar, ManagedValue {
    public static func decode(_ slot: ManagedSlot) -> Date? {
        if case .date(let value) = slot.value { return Date(timeIntervalSinceReferenceDate: value) }
        return nil
    }
    public func encode() -> ManagedSlot { ManagedSlot(.date(timeIntervalSinceReferenceDate)) }
    public static var zero: Date? { nil }
}

extension Data: ManagedScalar, ManagedValue {
    public static func decode(_ slot: ManagedSlot) -> Data? {
        if case .data(let value) = slot.value { return value }
        return nil
    }
    public func encode() -> ManagedSlot { ManagedSlot(.data(self)) }
    public static var zero: Data? { nil }
}

extension UUID: ManagedScalar, ManagedValue {
    public static func decode(_ slot: ManagedSlot) -> UUID? {
        if case .uuid(let value) = slot.value { return value }
        return nil
    }
    public func encode() -> ManagedSlot { ManagedSlot(.uuid(self)) }
    public static var zero: UUID? { nil }
}

extension Decimal: ManagedScalar, ManagedValue {
    public static func decode(_ slot: ManagedSlot) -> Decimal? {
        if case .decimal(let value) = slot.value { return value }
        return nil
    }
    public func encode() -> ManagedSlot { ManagedSlot(.decimal(self)) }
    public static var zero: Decimal? { 0 }
}

extension URL: ManagedScalar, ManagedValue {
    public static func decode(_ slot: ManagedSlot) -> URL? {
        if case .object(let box) = slot.value { return box.value.base as? URL }
        return nil
    }
    public func encode() -> ManagedSlot { ManagedSlot(.object(ObjectBox(self))) }
    public static var zero: URL? { nil }
}

extension NSManagedObject: ManagedScalar {
    public static func decode(_ slot: ManagedSlot) -> Self? {
        guard case .objectID(let id) = slot.value, let owner = slot.object else { return nil }
        return (owner.context?.object(with: id) ?? owner.probe?.target(id)) as? Self
    }
    public func encode() -> ManagedSlot { ManagedSlot(.objectID(objectID), object: self) }
    public static var zero: Self? { nil }
}

extension Set: ManagedValue where Element: NSManagedObject {
    public static func read(from object: NSManagedObject, at place: PropertyPlace) -> Set<Element> {
        guard case .toMany(let number) = place, let context = object.context else { return [] }
        return Set(object.memberIDs(number).compactMap { context.object(with: $0) as? Element })
    }

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

    public func write(to object: NSManagedObject, at place: PropertyPlace) {
        if case .toMany(let number) = place { object.setToMany(number, to: self) }
    }
}
