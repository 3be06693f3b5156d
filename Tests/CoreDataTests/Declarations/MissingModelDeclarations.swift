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
        let _: () -> UnsafeMutableRawPointer? = it.observationInfo  // - observationInfo()
        let _: (UnsafeMutableRawPointer?) -> Void = it.setObservationInfo(_:)  // - setObservationInfo(_:)
    }

    // MARK: Key-value coding of NSManagedObject

    private func keyValueCodingOfNSManagedObjectMissing(_ it: NSManagedObject) {
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
    }

    // MARK: NSManagedObjectContext

    private func nsManagedObjectContextMissing(_ it: NSManagedObjectContext) {
        let _: any NSCoding = it  // - NSCoding
        // - observeValue(forKeyPath:of:change:context:)
        let _: (String?, Any?, [String: Any]?, UnsafeMutableRawPointer?) -> Void = it.observeValue(forKeyPath:of:change:context:)
        let _: ReferenceWritableKeyPath<NSManagedObjectContext, Any> = \.mergePolicy  // - mergePolicy
    }

    // MARK: NSConstraintConflict

    private func nsConstraintConflictMissing() {
        let _: KeyPath<NSConstraintConflict, [[AnyHashable: Any]]> = \.conflictingSnapshots  // - conflictingSnapshots
    }

#endif
