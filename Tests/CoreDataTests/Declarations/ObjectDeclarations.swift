import CoreData
import Foundation

// Objects and their identities, and the key-value coding that Core Data builds on. Each statement uses one of Apple's declarations as it is
// spelled and typed; the comment behind or above it names it, and COVERAGE.md counts them.

// MARK: NSManagedObject

private func nsManagedObject(_ it: NSManagedObject) {
    let _: any NSFetchRequestResult = it  // = NSFetchRequestResult
    let _: Bool = NSManagedObject.contextShouldIgnoreUnmodeledPropertyChanges  // = contextShouldIgnoreUnmodeledPropertyChanges
    let _: () -> NSEntityDescription = NSManagedObject.entity  // = entity()
    let _: () -> NSFetchRequest<any NSFetchRequestResult> = NSManagedObject.fetchRequest  // = fetchRequest()
    // = init(entity:insertInto:)
    let _: (NSEntityDescription, NSManagedObjectContext?) -> NSManagedObject = NSManagedObject.init(entity:insertInto:)
    let _: (NSManagedObjectContext) -> NSManagedObject = NSManagedObject.init(context:)  // = init(context:)
    let _: KeyPath<NSManagedObject, NSManagedObjectContext?> = \.managedObjectContext  // = managedObjectContext
    let _: KeyPath<NSManagedObject, NSEntityDescription> = \.entity  // = entity
    let _: KeyPath<NSManagedObject, NSManagedObjectID> = \.objectID  // = objectID
    let _: KeyPath<NSManagedObject, Bool> = \.isInserted  // = isInserted
    let _: KeyPath<NSManagedObject, Bool> = \.isUpdated  // = isUpdated
    let _: KeyPath<NSManagedObject, Bool> = \.isDeleted  // = isDeleted
    let _: KeyPath<NSManagedObject, Bool> = \.hasChanges  // = hasChanges
    let _: KeyPath<NSManagedObject, Bool> = \.hasPersistentChangedValues  // = hasPersistentChangedValues
    let _: KeyPath<NSManagedObject, Bool> = \.isFault  // = isFault
    let _: (String) -> Bool = it.hasFault(forRelationshipNamed:)  // = hasFault(forRelationshipNamed:)
    let _: (String) -> [NSManagedObjectID] = it.objectIDs(forRelationshipNamed:)  // = objectIDs(forRelationshipNamed:)
    let _: KeyPath<NSManagedObject, Int> = \.faultingState  // = faultingState
    let _: (String?) -> Void = it.willAccessValue(forKey:)  // = willAccessValue(forKey:)
    let _: (String?) -> Void = it.didAccessValue(forKey:)  // = didAccessValue(forKey:)
    let _: (String) -> Void = it.willChangeValue(forKey:)  // = willChangeValue(forKey:)
    let _: (String) -> Void = it.didChangeValue(forKey:)  // = didChangeValue(forKey:)
    let _: (String) -> Any? = it.value(forKey:)  // = value(forKey:)
    let _: (Any?, String) -> Void = it.setValue(_:forKey:)  // = setValue(_:forKey:)
    let _: (String) -> Any? = it.primitiveValue(forKey:)  // = primitiveValue(forKey:)
    let _: (Any?, String) -> Void = it.setPrimitiveValue(_:forKey:)  // = setPrimitiveValue(_:forKey:)
    let _: ([String]?) -> [String: Any] = it.committedValues(forKeys:)  // = committedValues(forKeys:)
    let _: () -> [String: Any] = it.changedValues  // = changedValues()
    let _: () -> [String: Any] = it.changedValuesForCurrentEvent  // = changedValuesForCurrentEvent()
    let _: () -> Void = it.awakeFromFetch  // = awakeFromFetch()
    let _: () -> Void = it.awakeFromInsert  // = awakeFromInsert()
    let _: (NSSnapshotEventType) -> Void = it.awake(fromSnapshotEvents:)  // = awake(fromSnapshotEvents:)
    let _: () -> Void = it.prepareForDeletion  // = prepareForDeletion()
    let _: () -> Void = it.willSave  // = willSave()
    let _: () -> Void = it.didSave  // = didSave()
    let _: () -> Void = it.willTurnIntoFault  // = willTurnIntoFault()
    let _: () -> Void = it.didTurnIntoFault  // = didTurnIntoFault()
    let _: (AutoreleasingUnsafeMutablePointer<AnyObject?>, String) throws -> Void = it.validateValue(_:forKey:)  // = validateValue(_:forKey:)
    let _: () throws -> Void = it.validateForDelete  // = validateForDelete()
    let _: () throws -> Void = it.validateForInsert  // = validateForInsert()
    let _: () throws -> Void = it.validateForUpdate  // = validateForUpdate()
    let _: Any? = it["name"]  // = subscript(_:)
    // = willChangeValue(forKey:withSetMutation:using:)
    let _: (String, NSKeyValueSetMutationKind, Set<AnyHashable>) -> Void = it.willChangeValue(forKey:withSetMutation:using:)
    // = didChangeValue(forKey:withSetMutation:using:)
    let _: (String, NSKeyValueSetMutationKind, Set<AnyHashable>) -> Void = it.didChangeValue(forKey:withSetMutation:using:)
}

// MARK: NSManagedObject

