import Foundation

/// The codes of `NSCocoaErrorDomain` that belong to Core Data, with Apple's numbers and names.
extension CocoaError.Code {
    // Validation
    public static let managedObjectValidation = CocoaError.Code(rawValue: 1550)
    public static let managedObjectConstraintValidation = CocoaError.Code(rawValue: 1551)
    public static let validationMultipleErrors = CocoaError.Code(rawValue: 1560)
    public static let validationMissingMandatoryProperty = CocoaError.Code(rawValue: 1570)
    public static let validationRelationshipLacksMinimumCount = CocoaError.Code(rawValue: 1580)
    public static let validationRelationshipExceedsMaximumCount = CocoaError.Code(rawValue: 1590)
    public static let validationRelationshipDeniedDelete = CocoaError.Code(rawValue: 1600)
    public static let validationNumberTooLarge = CocoaError.Code(rawValue: 1610)
    public static let validationNumberTooSmall = CocoaError.Code(rawValue: 1620)
    public static let validationDateTooLate = CocoaError.Code(rawValue: 1630)
    public static let validationDateTooSoon = CocoaError.Code(rawValue: 1640)
    public static let validationInvalidDate = CocoaError.Code(rawValue: 1650)
    public static let validationStringTooLong = CocoaError.Code(rawValue: 1660)
    public static let validationStringTooShort = CocoaError.Code(rawValue: 1670)
    public static let validationStringPatternMatching = CocoaError.Code(rawValue: 1680)
    public static let validationInvalidURI = CocoaError.Code(rawValue: 1690)

    // Objects and contexts
    public static let managedObjectContextLocking = CocoaError.Code(rawValue: 132000)
    public static let persistentStoreCoordinatorLocking = CocoaError.Code(rawValue: 132010)
    public static let managedObjectReferentialIntegrity = CocoaError.Code(rawValue: 133000)
    public static let managedObjectExternalRelationship = CocoaError.Code(rawValue: 133010)
    public static let managedObjectMerge = CocoaError.Code(rawValue: 133020)
    public static let managedObjectConstraintMerge = CocoaError.Code(rawValue: 133021)

    // Stores
    public static let persistentStoreInvalidType = CocoaError.Code(rawValue: 134000)
    public static let persistentStoreTypeMismatch = CocoaError.Code(rawValue: 134010)
    public static let persistentStoreIncompatibleSchema = CocoaError.Code(rawValue: 134020)
    public static let persistentStoreSave = CocoaError.Code(rawValue: 134030)
    public static let persistentStoreIncompleteSave = CocoaError.Code(rawValue: 134040)
    public static let persistentStoreSaveConflicts = CocoaError.Code(rawValue: 134050)
    public static let coreData = CocoaError.Code(rawValue: 134060)
    public static let persistentStoreOperation = CocoaError.Code(rawValue: 134070)
    public static let persistentStoreOpen = CocoaError.Code(rawValue: 134080)
    public static let persistentStoreTimeout = CocoaError.Code(rawValue: 134090)
    public static let persistentStoreUnsupportedRequestType = CocoaError.Code(rawValue: 134091)
    public static let persistentStoreIncompatibleVersionHash = CocoaError.Code(rawValue: 134100)
    public static let migration = CocoaError.Code(rawValue: 134110)
    public static let migrationConstraintViolation = CocoaError.Code(rawValue: 134111)
    public static let migrationCancelled = CocoaError.Code(rawValue: 134120)
    public static let migrationMissingSourceModel = CocoaError.Code(rawValue: 134130)
    public static let migrationMissingMappingModel = CocoaError.Code(rawValue: 134140)
    public static let migrationManagerSourceStore = CocoaError.Code(rawValue: 134150)
    public static let migrationManagerDestinationStore = CocoaError.Code(rawValue: 134160)
    public static let entityMigrationPolicy = CocoaError.Code(rawValue: 134170)
    public static let sqlite = CocoaError.Code(rawValue: 134180)
    public static let inferredMappingModel = CocoaError.Code(rawValue: 134190)
    public static let externalRecordImport = CocoaError.Code(rawValue: 134200)
    public static let persistentHistoryTokenExpired = CocoaError.Code(rawValue: 134301)
    public static let managedObjectModelReferenceNotFound = CocoaError.Code(rawValue: 134504)
    public static let stagedMigrationFrameworkVersionMismatch = CocoaError.Code(rawValue: 134505)
    public static let stagedMigrationBackwardMigration = CocoaError.Code(rawValue: 134506)
}

/// `userInfo` key of a multiple-error (1560): the array of the single errors.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// `userInfo` key: the object that failed validation.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// `userInfo` key: the name of the property that failed validation.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// `userInfo` key: the value that failed validation.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// `userInfo` key: the predicate that failed.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// `userInfo` key: the objects concerned, or the IDs of those that there is no instance of. Of 1600, a deletion that was denied: the IDs of the
/// objects that stand in the way, `[NSManagedObjectID]`.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// `userInfo` key: the stores concerned.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// `userInfo` key of 133020 and 133021: the conflicts, `[NSMergeConflict]` or `[NSConstraintConflict]`.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
/// `userInfo` key and domain for the underlying SQLite result code.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"

extension NSError {
    /// An error of Core Data: code, what happened in words, and what it concerns.
    static func coreData(
        _ code: CocoaError.Code, _ description: String, underlying: (any Error)? = nil, userInfo: [String: Any] = [:]
    ) -> NSError {
        var info = userInfo
        info[NSLocalizedDescriptionKey] = description
        if let underlying { info[NSUnderlyingErrorKey] = underlying as NSError }
        return NSError(domain: CocoaError.errorDomain, code: code.rawValue, userInfo: info)
    }
}
