public import Foundation

/// The codes of Core Data as members of `CocoaError` itself, so that `catch CocoaError.managedObjectMerge` says it as with Apple's framework. What each
/// means stands at its code.
extension CocoaError {
    /// See `CocoaError.Code.managedObjectValidation`: 1550.
    public static var managedObjectValidation: CocoaError.Code { .managedObjectValidation }
    /// See `CocoaError.Code.validationMultipleErrors`: 1560.
    public static var validationMultipleErrors: CocoaError.Code { .validationMultipleErrors }
    /// See `CocoaError.Code.validationMissingMandatoryProperty`: 1570.
    public static var validationMissingMandatoryProperty: CocoaError.Code { .validationMissingMandatoryProperty }
    /// See `CocoaError.Code.validationRelationshipLacksMinimumCount`: 1580.
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code { .validationRelationshipLacksMinimumCount }
    /// See `CocoaError.Code.validationRelationshipExceedsMaximumCount`: 1590.
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code { .validationRelationshipExceedsMaximumCount }
    /// See `CocoaError.Code.validationRelationshipDeniedDelete`: 1600.
    public static var validationRelationshipDeniedDelete: CocoaError.Code { .validationRelationshipDeniedDelete }
    /// See `CocoaError.Code.validationNumberTooLarge`: 1610.
    public static var validationNumberTooLarge: CocoaError.Code { .validationNumberTooLarge }
    /// See `CocoaError.Code.validationNumberTooSmall`: 1620.
    public static var validationNumberTooSmall: CocoaError.Code { .validationNumberTooSmall }
    /// See `CocoaError.Code.validationDateTooLate`: 1630.
    public static var validationDateTooLate: CocoaError.Code { .validationDateTooLate }
    /// See `CocoaError.Code.validationDateTooSoon`: 1640.
    public static var validationDateTooSoon: CocoaError.Code { .validationDateTooSoon }
    /// See `CocoaError.Code.validationInvalidDate`: 1650.
    public static var validationInvalidDate: CocoaError.Code { .validationInvalidDate }
    /// See `CocoaError.Code.validationStringTooLong`: 1660.
    public static var validationStringTooLong: CocoaError.Code { .validationStringTooLong }
    /// See `CocoaError.Code.validationStringTooShort`: 1670.
    public static var validationStringTooShort: CocoaError.Code { .validationStringTooShort }
    /// See `CocoaError.Code.validationStringPatternMatching`: 1680.
    public static var validationStringPatternMatching: CocoaError.Code { .validationStringPatternMatching }
    /// See `CocoaError.Code.managedObjectContextLocking`: 132000.
    public static var managedObjectContextLocking: CocoaError.Code { .managedObjectContextLocking }
    /// See `CocoaError.Code.persistentStoreCoordinatorLocking`: 132010.
    public static var persistentStoreCoordinatorLocking: CocoaError.Code { .persistentStoreCoordinatorLocking }
    /// See `CocoaError.Code.managedObjectReferentialIntegrity`: 133000.
    public static var managedObjectReferentialIntegrity: CocoaError.Code { .managedObjectReferentialIntegrity }
    /// See `CocoaError.Code.managedObjectExternalRelationship`: 133010.
    public static var managedObjectExternalRelationship: CocoaError.Code { .managedObjectExternalRelationship }
    /// See `CocoaError.Code.managedObjectMerge`: 133020.
    public static var managedObjectMerge: CocoaError.Code { .managedObjectMerge }
    /// See `CocoaError.Code.managedObjectConstraintMerge`: 133021.
    public static var managedObjectConstraintMerge: CocoaError.Code { .managedObjectConstraintMerge }
    /// See `CocoaError.Code.persistentStoreInvalidType`: 134000.
    public static var persistentStoreInvalidType: CocoaError.Code { .persistentStoreInvalidType }
    /// See `CocoaError.Code.persistentStoreTypeMismatch`: 134010.
    public static var persistentStoreTypeMismatch: CocoaError.Code { .persistentStoreTypeMismatch }
    /// See `CocoaError.Code.persistentStoreIncompatibleSchema`: 134020.
    public static var persistentStoreIncompatibleSchema: CocoaError.Code { .persistentStoreIncompatibleSchema }
    /// See `CocoaError.Code.persistentStoreSave`: 134030.
    public static var persistentStoreSave: CocoaError.Code { .persistentStoreSave }
    /// See `CocoaError.Code.persistentStoreIncompleteSave`: 134040.
    public static var persistentStoreIncompleteSave: CocoaError.Code { .persistentStoreIncompleteSave }
    /// See `CocoaError.Code.persistentStoreSaveConflicts`: 134050.
    public static var persistentStoreSaveConflicts: CocoaError.Code { .persistentStoreSaveConflicts }
    /// See `CocoaError.Code.coreData`: 134060.
    public static var coreData: CocoaError.Code { .coreData }
    /// See `CocoaError.Code.persistentStoreOperation`: 134070.
    public static var persistentStoreOperation: CocoaError.Code { .persistentStoreOperation }
    /// See `CocoaError.Code.persistentStoreOpen`: 134080.
    public static var persistentStoreOpen: CocoaError.Code { .persistentStoreOpen }
    /// See `CocoaError.Code.persistentStoreTimeout`: 134090.
    public static var persistentStoreTimeout: CocoaError.Code { .persistentStoreTimeout }
    /// See `CocoaError.Code.persistentStoreUnsupportedRequestType`: 134091.
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code { .persistentStoreUnsupportedRequestType }
    /// See `CocoaError.Code.persistentStoreIncompatibleVersionHash`: 134100.
    public static var persistentStoreIncompatibleVersionHash: CocoaError.Code { .persistentStoreIncompatibleVersionHash }
    /// See `CocoaError.Code.migration`: 134110.
    public static var migration: CocoaError.Code { .migration }
    /// See `CocoaError.Code.migrationCancelled`: 134120.
    public static var migrationCancelled: CocoaError.Code { .migrationCancelled }
    /// See `CocoaError.Code.migrationMissingSourceModel`: 134130.
    public static var migrationMissingSourceModel: CocoaError.Code { .migrationMissingSourceModel }
    /// See `CocoaError.Code.migrationMissingMappingModel`: 134140.
    public static var migrationMissingMappingModel: CocoaError.Code { .migrationMissingMappingModel }
    /// See `CocoaError.Code.migrationManagerSourceStore`: 134150.
    public static var migrationManagerSourceStore: CocoaError.Code { .migrationManagerSourceStore }
    /// See `CocoaError.Code.migrationManagerDestinationStore`: 134160.
    public static var migrationManagerDestinationStore: CocoaError.Code { .migrationManagerDestinationStore }
    /// See `CocoaError.Code.entityMigrationPolicy`: 134170.
    public static var entityMigrationPolicy: CocoaError.Code { .entityMigrationPolicy }
    /// See `CocoaError.Code.sqlite`: 134180.
    public static var sqlite: CocoaError.Code { .sqlite }
    /// See `CocoaError.Code.inferredMappingModel`: 134190.
    public static var inferredMappingModel: CocoaError.Code { .inferredMappingModel }
    /// See `CocoaError.Code.externalRecordImport`: 134200.
    public static var externalRecordImport: CocoaError.Code { .externalRecordImport }
}

extension CocoaError {
    /// What an error of validation is about: under `NSValidationObjectErrorKey`.
    public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }
    /// The property that is not valid: under `NSValidationKeyErrorKey`.
    public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }
    /// The predicate that does not hold: under `NSValidationPredicateErrorKey`. The library's own rules are no predicates.
    public var validationPredicate: NSPredicate? { userInfo[NSValidationPredicateErrorKey] as? NSPredicate }
    /// The value that is not valid: under `NSValidationValueErrorKey`.
    public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }
    /// The stores that an error is about: under `NSAffectedStoresErrorKey`.
    public var affectedStores: [AnyObject]? { userInfo[NSAffectedStoresErrorKey] as? [AnyObject] }
    /// The objects, or their IDs, that an error is about: under `NSAffectedObjectsErrorKey`.
    public var affectedObjects: [AnyObject]? { userInfo[NSAffectedObjectsErrorKey] as? [AnyObject] }
}
