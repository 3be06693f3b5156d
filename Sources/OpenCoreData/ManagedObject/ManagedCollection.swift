import Foundation

/// What a to-many may be read as, optional or not.
protocol ManagedCollection {
    static func members(of object: NSManagedObject, _ number: Int) -> Self?
    var memberObjects: [NSManagedObject] { get }
}

extension Set: ManagedScalar where Element: NSManagedObject {
    /// Nil: a set is no value of a slot.
    public static func decode(_ slot: ManagedSlot) -> Set<Element>? { nil }
    /// Null: a set is no value of a slot.
    public func encode() -> ManagedSlot { ManagedSlot(.null) }
    /// Nil: a to-many without members is an empty set, never null.
    public static var zero: Set<Element>? { nil }
}

extension Set: ManagedCollection where Element: NSManagedObject {
    static func members(of object: NSManagedObject, _ number: Int) -> Set<Element>? { read(from: object, at: .toMany(number)) }
    var memberObjects: [NSManagedObject] { Array(self) }
}

extension Array: ManagedScalar where Element: NSManagedObject {
    /// Nil: an array is no value of a slot.
    public static func decode(_ slot: ManagedSlot) -> [Element]? { nil }
    /// Null: an array is no value of a slot.
    public func encode() -> ManagedSlot { ManagedSlot(.null) }
    /// Nil: a to-many without members is an empty array, never null.
    public static var zero: [Element]? { nil }
}

extension Array: ManagedCollection where Element: NSManagedObject {
    static func members(of object: NSManagedObject, _ number: Int) -> [Element]? { read(from: object, at: .toMany(number)) }
    var memberObjects: [NSManagedObject] { self }
}

extension NSSet: ManagedScalar, ManagedValue, ManagedCollection {
    /// Nil: a set is no value of a slot.
    public static func decode(_ slot: ManagedSlot) -> Self? { nil }
    /// Null: a set is no value of a slot.
    public func encode() -> ManagedSlot { ManagedSlot(.null) }
    /// Nil: a to-many without members is an empty set, never null.
    public static var zero: Self? { nil }

    /// The members of a to-many, as they are now; of an `NSMutableSet`, one that writes through to the relationship.
    public static func read(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        if case .toMany(let number) = place, let members = members(of: object, number) { return members }
        Violation.misuse("an attribute or to-one is declared as \(Self.self)")
    }

    /// Replaces the members of a to-many; inverses follow.
    public func write(to object: NSManagedObject, at place: PropertyPlace) {
        if case .toMany(let number) = place { object.setToMany(number, to: memberObjects) }
    }

    static func members(of object: NSManagedObject, _ number: Int) -> Self? {
        if let mutable = Self.self as? NSMutableSet.Type {
            return mutable == NSMutableSet.self ? ManagedObjectSet.of(object, number: number) as? Self : nil
        }
        return NSSet(array: object.memberIDs(number).compactMap { object.context?.object(with: $0) }) as? Self
    }

    var memberObjects: [NSManagedObject] { allObjects.compactMap { $0 as? NSManagedObject } }
}

extension NSOrderedSet: ManagedScalar, ManagedValue, ManagedCollection {
    /// Nil: an ordered set is no value of a slot.
    public static func decode(_ slot: ManagedSlot) -> Self? { nil }
    /// Null: an ordered set is no value of a slot.
    public func encode() -> ManagedSlot { ManagedSlot(.null) }
    /// Nil: a to-many without members is an empty ordered set, never null.
    public static var zero: Self? { nil }

    /// The members of an ordered to-many, as they are now; of an `NSMutableOrderedSet`, one that writes through to the relationship.
    public static func read(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        if case .toMany(let number) = place, let members = members(of: object, number) { return members }
        Violation.misuse("an attribute or to-one is declared as \(Self.self)")
    }

    /// Replaces the members of an ordered to-many, in this order; inverses follow.
    public func write(to object: NSManagedObject, at place: PropertyPlace) {
        if case .toMany(let number) = place { object.setToMany(number, to: memberObjects) }
    }

    static func members(of object: NSManagedObject, _ number: Int) -> Self? {
        if let mutable = Self.self as? NSMutableOrderedSet.Type {
            return mutable == NSMutableOrderedSet.self ? ManagedObjectOrderedSet.of(object, number: number) as? Self : nil
        }
        return NSOrderedSet(array: object.memberIDs(number).compactMap { object.context?.object(with: $0) }) as? Self
    }

    var memberObjects: [NSManagedObject] { array.compactMap { $0 as? NSManagedObject } }
}

extension NSNumber: ManagedScalar, ManagedValue {
    /// The number or truth value in a slot; nil for null and for a value of another type. Of an `NSDecimalNumber`, decimals only.
    public static func decode(_ slot: ManagedSlot) -> Self? { slot.value.any as? Self }

    /// This number as the attribute that fits it best keeps it; others convert it.
    public func encode() -> ManagedSlot {
        if let decimal = self as? NSDecimalNumber { return ManagedSlot(.decimal(decimal.decimalValue)) }
        switch String(cString: objCType) {
        case "d", "f": return ManagedSlot(.double(doubleValue))
        case "B": return ManagedSlot(.bool(boolValue))
        default: return ManagedSlot(.int64(int64Value))
        }
    }

    /// Nil: a null read through a property that is not optional stops the program.
    public static var zero: Self? { nil }
}
