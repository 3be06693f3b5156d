import CoreData
import Foundation

// What tests and programs override, and what they make for it: see ModelDeclarations.swift.

// MARK: NSManagedObject

private class OverridingObject: NSManagedObject {
    override func value(forUndefinedKey key: String) -> Any? { nil }  // = value(forUndefinedKey:), overridden
    override func setValue(_ value: Any?, forUndefinedKey key: String) {}  // = setValue(_:forUndefinedKey:), overridden
}

// MARK: Key-value coding of NSManagedObject

private func keyValueCodingOfUndefinedKeys(_ it: NSManagedObject) {
    let _: (String) -> Any? = it.value(forUndefinedKey:)  // = value(forUndefinedKey:)
    let _: (Any?, String) -> Void = it.setValue(_:forUndefinedKey:)  // = setValue(_:forUndefinedKey:)
}

// MARK: NSManagedObjectContext

// It has no state of its own.
private class OverridingContext: NSManagedObjectContext, @unchecked Sendable {
    override func save() throws { try super.save() }  // = save(), overridden
    // = execute(_:), overridden
    override func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult { try super.execute(request) }
    override func delete(_ object: NSManagedObject) { super.delete(object) }  // = delete(_:), overridden
    override func insert(_ object: NSManagedObject) { super.insert(object) }  // = insert(_:), overridden
    override func reset() { super.reset() }  // = reset(), overridden
    override func rollback() { super.rollback() }  // = rollback(), overridden
    override func processPendingChanges() { super.processPendingChanges() }  // = processPendingChanges(), overridden
    // = mergeChanges(fromContextDidSave:), overridden
    override func mergeChanges(fromContextDidSave notification: Notification) { super.mergeChanges(fromContextDidSave: notification) }
    override func perform(_ block: @escaping () -> Void) { super.perform(block) }  // = perform(_:), overridden
    override var hasChanges: Bool { super.hasChanges }  // = hasChanges, overridden
}

// MARK: NSMergeConflict

private func nsMergeConflictMaking() {
    // = init(source:newVersion:oldVersion:cachedSnapshot:persistedSnapshot:)
    let _: (NSManagedObject, Int, Int, [String: Any]?, [String: Any]?) -> NSMergeConflict = NSMergeConflict.init(
        source:newVersion:oldVersion:cachedSnapshot:persistedSnapshot:)
}

// MARK: NSConstraintConflict

private func nsConstraintConflictMaking() {
    // = init(constraint:database:databaseSnapshot:conflicting:conflictingSnapshots:)
    let _: ([String], NSManagedObject?, [AnyHashable: Any]?, [NSManagedObject], [Any]) -> NSConstraintConflict = NSConstraintConflict.init(
        constraint:database:databaseSnapshot:conflicting:conflictingSnapshots:)
}
