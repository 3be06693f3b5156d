import Foundation

/// A fetch that does not wait: `NSManagedObjectContext.execute(_:)` returns at once, and the block is called on the context's queue with what
/// was found.
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
    /// What is fetched.
    public let fetchRequest: NSFetchRequest<ResultType>
    /// Called once on the context's queue.
    public let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
    /// How many objects are expected; 0: unknown. For the progress alone.
    open var estimatedResultCount = 0

    public init(fetchRequest request: NSFetchRequest<ResultType>, completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil) {
        fetchRequest = request
        completionBlock = blk
        super.init()
    }
}
