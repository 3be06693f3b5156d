import Foundation

/// Reading and writing by slot. Everything else (key-value coding, `@Managed`, relationships) comes here.
extension NSManagedObject {
    final func place(of name: String) -> PropertyPlace {
        guard let place = layout.place(of: name) else {
            if entity.propertiesByName[name] is NSFetchedPropertyDescription {
                Violation.misuse("\(entity.name ?? "?").\(name) is a fetched property: it can only be read, with value(forKey:)")
            }
            Violation.unknownKey(name, entity: entity.name)
        }
        return place
    }

    final func toManyNumber(_ name: String) -> Int? {
        if case .toMany(let number) = place(of: name) { return number }
        return nil
    }

    /// The values, loaded if they were not there yet.
    final var realisedRow: RowSnapshot { realisedRow(for: nil) }

    private func realisedRow(for slot: Int?) -> RowSnapshot {
        context?.checkQueue()
        if isFaulted { fire(for: slot) }
        if context == nil, let other { return other.realisedRow(for: slot) }
        guard let row else { Violation.inaccessibleFault("\(objectID)") }
        return row
    }

    final func value(atSlot slot: Int) -> AttributeValue { realisedRow(for: slot)[slot] }

    /// Sets an attribute's value or a to-one's target, without touching the other side, and notes the change.
    final func setValue(_ value: AttributeValue, atSlot slot: Int) {
        if fillsRows { return setFilled(value, atSlot: slot) }
        let current = realisedRow, me = standing
        if me !== self { return me.setValue(value, atSlot: slot) }
        if ignoresChanges {
            writeUntracked(value, atSlot: slot)
            return
        }
        context?.willChange(self)
        if !ownsRow {
            row = current.copy()
            ownsRow = true
        }
        row?.update(slot, to: value)
        noteChange(slot)
        context?.didChange(self)
    }

    /// Sets a value past all tracking.
    final func writeUntracked(_ value: AttributeValue, atSlot slot: Int) {
        if fillsRows { return setFilled(value, atSlot: slot) }
        let current = realisedRow, me = standing
        if me !== self { return me.writeUntracked(value, atSlot: slot) }
        if !ownsRow {
            row = current.copy()
            ownsRow = true
        }
        row?.update(slot, to: value)
        if state == .inserted {
            changed.insert(slot)
            context?.unpublish(self)
        }
    }

    /// Loads the values where nothing can be thrown: a store that can't be read stops the program.
    final func fire(for slot: Int? = nil) {
        do { try realise(for: slot) } catch { Violation.unreadable("the values of \(objectID)", error) }
    }

    /// Loads the values: once, from the nearest level that has them. Throws what the store says where it can't be read; the object is a
    /// fault then as before.
    ///
    /// - Parameter slot: which value was asked for, if it was one.
    final func realise(for slot: Int? = nil) throws {
        if isBeingMade {
            if row == nil { row = RowSnapshot.make(layout) }
            return
        }
        // It may have turned out to be another object, of which there is an instance already.
        let me = standing
        if me !== self { return me.isFaulted ? try me.realise(for: slot) : () }
        guard let context else {
            if let probe { return probe.note(self, slot) }
            if wasReset {
                if row == nil { row = RowSnapshot.make(layout) }
                return
            }
            Violation.detachedFault("\(objectID)")
        }
        isFaulted = false
        let found: RowSnapshot?
        do { found = try context.loadRow(for: self) } catch {
            isFaulted = true
            throw error
        }
        guard let found else {
            // The row is gone: the object shows nil values and counts as deleted, as `shouldDeleteInaccessibleFaults` says.
            let property = slot.flatMap { entity.propertiesByName[layout.propertyName(ofSlot: $0)] }
            guard context.shouldHandleInaccessibleFault(self, for: objectID, triggeredByProperty: property) else {
                Violation.inaccessibleFault("\(objectID)")
            }
            row = RowSnapshot.make(layout)
            // No base: there is nothing to delete, so touching it (as the inverse of a stale reference) must not be saved.
            base = nil
            state = .deleted
            return
        }
        row = found
        ownsRow = false
        if base == nil || state == .clean { base = found }
        ignoresChanges = true
        awakeFromFetch()
        ignoresChanges = false
    }

