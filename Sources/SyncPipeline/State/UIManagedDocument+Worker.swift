import Foundation
import OpenCoreData

extension UIManagedDocument {
    /// Runs `body` in a fresh worker context, child of the main context, on its own queue. What it does not save is gone.
    func withWorker<T: Sendable>(_ body: @escaping @Sendable (NSManagedObjectContext) throws -> T) async throws -> T {
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.name = "worker"
        worker.parent = managedObjectContext
        return try await worker.perform { try body(worker) }
    }
}
