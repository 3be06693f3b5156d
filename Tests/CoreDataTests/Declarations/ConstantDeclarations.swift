import CoreData
import Foundation

// Names of stores, options, notifications and keys, and the numbers of Core Data's versions. Each statement uses one of Apple's declarations
// as it is spelled and typed; the comment behind or above it names it, and COVERAGE.md counts them.

// MARK: Store constants

private func storeConstants() {
    let _: String = NSSQLiteStoreType  // = NSSQLiteStoreType
    let _: String = NSXMLStoreType  // = NSXMLStoreType
    let _: String = NSBinaryStoreType  // = NSBinaryStoreType
    let _: String = NSInMemoryStoreType  // = NSInMemoryStoreType
    let _: String = NSStoreTypeKey  // = NSStoreTypeKey
    let _: String = NSStoreUUIDKey  // = NSStoreUUIDKey
    let _: String = NSStoreModelVersionHashesKey  // = NSStoreModelVersionHashesKey
    let _: String = NSStoreModelVersionIdentifiersKey  // = NSStoreModelVersionIdentifiersKey
    let _: String = NSReadOnlyPersistentStoreOption  // = NSReadOnlyPersistentStoreOption
    let _: String = NSPersistentStoreTimeoutOption  // = NSPersistentStoreTimeoutOption
    let _: String = NSSQLitePragmasOption  // = NSSQLitePragmasOption
    let _: String = NSSQLiteAnalyzeOption  // = NSSQLiteAnalyzeOption
    let _: String = NSSQLiteManualVacuumOption  // = NSSQLiteManualVacuumOption
    let _: String = NSIgnorePersistentStoreVersioningOption  // = NSIgnorePersistentStoreVersioningOption
    let _: String = NSMigratePersistentStoresAutomaticallyOption  // = NSMigratePersistentStoresAutomaticallyOption
    let _: String = NSInferMappingModelAutomaticallyOption  // = NSInferMappingModelAutomaticallyOption
    let _: String = NSPersistentStoreConnectionPoolMaxSizeKey  // = NSPersistentStoreConnectionPoolMaxSizeKey
    let _: String = NSPersistentHistoryTrackingKey  // = NSPersistentHistoryTrackingKey
    let _: String = NSPersistentStoreRemoteChangeNotificationPostOptionKey  // = NSPersistentStoreRemoteChangeNotificationPostOptionKey
    let _: String = NSPersistentStoreStagedMigrationManagerOptionKey  // = NSPersistentStoreStagedMigrationManagerOptionKey
    let _: String = NSPersistentStoreDeferredLightweightMigrationOptionKey  // = NSPersistentStoreDeferredLightweightMigrationOptionKey
    let _: String = NSPersistentStoreOSCompatibility  // = NSPersistentStoreOSCompatibility
    let _: String = NSPersistentStoreModelVersionChecksumKey  // = NSPersistentStoreModelVersionChecksumKey
    let _: String = NSValidateXMLStoreOption  // = NSValidateXMLStoreOption
    let _: String = NSPersistentStoreForceDestroyOption  // = NSPersistentStoreForceDestroyOption
    let _: String = NSBinaryStoreSecureDecodingClasses  // = NSBinaryStoreSecureDecodingClasses
    let _: String = NSBinaryStoreInsecureDecodingCompatibilityOption  // = NSBinaryStoreInsecureDecodingCompatibilityOption
}

// MARK: Notifications and their keys

private func notificationsAndTheirKeys() {
    let _: Notification.Name = .NSManagedObjectContextWillSave  // = NSManagedObjectContextWillSave
    let _: Notification.Name = .NSManagedObjectContextDidSave  // = NSManagedObjectContextDidSave
    let _: Notification.Name = .NSManagedObjectContextObjectsDidChange  // = NSManagedObjectContextObjectsDidChange
    let _: Notification.Name = .NSManagedObjectContextDidSaveObjectIDs  // = NSManagedObjectContextDidSaveObjectIDs
    let _: Notification.Name = .NSManagedObjectContextDidMergeChangesObjectIDs  // = NSManagedObjectContextDidMergeChangesObjectIDs
    let _: Notification.Name = .NSPersistentStoreCoordinatorStoresDidChange  // = NSPersistentStoreCoordinatorStoresDidChange
    let _: Notification.Name = .NSPersistentStoreCoordinatorWillRemoveStore  // = NSPersistentStoreCoordinatorWillRemoveStore
    let _: Notification.Name = .NSPersistentStoreRemoteChange  // = NSPersistentStoreRemoteChange
    let _: String = NSInsertedObjectsKey  // = NSInsertedObjectsKey
    let _: String = NSUpdatedObjectsKey  // = NSUpdatedObjectsKey
    let _: String = NSDeletedObjectsKey  // = NSDeletedObjectsKey
    let _: String = NSRefreshedObjectsKey  // = NSRefreshedObjectsKey
    let _: String = NSInvalidatedObjectsKey  // = NSInvalidatedObjectsKey
    let _: String = NSInvalidatedAllObjectsKey  // = NSInvalidatedAllObjectsKey
    let _: String = NSManagedObjectContextQueryGenerationKey  // = NSManagedObjectContextQueryGenerationKey
    let _: String = NSInsertedObjectIDsKey  // = NSInsertedObjectIDsKey
    let _: String = NSUpdatedObjectIDsKey  // = NSUpdatedObjectIDsKey
    let _: String = NSDeletedObjectIDsKey  // = NSDeletedObjectIDsKey
    let _: String = NSRefreshedObjectIDsKey  // = NSRefreshedObjectIDsKey
    let _: String = NSInvalidatedObjectIDsKey  // = NSInvalidatedObjectIDsKey
    let _: String = NSAddedPersistentStoresKey  // = NSAddedPersistentStoresKey
    let _: String = NSRemovedPersistentStoresKey  // = NSRemovedPersistentStoresKey
    let _: String = NSUUIDChangedPersistentStoresKey  // = NSUUIDChangedPersistentStoresKey
    let _: String = NSPersistentStoreURLKey  // = NSPersistentStoreURLKey
    let _: String = NSPersistentHistoryTokenKey  // = NSPersistentHistoryTokenKey
    let _: Notification.Name = .NSPersistentStoreCoordinatorStoresWillChange  // = NSPersistentStoreCoordinatorStoresWillChange
}
