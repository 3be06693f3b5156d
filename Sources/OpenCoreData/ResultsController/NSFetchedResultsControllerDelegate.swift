import Foundation

/// Who wants to know of changes in a controller's results.
///
/// Every method may be left out: it has an implementation here that does nothing. For one change of the results come, in this order, one
/// `controllerWillChangeContent`, the changes of sections, the changes of objects, one `controllerDidChangeContent`. Index paths of what
/// was deleted, updated or moved away are those before the change; index paths of what was inserted or moved here are those after it.
///
/// Without sections, a delegate may take the change as one difference instead; then none of the others is called.
///
/// All are called on the context's queue. The controller that is handed in is `==` to the one that the delegate was given to; it is the same
/// instance only where that one's results are of type `any NSFetchRequestResult`, for Swift's generic types are not each other's.
public protocol NSFetchedResultsControllerDelegate: AnyObject {
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// - Parameters:
    ///   - sectionInfo: the section; one that was deleted as it was.
    ///   - sectionIndex: its index: before the change for a deletion, after it for an insertion.
    ///   - type: `.insert` or `.delete`.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType)

    /// - Parameters:
    ///   - anObject: the object, or its ID where the controller yields IDs.
    ///   - indexPath: where it was; nil for an insertion.
    ///   - newIndexPath: where it is; nil for a deletion.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// The whole change, where the controller has no sections. A move is a removal and an insertion associated with each other; so is an update,
    /// which is a move to where the object was.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

    /// What stands for a section in an index; the name's first letter, capitalised, where this is left out.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, sectionIndexTitleForSectionName sectionName: String
    ) -> String?
}

extension NSFetchedResultsControllerDelegate {
    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {}

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {}

    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    /// Being reached, this says that the delegate has no method of its own: Swift has no other way to ask.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        controller.results.delegateTakesDifferences = false
    }

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, sectionIndexTitleForSectionName sectionName: String
    ) -> String? {
        FetchedResults.indexTitle(ofName: sectionName)
    }
}
