import Foundation

/// What happened to an object since the last ObjectsDidChange, and the hook for values that came back.
extension NSManagedObject {
    /// The properties changed since the last ObjectsDidChange notification and their values from before it; `NSNull` for nil. Transient values
    /// are left out, and to-manys that nobody had loaded: no fault is fired.
    public final func changedValuesForCurrentEvent() -> [String: Any] {
        guard let row else { return [:] }
        let before = eventBase ?? RowSnapshot.defaults(row.layout)
        var result: [String: Any] = [:]
        eventSlots.forEach { slot in
            if row.layout.isTransient[slot] || before[slot] == row[slot] { return }
            result[row.layout.names[slot]] = externalValue(before[slot]) ?? NSNull()
        }
        guard let context else { return result }
        eventToManys.forEach { number in
            guard let ids = eventMembers[number] else { return }
            let relationship = row.layout.toManys[number], objects = ids.map { context.object(with: $0) }
            result[relationship.name] = relationship.isOrdered ? NSOrderedSet(array: objects) : Set(objects)
        }
        return result
    }

    /// Before a value changes: the row of before the event is kept. Of an object that is new in the event it is the row of defaults.
    final func noteEventStart() {
        if eventBase != nil || (state == .inserted && (ownsRow || !eventSlots.isEmpty)) { return }
        eventBase = row
        ownsRow = false
    }

    /// Before the members of a to-many change.
    final func noteMembers(ofToMany number: Int) {
        if let loaded = members[number], eventMembers[number] == nil { eventMembers[number] = loaded }
    }

    /// The event was told of.
    final func noteEventEnd() {
        guard let extras else { return }
        extras.eventSlots = SlotSet()
        extras.eventBase = nil
        extras.eventToManys = SlotSet()
        extras.eventMembers = [:]
    }

    /// Tells the object that its values came back.
    final func callAwake(_ flags: NSSnapshotEventType) {
        if Swift.type(of: self) == NSManagedObject.self { return }
        ignoresChanges = true
        awake(fromSnapshotEvents: flags)
        ignoresChanges = false
    }
}
