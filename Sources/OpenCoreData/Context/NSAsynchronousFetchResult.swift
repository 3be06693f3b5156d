import Foundation

/// What an asynchronous fetch yields.
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
