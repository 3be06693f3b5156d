import Foundation

/// An object of the graph. It belongs to one context and is used on that context's queue only.
///
/// Its values are a row, shared with every level and cache that holds the same values; the first change copies it.
open class NSManagedObject: NSObject {
    /// The identity. It changes once at most: where a new object turns out to be another one, which has its unique key (see `NSManagedObjectID`).
    // Accesses to these never overlap: an object is used on one queue, and nothing else is done while one is set.
    @exclusivity(unchecked) public internal(set) final var objectID: NSManagedObjectID
    /// The table that finds this object by its ID, unless its context retains it. Set by that table only.
    final var home: UsedObjects?
    /// Unretained: the context clears it in the objects it leaves behind.
    final unowned(unsafe) var context: NSManagedObjectContext?
    /// What `row` is.
    @exclusivity(unchecked) final var storedRow: RowSnapshot?
    /// What an object does not have that was only read.
    @exclusivity(unchecked) final var extras: ManagedObjectExtras?
    /// The low half of the chain's stamp when `row` was fetched, as long as this is a fault (see `ContextChain.stamp`).
    private final var fetchStamp: UInt32 = 0

    final var state: ObjectState = .detached
    // One byte for all that is yes or no: there are many objects, and an allocation less long by eight bytes is often one less long by sixteen.
    private final var flags: Flags = .isPublished

