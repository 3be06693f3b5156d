import CoreData
import Foundation

// Codes of errors, in all their spellings, and what an error says beside its code. Each statement uses one of Apple's declarations as it is
// spelled and typed; the comment behind or above it names it, and COVERAGE.md counts them.

// MARK: Error constants

private func errorConstants() {
    let _: Int = NSManagedObjectValidationError  // = NSManagedObjectValidationError
    let _: Int = NSManagedObjectConstraintValidationError  // = NSManagedObjectConstraintValidationError
    let _: Int = NSValidationMultipleErrorsError  // = NSValidationMultipleErrorsError
    let _: Int = NSValidationMissingMandatoryPropertyError  // = NSValidationMissingMandatoryPropertyError
    let _: Int = NSValidationRelationshipLacksMinimumCountError  // = NSValidationRelationshipLacksMinimumCountError
    let _: Int = NSValidationRelationshipExceedsMaximumCountError  // = NSValidationRelationshipExceedsMaximumCountError
    let _: Int = NSValidationRelationshipDeniedDeleteError  // = NSValidationRelationshipDeniedDeleteError
    let _: Int = NSValidationNumberTooLargeError  // = NSValidationNumberTooLargeError
    let _: Int = NSValidationNumberTooSmallError  // = NSValidationNumberTooSmallError
    let _: Int = NSValidationDateTooLateError  // = NSValidationDateTooLateError
    let _: Int = NSValidationDateTooSoonError  // = NSValidationDateTooSoonError
    let _: Int = NSValidationInvalidDateError  // = NSValidationInvalidDateError
    let _: Int = NSValidationStringTooLongError  // = NSValidationStringTooLongError
    let _: Int = NSValidationStringTooShortError  // = NSValidationStringTooShortError
    let _: Int = NSValidationStringPatternMatchingError  // = NSValidationStringPatternMatchingError
    let _: Int = NSValidationInvalidURIError  // = NSValidationInvalidURIError
    let _: Int = NSManagedObjectContextLockingError  // = NSManagedObjectContextLockingError
    let _: Int = NSPersistentStoreCoordinatorLockingError  // = NSPersistentStoreCoordinatorLockingError
    let _: Int = NSManagedObjectReferentialIntegrityError  // = NSManagedObjectReferentialIntegrityError
    let _: Int = NSManagedObjectExternalRelationshipError  // = NSManagedObjectExternalRelationshipError
    let _: Int = NSManagedObjectMergeError  // = NSManagedObjectMergeError
    let _: Int = NSManagedObjectConstraintMergeError  // = NSManagedObjectConstraintMergeError
    let _: Int = NSPersistentStoreInvalidTypeError  // = NSPersistentStoreInvalidTypeError
    let _: Int = NSPersistentStoreTypeMismatchError  // = NSPersistentStoreTypeMismatchError
    let _: Int = NSPersistentStoreIncompatibleSchemaError  // = NSPersistentStoreIncompatibleSchemaError
    let _: Int = NSPersistentStoreSaveError  // = NSPersistentStoreSaveError
    let _: Int = NSPersistentStoreIncompleteSaveError  // = NSPersistentStoreIncompleteSaveError
    let _: Int = NSPersistentStoreSaveConflictsError  // = NSPersistentStoreSaveConflictsError
    let _: Int = NSCoreDataError  // = NSCoreDataError
    let _: Int = NSPersistentStoreOperationError  // = NSPersistentStoreOperationError
    let _: Int = NSPersistentStoreOpenError  // = NSPersistentStoreOpenError
    let _: Int = NSPersistentStoreTimeoutError  // = NSPersistentStoreTimeoutError
    let _: Int = NSPersistentStoreUnsupportedRequestTypeError  // = NSPersistentStoreUnsupportedRequestTypeError
    let _: Int = NSPersistentStoreIncompatibleVersionHashError  // = NSPersistentStoreIncompatibleVersionHashError
    let _: Int = NSMigrationError  // = NSMigrationError
    let _: Int = NSMigrationConstraintViolationError  // = NSMigrationConstraintViolationError
    let _: Int = NSMigrationCancelledError  // = NSMigrationCancelledError
    let _: Int = NSMigrationMissingSourceModelError  // = NSMigrationMissingSourceModelError
    let _: Int = NSMigrationMissingMappingModelError  // = NSMigrationMissingMappingModelError
    let _: Int = NSMigrationManagerSourceStoreError  // = NSMigrationManagerSourceStoreError
    let _: Int = NSMigrationManagerDestinationStoreError  // = NSMigrationManagerDestinationStoreError
    let _: Int = NSEntityMigrationPolicyError  // = NSEntityMigrationPolicyError
    let _: Int = NSSQLiteError  // = NSSQLiteError
    let _: Int = NSInferredMappingModelError  // = NSInferredMappingModelError
    let _: Int = NSExternalRecordImportError  // = NSExternalRecordImportError
    let _: Int = NSPersistentHistoryTokenExpiredError  // = NSPersistentHistoryTokenExpiredError
    let _: Int = NSManagedObjectModelReferenceNotFoundError  // = NSManagedObjectModelReferenceNotFoundError
    let _: Int = NSStagedMigrationFrameworkVersionMismatchError  // = NSStagedMigrationFrameworkVersionMismatchError
    let _: Int = NSStagedMigrationBackwardMigrationError  // = NSStagedMigrationBackwardMigrationError
    let _: String = NSSQLiteErrorDomain  // = NSSQLiteErrorDomain
    let _: String = NSDetailedErrorsKey  // = NSDetailedErrorsKey
    let _: String = NSValidationObjectErrorKey  // = NSValidationObjectErrorKey
    let _: String = NSValidationKeyErrorKey  // = NSValidationKeyErrorKey
    let _: String = NSValidationPredicateErrorKey  // = NSValidationPredicateErrorKey
    let _: String = NSValidationValueErrorKey  // = NSValidationValueErrorKey
    let _: String = NSAffectedStoresErrorKey  // = NSAffectedStoresErrorKey
    let _: String = NSAffectedObjectsErrorKey  // = NSAffectedObjectsErrorKey
    let _: String = NSPersistentStoreSaveConflictsErrorKey  // = NSPersistentStoreSaveConflictsErrorKey
}

