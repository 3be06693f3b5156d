import Foundation

/// What happened to an object since the last ObjectsDidChange, and the hook for values that came back.
extension NSManagedObject {
    /// The properties changed since the last ObjectsDidChange notification and their values from before it; `NSNull` for nil. Transient values
    /// are left out, and to-manys that nobody had loaded: no fault is fired.
    public final func changedValuesForCurrentEvent() -> [String: Any] {
        guard let row else { return [:] }
        let before = eventBase ?? RowSnapshot.defaults(row.layout)
        let slots = eventSlots.slots.filter { !row.layout.isTransient[$0] && before[$0] != row[$0] }
        var result = row.layout.values(atSlots: slots) { externalValue(before[$0]) }
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

extension NSManagedObject {
    /// The value of a fetched property: evaluated on first use, kept until the object is refreshed.
    final func objects(of property: NSFetchedPropertyDescription) -> [NSManagedObject] {
        guard let context else { return [] }
        context.checkQueue()
        if let known = fetched[property.name] { return known.map { context.object(with: $0) } }
        guard let request = property.fetchRequest else { return [] }
        let found: [NSManagedObject]
        do {
            let node = request.predicate?.node.resolvingFetch(source: self, property: property)
            request.predicate = node.map { NSPredicate.make($0) }
            found = try context.fetch(request).compactMap { $0 as? NSManagedObject }
        } catch {
            // A getter can't throw. A file that can't be read just now has no answer, which is asked for again the next time; a fetch that
            // makes no sense was settled with the model.
            if (error as NSError).userInfo[NSSQLiteErrorDomain] != nil { return [] }
            Violation.misuse("the fetched property \(entity.name ?? "?").\(property.name) can't be evaluated: \(error.localizedDescription)")
        }
        fetched[property.name] = found.map(\.objectID)
        return found
    }
}

extension PredicateNode {
    /// The predicate for one object: its variables replaced, and what hangs on them by keys read from the object as it is now, because a store
    /// knows nothing of unsaved values.
    fileprivate func resolvingFetch(source: NSManagedObject, property: NSFetchedPropertyDescription) -> PredicateNode {
        substituting(["FETCH_SOURCE": .constant(.object(PredicateObject(source))), "FETCHED_PROPERTY": .constant(.opaque(OpaqueValue(property)))])
            .mapExpressions { expression in
                guard case .keyPathOf(.constant, _) = expression else { return expression }
                return (try? expression.evaluate(in: EvaluationScope(nil))).map { .constant($0) } ?? expression
            }
    }
}
