import CoreData
import Foundation

// Of models, objects and contexts: what Apple's framework declares and ours does not, or otherwise. Each is named beside its statement and in
// COVERAGE.md; who adds one moves the statement to its class, and marks it with = instead of -.

#if canImport(ObjectiveC)

    // MARK: NSManagedObjectModel

    private func nsManagedObjectModelMissing(_ it: NSManagedObjectModel) {
        let _: any NSCoding = it  // - NSCoding
        let _: any NSFastEnumeration = it  // - NSFastEnumeration
    }

    // MARK: NSEntityDescription

    private func nsEntityDescriptionMissing(_ it: NSEntityDescription) {
        let _: any NSCoding = it  // - NSCoding
        let _: any NSFastEnumeration = it  // - NSFastEnumeration
        // - coreSpotlightDisplayNameExpression
        let _: ReferenceWritableKeyPath<NSEntityDescription, NSExpression> = \.coreSpotlightDisplayNameExpression
    }

    @available(*, deprecated)
    private func nsEntityDescriptionDeprecatedMissing() {
        let _: ReferenceWritableKeyPath<NSEntityDescription, [[Any]]> = \.compoundIndexes  // - compoundIndexes
    }

    // MARK: NSPropertyDescription

    private func nsPropertyDescriptionMissing(_ it: NSPropertyDescription) {
        let _: any NSCoding = it  // - NSCoding
        let _: NSEntityDescription = it.entity  // - entity
        let _: KeyPath<NSPropertyDescription, [NSPredicate]> = \.validationPredicates  // - validationPredicates
        let _: KeyPath<NSPropertyDescription, [Any]> = \.validationWarnings  // - validationWarnings
        // - setValidationPredicates(_:withValidationWarnings:)
        let _: ([NSPredicate]?, [String]?) -> Void = it.setValidationPredicates(_:withValidationWarnings:)
        let _: ReferenceWritableKeyPath<NSPropertyDescription, Bool> = \.isIndexedBySpotlight  // - isIndexedBySpotlight
    }

    @available(*, deprecated)
    private func nsPropertyDescriptionDeprecatedMissing() {
        let _: ReferenceWritableKeyPath<NSPropertyDescription, Bool> = \.isStoredInExternalRecord  // - isStoredInExternalRecord
    }

    // MARK: NSAttributeDescription

    private func nsAttributeDescriptionMissing() {
        let _: ReferenceWritableKeyPath<NSAttributeDescription, Bool> = \.allowsCloudEncryption  // - allowsCloudEncryption
    }

    // MARK: NSCompositeAttributeDescription

    private func nsCompositeAttributeDescriptionMissing() {
        let _: () -> NSCompositeAttributeDescription = NSCompositeAttributeDescription.init  // - init()
        let _: ReferenceWritableKeyPath<NSCompositeAttributeDescription, [NSAttributeDescription]> = \.elements  // - elements
    }

    // MARK: NSFetchIndexDescription

    private func nsFetchIndexDescriptionMissing(_ it: NSFetchIndexDescription) {
        let _: any NSCoding = it  // - NSCoding
    }

    // MARK: NSFetchIndexElementDescription

    private func nsFetchIndexElementDescriptionMissing(_ it: NSFetchIndexElementDescription) {
        let _: any NSCoding = it  // - NSCoding
    }

    // MARK: NSManagedObject

    private func nsManagedObjectMissing(_ it: NSManagedObject) {
        let _: Any? = it["name"]  // - subscript(_:)
        // - willChangeValue(forKey:withSetMutation:using:)
        let _: (String, NSKeyValueSetMutationKind, Set<AnyHashable>) -> Void = it.willChangeValue(forKey:withSetMutation:using:)
        // - didChangeValue(forKey:withSetMutation:using:)
        let _: (String, NSKeyValueSetMutationKind, Set<AnyHashable>) -> Void = it.didChangeValue(forKey:withSetMutation:using:)
        let _: () -> UnsafeMutableRawPointer? = it.observationInfo  // - observationInfo()
        let _: (UnsafeMutableRawPointer?) -> Void = it.setObservationInfo(_:)  // - setObservationInfo(_:)
    }

    // MARK: NSManagedObject

    private class OwnNSManagedObject: NSManagedObject {
        override func setNilValueForKey(_ key: String) {}  // - setNilValueForKey(_:), overridden
        override func willChangeValue(forKey key: String) { super.willChangeValue(forKey: key) }  // - willChangeValue(forKey:), overridden
        override func didChangeValue(forKey key: String) { super.didChangeValue(forKey: key) }  // - didChangeValue(forKey:), overridden
        override func changedValues() -> [String: Any] { super.changedValues() }  // - changedValues(), overridden
        override var hasChanges: Bool { super.hasChanges }  // - hasChanges, overridden
    }

    // MARK: Key-value coding of NSManagedObject

    private func keyValueCodingOfNSManagedObjectMissing(_ it: NSManagedObject) {
        let _: (String) -> NSMutableArray = it.mutableArrayValue(forKey:)  // - mutableArrayValue(forKey:)
        let _: (String) -> NSMutableSet = it.mutableSetValue(forKeyPath:)  // - mutableSetValue(forKeyPath:)
        let _: (String) -> NSMutableOrderedSet = it.mutableOrderedSetValue(forKeyPath:)  // - mutableOrderedSetValue(forKeyPath:)
        let _: (String) -> NSMutableArray = it.mutableArrayValue(forKeyPath:)  // - mutableArrayValue(forKeyPath:)
        let _: (String) -> Void = it.setNilValueForKey(_:)  // - setNilValueForKey(_:)
        // - validateValue(_:forKeyPath:)
        let _: (AutoreleasingUnsafeMutablePointer<AnyObject?>, String) throws -> Void = it.validateValue(_:forKeyPath:)
        // - addObserver(_:forKeyPath:options:context:)
        let _: (NSObject, String, NSKeyValueObservingOptions, UnsafeMutableRawPointer?) -> Void = it.addObserver(_:forKeyPath:options:context:)
        let _: (NSObject, String) -> Void = it.removeObserver(_:forKeyPath:)  // - removeObserver(_:forKeyPath:)
        // - removeObserver(_:forKeyPath:context:)
        let _: (NSObject, String, UnsafeMutableRawPointer?) -> Void = it.removeObserver(_:forKeyPath:context:)
        // - observe(_:options:changeHandler:)
        let _: NSKeyValueObservation = it.observe(\.isDeleted, options: [.new]) { (_: NSManagedObject, _: NSKeyValueObservedChange<Bool>) in }
    }

    // MARK: NSManagedObjectID

    private func nsManagedObjectIDMissing(_ it: NSManagedObjectID) {
        let _: NSObject = it  // - NSObject
        let _: any NSCopying = it  // - NSCopying
    }

    // MARK: NSManagedObjectContext

    private func nsManagedObjectContextMissing(_ it: NSManagedObjectContext) {
        let _: any NSCoding = it  // - NSCoding
        let _: any NSLocking = it  // - NSLocking
        // - observeValue(forKeyPath:of:change:context:)
        let _: (String?, Any?, [String: Any]?, UnsafeMutableRawPointer?) -> Void = it.observeValue(forKeyPath:of:change:context:)
        let _: (Any, NSPersistentStore) -> Void = it.assign(_:to:)  // - assign(_:to:)
        let _: ReferenceWritableKeyPath<NSManagedObjectContext, Any> = \.mergePolicy  // - mergePolicy
    }

    // MARK: NSConstraintConflict

    private func nsConstraintConflictMissing() {
        let _: KeyPath<NSConstraintConflict, [[AnyHashable: Any]]> = \.conflictingSnapshots  // - conflictingSnapshots
    }

#endif