// MARK: CocoaError.Code

private func codeOfCocoaError() {
    let _: CocoaError.Code = .managedObjectValidation  // = managedObjectValidation
    let _: CocoaError.Code = .validationMultipleErrors  // = validationMultipleErrors
    let _: CocoaError.Code = .validationMissingMandatoryProperty  // = validationMissingMandatoryProperty
    let _: CocoaError.Code = .validationRelationshipLacksMinimumCount  // = validationRelationshipLacksMinimumCount
    let _: CocoaError.Code = .validationRelationshipExceedsMaximumCount  // = validationRelationshipExceedsMaximumCount
    let _: CocoaError.Code = .validationRelationshipDeniedDelete  // = validationRelationshipDeniedDelete
    let _: CocoaError.Code = .validationNumberTooLarge  // = validationNumberTooLarge
    let _: CocoaError.Code = .validationNumberTooSmall  // = validationNumberTooSmall
    let _: CocoaError.Code = .validationDateTooLate  // = validationDateTooLate
    let _: CocoaError.Code = .validationDateTooSoon  // = validationDateTooSoon
    let _: CocoaError.Code = .validationInvalidDate  // = validationInvalidDate
    let _: CocoaError.Code = .validationStringTooLong  // = validationStringTooLong
    let _: CocoaError.Code = .validationStringTooShort  // = validationStringTooShort
    let _: CocoaError.Code = .validationStringPatternMatching  // = validationStringPatternMatching
    let _: CocoaError.Code = .managedObjectContextLocking  // = managedObjectContextLocking
    let _: CocoaError.Code = .persistentStoreCoordinatorLocking  // = persistentStoreCoordinatorLocking
    let _: CocoaError.Code = .managedObjectReferentialIntegrity  // = managedObjectReferentialIntegrity
    let _: CocoaError.Code = .managedObjectExternalRelationship  // = managedObjectExternalRelationship
    let _: CocoaError.Code = .managedObjectMerge  // = managedObjectMerge
    let _: CocoaError.Code = .managedObjectConstraintMerge  // = managedObjectConstraintMerge
    let _: CocoaError.Code = .persistentStoreInvalidType  // = persistentStoreInvalidType
    let _: CocoaError.Code = .persistentStoreTypeMismatch  // = persistentStoreTypeMismatch
    let _: CocoaError.Code = .persistentStoreIncompatibleSchema  // = persistentStoreIncompatibleSchema
    let _: CocoaError.Code = .persistentStoreSave  // = persistentStoreSave
    let _: CocoaError.Code = .persistentStoreIncompleteSave  // = persistentStoreIncompleteSave
    let _: CocoaError.Code = .persistentStoreSaveConflicts  // = persistentStoreSaveConflicts
    let _: CocoaError.Code = .coreData  // = coreData
    let _: CocoaError.Code = .persistentStoreOperation  // = persistentStoreOperation
    let _: CocoaError.Code = .persistentStoreOpen  // = persistentStoreOpen
    let _: CocoaError.Code = .persistentStoreTimeout  // = persistentStoreTimeout
    let _: CocoaError.Code = .persistentStoreUnsupportedRequestType  // = persistentStoreUnsupportedRequestType
    let _: CocoaError.Code = .persistentStoreIncompatibleVersionHash  // = persistentStoreIncompatibleVersionHash
    let _: CocoaError.Code = .migration  // = migration
    let _: CocoaError.Code = .migrationCancelled  // = migrationCancelled
    let _: CocoaError.Code = .migrationMissingSourceModel  // = migrationMissingSourceModel
    let _: CocoaError.Code = .migrationMissingMappingModel  // = migrationMissingMappingModel
    let _: CocoaError.Code = .migrationManagerSourceStore  // = migrationManagerSourceStore
    let _: CocoaError.Code = .migrationManagerDestinationStore  // = migrationManagerDestinationStore
    let _: CocoaError.Code = .entityMigrationPolicy  // = entityMigrationPolicy
    let _: CocoaError.Code = .sqlite  // = sqlite
    let _: CocoaError.Code = .inferredMappingModel  // = inferredMappingModel
    let _: CocoaError.Code = .externalRecordImport  // = externalRecordImport
}
