import Foundation

/// Key-value coding along key paths.
extension NSManagedObject {
    /// A value by names joined with dots, over relationships of either kind, with collection operators: `department.employees.@avg.age`.
    ///
    /// Over a to-many the values of all members come, without nil: a `Set<AnyHashable>`, which casts to `Set<String>` and the like, each value once;
    /// over an ordered one an `NSOrderedSet`, in order, with `NSNull` for nil. `@unionOfObjects` and its kin give arrays (those of sets: sets), `@count`,
    /// `@sum`, `@avg`, `@min` and `@max` values. Nil on the way gives nil. Traps for an unknown key and for a text that is no key path.
    public final func value(forKeyPath keyPath: String) -> Any? {
        guard let path = PredicateKeyPath(keyPath) else {
            CoreDataMisuse.malformedKeyPath(keyPath).survive()
            return nil
        }
        return KeyedCollection.value(of: self, path.steps[...])
    }

    /// Sets a property of the object that the key path leads to; of every member where it leads over a to-many. Nil on the way: nothing is set.
    /// Traps as `setValue(_:forKey:)` does, for collection operators, and where what it leads to is no managed object.
    public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
        guard let keys = PredicateKeyPath(keyPath)?.keys, !keys.isEmpty else {
            return CoreDataMisuse.malformedKeyPath(keyPath).survive()
        }
        setValue(value, at: keys[...])
    }

    private func setValue(_ value: Any?, at keys: ArraySlice<String>) {
        guard let key = keys.first else { return }
        // An element of a composite is set by itself: a changed copy of the dictionary would set all of them.
        if keys.count == 1 || hasComposite(key) { return setValue(value, forKey: keys.joined(separator: ".")) }
        Self.setValue(value, at: keys.dropFirst(), of: KeyedCollection.value(of: self, [.key(key)]))
    }

    private static func setValue(_ value: Any?, at keys: ArraySlice<String>, of owner: Any?) {
        guard let owner, let key = keys.first else { return }
        if let object = owner as? NSManagedObject { return object.setValue(value, at: keys) }
        if let members = KeyedCollection(owner)?.elements {
            for member in members { setValue(value, at: keys, of: member) }
        } else if keys.count > 1, owner is [String: Any] {
            setValue(value, at: keys.dropFirst(), of: KeyedCollection.value(of: owner, [.key(key)]))
        } else {
            CoreDataMisuse.noKeys(keys.last ?? key, of: owner).survive()
        }
    }

    /// Whether that is a composite attribute of this object.
    final func hasComposite(_ key: String) -> Bool {
        if case .composite? = layout.place(of: key) { true } else { false }
    }
}

/// A collection as key-value coding sees it.
private struct KeyedCollection {
    private enum Kind {
        case set, ordered, list
    }

    let elements: [Any]
    private let kind: Kind

    /// Nil for what is no collection.
    init?(_ value: Any) {
        switch value {
        case let set as Set<NSManagedObject>: (elements, kind) = (Array(set), .set)
        case let set as Set<AnyHashable>: (elements, kind) = (set.map(\.base), .set)
        case let set as NSOrderedSet: (elements, kind) = (set.array, .ordered)
        case let set as NSSet: (elements, kind) = (set.allObjects, .set)
        case let list as [Any]: (elements, kind) = (list, .list)
        case let list as NSArray: (elements, kind) = (Array(list), .list)
        default: return nil
        }
    }

    /// What a value answers to the steps of a key path.
    static func value(of start: Any, _ steps: ArraySlice<PredicateKeyPath.Step>) -> Any? {
        var current = start, steps = steps
        while let step = steps.popFirst() {
            let next: Any?
            switch step {
            case .key(let key): next = value(of: current, key)
            case .collectionOperator(let found):
                guard let collection = KeyedCollection(current) else {
                    CoreDataMisuse.noKeys("@\(found.rawValue)", of: current).survive()
                    return nil
                }
                // The keys up to the next operator are asked of the elements, the rest of the outcome.
                let own = steps.prefix { if case .key = $0 { true } else { false } }
                if found == .count {
                    next = NSNumber(value: collection.elements.count)
                } else {
                    steps = steps.dropFirst(own.count)
                    next = collection.apply(found, own)
                }
            }
            guard let next, !(next is NSNull) else { return nil }
            current = next
        }
        return current
    }

    private static func value(of value: Any, _ key: String) -> Any? {
        switch value {
        case let object as any KeyValueCoding: return object.value(forKey: key)
        case let dictionary as [String: Any]: return dictionary[key]
        case let dictionary as NSDictionary: return dictionary.object(forKey: key)
        default:
            if let collection = KeyedCollection(value) { return collection.values(key) }
            CoreDataMisuse.noKeys(key, of: value).survive()
            return nil
        }
    }

    /// The values of all elements, as a collection of the same kind.
    private func values(_ key: String) -> Any {
        let values = elements.map { $0 is NSNull ? nil : Self.value(of: $0, key) }
        return switch kind {
        case .set: Self.set(values)
        case .ordered: NSOrderedSet(array: values.map { $0 ?? NSNull() })
        case .list: values.map { $0 ?? NSNull() }
        }
    }

    private static func set(_ values: [Any?]) -> Set<AnyHashable> {
        Set(values.compactMap { value in value.flatMap { $0 is NSNull ? nil : ($0 as? AnyHashable) } })
    }

