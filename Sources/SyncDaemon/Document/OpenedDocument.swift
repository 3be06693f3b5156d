import Foundation
import OpenCoreData

/// The daemon's document: a `UIManagedDocument` that is open, and the lock on its package.
final class OpenedDocument: OpenDocument {
    let document: UIManagedDocument
    private let lock: DocumentLock

    init(document: UIManagedDocument, lock: DocumentLock) {
        self.document = document
        self.lock = lock
    }

    var path: String { document.fileURL.path }
    var unsavedChanges: Int { document.unsavedChangeCount }
    var oldestUnsavedSeconds: Double? { document.oldestUnsavedChange }

    func probe(_ done: @escaping @Sendable () -> Void) {
        let root = document.root
        root.perform {
            // One row of any table. That it comes back is the answer; a store that says no is alive as well.
            if let name = root.persistentStoreCoordinator?.managedObjectModel.entities.compactMap(\.name).min() {
                let request = NSFetchRequest<NSManagedObject>(entityName: name)
                request.fetchLimit = 1
                _ = try? root.count(for: request)
            }
            done()
        }
    }

    func close() async throws {
        try await document.close()
        lock.markClean()
    }
}
