import CoreData
import Foundation

// Of stores, requests and migration: what Apple's framework declares and ours does not, or otherwise. Each is named beside its statement and
// in COVERAGE.md; who adds one moves the statement to its class, and marks it with = instead of -.

#if canImport(ObjectiveC)

    // MARK: NSPersistentStoreCoordinator

    private func nsPersistentStoreCoordinatorMissing(_ it: NSPersistentStoreCoordinator, _ description: NSPersistentStoreDescription) async throws {
        let _: any NSLocking = it  // - NSLocking
        let _: (URL, NSPersistentStore) -> Bool = it.setURL(_:for:)  // - setURL(_:for:)
        let _: NSPersistentStoreDescription = try await it.addPersistentStore(with: description)  // - addPersistentStore(with:)
        let _: (String) -> NSManagedObjectID? = it.managedObjectID(for:)  // - managedObjectID(for:)
        let _: (NSPersistentStoreRequest, NSManagedObjectContext) throws -> Any = it.execute(_:with:)  // - execute(_:with:)
    }

    @available(*, deprecated)
    private func nsPersistentStoreCoordinatorDeprecatedMissing(_ it: NSPersistentStoreCoordinator) {
        let _: () -> Void = it.lock  // - lock()
        let _: () -> Void = it.unlock  // - unlock()
        let _: () -> Bool = it.tryLock  // - tryLock()
        // - metadataForPersistentStore(ofType:at:)
        let _: (String?, URL) throws -> [String: Any] = NSPersistentStoreCoordinator.metadataForPersistentStore(ofType:at:)
        // - setMetadata(_:forPersistentStoreOfType:at:)
        let _: ([String: Any]?, String?, URL) throws -> Void = NSPersistentStoreCoordinator.setMetadata(_:forPersistentStoreOfType:at:)
    }

    // MARK: NSPersistentContainer

    // It has no state of its own.
    private class OwnNSPersistentContainer: NSPersistentContainer, @unchecked Sendable {
        override var viewContext: NSManagedObjectContext { super.viewContext }  // - viewContext, overridden
    }

    // MARK: NSPersistentStore

    private func nsPersistentStoreMissing(_ it: NSPersistentStore) {
        // - init(persistentStoreCoordinator:configurationName:at:options:)
        let _: (NSPersistentStoreCoordinator?, String?, URL, [AnyHashable: Any]?) -> NSPersistentStore = NSPersistentStore.init(
            persistentStoreCoordinator:configurationName:at:options:)
        let _: (URL) throws -> [String: Any] = NSPersistentStore.metadataForPersistentStore(with:)  // - metadataForPersistentStore(with:)
        // - setMetadata(_:forPersistentStoreAt:)
        let _: ([String: Any]?, URL) throws -> Void = NSPersistentStore.setMetadata(_:forPersistentStoreAt:)
        let _: () -> AnyClass = NSPersistentStore.migrationManagerClass  // - migrationManagerClass()
        let _: () throws -> Void = it.loadMetadata  // - loadMetadata()
        let _: ReferenceWritableKeyPath<NSPersistentStore, URL?> = \.url  // - url
        let _: ReferenceWritableKeyPath<NSPersistentStore, String?> = \.identifier  // - identifier
        let _: ReferenceWritableKeyPath<NSPersistentStore, Bool> = \.isReadOnly  // - isReadOnly
    }

    // MARK: NSIncrementalStore

    // It has no state of its own.
    private class OwnNSIncrementalStore: NSIncrementalStore, @unchecked Sendable {
        // - init(persistentStoreCoordinator:configurationName:at:options:), overridden
        override init(
            persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
            options: [AnyHashable: Any]? = nil
        ) { super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options) }
    }

    // MARK: NSAtomicStore

    // It has no state of its own.
    private class OwnNSAtomicStore: NSAtomicStore, @unchecked Sendable {
        // - init(persistentStoreCoordinator:configurationName:at:options:), overridden
        override init(
            persistentStoreCoordinator coordinator: NSPersistentStoreCoordinator?, configurationName: String?, at url: URL,
            options: [AnyHashable: Any]? = nil
        ) { super.init(persistentStoreCoordinator: coordinator, configurationName: configurationName, at: url, options: options) }
    }

    // MARK: NSPersistentStoreRequest

    private func nsPersistentStoreRequestMissing(_ it: NSPersistentStoreRequest) {
        let _: any NSCopying = it  // - NSCopying
    }

    // MARK: NSFetchRequest

    private func nsFetchRequestMissing(_ it: NSFetchRequest<NSManagedObject>) {
        let _: any NSCoding = it  // - NSCoding
        let _: any NSCopying = it  // - NSCopying
    }

    // MARK: NSFetchRequestResult

    private func nsFetchRequestResultMissing() {
        func needs<Result: NSFetchRequestResult>(_ result: Result) -> any NSObjectProtocol { result }  // - NSObjectProtocol
    }

    // MARK: NSFetchRequestExpression

    private func nsFetchRequestExpressionMissing() {
        // - expression(forFetch:context:countOnly:)
        let _: (NSExpression, NSExpression, Bool) -> NSExpression = NSFetchRequestExpression.expression(forFetch:context:countOnly:)
        let _: KeyPath<NSFetchRequestExpression, NSExpression> = \.requestExpression  // - requestExpression
        let _: KeyPath<NSFetchRequestExpression, NSExpression> = \.contextExpression  // - contextExpression
        let _: KeyPath<NSFetchRequestExpression, Bool> = \.isCountOnlyRequest  // - isCountOnlyRequest
        let _: NSExpression.ExpressionType = NSFetchRequestExpressionType  // - NSFetchRequestExpressionType
    }

    // MARK: NSAsynchronousFetchRequest

    private func nsAsynchronousFetchRequestMissing() {
        // - completionBlock
        let _: KeyPath<NSAsynchronousFetchRequest<NSManagedObject>, NSPersistentStoreAsynchronousFetchResultCompletionBlock?> = \.completionBlock
        // - NSPersistentStoreAsynchronousFetchResultCompletionBlock
        let _: NSPersistentStoreAsynchronousFetchResultCompletionBlock = { (_: NSAsynchronousFetchResult<any NSFetchRequestResult>) in }
    }

    // MARK: NSBatchInsertRequest

    @available(*, deprecated)
    private func nsBatchInsertRequestDeprecatedMissing() {
        let _: () -> NSBatchInsertRequest = NSBatchInsertRequest.init  // - init()
    }

    // MARK: NSBatchUpdateRequest

    private func nsBatchUpdateRequestMissing() {
        let _: KeyPath<NSBatchUpdateRequest, NSEntityDescription> = \.entity  // - entity
    }

    // MARK: NSFetchedResultsControllerDelegate

    private func nsFetchedResultsControllerDelegateMissing(_ it: any NSFetchedResultsControllerDelegate) {
        let _: any NSObjectProtocol = it  // - NSObjectProtocol
    }

    // MARK: Store constants

    private func storeConstantsMissing() {
        let _: String = NSPersistentStoreOSCompatibility  // - NSPersistentStoreOSCompatibility
        let _: String = NSPersistentStoreModelVersionChecksumKey  // - NSPersistentStoreModelVersionChecksumKey
        let _: String = NSValidateXMLStoreOption  // - NSValidateXMLStoreOption
        let _: String = NSPersistentStoreForceDestroyOption  // - NSPersistentStoreForceDestroyOption
        let _: String = NSBinaryStoreSecureDecodingClasses  // - NSBinaryStoreSecureDecodingClasses
        let _: String = NSBinaryStoreInsecureDecodingCompatibilityOption  // - NSBinaryStoreInsecureDecodingCompatibilityOption
    }

    // MARK: Notifications and their keys

    private func notificationsAndTheirKeysMissing() {
        let _: Notification.Name = .NSPersistentStoreCoordinatorStoresWillChange  // - NSPersistentStoreCoordinatorStoresWillChange
    }

    // MARK: Version numbers

    private func versionNumbersMissing() {
        let _: Double = NSCoreDataVersionNumber  // - NSCoreDataVersionNumber
        let _: Double = NSCoreDataVersionNumber10_4  // - NSCoreDataVersionNumber10_4
        let _: Double = NSCoreDataVersionNumber10_4_3  // - NSCoreDataVersionNumber10_4_3
        let _: Double = NSCoreDataVersionNumber10_5  // - NSCoreDataVersionNumber10_5
        let _: Double = NSCoreDataVersionNumber10_5_3  // - NSCoreDataVersionNumber10_5_3
        let _: Double = NSCoreDataVersionNumber10_6  // - NSCoreDataVersionNumber10_6
        let _: Double = NSCoreDataVersionNumber10_6_2  // - NSCoreDataVersionNumber10_6_2
        let _: Double = NSCoreDataVersionNumber10_6_3  // - NSCoreDataVersionNumber10_6_3
        let _: Double = NSCoreDataVersionNumber10_7  // - NSCoreDataVersionNumber10_7
        let _: Double = NSCoreDataVersionNumber10_7_2  // - NSCoreDataVersionNumber10_7_2
        let _: Double = NSCoreDataVersionNumber10_7_3  // - NSCoreDataVersionNumber10_7_3
        let _: Double = NSCoreDataVersionNumber10_7_4  // - NSCoreDataVersionNumber10_7_4
        let _: Double = NSCoreDataVersionNumber10_8  // - NSCoreDataVersionNumber10_8
        let _: Double = NSCoreDataVersionNumber10_8_2  // - NSCoreDataVersionNumber10_8_2
        let _: Double = NSCoreDataVersionNumber10_9  // - NSCoreDataVersionNumber10_9
        let _: Double = NSCoreDataVersionNumber10_9_2  // - NSCoreDataVersionNumber10_9_2
        let _: Double = NSCoreDataVersionNumber10_9_3  // - NSCoreDataVersionNumber10_9_3
        let _: Double = NSCoreDataVersionNumber10_10  // - NSCoreDataVersionNumber10_10
        let _: Double = NSCoreDataVersionNumber10_10_2  // - NSCoreDataVersionNumber10_10_2
        let _: Double = NSCoreDataVersionNumber10_10_3  // - NSCoreDataVersionNumber10_10_3
        let _: Double = NSCoreDataVersionNumber10_11  // - NSCoreDataVersionNumber10_11
        let _: Double = NSCoreDataVersionNumber10_11_3  // - NSCoreDataVersionNumber10_11_3
        let _: Double = NSCoreDataVersionNumber_iPhoneOS_3_0  // - NSCoreDataVersionNumber_iPhoneOS_3_0
        let _: Double = NSCoreDataVersionNumber_iPhoneOS_3_1  // - NSCoreDataVersionNumber_iPhoneOS_3_1
        let _: Double = NSCoreDataVersionNumber_iPhoneOS_3_2  // - NSCoreDataVersionNumber_iPhoneOS_3_2
        let _: Double = NSCoreDataVersionNumber_iPhoneOS_4_0  // - NSCoreDataVersionNumber_iPhoneOS_4_0
        let _: Double = NSCoreDataVersionNumber_iPhoneOS_4_1  // - NSCoreDataVersionNumber_iPhoneOS_4_1
        let _: Double = NSCoreDataVersionNumber_iPhoneOS_4_2  // - NSCoreDataVersionNumber_iPhoneOS_4_2
        let _: Double = NSCoreDataVersionNumber_iPhoneOS_4_3  // - NSCoreDataVersionNumber_iPhoneOS_4_3
        let _: Double = NSCoreDataVersionNumber_iPhoneOS_5_0  // - NSCoreDataVersionNumber_iPhoneOS_5_0
        let _: Double = NSCoreDataVersionNumber_iPhoneOS_5_1  // - NSCoreDataVersionNumber_iPhoneOS_5_1
        let _: Double = NSCoreDataVersionNumber_iPhoneOS_6_0  // - NSCoreDataVersionNumber_iPhoneOS_6_0
        let _: Double = NSCoreDataVersionNumber_iPhoneOS_6_1  // - NSCoreDataVersionNumber_iPhoneOS_6_1
        let _: Double = NSCoreDataVersionNumber_iPhoneOS_7_0  // - NSCoreDataVersionNumber_iPhoneOS_7_0
        let _: Double = NSCoreDataVersionNumber_iPhoneOS_7_1  // - NSCoreDataVersionNumber_iPhoneOS_7_1
        let _: Double = NSCoreDataVersionNumber_iPhoneOS_8_0  // - NSCoreDataVersionNumber_iPhoneOS_8_0
        let _: Double = NSCoreDataVersionNumber_iPhoneOS_8_3  // - NSCoreDataVersionNumber_iPhoneOS_8_3
        let _: Double = NSCoreDataVersionNumber_iPhoneOS_9_0  // - NSCoreDataVersionNumber_iPhoneOS_9_0
        let _: Double = NSCoreDataVersionNumber_iPhoneOS_9_2  // - NSCoreDataVersionNumber_iPhoneOS_9_2
        let _: Double = NSCoreDataVersionNumber_iPhoneOS_9_3  // - NSCoreDataVersionNumber_iPhoneOS_9_3
    }

#endif
