import Foundation

/// Batch requests of a store of one's own: it is handed the request itself.
extension NSIncrementalStore {
    func carryOut(_ batch: BatchPlan, _ body: (any PreparedBatch) throws -> Void) throws {
        guard let request = batch.request as? NSPersistentStoreRequest else { return }
        try body(
            UnwrittenBatch { [self] in
                try order.sync { () throws in try withContext { context in BatchOutcome(told: try execute(request, with: context)) } }
            })
    }
}

extension BatchOutcome {
    /// What a store's own answer says.
    fileprivate init(told: Any) {
        switch told {
        case let told as NSBatchInsertResult: self.init(told: told.result ?? [])
        case let told as NSBatchUpdateResult: self.init(told: told.result ?? [])
        case let told as NSBatchDeleteResult: self.init(told: told.result ?? [])
        case let ids as [NSManagedObjectID]: self.init(count: ids.count, ids: ids)
        default: self.init(count: (told as? NSNumber)?.intValue ?? told as? Int ?? 0)
        }
    }
}
