import Foundation

/// Collections that write through, by key and by key path, and the rest of key-value coding.
extension NSManagedObject {
    /// As `value(forKey:)`: a value by its property's name.
    public final subscript(_ key: String) -> Any? { value(forKey: key) }

    /// A set that writes through to the relationship.
    public final func mutableSetValue(forKey key: String) -> NSMutableSet {
        guard let number = toManyNumber(key) else { Violation.unknownKey(key, entity: entity.name) }
        return ManagedObjectSet.of(self, number: number)
    }

    /// An ordered set that writes through to the relationship.
    public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
        guard let number = toManyNumber(key) else { Violation.unknownKey(key, entity: entity.name) }
        return ManagedObjectOrderedSet.of(self, number: number)
    }

    /// An array that writes through to a property whose value is a list: a transformable attribute, or an ordered to-many. Each change of it sets the
    /// property anew; where the property is nil the array is empty. Traps for an unknown key, a to-many without an order, a to-one, and a value that
    /// is no list.
    public final func mutableArrayValue(forKey key: String) -> NSMutableArray {
        switch entity.propertiesByName[key] {
        case let relationship as NSRelationshipDescription where !relationship.isToMany || !relationship.isOrdered:
            Violation.misuse("\(entity.name ?? "?").\(key) has no order, so it is no array; use mutableSetValue(forKey:) for its members")
        default: break
        }
        _ = place(of: key)
        return KeyedArray.of(self, key)
    }

    /// As `mutableSetValue(forKey:)`, of the object that the key path leads to. Traps where it leads to none.
    public final func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet {
        let (owner, key) = requiredOwner(keyPath)
        return owner.mutableSetValue(forKey: key)
    }

    /// As `mutableOrderedSetValue(forKey:)`, of the object that the key path leads to. Traps where it leads to none.
    public final func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
        let (owner, key) = requiredOwner(keyPath)
        return owner.mutableOrderedSetValue(forKey: key)
    }

    /// As `mutableArrayValue(forKey:)`, of the object that the key path leads to. Traps where it leads to none.
    public final func mutableArrayValue(forKeyPath keyPath: String) -> NSMutableArray {
        let (owner, key) = requiredOwner(keyPath)
        return owner.mutableArrayValue(forKey: key)
    }

    /// Checks a value for the property at the end of a key path, by the object that has it: see `validateValue(_:forKey:)`. Where there is no such object
    /// nothing is checked.
    public final func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKeyPath keyPath: String) throws {
        guard let keys = PredicateKeyPath(keyPath)?.keys, !keys.isEmpty else {
            throw CoreDataMisuse.malformedKeyPath(keyPath).survived(as: .managedObjectValidation)
        }
        guard let (owner, key) = owner(keys[...]) else { return }
        try owner.validateValue(value, forKey: key)
    }

    /// Who has the property at the end of a key path, and under which key; nil where nobody has.
    private func owner(_ keys: ArraySlice<String>) -> (NSManagedObject, String)? {
        guard let key = keys.first else { return nil }
        if keys.count == 1 || hasComposite(key) { return (self, keys.joined(separator: ".")) }
        return (value(forKeyPath: key) as? NSManagedObject)?.owner(keys.dropFirst())
    }

    private func requiredOwner(_ keyPath: String) -> (NSManagedObject, String) {
        guard let keys = PredicateKeyPath(keyPath)?.keys, let found = owner(keys[...]) else {
            Violation.misuse("\"\(keyPath)\" does not lead from \(objectID) to an object with a collection")
        }
        return found
    }

    /// Announces that a custom accessor is going to add, remove or replace members of a to-many: see `willChangeValue(forKey:)`. What is changed by
    /// primitive accessors is found out by the property itself.
    public final func willChangeValue(
        forKey key: String, withSetMutation mutationKind: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>
    ) { willChangeValue(forKey: key) }

    /// Notes that a custom accessor changed the members of a to-many.
    public final func didChangeValue(
        forKey key: String, withSetMutation mutationKind: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>
    ) { didChangeValue(forKey: key) }
}

/// The array that `mutableArrayValue(forKey:)` hands out.
private final class KeyedArray: NSMutableArray {
    private var owner: NSManagedObject?
    private var key = ""

    static func of(_ owner: NSManagedObject, _ key: String) -> KeyedArray {
        let array = KeyedArray(capacity: 0)
        array.owner = owner
        array.key = key
        return array
    }

    private var elements: [Any] {
        get {
            switch owner?.value(forKey: key) {
            case let list as [Any]: list
            case let list as NSArray: Array(list)
            case let set as NSOrderedSet: set.array
            case nil, is NSNull: []
            case let value?:
                // Whoever adds to what he takes for an empty list would write over it.
                Violation.misuse("\(key) of \(owner?.objectID.description ?? "an object") is \(type(of: value)), and no list")
            }
        }
        set {
            let isToMany = if case .toMany? = owner?.layout.place(of: key) { true } else { false }
            owner?.setValue(isToMany ? NSOrderedSet(array: newValue) : NSArray(array: newValue), forKey: key)
        }
    }

    override var count: Int { elements.count }
    override func object(at index: Int) -> Any { elements[index] }
    override func insert(_ anObject: Any, at index: Int) { elements.insert(anObject, at: index) }
    override func add(_ anObject: Any) { elements.append(anObject) }
    override func removeObject(at index: Int) { elements.remove(at: index) }
    override func removeLastObject() { elements.removeLast() }
    override func replaceObject(at index: Int, with anObject: Any) { elements[index] = anObject }
}
