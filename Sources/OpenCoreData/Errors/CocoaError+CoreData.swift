import Foundation

/// The codes of `NSCocoaErrorDomain` that belong to Core Data, with Apple's numbers and names.
extension CocoaError.Code {
    // Validation
    /// A value or reference can't be saved: a number that is NaN, a value of the wrong type, a reference to a deleted object. Also told to a
    /// document's error handler when replayed saves break a relationship's counts.
    public static let managedObjectValidation = CocoaError.Code(rawValue: 1550)
    /// Not thrown here: a uniqueness constraint failed in validation. A save that finds a key taken throws `managedObjectConstraintMerge`.
    public static let managedObjectConstraintValidation = CocoaError.Code(rawValue: 1551)
    /// Validation failed in more than one place. The single errors stand under `NSDetailedErrorsKey`.
    public static let validationMultipleErrors = CocoaError.Code(rawValue: 1560)
    /// A property that is not optional is nil at the save, or a to-many that is not optional is empty.
    public static let validationMissingMandatoryProperty = CocoaError.Code(rawValue: 1570)
    /// A to-many has members, but fewer than its `minCount`. An empty one passes if it is optional, or its `minCount` is 0.
    public static let validationRelationshipLacksMinimumCount = CocoaError.Code(rawValue: 1580)
    /// A relationship has more members than its `maxCount`, where that is not 0.
    public static let validationRelationshipExceedsMaximumCount = CocoaError.Code(rawValue: 1590)
    /// The deny rule refuses a deletion: objects remain at the other end of the relationship. `NSAffectedObjectsErrorKey` has their IDs.
    public static let validationRelationshipDeniedDelete = CocoaError.Code(rawValue: 1600)
    /// A number exceeds the attribute's `maximumValue` or `maximumDecimal`, or what its 16- or 32-bit type can hold.
    public static let validationNumberTooLarge = CocoaError.Code(rawValue: 1610)
    /// A number is less than the attribute's `minimumValue` or `minimumDecimal`, or than its 16- or 32-bit type can hold.
    public static let validationNumberTooSmall = CocoaError.Code(rawValue: 1620)
    /// A date is later than the attribute's `maximumValue`, in seconds since 2001.
    public static let validationDateTooLate = CocoaError.Code(rawValue: 1630)
    /// A date is earlier than the attribute's `minimumValue`, in seconds since 2001.
    public static let validationDateTooSoon = CocoaError.Code(rawValue: 1640)
    /// A date whose time interval is NaN. The error omits the value, which Foundation can't print.
    public static let validationInvalidDate = CocoaError.Code(rawValue: 1650)
    /// A string has more UTF-16 code units than the attribute's `maximumValue`.
    public static let validationStringTooLong = CocoaError.Code(rawValue: 1660)
    /// A string has fewer UTF-16 code units than the attribute's `minimumValue`.
    public static let validationStringTooShort = CocoaError.Code(rawValue: 1670)
    /// A string does not match the attribute's `regularExpression` as a whole, or the expression can't be evaluated.
    public static let validationStringPatternMatching = CocoaError.Code(rawValue: 1680)
    /// Not thrown here: the value of a URI attribute is malformed.
    public static let validationInvalidURI = CocoaError.Code(rawValue: 1690)

    // Objects and contexts
    /// Not thrown here: a context's lock could not be acquired. Contexts here have queues instead of locks.
    public static let managedObjectContextLocking = CocoaError.Code(rawValue: 132000)
    /// Not thrown here: a coordinator's lock could not be acquired.
    public static let persistentStoreCoordinatorLocking = CocoaError.Code(rawValue: 132010)
    /// No object has the ID: thrown by `existingObject(with:)`. An incremental store throws it to say that a row does not exist.
    public static let managedObjectReferentialIntegrity = CocoaError.Code(rawValue: 133000)
    /// A relationship leads to an object of another store: thrown by a save, and where an incremental store answers with such an ID.
    public static let managedObjectExternalRelationship = CocoaError.Code(rawValue: 133010)
    /// Objects of a save changed in the store, or in the parent, since they were read, and the policy is to fail. The conflicts are under
    /// `NSPersistentStoreSaveConflictsErrorKey`.
    public static let managedObjectMerge = CocoaError.Code(rawValue: 133020)
    /// Objects of a save have a unique key that another object has, and the policy is to fail. The conflicts are under
    /// `NSPersistentStoreSaveConflictsErrorKey`.
    public static let managedObjectConstraintMerge = CocoaError.Code(rawValue: 133021)

