/// What an object does not have that was only read: changes, to-manys that were loaded or changed, and what belongs to a fetch. Apart from the
/// rest, because an object takes less memory and is made and unmade faster the less there is in it.
class ManagedObjectExtras {
    /// What `base` is where it is not `row`.
    final var base: RowSnapshot?
    // Set by the object's own code, one value at a time: no access overlaps another, and to look for that is a third of setting a value.
    @exclusivity(unchecked) final var changed = SlotSet()
    final var eventSlots = SlotSet()
    final var eventBase: RowSnapshot?
    final var members: [Int: [NSManagedObjectID]] = [:]
    final var fetched: [String: [NSManagedObjectID]] = [:]
    final var batch: FetchBatch?
    final var probe: KeyPathProbe?
    final var other: NSManagedObject?
    final var changedToManys = SlotSet()
    final var eventToManys = SlotSet()
    final var eventMembers: [Int: [NSManagedObjectID]] = [:]
}

extension NSManagedObject {
    private var madeExtras: ManagedObjectExtras {
        if let extras { return extras }
        let made = ManagedObjectExtras()
        extras = made
        return made
    }

    /// The values; nil while nothing is known of them.
    final var row: RowSnapshot? {
        get { storedRow }
        set {
            if isBasedOnRow, newValue !== storedRow {
                isBasedOnRow = false
                if let storedRow { madeExtras.base = storedRow }
            }
            storedRow = newValue
        }
    }

    /// The values last fetched or saved. Nil for a new object, and for a fault.
    final var base: RowSnapshot? {
        get { isBasedOnRow ? storedRow : extras?.base }
        set {
            isBasedOnRow = newValue != nil && newValue === storedRow
            let kept = isBasedOnRow ? nil : newValue
            if kept != nil || extras != nil { madeExtras.base = kept }
        }
    }

    /// Makes these the values, and the last fetched or saved ones too.
    final func becomeClean(on row: RowSnapshot?) {
        base = nil
        self.row = row
        base = row
    }

    /// Which slots were set since the values were last fetched or saved.
    final var changed: SlotSet {
        get { extras?.changed ?? SlotSet() }
        set { if !newValue.isEmpty || extras != nil { madeExtras.changed = newValue } }
    }

    /// Which slots were set since the last ObjectsDidChange.
    final var eventSlots: SlotSet {
        get { extras?.eventSlots ?? SlotSet() }
        set { if !newValue.isEmpty || extras != nil { madeExtras.eventSlots = newValue } }
    }

    /// The values before that.
    final var eventBase: RowSnapshot? {
        get { extras?.eventBase }
        set { if newValue != nil || extras != nil { madeExtras.eventBase = newValue } }
    }

    /// Notes that a slot was set.
    final func noteChange(_ slot: Int) {
        let extras = madeExtras
        extras.changed.insert(slot)
        extras.eventSlots.insert(slot)
    }

    /// To-manys that have been loaded, by number.
    final var members: [Int: [NSManagedObjectID]] {
        get { extras?.members ?? [:] }
        set {
            if newValue.isEmpty && extras == nil { return }
            madeExtras.members = newValue
            if !newValue.isEmpty { context?.hasLoadedMembers = true }
        }
        _modify {
            let extras = madeExtras
            defer { if !extras.members.isEmpty { context?.hasLoadedMembers = true } }
            yield &extras.members
        }
    }

    /// What the fetched property by name found, until the object is refreshed.
    final var fetched: [String: [NSManagedObjectID]] {
        get { extras?.fetched ?? [:] }
        set { if !newValue.isEmpty || extras != nil { madeExtras.fetched = newValue } }
    }

    /// The objects whose values are loaded together with this one's.
    final var batch: FetchBatch? {
        get { extras?.batch }
        set { if newValue != nil || extras != nil { madeExtras.batch = newValue } }
    }

    /// Whoever wants to know what is read of this object, which is in no context then.
    final var probe: KeyPathProbe? {
        get { extras?.probe }
        set { if newValue != nil || extras != nil { madeExtras.probe = newValue } }
    }

    /// The instance in whose place this one was: both turned out to be one object, and a context has one instance of each. This one is in no context
    /// then; what is read of it is read of the other, and what is set goes there.
    final var other: NSManagedObject? {
        get { extras?.other }
        set { madeExtras.other = newValue }
    }

    /// Whether `standing` is this one, without looking further.
    @usableFromInline
    final var standsForItself: Bool { fillsRows || !isFaulted && context != nil }

    /// The instance that is read and changed when this one is.
    @usableFromInline
    final var standing: NSManagedObject {
        if fillsRows { return self }
        // To read a fault is to hear what it turned out to be.
        if isFaulted, objectID.successor != nil { context?.readInbox() }
        guard context == nil, let other else { return self }
        return other.standing
    }

    /// Which to-manys changed since the last save.
    final var changedToManys: SlotSet {
        get { extras?.changedToManys ?? SlotSet() }
        set { if !newValue.isEmpty || extras != nil { madeExtras.changedToManys = newValue } }
    }

    /// Which to-manys changed since the last ObjectsDidChange.
    final var eventToManys: SlotSet {
        get { extras?.eventToManys ?? SlotSet() }
        set { if !newValue.isEmpty || extras != nil { madeExtras.eventToManys = newValue } }
    }

    /// The members before that of to-manys that were loaded, by number.
    final var eventMembers: [Int: [NSManagedObjectID]] {
        get { extras?.eventMembers ?? [:] }
        set { if !newValue.isEmpty || extras != nil { madeExtras.eventMembers = newValue } }
    }
}
