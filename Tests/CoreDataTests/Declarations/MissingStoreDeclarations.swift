import CoreData
import Foundation

// Of stores, requests and migration: what Apple's framework declares and ours does not, or otherwise. Each is named beside its statement and
// in COVERAGE.md; who adds one moves the statement to its class, and marks it with = instead of -.

#if canImport(ObjectiveC)

    // MARK: NSPersistentStore

    private func nsPersistentStoreMissing(_ it: NSPersistentStore) {
        let _: ReferenceWritableKeyPath<NSPersistentStore, String?> = \.identifier  // - identifier
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

    // MARK: NSFetchRequest

    private func nsFetchRequestMissing(_ it: NSFetchRequest<NSManagedObject>) {
        let _: any NSCoding = it  // - NSCoding
    }

    // MARK: NSFetchRequestResult

    private func nsFetchRequestResultMissing() {
        func needs<Result: NSFetchRequestResult>(_ result: Result) -> any NSObjectProtocol { result }  // - NSObjectProtocol
    }

    // MARK: NSAsynchronousFetchRequest

    private func nsAsynchronousFetchRequestMissing() {
        // - completionBlock
        let _: KeyPath<NSAsynchronousFetchRequest<NSManagedObject>, NSPersistentStoreAsynchronousFetchResultCompletionBlock?> = \.completionBlock
    }

    // MARK: NSBatchUpdateRequest

    private func nsBatchUpdateRequestMissing() {
        let _: KeyPath<NSBatchUpdateRequest, NSEntityDescription> = \.entity  // - entity
    }

    // MARK: NSFetchedResultsControllerDelegate

    private func nsFetchedResultsControllerDelegateMissing(_ it: any NSFetchedResultsControllerDelegate) {
        let _: any NSObjectProtocol = it  // - NSObjectProtocol
    }

#endif