    /// Forgets the values; they are loaded again when asked for.
    final func turnIntoFault() {
        willTurnIntoFault()
        isFaulted = true
        becomeClean(on: nil)
        ownsRow = false
        if let extras {
            extras.changed = SlotSet()
            extras.changedToManys = SlotSet()
            extras.members = [:]
            extras.fetched = [:]
            extras.batch = nil
        }
        didTurnIntoFault()
    }

    /// The members of a to-many where nothing can be thrown: a store that can't be read stops the program.
    final func memberIDs(_ number: Int) -> [NSManagedObjectID] {
        do { return try loadedMemberIDs(number) } catch {
            Violation.unreadable("\(layout.toManys[number].name) of \(objectID)", error)
        }
    }

    /// The members of a to-many: loaded on first use, kept from then on. Throws what the store says.
    final func loadedMemberIDs(_ number: Int) throws -> [NSManagedObjectID] {
        context?.checkQueue()
        let me = standing
        if me !== self { return try me.loadedMemberIDs(number) }
        if let loaded = members[number] { return loaded }
        guard let context, !isBeingMade else { return [] }
        let loaded = try context.loadMembers(RelationshipKey(owner: objectID, toMany: number))
        members[number] = loaded
        return loaded
    }

    /// See `changedValues()`.
    final var valuesThatChanged: [String: Any] {
        guard let row else { return [:] }
        let slots = changed.slots.filter { base == nil || base?[$0] != row[$0] }
        var result = row.layout.values(atSlots: slots) { externalValue(row[$0]) }
        changedToManys.forEach { number in
            let relationship = row.layout.toManys[number]
            result[relationship.name] = value(forKey: relationship.name)
        }
        return result
    }

    /// The last fetched or saved values. Nil: of all properties that are stored. To-manys are as the parent has them, without this context's changes;
    /// of a new object there are empty ones and nothing else.
    public final func committedValues(forKeys keys: [String]?) -> [String: Any] {
        _ = realisedRow
        var result: [String: Any] = [:]
        if let base {
            let slots = (0..<base.count).filter { keys?.contains(base.layout.propertyName(ofSlot: $0)) ?? !base.layout.isTransient[$0] }
            result = base.layout.values(atSlots: slots) { externalValue(base[$0]) }
            for key in keys ?? [] where result[key] == nil {
                // An element of a composite by itself.
                if let slot = base.layout.slot(of: key) { result[key] = externalValue(base[slot]) ?? NSNull() }
            }
        }
        for (number, relationship) in layout.toManys.enumerated() where keys?.contains(relationship.name) ?? !relationship.isTransient {
            let ids = base == nil ? [] : committedMemberIDs(number)
            result[relationship.name] = collection(of: ids, number)
        }
        return result
    }

    /// The members of a to-many as the channel has them.
    private func committedMemberIDs(_ number: Int) -> [NSManagedObjectID] {
        guard let context else { return [] }
        do {
            return try context.channel(to: "read committed values").relatedIDs(RelationshipKey(owner: objectID, toMany: number))
        } catch {
            Violation.unreadable("\(layout.toManys[number].name) of \(objectID)", error)
        }
    }

    /// The objects of a to-many as key-value coding hands them out.
    final func collection(of ids: [NSManagedObjectID], _ number: Int) -> Any {
        let objects = ids.compactMap { context?.object(with: $0) }
        return layout.toManys[number].isOrdered ? NSOrderedSet(array: objects) : Set(objects)
    }

    /// A slot's value as key-value coding hands it out: a to-one as its object.
    final func externalValue(_ value: AttributeValue) -> Any? {
        if case .objectID(let target) = value { return context?.object(with: target) ?? target }
        return value.any
    }
}