    /// A new object of `entity` in `context`; nil: in none yet. The one initialiser for a subclass to override. As with Apple's, it runs
    /// for objects that exist, too, whenever an instance of them is made: what is for new ones belongs into `awakeFromInsert()`. Properties of the model
    /// read nothing then, and what they are set to is not kept.
    public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        if let context, let existing = context.takeObjectToMake(of: entity) {
            objectID = existing
            super.init()
            self.context = context
            state = .clean
            isFaulted = true
            isBeingMade = true
            ignoresChanges = true
            return
        }
        guard !entity.isAbstract else { Violation.misuse("entity \(entity.name ?? "?") is abstract; it has no objects") }
        if let context {
            objectID = context.makeID(for: entity)
        } else {
            objectID = NSManagedObjectID(entity: entity, key: UnreservedKeys.next(), store: .unbound, isTemporary: true)
        }
        super.init()
        row = RowSnapshot.defaults(objectID.layout)
        ownsRow = true
        context?.insert(self)
    }

    /// A new object of the one entity of this class in `context`.
    public required convenience init(context: NSManagedObjectContext) {
        self.init(entity: context.entity(for: Self.self), insertInto: context)
    }

    /// For Core Data itself (see `ObjectMaking`).
    public required convenience init(_ making: ObjectMaking) {
        if let existing = making.existing { making.context?.objectToMake = existing }
        self.init(entity: making.entity, insertInto: making.context)
    }

    deinit { home?.forget(self) }

    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let ownsRow = Flags(rawValue: 1)
        static let isFaulted = Flags(rawValue: 2)
        static let isPublished = Flags(rawValue: 4)
        static let ignoresChanges = Flags(rawValue: 8)
        static let isBasedOnRow = Flags(rawValue: 16)
        static let fillsRows = Flags(rawValue: 32)
        static let wasReset = Flags(rawValue: 64)
        static let isBeingMade = Flags(rawValue: 128)
    }

    @inline(__always)
    private final func set(_ flag: Flags, _ isOn: Bool) {
        if isOn { flags.insert(flag) } else { flags.remove(flag) }
    }

    /// Whether `row` is this object's own copy, not shared with anybody.
    final var ownsRow: Bool {
        get { flags.contains(.ownsRow) }
        set { set(.ownsRow, newValue) }
    }

    /// Whether the values have been asked for yet.
    final var isFaulted: Bool {
        get { flags.contains(.isFaulted) }
        set { set(.isFaulted, newValue) }
    }

    final var isPublished: Bool {
        get { flags.contains(.isPublished) }
        set { set(.isPublished, newValue) }
    }

    /// Changes are not tracked while `awakeFromFetch` runs.
    final var ignoresChanges: Bool {
        get { flags.contains(.ignoresChanges) }
        set { set(.ignoresChanges, newValue) }
    }

    /// Whether `base` is `row`.
    final var isBasedOnRow: Bool {
        get { flags.contains(.isBasedOnRow) }
        set { set(.isBasedOnRow, newValue) }
    }

    /// Whether the object stands for one row after another of a batch insert: it is in no context, and nobody but its row has to know what is set.
    final var fillsRows: Bool {
        get { flags.contains(.fillsRows) }
        set { set(.fillsRows, newValue) }
    }

    /// Whether the initialisers of the object's class are not over, of an object that exists: it is a fault that nobody knows yet, so it reads nothing.
    final var isBeingMade: Bool {
        get { flags.contains(.isBeingMade) }
        set { set(.isBeingMade, newValue) }
    }

    /// The initialisers are over. What they did to the values is not kept: it would be a change of an object that was only read.
    final func wasMade() {
        isBeingMade = false
        ignoresChanges = false
        if storedRow == nil && extras == nil { return }
        extras = nil
        becomeClean(on: nil)
        ownsRow = false
        state = .clean
        isFaulted = true
    }

    /// Whether its context was reset: as a fault it reads nothing then.
    final var wasReset: Bool {
        get { flags.contains(.wasReset) }
        set { set(.wasReset, newValue) }
    }

    /// Notes the chain's stamp when `row` was fetched.
    final func wasFetched(at stamp: UInt64) { fetchStamp = UInt32(truncatingIfNeeded: stamp) }

    /// Whether `row` was fetched at this stamp: nothing has been pushed, saved or merged anywhere since. (Unless it was exactly 2³² times.)
    final func isFetched(at stamp: UInt64) -> Bool { fetchStamp == UInt32(truncatingIfNeeded: stamp) }

    /// The entity of this class, if the class belongs to one model in use.
    public final var entity: NSEntityDescription { objectID.entity }
    final var layout: EntityLayout { objectID.layout }
    /// The context that the object belongs to; nil if it was made without one, or its context let go of it (reset, saved deletion, context gone).
    public final var managedObjectContext: NSManagedObjectContext? { context }

    /// The one entity of this class, in the models that coordinators use; in the newest of them, where several know the class. Traps where none does,
    /// or one has several entities of the class.
    open class func entity() -> NSEntityDescription { NSManagedObjectModel.entityInUse(of: self) }

    /// A new request for this class's entity.
    open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        NSFetchRequest(entityName: entityName)
    }

    /// The name of the entity that this class stands for: the class's own name.
    open class var entityName: String { String(describing: self) }

    /// What key-value coding answers to a key that the entity does not have. A misuse (see `CoreDataMisuse`); a subclass may know better.
    open func value(forUndefinedKey key: String) -> Any? {
        CoreDataMisuse.unknownKey(key, entity: entity.name).survive()
        return nil
    }

    /// Where key-value coding sets a key that the entity does not have. A misuse (see `CoreDataMisuse`); a subclass may know better.
    open func setValue(_ value: Any?, forUndefinedKey key: String) { CoreDataMisuse.unknownKey(key, entity: entity.name).survive() }

    /// Where key-value coding sets nil by an accessor in `keyedAccessors` whose property is not optional. A misuse (see `CoreDataMisuse`); a subclass may
    /// know what nil means there. An attribute without such an accessor takes nil.
    open func setNilValueForKey(_ key: String) {
        CoreDataMisuse.wrongType(nil, key: key, entity: entity.name, expected: "a value, not nil").survive()
    }

    /// Announces that a custom accessor is going to change a property by `setPrimitiveValue(_:forKey:)`. Keys that the model does not know
    /// count only where `contextShouldIgnoreUnmodeledPropertyChanges` is false. The library itself does not call it.
    open func willChangeValue(forKey key: String) { announceChange(ofKey: key) }

    /// Notes that a custom accessor changed a property. The library itself does not call it.
    open func didChangeValue(forKey key: String) { noteChange(ofKey: key) }

    /// The values and keys that changed since the last fetch or save.
    open func changedValues() -> [String: Any] { valuesThatChanged }

    /// Whether changes announced by `willChangeValue(forKey:)` for keys that the model does not know leave the object unchanged.
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    /// The properties of this class that key-value coding finds by key; those of its superclasses are found too, unless this names the key as well.
    ///
    /// Asked for once. `value(forKey:)`, `setValue(_:forKey:)` and what goes through them use the property: key paths, predicates and sort
    /// descriptors on objects, validation, merge policies. Requests that are answered from rows do not: fetches, and `primitiveValue(forKey:)`.
    open class var keyedAccessors: [KeyedAccessor] { [] }

    /// The methods of this class that check one property each, by key; those of its superclasses are found too, unless this names the key as well.
    open class var keyedValidators: [KeyedValidator] { [] }

    /// Whether the object is new in this context and not yet saved from it. A new object that is deleted is not.
    public final var isInserted: Bool { state == .inserted }
    /// Whether a saved object was changed here since the last save, even if each value was set back: see `hasPersistentChangedValues`.
    public final var isUpdated: Bool { state == .updated }
    /// Whether the object will be deleted at the next save, or loading it showed that its row is gone. False once the deletion is saved.
    public final var isDeleted: Bool { state == .deleted }
    /// Whether anything is unsaved. The library itself does not ask an override.
    open var hasChanges: Bool { isUnsaved }
    final var isUnsaved: Bool { state == .inserted || state == .updated || state == .deleted }
    /// Whether the values to be saved differ from the last saved ones: setting a value and setting it back leaves none.
    public final var hasPersistentChangedValues: Bool {
        guard let row, let base else { return state == .inserted }
        var differs = !changedToManys.isEmpty
        changed.forEach { slot in
            if !row.layout.isTransient[slot] && row[slot] != base[slot] { differs = true }
        }
        return differs
    }
    /// Whether the values are yet to be loaded. Reading a property loads them; reading `objectID` or `entity` does not.
    public final var isFault: Bool { isFaulted }
    /// 0 when the object is realised; else it is a fault.
    public final var faultingState: Int { isFaulted ? 1 : 0 }

    /// Whether reading the relationship would have to load: for a to-many its members, for a to-one this object's row. Loads nothing itself.
    public final func hasFault(forRelationshipNamed name: String) -> Bool {
        guard let number = toManyNumber(name) else { return isFaulted }
        return members[number] == nil
    }

    /// The targets of a relationship, to-one or to-many, without making objects of them.
    public final func objectIDs(forRelationshipNamed name: String) -> [NSManagedObjectID] {
        switch place(of: name) {
        case .slot(let slot): [value(atSlot: slot).objectID?.current].compactMap { $0 }
        case .toMany(let number): memberIDs(number)
        case .composite: []
        }
    }

    // MARK: Hooks

    /// Called once, when the object was inserted, with its defaults set.
    open func awakeFromInsert() {}
    /// Called when the values of a fault have come. Changes made here are not tracked.
    open func awakeFromFetch() {}
    /// Called before deletion propagates to related objects.
    open func prepareForDeletion() {}
    /// Called before the object is saved. Changes made here are saved too.
    open func willSave() {}
    /// Called after the object was saved.
    open func didSave() {}
    /// Called when the values came back by undo, rollback, refresh or a merge policy. Changes made here are not tracked.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}
    /// Called before the object lets go of its values. They can still be read; unsaved changes are lost.
    open func willTurnIntoFault() {}
    /// Called after the object let go of its values. Reading a property here loads them again.
    open func didTurnIntoFault() {}

    // MARK: Key-value coding and validation (here because extensions can't be overridden)

    /// The value of a property: what the class's accessor in `keyedAccessors` says, if it has one. A to-one is its object, a to-many a
    /// `Set<NSManagedObject>`, an ordered one an `NSOrderedSet`. Traps for an unknown key.
    ///
    /// The first use of a fault's property loads its row, the first use of a to-many its members. Where the store can't be read then (the disk
    /// fails, the file is damaged, its lock is held for too long) the program stops: there is no value to return, and any that was made up could
    /// be saved in place of the stored one. What must survive that loads the object before with `existingObject(with:)` or a fetch, which throw;
    /// `save()` throws, too, where it has to read.
    open func value(forKey key: String) -> Any? { keyedValue(key) }

    /// Sets a property, by the accessor in `keyedAccessors` if there is one. A to-many takes a set, an array or an ordered set of objects; inverses follow.
    /// Traps for an unknown key and for a value of the wrong type.
    open func setValue(_ value: Any?, forKey key: String) { setKeyedValue(value, key) }

    /// Checks one property: by default the rules of the model, then the class's method in `keyedValidators`. Called for every property by
    /// `validateForInsert` and `validateForUpdate`.
    ///
    /// Override it to check more (and look at the key); throw to refuse. Setting the pointee replaces the value.
    open func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        try validateKeyed(value, key)
    }

    /// Checks everything before an insert is saved. Throws the one error, or 1560 with several.
    open func validateForInsert() throws { try validateProperties() }
    /// Checks everything before an update is saved.
    open func validateForUpdate() throws { try validateProperties() }
    /// Checks delete rules before a deletion is saved.
    open func validateForDelete() throws {
        guard let context else { return }
        try RowValidation.checkDeletion(of: objectID, context: context, object: self)
    }

    /// Marks the end of a relation to a context.
    final func detach() {
        context = nil
        state = .detached
    }

    /// The end of a relation to a context that was reset. What the object has read it keeps, for whoever holds it.
    final func leaveBehind() {
        detach()
        wasReset = true
    }

    /// By instance, as equality is.
    open override var hash: Int { Int(bitPattern: ObjectIdentifier(self)) >> 4 }

    open override var description: String {
        let values: String
        if isFaulted {
            values = "<fault>"
        } else if let row {
            values = "{\n" + row.layout.names.enumerated().map { "    \($1) = \(row[$0].inWords);" }.joined(separator: "\n") + "\n}"
        } else {
            values = "<deleted>"
        }
        return "<\(type(of: self))> (entity: \(entity.name ?? "?"); id: \(objectID); data: \(values))"
    }
}