    /// A computed value in the form in which attributes are handed out.
    private static func external(_ value: PredicateValue) -> Any? {
        switch value {
        case .bool(let value): NSNumber(value: value)
        case .integer(let value): NSNumber(value: value)
        case .double(let value): NSNumber(value: value)
        case .decimal(let value): NSDecimalNumber(decimal: value)
        default: value.any
        }
    }

    private func apply(_ collectionOperator: CollectionOperator, _ steps: ArraySlice<PredicateKeyPath.Step>) -> Any? {
        var values = elements.compactMap { $0 is NSNull ? nil : Self.value(of: $0, steps) }
        switch collectionOperator {
        case .count, .unionOfObjects, .distinctUnionOfObjects: break
        // Of collections of collections.
        case .unionOfArrays, .distinctUnionOfArrays, .unionOfSets, .distinctUnionOfSets:
            values = values.flatMap { KeyedCollection($0)?.elements ?? [$0] }
        case .sum: return Self.external(Aggregates.sum(values.map { PredicateValue($0) }))
        case .avg: return Self.external(Aggregates.average(values.map { PredicateValue($0) }))
        case .min: return Self.external(Aggregates.extreme(values.map { PredicateValue($0) }, wanted: -1))
        case .max: return Self.external(Aggregates.extreme(values.map { PredicateValue($0) }, wanted: 1))
        }
        switch collectionOperator {
        case .distinctUnionOfObjects, .distinctUnionOfArrays:
            var seen: Set<PredicateValue> = []
            return values.filter { seen.insert(PredicateValue($0)).inserted }
        case .unionOfSets, .distinctUnionOfSets: return Self.set(values)
        default: return values
        }
    }
}

/// Finds out which properties of the model a Swift key path of managed objects goes over.
///
/// A key path of Swift's does not tell the names of what it reads, and an object can't be asked by it without one. So it is read on two objects
/// that belong to no context, hold values that nothing else has, and write down what is read of them. A key path that gives the value of the one
/// attribute it ends at, both times, is that attribute's; any other computes something.
final class KeyPathProbe {
    private struct Reading {
        let object: NSManagedObject
        let slot: Int
    }

    private let number: Int
    private var readings: [Reading] = []
    private var objects: [NSManagedObjectID: NSManagedObject] = [:]
    private var isAmbiguous = false

    private init(_ number: Int) { self.number = number }

    /// The names from `entity` to the attribute at the end of the key path. Throws 134060 where there are none.
    static func names(of keyPath: AnyKeyPath, from entity: NSEntityDescription) throws -> [String] {
        let found = (0..<2).map { KeyPathProbe($0).names(keyPath, entity) }
        if let names = found[0], names == found[1] { return names }
        throw NSError.coreData(
            .coreData,
            "A fetch of \(entity.name ?? "?") can't sort by \(keyPath): it does not lead over to-one relationships to a stored attribute of that entity. "
                + "Sort by a property that the model knows, or sort the results.")
    }

    private func names(_ keyPath: AnyKeyPath, _ entity: NSEntityDescription) -> [String]? {
        guard let id = id(entity), let root = target(id) else { return nil }
        // Objects and probe refer to each other.
        defer { for object in objects.values { object.extras = nil } }
        guard let found = (root as Any)[keyPath: keyPath] else { return nil }
        var names: [String] = [], object = root
        for (index, reading) in readings.enumerated() {
            guard reading.object === object else { return nil }
            names.append(object.layout.names[reading.slot])
            let value = object.row?[reading.slot] ?? .null
            if index == readings.count - 1 { return isStored(found, value, object, reading.slot) && !isAmbiguous ? names : nil }
            guard let id = value.objectID, let next = objects[id] else { return nil }
            object = next
        }
        return nil
    }

    private func isStored(_ found: Any, _ value: AttributeValue, _ object: NSManagedObject, _ slot: Int) -> Bool {
        guard object.layout.attribute(atSlot: slot) != nil, !value.isNull else { return false }
        return Comparison.equal(PredicateValue((found as? any SortedValue)?.sortedValue ?? found), PredicateValue(value.plain))
    }

    // MARK: Objects

    /// Who an object of this entity is; nil where there can't be any.
    private func id(_ entity: NSEntityDescription) -> NSManagedObjectID? {
        entity.withDescendants.first { !$0.isAbstract }.map {
            NSManagedObjectID(entity: $0, key: UnreservedKeys.next(), store: .unbound, isTemporary: true)
        }
    }

    /// The object of that name: in no context, and a fault for good, so that each reading of it comes to `note(_:_:)`.
    func target(_ id: NSManagedObjectID) -> NSManagedObject? {
        if let known = objects[id] { return known }
        let object = id.entity.makeObject(in: nil)
        let row = RowSnapshot.make(object.layout)
        for slot in 0..<row.count { row.update(slot, to: sample(object.layout, slot)) }
        object.row = row
        object.isFaulted = true
        object.probe = self
        objects[id] = object
        return object
    }

    /// A slot of an object has been read; nil: all of them, which tells nothing.
    func note(_ object: NSManagedObject, _ slot: Int?) {
        if let slot { readings.append(Reading(object: object, slot: slot)) } else { isAmbiguous = true }
    }

    /// The values of the two probes differ, and so does whatever is computed from them.
    private func sample(_ layout: EntityLayout, _ slot: Int) -> AttributeValue {
        let seed = Double(number == 0 ? -12_003 - slot : 12_003 + slot)
        switch layout.slots[slot] {
        case .toOne(let relationship): return relationship.destinationEntity.flatMap(id).map { .objectID($0) } ?? .null
        case .attribute(let attribute): return attribute.kind.sample(seed)
        }
    }
}
