import Foundation

/// What generated accessors call: those of classes that a model's package describes, and those behind `@NSManaged`.
///
/// A program has no reason to call these by hand. `managedValue(forProperty:)` is `value(forKey:)` with a type and without the key-value coding of
/// classes: it reads the row, so an accessor that a class names for the key is not asked.
extension NSManagedObject {
    /// The value of a property of one of the types that rows know. Realises a fault.
    ///
    /// Stops the program where the model has no property of that name, and where null is read as a type that has no value for it.
    public final func managedValue<Value: ManagedValue>(forProperty name: StaticString) -> Value {
        let me = standing
        guard let place = me.accessedPlace(name) else { return me.fetchedValue(name) }
        return Value.read(from: me, at: place)
    }

    /// Sets a property of one of the types that rows know; tracks the change and keeps inverses in step.
    public final func setManagedValue<Value: ManagedValue>(_ value: Value, forProperty name: StaticString) {
        let me = standing
        // A fetched property is refused there.
        value.write(to: me, at: me.accessedPlace(name) ?? me.place(of: name.description))
    }

    /// The value of an attribute that is kept as the raw value of this type. Stops the program for a raw value that the type doesn't know.
    @_disfavoredOverload
    public final func managedValue<Value: RawRepresentable>(forProperty name: StaticString) -> Value where Value.RawValue: ManagedValue {
        let raw: Value.RawValue = managedValue(forProperty: name)
        guard let value = Value(rawValue: raw) else {
            Violation.misuse("\(entity.name ?? "?").\(name) is \(raw), which is no \(Value.self); declare the property as optional")
        }
        return value
    }

    /// Sets an attribute to the raw value of this one.
    @_disfavoredOverload
    public final func setManagedValue<Value: RawRepresentable>(_ value: Value, forProperty name: StaticString) where Value.RawValue: ManagedValue {
        setManagedValue(value.rawValue, forProperty: name)
    }

    /// The value of an attribute that is kept as the raw value of this type; nil for null, and for a raw value that the type doesn't know.
    @_disfavoredOverload
    public final func managedValue<Value: RawRepresentable>(forProperty name: StaticString) -> Value? where Value.RawValue: ManagedScalar {
        let me = standing
        guard case .slot(let slot) = me.accessedPlace(name) ?? me.place(of: name.description) else { return nil }
        return Value.RawValue.decode(ManagedSlot(me.value(atSlot: slot), object: me)).flatMap { Value(rawValue: $0) }
    }

    /// Sets an attribute to the raw value of this one, or to null.
    @_disfavoredOverload
    public final func setManagedValue<Value: RawRepresentable>(
        _ value: Value?, forProperty name: StaticString
    ) where Value.RawValue: ManagedValue & ManagedScalar {
        setManagedValue(value?.rawValue, forProperty: name)
    }

    /// The value of a property of any other type: what a transformable attribute holds, a class of Foundation's, what a fetched property finds.
    ///
    /// Stops the program where the value is of another type.
    @_disfavoredOverload
    public final func managedValue<Value>(forProperty name: StaticString) -> Value {
        let key = name.description, value = standing.propertyValue(key)
        if let value = KeyedValue.converted(value, to: Value.self) { return value }
        Violation.misuse("\(entity.name ?? "?").\(key) is \(value.map { "\($0)" } ?? "nil"), which is no \(Value.self)")
    }

    /// Sets a property of any other type. Stops the program for a value that the property can't have.
    @_disfavoredOverload
    public final func setManagedValue<Value>(_ value: Value, forProperty name: StaticString) {
        standing.setPropertyValue(KeyedValue.external(value), name.description)
    }

    /// What `@NSManaged var primitiveName` reads: the stored value of `name`, unless the model has a property of the whole name.
    public final func managedPrimitiveValue<Value>(forProperty name: StaticString) -> Value {
        let key = primitiveKey(name.description), value = primitiveValue(forKey: key)
        if let value = KeyedValue.converted(value, to: Value.self) { return value }
        Violation.misuse("\(entity.name ?? "?").\(key) is \(value.map { "\($0)" } ?? "nil"), which is no \(Value.self)")
    }

    /// What `@NSManaged var primitiveName` sets: the stored value of `name`, past change tracking.
    public final func setManagedPrimitiveValue<Value>(_ value: Value, forProperty name: StaticString) {
        setPrimitiveValue(KeyedValue.external(value), forKey: primitiveKey(name.description))
    }

    private func primitiveKey(_ name: String) -> String {
        if layout.place(of: name) != nil { return name }
        return knownKey(String(name.dropFirst("primitive".count)))
    }
}

