import Foundation

extension NSFetchRequest {
    /// Executes the request in the context whose block the caller runs in, the innermost if there are several. Traps outside of
    /// `perform` and `performAndWait`; throws what `fetch(_:)` throws.
    public func execute() throws -> [ResultType] {
        guard let context = NSManagedObjectContext.current else {
            Violation.misuse("execute() works only within a context's perform or performAndWait; elsewhere use the context's fetch(_:)")
        }
        return try context.fetch(self)
    }
}

extension NSManagedObjectContext {
    /// The context whose block this thread runs.
    static var current: NSManagedObjectContext? {
        for queue in HeldQueues.current.all.reversed() {
            if let context = queue.owner as? NSManagedObjectContext { return context }
        }
        return nil
    }
}
