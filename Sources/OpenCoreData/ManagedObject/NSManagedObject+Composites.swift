import Foundation

/// The values of composite attributes, which rows keep element by element.
extension NSManagedObject {
    /// The elements that have a value, by name; nil where none has one.
    final func compositeValue(_ number: Int) -> [String: Any]? {
        layout.composites[number].dictionary(in: layout) { externalValue(value(atSlot: $0)) }
    }

    /// Sets all elements to what a dictionary says, or none: for a value that is none of the composite it is told as a misuse, and nothing is set.
    final func setComposite(_ number: Int, to value: Any?, _ key: String, by set: (AttributeValue, Int) -> Void) {
        let found: [(slot: Int, value: AttributeValue)]
        do throws(CoreDataMisuse) { found = try elements(of: number, in: value, key) } catch { return error.survive() }
        for (slot, value) in found { set(value, slot) }
    }

    /// What a dictionary says of each element, as rows keep it.
    final func elements(of number: Int, in value: Any?, _ key: String) throws(CoreDataMisuse) -> [(slot: Int, value: AttributeValue)] {
        let layout = layout, parts: [(slot: Int, value: Any?)]
        do throws(WrongComposite) { parts = try layout.composites[number].values(in: value, of: layout) } catch {
            throw CoreDataMisuse(.wrongType, "unacceptable value for \(entity.name ?? "?").\(key): \(error).")
        }
        var result: [(slot: Int, value: AttributeValue)] = []
        for (slot, value) in parts {
            guard let coded = AttributeValue.coded(value, as: layout.kinds[slot]) else {
                throw .wrongType(value, key: layout.names[slot], entity: entity.name, expected: layout.kinds[slot].name)
            }
            result.append((slot, coded))
        }
        return result
    }
}

extension Dictionary: ManagedScalar, ManagedValue where Key == String, Value == Any {
    /// The dictionary of a transformable attribute; nil for null and for a value of another type.
    public static func decode(_ slot: ManagedSlot) -> [String: Any]? {
        if case .object(let box) = slot.value { return box.value.base as? [String: Any] }
        return nil
    }
    /// This dictionary as a transformable attribute keeps it.
    public func encode() -> ManagedSlot { ManagedSlot(.object(ObjectBox(AnyHashable(self as NSDictionary)))) }
    /// An empty one: what null reads as where the property is not optional.
    public static var zero: [String: Any]? { [:] }

    /// The elements of a composite that have a value; empty where none has one. Of another attribute, its dictionary.
    public static func read(from object: NSManagedObject, at place: PropertyPlace) -> [String: Any] {
        switch place {
        case .composite(let number): object.compositeValue(number) ?? [:]
        case .slot(let slot): decode(ManagedSlot(object.value(atSlot: slot), object: object)) ?? [:]
        case .toMany: Violation.misuse("a to-many relationship is declared as a dictionary")
        }
    }

    /// Sets all elements of a composite: those that are not named become nil.
    public func write(to object: NSManagedObject, at place: PropertyPlace) { object.write(self, at: place) }
}

extension NSManagedObject {
    /// Writes what a property declared as a dictionary is set to.
    final func write(_ value: [String: Any]?, at place: PropertyPlace) {
        switch place {
        case .composite(let number):
            setComposite(number, to: value, layout.composites[number].path) { setValue($0, atSlot: $1) }
        case .slot: write(value?.encode() ?? ManagedSlot(.null), at: place)
        case .toMany: Violation.misuse("a to-many relationship is declared as a dictionary")
        }
    }
}