private class OwnNSManagedObject: NSManagedObject {
    // = contextShouldIgnoreUnmodeledPropertyChanges, overridden
    override class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { false }
    override class func entity() -> NSEntityDescription { super.entity() }  // = entity(), overridden
    override class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> { super.fetchRequest() }  // = fetchRequest(), overridden
    // = init(entity:insertInto:), overridden
    override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) { super.init(entity: entity, insertInto: context) }
    override func value(forKey key: String) -> Any? { super.value(forKey: key) }  // = value(forKey:), overridden
    override func setValue(_ value: Any?, forKey key: String) { super.setValue(value, forKey: key) }  // = setValue(_:forKey:), overridden
    override func awakeFromFetch() { super.awakeFromFetch() }  // = awakeFromFetch(), overridden
    override func awakeFromInsert() { super.awakeFromInsert() }  // = awakeFromInsert(), overridden
    // = awake(fromSnapshotEvents:), overridden
    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) { super.awake(fromSnapshotEvents: flags) }
    override func prepareForDeletion() { super.prepareForDeletion() }  // = prepareForDeletion(), overridden
    override func willSave() { super.willSave() }  // = willSave(), overridden
    override func didSave() { super.didSave() }  // = didSave(), overridden
    override func willTurnIntoFault() { super.willTurnIntoFault() }  // = willTurnIntoFault(), overridden
    override func didTurnIntoFault() { super.didTurnIntoFault() }  // = didTurnIntoFault(), overridden
    // = validateValue(_:forKey:), overridden
    override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {}
    override func validateForDelete() throws { try super.validateForDelete() }  // = validateForDelete(), overridden
    override func validateForInsert() throws { try super.validateForInsert() }  // = validateForInsert(), overridden
    override func validateForUpdate() throws { try super.validateForUpdate() }  // = validateForUpdate(), overridden
    override var description: String { super.description }  // = description, overridden
    override func setNilValueForKey(_ key: String) {}  // = setNilValueForKey(_:), overridden
    override func willChangeValue(forKey key: String) { super.willChangeValue(forKey: key) }  // = willChangeValue(forKey:), overridden
    override func didChangeValue(forKey key: String) { super.didChangeValue(forKey: key) }  // = didChangeValue(forKey:), overridden
    override func changedValues() -> [String: Any] { super.changedValues() }  // = changedValues(), overridden
    override var hasChanges: Bool { super.hasChanges }  // = hasChanges, overridden
}

// MARK: Key-value coding of NSManagedObject

private func keyValueCodingOfNSManagedObject(_ it: NSManagedObject) {
    let _: (String) -> Any? = it.value(forKeyPath:)  // = value(forKeyPath:)
    let _: (Any?, String) -> Void = it.setValue(_:forKeyPath:)  // = setValue(_:forKeyPath:)
    let _: ([String]) -> [String: Any] = it.dictionaryWithValues(forKeys:)  // = dictionaryWithValues(forKeys:)
    let _: ([String: Any]) -> Void = it.setValuesForKeys(_:)  // = setValuesForKeys(_:)
    let _: (String) -> NSMutableSet = it.mutableSetValue(forKey:)  // = mutableSetValue(forKey:)
    let _: (String) -> NSMutableOrderedSet = it.mutableOrderedSetValue(forKey:)  // = mutableOrderedSetValue(forKey:)
    let _: (String) -> NSMutableArray = it.mutableArrayValue(forKey:)  // = mutableArrayValue(forKey:)
    let _: (String) -> NSMutableSet = it.mutableSetValue(forKeyPath:)  // = mutableSetValue(forKeyPath:)
    let _: (String) -> NSMutableOrderedSet = it.mutableOrderedSetValue(forKeyPath:)  // = mutableOrderedSetValue(forKeyPath:)
    let _: (String) -> NSMutableArray = it.mutableArrayValue(forKeyPath:)  // = mutableArrayValue(forKeyPath:)
    let _: (String) -> Void = it.setNilValueForKey(_:)  // = setNilValueForKey(_:)
    // = validateValue(_:forKeyPath:)
    let _: (AutoreleasingUnsafeMutablePointer<AnyObject?>, String) throws -> Void = it.validateValue(_:forKeyPath:)
}

// MARK: NSSnapshotEventType

private func nsSnapshotEventType() {
    let _: (UInt) -> NSSnapshotEventType = NSSnapshotEventType.init(rawValue:)  // = init(rawValue:)
    let _: NSSnapshotEventType = .undoInsertion  // = undoInsertion
    let _: NSSnapshotEventType = .undoDeletion  // = undoDeletion
    let _: NSSnapshotEventType = .undoUpdate  // = undoUpdate
    let _: NSSnapshotEventType = .rollback  // = rollback
    let _: NSSnapshotEventType = .refresh  // = refresh
    let _: NSSnapshotEventType = .mergePolicy  // = mergePolicy
}

// MARK: NSManagedObjectID

private func nsManagedObjectID(_ it: NSManagedObjectID) {
    let _: any NSFetchRequestResult = it  // = NSFetchRequestResult
    let _: KeyPath<NSManagedObjectID, NSEntityDescription> = \.entity  // = entity
    let _: KeyPath<NSManagedObjectID, NSPersistentStore?> = \.persistentStore  // = persistentStore
    let _: KeyPath<NSManagedObjectID, Bool> = \.isTemporaryID  // = isTemporaryID
    let _: () -> URL = it.uriRepresentation  // = uriRepresentation()
    let _: any NSCopying = it  // = NSCopying
}
