import Foundation
import Synchronization

/// What a request yields that goes on while its caller does something else.
// What both sides touch is behind locks or set before the other side knows the object; the rest is used on the context's queue.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
    /// The context that executes the request.
    public let managedObjectContext: NSManagedObjectContext
    /// Why there is no result: what the store said, or that it was cancelled. Set when the completion block runs.
    open internal(set) var operationError: (any Error)?
    /// How far it is: in units of objects if their number was estimated.
    open internal(set) var progress: Progress?
    private let cancelled = Atomic(false)

    init(context: NSManagedObjectContext) {
        managedObjectContext = context
        super.init()
    }

    /// Ends the request as soon as possible; its completion block is called with an error. From any thread.
    open func cancel() {
        cancelled.store(true, ordering: .releasing)
        progress?.cancel()
    }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) || progress?.isCancelled == true }
}
