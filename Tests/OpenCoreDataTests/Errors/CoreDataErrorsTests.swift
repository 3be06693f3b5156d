import Foundation
import OpenCoreData
import Testing

@Suite struct CoreDataErrorsTests {
    /// `CoreDataErrors.h`: the constant, the code and the number.
    private static let header: [(Int, CocoaError.Code, Int)] = [
        (NSManagedObjectValidationError, .managedObjectValidation, 1550),
        (NSManagedObjectConstraintValidationError, .managedObjectConstraintValidation, 1551),
        (NSValidationMultipleErrorsError, .validationMultipleErrors, 1560),
        (NSValidationMissingMandatoryPropertyError, .validationMissingMandatoryProperty, 1570),
        (NSValidationRelationshipLacksMinimumCountError, .validationRelationshipLacksMinimumCount, 1580),
        (NSValidationRelationshipExceedsMaximumCountError, .validationRelationshipExceedsMaximumCount, 1590),
        (NSValidationRelationshipDeniedDeleteError, .validationRelationshipDeniedDelete, 1600),
        (NSValidationNumberTooLargeError, .validationNumberTooLarge, 1610),
        (NSValidationNumberTooSmallError, .validationNumberTooSmall, 1620),
        (NSValidationDateTooLateError, .validationDateTooLate, 1630),
        (NSValidationDateTooSoonError, .validationDateTooSoon, 1640),
        (NSValidationInvalidDateError, .validationInvalidDate, 1650),
        (NSValidationStringTooLongError, .validationStringTooLong, 1660),
        (NSValidationStringTooShortError, .validationStringTooShort, 1670),
        (NSValidationStringPatternMatchingError, .validationStringPatternMatching, 1680),
        (NSValidationInvalidURIError, .validationInvalidURI, 1690),
        (NSManagedObjectContextLockingError, .managedObjectContextLocking, 132000),
        (NSPersistentStoreCoordinatorLockingError, .persistentStoreCoordinatorLocking, 132010),
        (NSManagedObjectReferentialIntegrityError, .managedObjectReferentialIntegrity, 133000),
        (NSManagedObjectExternalRelationshipError, .managedObjectExternalRelationship, 133010),
        (NSManagedObjectMergeError, .managedObjectMerge, 133020),
        (NSManagedObjectConstraintMergeError, .managedObjectConstraintMerge, 133021),
        (NSPersistentStoreInvalidTypeError, .persistentStoreInvalidType, 134000),
        (NSPersistentStoreTypeMismatchError, .persistentStoreTypeMismatch, 134010),
        (NSPersistentStoreIncompatibleSchemaError, .persistentStoreIncompatibleSchema, 134020),
        (NSPersistentStoreSaveError, .persistentStoreSave, 134030),
        (NSPersistentStoreIncompleteSaveError, .persistentStoreIncompleteSave, 134040),
        (NSPersistentStoreSaveConflictsError, .persistentStoreSaveConflicts, 134050),
        (NSCoreDataError, .coreData, 134060),
        (NSPersistentStoreOperationError, .persistentStoreOperation, 134070),
        (NSPersistentStoreOpenError, .persistentStoreOpen, 134080),
        (NSPersistentStoreTimeoutError, .persistentStoreTimeout, 134090),
        (NSPersistentStoreUnsupportedRequestTypeError, .persistentStoreUnsupportedRequestType, 134091),
        (NSPersistentStoreIncompatibleVersionHashError, .persistentStoreIncompatibleVersionHash, 134100),
        (NSMigrationError, .migration, 134110),
        (NSMigrationConstraintViolationError, .migrationConstraintViolation, 134111),
        (NSMigrationCancelledError, .migrationCancelled, 134120),
        (NSMigrationMissingSourceModelError, .migrationMissingSourceModel, 134130),
        (NSMigrationMissingMappingModelError, .migrationMissingMappingModel, 134140),
        (NSMigrationManagerSourceStoreError, .migrationManagerSourceStore, 134150),
        (NSMigrationManagerDestinationStoreError, .migrationManagerDestinationStore, 134160),
        (NSEntityMigrationPolicyError, .entityMigrationPolicy, 134170),
        (NSSQLiteError, .sqlite, 134180),
        (NSInferredMappingModelError, .inferredMappingModel, 134190),
        (NSExternalRecordImportError, .externalRecordImport, 134200),
        (NSPersistentHistoryTokenExpiredError, .persistentHistoryTokenExpired, 134301),
        (NSManagedObjectModelReferenceNotFoundError, .managedObjectModelReferenceNotFound, 134504),
        (NSStagedMigrationFrameworkVersionMismatchError, .stagedMigrationFrameworkVersionMismatch, 134505),
        (NSStagedMigrationBackwardMigrationError, .stagedMigrationBackwardMigration, 134506),
    ]

    // E1
    @Test func everyErrorHasApplesNumberUnderBothNames() {
        for (constant, code, number) in Self.header {
            #expect(constant == number)
            #expect(code.rawValue == number)
        }
        #expect(Set(Self.header.map(\.2)).count == 49)
    }
}
