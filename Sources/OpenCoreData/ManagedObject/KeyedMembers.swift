import Foundation
import Synchronization

/// What a class and its superclasses have registered by key. Made once for a class.
// Immutable once it is made.
final class KeyedMembers: ClassMembers, @unchecked Sendable {
    private let type: ObjectIdentifier
    let accessors: [String: KeyedAccessor]
    let validators: [String: KeyedValidator]
    /// Whether the class has rules of its own, so that a row has to become an object to be validated.
    let validatesItself: Bool

    private init(_ type: NSManagedObject.Type) {
        var accessors: [String: KeyedAccessor] = [:], validators: [String: KeyedValidator] = [:]
        for type in Self.classes(of: type) {
            for accessor in type.keyedAccessors {
                Self.check(accessor.accepts(type), "keyedAccessors", accessor.key, of: type)
                accessors[accessor.key] = accessor
            }
            for validator in type.keyedValidators {
                Self.check(validator.accepts(type), "keyedValidators", validator.key, of: type)
                validators[validator.key] = validator
            }
        }
        self.type = ObjectIdentifier(type)
        self.accessors = accessors
        self.validators = validators
        validatesItself = !validators.isEmpty || type.overridesValidation
    }

    /// The class and its superclasses, itself last, so that its word counts.
    private static func classes(of type: NSManagedObject.Type) -> [NSManagedObject.Type] {
        var result = [type]
        while let base = _getSuperclass(result[0]) as? NSManagedObject.Type, base != NSManagedObject.self { result.insert(base, at: 0) }
        return result
    }

    private static func check(_ fits: Bool, _ list: String, _ key: String, of type: NSManagedObject.Type) {
        if !fits { Violation.misuse("\(list) of \(type) names for the key \"\(key)\" a property of a class that \(type) does not inherit from") }
    }

    /// The members of classes other than their entity's.
    private static let others = Mutex<[ObjectIdentifier: KeyedMembers]>([:])

    /// Nil: nothing is registered.
    static func of(_ object: NSManagedObject) -> KeyedMembers? {
        let type = Swift.type(of: object)
        if type == NSManagedObject.self { return nil }
        let layout = object.layout
        let known = layout.classMembers.load() ?? layout.classMembers.storeIfNil(KeyedMembers(type))
        // Nothing else is stored there.
        var members = unsafeDowncast(known, to: KeyedMembers.self)
        if members.type != ObjectIdentifier(type) { members = other(type) }
        return members.accessors.isEmpty && members.validators.isEmpty ? nil : members
    }

    static func other(_ type: NSManagedObject.Type) -> KeyedMembers {
        if let known = others.withLock({ $0[ObjectIdentifier(type)] }) { return known }
        let made = KeyedMembers(type)
        return others.withLock { others in
            if let known = others[ObjectIdentifier(type)] { return known }
            others[ObjectIdentifier(type)] = made
            return made
        }
    }
}

extension NSManagedObject {
    /// What key-value coding answers: the class's own property, else what is in the row.
    final func keyedValue(_ key: String) -> Any? {
        guard let accessor = KeyedMembers.of(self)?.accessors[key] else { return propertyValue(key) }
        let value = accessor.read(self)
        if let objects = value as? [NSManagedObject], case .toMany(let number)? = layout.place(of: key), layout.toManys[number].isOrdered {
            return NSOrderedSet(array: objects)
        }
        return value
    }

    final func setKeyedValue(_ value: Any?, _ key: String) {
        guard let accessor = KeyedMembers.of(self)?.accessors[key] else { return setPropertyValue(value, key) }
        guard let write = accessor.write else {
            if layout.place(of: key) == nil {
                Violation.misuse("\(entity.name ?? "?").\(key) can't be set: its accessor only reads, and it is not a property of the model")
            }
            return setPropertyValue(value, key)
        }
        if write(self, value) { return }
        if value == nil { return setNilValueForKey(key) }
        CoreDataMisuse.wrongType(value, key: key, entity: entity.name, expected: "\(accessor.type)").survive()
    }

    /// Checks a value for a property as the class wants it, after the model's rules.
    final func validateKeyed(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, _ key: String) throws {
        try validateProperty(value, key)
        // Looked up once for all properties of an object that is saved.
        let validators = value.property.map(\.validators) ?? KeyedMembers.of(self)?.validators
        guard let validator = validators?[key] else { return }
        if try !validator.check(self, value) {
            Violation.wrongType(value.pointee ?? "nil" as AnyObject, key: key, entity: entity.name, expected: "\(validator.type)")
        }
    }
}
