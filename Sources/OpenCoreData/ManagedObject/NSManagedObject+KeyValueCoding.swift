import Foundation

extension NSManagedObject: KeyValueCoding {
    final func propertyValue(_ key: String) -> Any? {
        let me = standing
        if me !== self { return key == "self" ? self : me.propertyValue(key) }
        switch layout.place(of: key) {
        case .slot(let slot)?: return externalValue(value(atSlot: slot))
        case .toMany(let number)?:
            return collection(of: memberIDs(number), number)
        case .composite(let number)?: return compositeValue(number)
        case nil:
            if let property = entity.propertiesByName[key] as? NSFetchedPropertyDescription { return objects(of: property) }
            if key == "objectID" { return objectID }
            if key == "self" { return self }
            return self.value(forUndefinedKey: key)
        }
    }

    final func setPropertyValue(_ value: Any?, _ key: String) {
        // A fetched property has no place, which stops the program there.
        guard let known = layout.place(of: key) ?? (entity.propertiesByName[key] == nil ? nil : place(of: key)) else {
            return setValue(value, forUndefinedKey: key)
        }
        switch known {
        case .slot(let slot):
            switch layout.slots[slot] {
            case .attribute:
                guard let coded = AttributeValue.coded(value, as: layout.kinds[slot]) else {
                    return CoreDataMisuse.wrongType(value, key: key, entity: entity.name, expected: layout.kinds[slot].name).survive()
                }
                setValue(coded, atSlot: slot)
            case .toOne(let relationship):
                guard let value, !(value is NSNull) else { return setToOne(relationship, slot: slot, to: nil) }
                guard let target = value as? NSManagedObject else {
                    return CoreDataMisuse.wrongType(value, key: key, entity: entity.name, expected: relationship.destinationEntity?.name ?? "?")
                        .survive()
                }
                setToOne(relationship, slot: slot, to: target)
            }
        case .toMany(let number):
            guard let objects = KeyedObjects.objects(in: value) else {
                return CoreDataMisuse.wrongType(value, key: key, entity: entity.name, expected: "a set of managed objects").survive()
            }
            setToMany(number, to: objects)
        case .composite(let number): setComposite(number, to: value, key) { setValue($0, atSlot: $1) }
        }
    }

    /// The values of several keys; nil as `NSNull`.
    public final func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
    }

    /// Sets the values of several keys; `NSNull` stands for nil.
    public final func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
    }

    /// The stored value, past custom accessors.
    public final func primitiveValue(forKey key: String) -> Any? {
        guard let place = knownPlace(of: key) else { return nil }
        return switch place {
        case .slot(let slot): standing.externalValue(value(atSlot: slot))
        case .toMany: propertyValue(key)
        case .composite(let number): standing.compositeValue(number)
        }
    }

    /// Sets an attribute or to-one past change tracking, notifications and inverses.
    public final func setPrimitiveValue(_ value: Any?, forKey key: String) {
        guard let place = knownPlace(of: key) else { return }
        if case .composite(let number) = place { return setComposite(number, to: value, key) { writeUntracked($0, atSlot: $1) } }
        guard case .slot(let slot) = place else { return setPropertyValue(value, key) }
        if let target = (value as? NSManagedObject)?.standing {
            writeUntracked(.objectID(target.objectID), atSlot: slot)
        } else if layout.attribute(atSlot: slot) != nil {
            guard let coded = AttributeValue.coded(value, as: layout.kinds[slot]) else {
                return CoreDataMisuse.wrongType(value, key: key, entity: entity.name, expected: layout.kinds[slot].name).survive()
            }
            writeUntracked(coded, atSlot: slot)
        } else {
            writeUntracked(.null, atSlot: slot)
        }
    }

    /// Realises a fault; with a key, as a custom accessor does before it reads.
    public final func willAccessValue(forKey key: String?) { _ = realisedRow }
    /// Does nothing: the counterpart of `willAccessValue(forKey:)`, for custom accessors that call both.
    public final func didAccessValue(forKey key: String?) {}
    /// See `willChangeValue(forKey:)`.
    final func announceChange(ofKey key: String) {
        guard !ignoresChanges, isChange(ofKey: key) else { return }
        _ = realisedRow
        let me = standing
        me.context?.willChange(me)
    }

    /// See `didChangeValue(forKey:)`.
    final func noteChange(ofKey key: String) {
        guard !ignoresChanges, isChange(ofKey: key) else { return }
        let me = standing
        if me !== self { return me.noteChange(ofKey: key) }
        switch layout.place(of: key) {
        case .slot(let slot)?:
            changed.insert(slot)
            eventSlots.insert(slot)
        case .toMany(let number)?: touch(toMany: number)
        case .composite(let number)?:
            for slot in layout.composites[number].slots {
                changed.insert(slot)
                eventSlots.insert(slot)
            }
        case nil: break
        }
        context?.didChange(self)
    }

    /// Nil: it has none, which whoever handles misuses was told.
    private func knownPlace(of key: String) -> PropertyPlace? {
        if let place = layout.place(of: key) { return place }
        if entity.propertiesByName[key] != nil { return place(of: key) }
        CoreDataMisuse.unknownKey(key, entity: entity.name).survive()
        return nil
    }

    private func isChange(ofKey key: String) -> Bool {
        layout.place(of: key) != nil || !Swift.type(of: self).contextShouldIgnoreUnmodeledPropertyChanges
    }
}

/// What a to-many is set to.
private enum KeyedObjects {
    /// Nil for what is no collection of objects.
    static func objects(in value: Any?) -> [NSManagedObject]? {
        switch value {
        case nil, is NSNull: []
        case let objects as Set<NSManagedObject>: Array(objects)
        case let objects as [NSManagedObject]: objects
        case let objects as NSOrderedSet: objects.array.compactMap { $0 as? NSManagedObject }
        case let objects as NSSet: objects.allObjects.compactMap { $0 as? NSManagedObject }
        default: nil
        }
    }
}