extension NSManagedObject: NSFetchRequestResult {}

extension NSManagedObject: PredicateIdentity {
    /// The object's ID, so that a predicate finds an object equal to its ID and to its instances in other contexts.
    public var predicateIdentity: any Hashable & Sendable { objectID }
}

extension NSManagedObjectID: PredicateIdentity {
    /// The ID itself.
    public var predicateIdentity: any Hashable & Sendable { self }
}

/// By what an object's values came back: see `NSManagedObject.awake(fromSnapshotEvents:)`. Apple's raw values.
public struct NSSnapshotEventType: OptionSet, Hashable, Sendable {
    /// The events as bits, with Apple's numbers.
    public let rawValue: UInt
    /// The events of these bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// An insertion was undone: the object is deleted.
    public static let undoInsertion = NSSnapshotEventType(rawValue: 1 << 1)
    /// A deletion was undone.
    public static let undoDeletion = NSSnapshotEventType(rawValue: 1 << 2)
    /// A change of values was undone or redone.
    public static let undoUpdate = NSSnapshotEventType(rawValue: 1 << 3)
    /// A rollback dropped the object's unsaved changes.
    public static let rollback = NSSnapshotEventType(rawValue: 1 << 4)
    /// A refresh loaded the stored values again and put the unsaved changes back over them.
    public static let refresh = NSSnapshotEventType(rawValue: 1 << 5)
    /// A save met a conflict, and the merge policy decided on the values.
    public static let mergePolicy = NSSnapshotEventType(rawValue: 1 << 6)
}
