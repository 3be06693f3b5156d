import Foundation
import Synchronization

/// A fetch that does not wait: `NSManagedObjectContext.execute(_:)` returns at once, and the block is called on the context's queue with what
/// was found.
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
    /// What is fetched.
    public let fetchRequest: NSFetchRequest<ResultType>
    /// Called once on the context's queue.
    public let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
    /// How many objects are expected; 0: unknown. For the progress alone.
    open var estimatedResultCount = 0

    /// With no block, read the outcome from the result that executing the request returns.
    public init(fetchRequest request: NSFetchRequest<ResultType>, completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil) {
        fetchRequest = request
        completionBlock = blk
        super.init()
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = filled(NSAsynchronousFetchRequest(fetchRequest: fetchRequest.duplicate(), completionBlock: completionBlock))
        copy.estimatedResultCount = estimatedResultCount
        return copy
    }
}

/// What an asynchronous fetch of whatever results is handed to.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock = (NSAsynchronousFetchResult<any NSFetchRequestResult>) -> Void

/// What a request yields that goes on while its caller does something else.
/// Call `cancel()` from any thread; read everything else on the context's queue.
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

/// What an asynchronous fetch yields.
/// Read it in the completion block, or later on the context's queue.
// As its superclass says.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult, @unchecked Sendable {
    /// The request.
    public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
    /// What was found; nil until the fetch has ended, and if it failed.
    open internal(set) var finalResult: [ResultType]?

    init(_ request: NSAsynchronousFetchRequest<ResultType>, context: NSManagedObjectContext) {
        fetchRequest = request
        super.init(context: context)
    }
}
