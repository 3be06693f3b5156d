import Foundation
import OpenCoreData
import Synchronization

/// A document whose store is in memory and stays the same however often it is closed and opened.
// What changes is guarded by a lock.
package final class TestDocument: UIManagedDocument, @unchecked Sendable {
    package let store: InMemoryStore
    private let seen = Mutex<[String]>([])
    private let failures = Mutex<[any Error]>([])
    private let saveCount = Mutex(0)

    package init(_ model: NSManagedObjectModel = Company.model(), policy: AutosavePolicy = AutosavePolicy(), clock: ManualDocumentClock) {
        store = InMemoryStore(entities: model.entities)
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("document-\(UUID().uuidString)", isDirectory: true)
        super.init(fileURL: url, model: model, autosavePolicy: policy)
        self.clock = clock
        store.observe { [weak self] request in
            guard let self, case .save = request else { return }
            saveCount.withLock { $0 += 1 }
            if let failure = failures.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw failure }
        }
    }

    deinit { try? FileManager.default.removeItem(at: fileURL) }

    package override func configurePersistentStoreCoordinator(
        for storeURL: URL, ofType fileType: String, modelConfiguration: String?, storeOptions: [AnyHashable: Any]?
    ) throws {
        if !FileManager.default.fileExists(atPath: storeURL.path) { try Data().write(to: storeURL) }
        managedObjectContext.persistentStoreCoordinator?.add(store)
    }

    package override func handleError(_ error: any Error, userInteractionPermitted: Bool) {
        seen.withLock { $0.append("\((error as NSError).domain) \((error as NSError).code)") }
        super.handleError(error, userInteractionPermitted: userInteractionPermitted)
    }

    /// Domain and code of each error that reached `handleError`.
    package var errors: [String] { seen.withLock { $0 } }
    /// How often the store was asked to save.
    package var saves: Int { saveCount.withLock { $0 } }

    /// Lets the store's next saves fail with these errors, in order.
    package func failSaves(with errors: [any Error]) { failures.withLock { $0 = errors } }

    /// How many rows of an entity the store has.
    package func storedCount(_ entity: String) throws -> Int {
        guard let description = managedObjectModel.entitiesByName[entity] else { return 0 }
        return try store.fetch(FetchPlan(entity: description)).count
    }
}