/// Accessors of to-many relationships. Members are a managed object, or a set, ordered set or array of them; a property may be named with a capital
/// letter, as methods have it: `addToBooks` for `books`.
extension NSManagedObject {
    /// Adds one member or several.
    public final func addManagedMembers(_ members: Any, toProperty name: StaticString) {
        let number = accessedToMany(name)
        for member in Self.members(members, name) { addMember(member, number: number) }
    }

    /// Removes one member or several.
    public final func removeManagedMembers(_ members: Any, fromProperty name: StaticString) {
        let number = accessedToMany(name)
        for member in Self.members(members, name) { removeMember(member, number: number) }
    }

    /// Puts a member at a place of an ordered relationship.
    public final func insertManagedMember(_ member: NSManagedObject, intoProperty name: StaticString, at index: Int) {
        orderedMembers(name).insert(member, at: index)
    }

    /// Puts members at places of an ordered relationship: each at the index that it has afterwards.
    public final func insertManagedMembers(_ members: Any, intoProperty name: StaticString, at indexes: NSIndexSet) {
        orderedMembers(name).insert(Self.members(members, name), at: Self.indexes(indexes))
    }

    /// Removes the member at a place of an ordered relationship.
    public final func removeManagedMember(fromProperty name: StaticString, at index: Int) { orderedMembers(name).removeObject(at: index) }

    /// Removes the members at places of an ordered relationship.
    public final func removeManagedMembers(fromProperty name: StaticString, at indexes: NSIndexSet) {
        orderedMembers(name).removeObjects(at: Self.indexes(indexes))
    }

    /// Puts another member in the place of one.
    public final func replaceManagedMember(ofProperty name: StaticString, at index: Int, with member: NSManagedObject) {
        orderedMembers(name).replaceObject(at: index, with: member)
    }

    /// Puts other members in the places of some.
    public final func replaceManagedMembers(ofProperty name: StaticString, at indexes: NSIndexSet, with members: Any) {
        orderedMembers(name).replaceObjects(at: Self.indexes(indexes), with: Self.members(members, name))
    }

    private static func indexes(_ set: NSIndexSet) -> IndexSet {
        var result = IndexSet()
        set.enumerate { index, _ in result.insert(index) }
        return result
    }

    private func orderedMembers(_ name: StaticString) -> ManagedObjectOrderedSet {
        ManagedObjectOrderedSet.of(self, number: accessedToMany(name))
    }

    private func accessedToMany(_ name: StaticString) -> Int {
        guard case .toMany(let number)? = accessedPlace(name) else {
            Violation.misuse("\(entity.name ?? "?").\(knownKey(name.description)) is no to-many relationship")
        }
        return number
    }

    private static func members(_ members: Any, _ name: StaticString) -> [NSManagedObject] {
        switch members {
        case let member as NSManagedObject: return [member]
        case let members as NSOrderedSet: return members.array.compactMap { $0 as? NSManagedObject }
        case let members as NSSet: return members.allObjects.compactMap { $0 as? NSManagedObject }
        case let members as Set<NSManagedObject>: return Array(members)
        case let members as [NSManagedObject]: return members
        default: Violation.wrongType(members, key: name.description, entity: entityName, expected: "managed objects")
        }
    }
}

extension NSManagedObject {
    /// Where a property lives, found by the address of its name after the first time; nil for a fetched property.
    fileprivate final func accessedPlace(_ name: StaticString) -> PropertyPlace? {
        let layout = layout
        guard name.hasPointerRepresentation else { return place(of: knownKey(name.description)) }
        if let place = layout.namedPlaces[name.utf8Start] { return place }
        let key = knownKey(name.description)
        if layout.place(of: key) == nil, entity.propertiesByName[key] is NSFetchedPropertyDescription { return nil }
        let place = place(of: key)
        layout.namedPlaces.remember(place, for: name.utf8Start)
        return place
    }

    /// The key that is meant: as it is, or with a small first letter.
    fileprivate final func knownKey(_ name: String) -> String {
        if entity.propertiesByName[name] != nil { return name }
        let small = name.prefix(1).lowercased() + name.dropFirst()
        return entity.propertiesByName[small] != nil ? small : name
    }

    fileprivate final func fetchedValue<Value>(_ name: StaticString) -> Value {
        let found = propertyValue(name.description)
        if let value = KeyedValue.converted(found, to: Value.self) { return value }
        Violation.misuse("what \(entity.name ?? "?").\(name) finds is no \(Value.self)")
    }
}
