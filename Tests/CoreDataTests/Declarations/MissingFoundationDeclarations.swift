import CoreData
import Foundation

// Of errors, and of Foundation: what is declared on Apple's platforms and not here, or otherwise. Each is named beside its statement and in
// COVERAGE.md; who adds one moves the statement to its class, and marks it with = instead of -.

#if canImport(ObjectiveC)

    // MARK: CocoaError

    private func cocoaErrorMissing() {
        let _: CocoaError.Code = CocoaError.managedObjectValidation  // - static managedObjectValidation
        let _: CocoaError.Code = CocoaError.validationMultipleErrors  // - static validationMultipleErrors
        let _: CocoaError.Code = CocoaError.validationMissingMandatoryProperty  // - static validationMissingMandatoryProperty
        let _: CocoaError.Code = CocoaError.validationRelationshipLacksMinimumCount  // - static validationRelationshipLacksMinimumCount
        let _: CocoaError.Code = CocoaError.validationRelationshipExceedsMaximumCount  // - static validationRelationshipExceedsMaximumCount
        let _: CocoaError.Code = CocoaError.validationRelationshipDeniedDelete  // - static validationRelationshipDeniedDelete
        let _: CocoaError.Code = CocoaError.validationNumberTooLarge  // - static validationNumberTooLarge
        let _: CocoaError.Code = CocoaError.validationNumberTooSmall  // - static validationNumberTooSmall
        let _: CocoaError.Code = CocoaError.validationDateTooLate  // - static validationDateTooLate
        let _: CocoaError.Code = CocoaError.validationDateTooSoon  // - static validationDateTooSoon
        let _: CocoaError.Code = CocoaError.validationInvalidDate  // - static validationInvalidDate
        let _: CocoaError.Code = CocoaError.validationStringTooLong  // - static validationStringTooLong
        let _: CocoaError.Code = CocoaError.validationStringTooShort  // - static validationStringTooShort
        let _: CocoaError.Code = CocoaError.validationStringPatternMatching  // - static validationStringPatternMatching
        let _: CocoaError.Code = CocoaError.managedObjectContextLocking  // - static managedObjectContextLocking
        let _: CocoaError.Code = CocoaError.persistentStoreCoordinatorLocking  // - static persistentStoreCoordinatorLocking
        let _: CocoaError.Code = CocoaError.managedObjectReferentialIntegrity  // - static managedObjectReferentialIntegrity
        let _: CocoaError.Code = CocoaError.managedObjectExternalRelationship  // - static managedObjectExternalRelationship
        let _: CocoaError.Code = CocoaError.managedObjectMerge  // - static managedObjectMerge
        let _: CocoaError.Code = CocoaError.managedObjectConstraintMerge  // - static managedObjectConstraintMerge
        let _: CocoaError.Code = CocoaError.persistentStoreInvalidType  // - static persistentStoreInvalidType
        let _: CocoaError.Code = CocoaError.persistentStoreTypeMismatch  // - static persistentStoreTypeMismatch
        let _: CocoaError.Code = CocoaError.persistentStoreIncompatibleSchema  // - static persistentStoreIncompatibleSchema
        let _: CocoaError.Code = CocoaError.persistentStoreSave  // - static persistentStoreSave
        let _: CocoaError.Code = CocoaError.persistentStoreIncompleteSave  // - static persistentStoreIncompleteSave
        let _: CocoaError.Code = CocoaError.persistentStoreSaveConflicts  // - static persistentStoreSaveConflicts
        let _: CocoaError.Code = CocoaError.coreData  // - static coreData
        let _: CocoaError.Code = CocoaError.persistentStoreOperation  // - static persistentStoreOperation
        let _: CocoaError.Code = CocoaError.persistentStoreOpen  // - static persistentStoreOpen
        let _: CocoaError.Code = CocoaError.persistentStoreTimeout  // - static persistentStoreTimeout
        let _: CocoaError.Code = CocoaError.persistentStoreUnsupportedRequestType  // - static persistentStoreUnsupportedRequestType
        let _: CocoaError.Code = CocoaError.persistentStoreIncompatibleVersionHash  // - static persistentStoreIncompatibleVersionHash
        let _: CocoaError.Code = CocoaError.migration  // - static migration
        let _: CocoaError.Code = CocoaError.migrationCancelled  // - static migrationCancelled
        let _: CocoaError.Code = CocoaError.migrationMissingSourceModel  // - static migrationMissingSourceModel
        let _: CocoaError.Code = CocoaError.migrationMissingMappingModel  // - static migrationMissingMappingModel
        let _: CocoaError.Code = CocoaError.migrationManagerSourceStore  // - static migrationManagerSourceStore
        let _: CocoaError.Code = CocoaError.migrationManagerDestinationStore  // - static migrationManagerDestinationStore
        let _: CocoaError.Code = CocoaError.entityMigrationPolicy  // - static entityMigrationPolicy
        let _: CocoaError.Code = CocoaError.sqlite  // - static sqlite
        let _: CocoaError.Code = CocoaError.inferredMappingModel  // - static inferredMappingModel
        let _: CocoaError.Code = CocoaError.externalRecordImport  // - static externalRecordImport
        let _: KeyPath<CocoaError, Any?> = \.validationObject  // - validationObject
        let _: KeyPath<CocoaError, String?> = \.validationKey  // - validationKey
        let _: KeyPath<CocoaError, NSPredicate?> = \.validationPredicate  // - validationPredicate
        let _: KeyPath<CocoaError, Any?> = \.validationValue  // - validationValue
        let _: KeyPath<CocoaError, [AnyObject]?> = \.affectedStores  // - affectedStores
        let _: KeyPath<CocoaError, [AnyObject]?> = \.affectedObjects  // - affectedObjects
        let _: KeyPath<CocoaError, [NSMergeConflict]?> = \.persistentStoreSaveConflicts  // - persistentStoreSaveConflicts
    }

    // MARK: NSPredicate

    private func nsPredicateMissing(_ it: NSPredicate, _ predicate: Predicate<NSObject>) {
        let _: any NSSecureCoding = it  // - NSSecureCoding
        let _: (String, CVaListPointer) -> NSPredicate = NSPredicate.init(format:arguments:)  // - init(format:arguments:)
        let _: NSPredicate? = NSPredicate(predicate)  // - init(_:) of a Predicate
        let _: () -> Void = it.allowEvaluation  // - allowEvaluation()
    }

    // MARK: NSComparisonPredicate

    private func nsComparisonPredicateMissing() {
        // - init(leftExpression:rightExpression:customSelector:)
        let _: (NSExpression, NSExpression, Selector) -> NSComparisonPredicate = NSComparisonPredicate.init(
            leftExpression:rightExpression:customSelector:)
        let _: KeyPath<NSComparisonPredicate, Selector?> = \.customSelector  // - customSelector
    }

    // MARK: NSComparisonPredicate.Operator

    private func operatorOfNSComparisonPredicateMissing() {
        let _: NSComparisonPredicate.Operator = .customSelector  // - customSelector
    }

    // MARK: NSExpression

    private func nsExpressionMissing(_ it: NSExpression) {
        let _: any NSCopying = it  // - NSCopying
        let _: any NSSecureCoding = it  // - NSSecureCoding
        let _: (String, CVaListPointer) -> NSExpression = NSExpression.init(format:arguments:)  // - init(format:arguments:)
        _ = NSExpression(forKeyPath: \NSString.length)  // - init(forKeyPath:) of a key path
        let _: (NSExpression.ExpressionType) -> NSExpression = NSExpression.init(expressionType:)  // - init(expressionType:)
        let _: KeyPath<NSExpression, (Any?, [Any], NSMutableDictionary?) -> Any> = \.expressionBlock  // - expressionBlock
        let _: () -> Void = it.allowEvaluation  // - allowEvaluation()
    }

    // MARK: NSSortDescriptor

    private func nsSortDescriptorMissing(_ it: NSSortDescriptor) {
        let _: any NSSecureCoding = it  // - NSSecureCoding
        _ = NSSortDescriptor(key: "name", ascending: true, selector: Optional<Selector>.none)  // - init(key:ascending:selector:)
        _ = NSSortDescriptor(SortDescriptor(\NSString.length))  // - init(_:) of a SortDescriptor
        let _: KeyPath<NSSortDescriptor, Selector?> = \.selector  // - selector
        let _: () -> Void = it.allowEvaluation  // - allowEvaluation()
    }

    // MARK: UndoManager

    @MainActor
    private func undoManagerMissing(_ it: UndoManager) {
        let _: ReferenceWritableKeyPath<UndoManager, [RunLoop.Mode]> = \.runLoopModes  // - runLoopModes
        // - registerUndo(withTarget:selector:object:)
        let _: @MainActor (Any, Selector, Any?) -> Void = it.registerUndo(withTarget:selector:object:)
        let _: @MainActor (Any) -> Any = it.prepare(withInvocationTarget:)  // - prepare(withInvocationTarget:)
        it.setActionUserInfoValue(1, forKey: UndoManager.UserInfoKey(rawValue: "key"))  // - setActionUserInfoValue(_:forKey:)
        let _: Any? = it.undoActionUserInfoValue(forKey: UndoManager.UserInfoKey(rawValue: "key"))  // - undoActionUserInfoValue(forKey:)
        let _: Any? = it.redoActionUserInfoValue(forKey: UndoManager.UserInfoKey(rawValue: "key"))  // - redoActionUserInfoValue(forKey:)
    }

#endif
