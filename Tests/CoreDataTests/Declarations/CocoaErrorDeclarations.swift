import CoreData
import Foundation

// One use of each member that Core Data gives to CocoaError: see ModelDeclarations.swift.

// MARK: CocoaError

private func cocoaErrorMembers() {
    let _: CocoaError.Code = CocoaError.managedObjectValidation  // = static managedObjectValidation
    let _: CocoaError.Code = CocoaError.validationMultipleErrors  // = static validationMultipleErrors
    let _: CocoaError.Code = CocoaError.validationMissingMandatoryProperty  // = static validationMissingMandatoryProperty
    let _: CocoaError.Code = CocoaError.validationRelationshipLacksMinimumCount  // = static validationRelationshipLacksMinimumCount
    let _: CocoaError.Code = CocoaError.validationRelationshipExceedsMaximumCount  // = static validationRelationshipExceedsMaximumCount
    let _: CocoaError.Code = CocoaError.validationRelationshipDeniedDelete  // = static validationRelationshipDeniedDelete
    let _: CocoaError.Code = CocoaError.validationNumberTooLarge  // = static validationNumberTooLarge
    let _: CocoaError.Code = CocoaError.validationNumberTooSmall  // = static validationNumberTooSmall
    let _: CocoaError.Code = CocoaError.validationDateTooLate  // = static validationDateTooLate
    let _: CocoaError.Code = CocoaError.validationDateTooSoon  // = static validationDateTooSoon
    let _: CocoaError.Code = CocoaError.validationInvalidDate  // = static validationInvalidDate
    let _: CocoaError.Code = CocoaError.validationStringTooLong  // = static validationStringTooLong
    let _: CocoaError.Code = CocoaError.validationStringTooShort  // = static validationStringTooShort
    let _: CocoaError.Code = CocoaError.validationStringPatternMatching  // = static validationStringPatternMatching
    let _: CocoaError.Code = CocoaError.managedObjectContextLocking  // = static managedObjectContextLocking
    let _: CocoaError.Code = CocoaError.persistentStoreCoordinatorLocking  // = static persistentStoreCoordinatorLocking
    let _: CocoaError.Code = CocoaError.managedObjectReferentialIntegrity  // = static managedObjectReferentialIntegrity
    let _: CocoaError.Code = CocoaError.managedObjectExternalRelationship  // = static managedObjectExternalRelationship
    let _: CocoaError.Code = CocoaError.managedObjectMerge  // = static managedObjectMerge
    let _: CocoaError.Code = CocoaError.managedObjectConstraintMerge  // = static managedObjectConstraintMerge
    let _: CocoaError.Code = CocoaError.persistentStoreInvalidType  // = static persistentStoreInvalidType
    let _: CocoaError.Code = CocoaError.persistentStoreTypeMismatch  // = static persistentStoreTypeMismatch
    let _: CocoaError.Code = CocoaError.persistentStoreIncompatibleSchema  // = static persistentStoreIncompatibleSchema
    let _: CocoaError.Code = CocoaError.persistentStoreSave  // = static persistentStoreSave
    let _: CocoaError.Code = CocoaError.persistentStoreIncompleteSave  // = static persistentStoreIncompleteSave
    let _: CocoaError.Code = CocoaError.persistentStoreSaveConflicts  // = static persistentStoreSaveConflicts
    let _: CocoaError.Code = CocoaError.coreData  // = static coreData
    let _: CocoaError.Code = CocoaError.persistentStoreOperation  // = static persistentStoreOperation
    let _: CocoaError.Code = CocoaError.persistentStoreOpen  // = static persistentStoreOpen
    let _: CocoaError.Code = CocoaError.persistentStoreTimeout  // = static persistentStoreTimeout
    let _: CocoaError.Code = CocoaError.persistentStoreUnsupportedRequestType  // = static persistentStoreUnsupportedRequestType
    let _: CocoaError.Code = CocoaError.persistentStoreIncompatibleVersionHash  // = static persistentStoreIncompatibleVersionHash
    let _: CocoaError.Code = CocoaError.migration  // = static migration
    let _: CocoaError.Code = CocoaError.migrationCancelled  // = static migrationCancelled
    let _: CocoaError.Code = CocoaError.migrationMissingSourceModel  // = static migrationMissingSourceModel
    let _: CocoaError.Code = CocoaError.migrationMissingMappingModel  // = static migrationMissingMappingModel
    let _: CocoaError.Code = CocoaError.migrationManagerSourceStore  // = static migrationManagerSourceStore
    let _: CocoaError.Code = CocoaError.migrationManagerDestinationStore  // = static migrationManagerDestinationStore
    let _: CocoaError.Code = CocoaError.entityMigrationPolicy  // = static entityMigrationPolicy
    let _: CocoaError.Code = CocoaError.sqlite  // = static sqlite
    let _: CocoaError.Code = CocoaError.inferredMappingModel  // = static inferredMappingModel
    let _: CocoaError.Code = CocoaError.externalRecordImport  // = static externalRecordImport
    let _: KeyPath<CocoaError, Any?> = \.validationObject  // = validationObject
    let _: KeyPath<CocoaError, String?> = \.validationKey  // = validationKey
    let _: KeyPath<CocoaError, NSPredicate?> = \.validationPredicate  // = validationPredicate
    let _: KeyPath<CocoaError, Any?> = \.validationValue  // = validationValue
    let _: KeyPath<CocoaError, [AnyObject]?> = \.affectedStores  // = affectedStores
    let _: KeyPath<CocoaError, [AnyObject]?> = \.affectedObjects  // = affectedObjects
    let _: KeyPath<CocoaError, [NSMergeConflict]?> = \.persistentStoreSaveConflicts  // = persistentStoreSaveConflicts
}