    // Stores
    /// The store type is not registered or not usable for the operation, or the file is a SQLite database that holds no store.
    public static let persistentStoreInvalidType = CocoaError.Code(rawValue: 134000)
    /// The store's metadata names another type than the one it was to be opened as.
    public static let persistentStoreTypeMismatch = CocoaError.Code(rawValue: 134010)
    /// A SQLite store can't keep the model: an attribute's type has no column, a relationship leaves the store's configuration, or (with
    /// `NSIgnorePersistentStoreVersioningOption`) the file lacks tables or columns.
    public static let persistentStoreIncompatibleSchema = CocoaError.Code(rawValue: 134020)
    /// The store or the push journal could not be written: disk full, opened for reading only, no store for the entity, a value that can't be
    /// archived, or a store that kept changing through 20 attempts. Nothing was saved.
    public static let persistentStoreSave = CocoaError.Code(rawValue: 134030)
    /// A save across several stores is committed in some only; `NSAffectedStoresErrorKey` has the others, which the next save writes. Also told to
    /// a document's error handler when journaled saves could not all be replayed.
    public static let persistentStoreIncompleteSave = CocoaError.Code(rawValue: 134040)
    /// Not thrown here: a save met merge conflicts that nothing resolved. See `managedObjectMerge` and `managedObjectConstraintMerge`.
    public static let persistentStoreSaveConflicts = CocoaError.Code(rawValue: 134050)
    /// What has no better code: a fetch that can't be answered, a coordinator without stores, a `willSave()` or validation that never settles, a
    /// SQLite store that can't be read.
    public static let coreData = CocoaError.Code(rawValue: 134060)
    /// The operation is not possible with this store: it is not the coordinator's, is open, has a push journal or was removed. Also thrown where an
    /// incremental store gives unusable permanent IDs.
    public static let persistentStoreOperation = CocoaError.Code(rawValue: 134070)
    /// A store or document can't be opened: the file is missing, damaged or not accessible, or an option makes no sense or would be ignored.
    public static let persistentStoreOpen = CocoaError.Code(rawValue: 134080)
    /// A SQLite store can't be opened because another process held its lock for longer than `NSPersistentStoreTimeoutOption`.
    public static let persistentStoreTimeout = CocoaError.Code(rawValue: 134090)
    /// A context or store does not know the request, or it asks for a history that no store concerned keeps.
    public static let persistentStoreUnsupportedRequestType = CocoaError.Code(rawValue: 134091)
    /// The store was made with another version of the model. `userInfo` has its metadata under `"metadata"` where they were compared.
    public static let persistentStoreIncompatibleVersionHash = CocoaError.Code(rawValue: 134100)
    /// A migration failed for a reason without a code of its own.
    public static let migration = CocoaError.Code(rawValue: 134110)
    /// Objects of a store would break a uniqueness constraint of the model that it is migrated to.
    public static let migrationConstraintViolation = CocoaError.Code(rawValue: 134111)
    /// Not thrown here: the program cancelled a migration.
    public static let migrationCancelled = CocoaError.Code(rawValue: 134120)
    /// A store does not say which model it was made with, or not so that it makes sense.
    public static let migrationMissingSourceModel = CocoaError.Code(rawValue: 134130)
    /// There is no mapping from the store's model to the new one, and it may not be inferred.
    public static let migrationMissingMappingModel = CocoaError.Code(rawValue: 134140)
    /// Not thrown here: the store to migrate from can't be used.
    public static let migrationManagerSourceStore = CocoaError.Code(rawValue: 134150)
    /// A store can't be migrated to the place: a file is there already, it is no place for one, or the metadata are not a property list.
    public static let migrationManagerDestinationStore = CocoaError.Code(rawValue: 134160)
    /// Not thrown here: a custom migration policy of an entity failed.
    public static let entityMigrationPolicy = CocoaError.Code(rawValue: 134170)
    /// Not thrown here: SQLite failed. Stores here throw the code of what they were doing, with SQLite's code under `NSSQLiteErrorDomain`.
    public static let sqlite = CocoaError.Code(rawValue: 134180)
    /// How one version of a model becomes another can't be inferred. `userInfo` has why under `"reason"`.
    public static let inferredMappingModel = CocoaError.Code(rawValue: 134190)
    /// Not thrown here: records outside the store could not be imported.
    public static let externalRecordImport = CocoaError.Code(rawValue: 134200)
    /// The history after a token can't be told: transactions were deleted, the file is older than the token, or the token is of other stores.
    public static let persistentHistoryTokenExpired = CocoaError.Code(rawValue: 134301)
    /// Not thrown here: a model reference of a staged migration leads to no model.
    public static let managedObjectModelReferenceNotFound = CocoaError.Code(rawValue: 134504)
    /// Not thrown here: the framework's version does not fit the one that began a staged migration.
    public static let stagedMigrationFrameworkVersionMismatch = CocoaError.Code(rawValue: 134505)
    /// Not thrown here: a staged migration would lead to an earlier version of the model.
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

/// The numbers of Core Data's errors under the names of `CoreDataErrors.h`; in Swift `CocoaError.Code` has them, too.

/// Number of `CocoaError.Code.managedObjectValidation`: a value or reference can't be saved.
public let NSManagedObjectValidationError = 1550
/// Number of `CocoaError.Code.managedObjectConstraintValidation`: a uniqueness constraint failed in validation (not thrown here).
public let NSManagedObjectConstraintValidationError = 1551
/// Number of `CocoaError.Code.validationMultipleErrors`: several validation errors, listed under `NSDetailedErrorsKey`.
public let NSValidationMultipleErrorsError = 1560
/// Number of `CocoaError.Code.validationMissingMandatoryProperty`: a required property is nil or empty.
public let NSValidationMissingMandatoryPropertyError = 1570
/// Number of `CocoaError.Code.validationRelationshipLacksMinimumCount`: a to-many has fewer members than its `minCount`.
public let NSValidationRelationshipLacksMinimumCountError = 1580
/// Number of `CocoaError.Code.validationRelationshipExceedsMaximumCount`: a relationship has more members than its `maxCount`.
public let NSValidationRelationshipExceedsMaximumCountError = 1590
/// Number of `CocoaError.Code.validationRelationshipDeniedDelete`: the deny rule refuses a deletion.
public let NSValidationRelationshipDeniedDeleteError = 1600
/// Number of `CocoaError.Code.validationNumberTooLarge`: a number exceeds its maximum or its type.
public let NSValidationNumberTooLargeError = 1610
/// Number of `CocoaError.Code.validationNumberTooSmall`: a number is less than its minimum or than its type can hold.
public let NSValidationNumberTooSmallError = 1620
/// Number of `CocoaError.Code.validationDateTooLate`: a date is later than the maximum.
public let NSValidationDateTooLateError = 1630
/// Number of `CocoaError.Code.validationDateTooSoon`: a date is earlier than the minimum.
public let NSValidationDateTooSoonError = 1640
/// Number of `CocoaError.Code.validationInvalidDate`: a date whose time interval is NaN.
public let NSValidationInvalidDateError = 1650
/// Number of `CocoaError.Code.validationStringTooLong`: a string has more UTF-16 code units than allowed.
public let NSValidationStringTooLongError = 1660
/// Number of `CocoaError.Code.validationStringTooShort`: a string has fewer UTF-16 code units than required.
public let NSValidationStringTooShortError = 1670
/// Number of `CocoaError.Code.validationStringPatternMatching`: a string does not match its regular expression.
public let NSValidationStringPatternMatchingError = 1680
/// Number of `CocoaError.Code.validationInvalidURI`: the value of a URI attribute is malformed (not thrown here).
public let NSValidationInvalidURIError = 1690
/// Number of `CocoaError.Code.managedObjectContextLocking`: a context's lock could not be acquired (not thrown here).
public let NSManagedObjectContextLockingError = 132000
/// Number of `CocoaError.Code.persistentStoreCoordinatorLocking`: a coordinator's lock could not be acquired (not thrown here).
public let NSPersistentStoreCoordinatorLockingError = 132010
/// Number of `CocoaError.Code.managedObjectReferentialIntegrity`: no object has the ID.
public let NSManagedObjectReferentialIntegrityError = 133000
/// Number of `CocoaError.Code.managedObjectExternalRelationship`: a relationship leads to an object of another store.
public let NSManagedObjectExternalRelationshipError = 133010
/// Number of `CocoaError.Code.managedObjectMerge`: objects changed since they were read, and the policy is to fail.
public let NSManagedObjectMergeError = 133020
/// Number of `CocoaError.Code.managedObjectConstraintMerge`: another object has the unique key, and the policy is to fail.
public let NSManagedObjectConstraintMergeError = 133021
/// Number of `CocoaError.Code.persistentStoreInvalidType`: an unknown store type, or a database that holds no store.
public let NSPersistentStoreInvalidTypeError = 134000
/// Number of `CocoaError.Code.persistentStoreTypeMismatch`: the metadata names another store type.
public let NSPersistentStoreTypeMismatchError = 134010
/// Number of `CocoaError.Code.persistentStoreIncompatibleSchema`: the model does not fit a SQLite store or its tables.
public let NSPersistentStoreIncompatibleSchemaError = 134020
/// Number of `CocoaError.Code.persistentStoreSave`: the store or the push journal could not be written.
public let NSPersistentStoreSaveError = 134030
/// Number of `CocoaError.Code.persistentStoreIncompleteSave`: a save is committed in some of its stores only.
public let NSPersistentStoreIncompleteSaveError = 134040
/// Number of `CocoaError.Code.persistentStoreSaveConflicts`: unresolved merge conflicts (not thrown here).
public let NSPersistentStoreSaveConflictsError = 134050
/// Number of `CocoaError.Code.coreData`: a failure without a code of its own, such as a fetch that has no answer.
public let NSCoreDataError = 134060
/// Number of `CocoaError.Code.persistentStoreOperation`: the operation is not possible with this store.
public let NSPersistentStoreOperationError = 134070
/// Number of `CocoaError.Code.persistentStoreOpen`: a store or document can't be opened.
public let NSPersistentStoreOpenError = 134080
/// Number of `CocoaError.Code.persistentStoreTimeout`: another process held the store's lock for too long.
public let NSPersistentStoreTimeoutError = 134090
/// Number of `CocoaError.Code.persistentStoreUnsupportedRequestType`: the context or store does not know the request.
public let NSPersistentStoreUnsupportedRequestTypeError = 134091
/// Number of `CocoaError.Code.persistentStoreIncompatibleVersionHash`: the store was made with another version of the model.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// Number of `CocoaError.Code.migration`: a migration failed.
public let NSMigrationError = 134110
/// Number of `CocoaError.Code.migrationConstraintViolation`: the objects of a store stand against a migration.
public let NSMigrationConstraintViolationError = 134111
/// Number of `CocoaError.Code.migrationCancelled`: the program cancelled a migration (not thrown here).
public let NSMigrationCancelledError = 134120
/// Number of `CocoaError.Code.migrationMissingSourceModel`: the model that a store was made with is not known.
public let NSMigrationMissingSourceModelError = 134130
/// Number of `CocoaError.Code.migrationMissingMappingModel`: no mapping between two models.
public let NSMigrationMissingMappingModelError = 134140
/// Number of `CocoaError.Code.migrationManagerSourceStore`: the store to migrate from can't be used (not thrown here).
public let NSMigrationManagerSourceStoreError = 134150
/// Number of `CocoaError.Code.migrationManagerDestinationStore`: a store can't be migrated to the place.
public let NSMigrationManagerDestinationStoreError = 134160
/// Number of `CocoaError.Code.entityMigrationPolicy`: a custom migration policy failed (not thrown here).
public let NSEntityMigrationPolicyError = 134170
/// Number of `CocoaError.Code.sqlite`: SQLite failed (not thrown here).
public let NSSQLiteError = 134180
/// Number of `CocoaError.Code.inferredMappingModel`: no mapping could be inferred.
public let NSInferredMappingModelError = 134190
/// Number of `CocoaError.Code.externalRecordImport`: external records could not be imported (not thrown here).
public let NSExternalRecordImportError = 134200
/// Number of `CocoaError.Code.persistentHistoryTokenExpired`: the history after a token can't be told.
public let NSPersistentHistoryTokenExpiredError = 134301
/// Number of `CocoaError.Code.managedObjectModelReferenceNotFound`: a model reference leads to no model (not thrown here).
public let NSManagedObjectModelReferenceNotFoundError = 134504
/// Number of `CocoaError.Code.stagedMigrationFrameworkVersionMismatch`: framework versions differ in a staged migration (not thrown here).
public let NSStagedMigrationFrameworkVersionMismatchError = 134505
/// Number of `CocoaError.Code.stagedMigrationBackwardMigration`: a staged migration would go to an earlier version (not thrown here).
public let NSStagedMigrationBackwardMigrationError = 134506
