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
    /// Comes first, once for each change of the results.
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

    /// Comes last, once for each change of the results.
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
    /// For delegates that leave it out: does nothing.
    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    /// For delegates that do not follow sections: does nothing.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {}

    /// For delegates that do not follow single objects: does nothing.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {}

    /// For delegates that leave it out: does nothing.
    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    /// Being reached, this says that the delegate has no method of its own: Swift has no other way to ask.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        controller.results.delegateTakesDifferences = false
    }

    /// For delegates that leave it out: the name's first letter, capitalised; nil for an empty name.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, sectionIndexTitleForSectionName sectionName: String
    ) -> String? {
        FetchedResults.indexTitle(ofName: sectionName)
    }
}

/// What happened to an object or a section of a controller's results, with Apple's raw values.
public enum NSFetchedResultsChangeType: UInt, Sendable {
    /// It came into the results.
    case insert = 1
    /// It left the results; the object itself may live on.
    case delete = 2
    /// The object has another place. It may have other values too.
    case move = 3
    /// The object has other values and its place is the same among those that stayed.
    case update = 4
}

/// One section of a controller's results, as it was when it was asked for.
public protocol NSFetchedResultsSectionInfo: AnyObject {
    /// The value that the objects of the section share, as text; empty for nil, and where there are no sections.
    var name: String { get }
    /// What stands for the section in an index; nil for a section without a name.
    var indexTitle: String? { get }
    /// The length of `objects`, counted without making any.
    var numberOfObjects: Int { get }
    /// The objects, made when asked for; nil after the controller is gone.
    var objects: [Any]? { get }
}

/// A section of the results.
final class FetchedResultsSection: NSFetchedResultsSectionInfo {
    private let section: ResultSections.Section
    private weak var results: FetchedResults?

    init(_ section: ResultSections.Section, of results: FetchedResults) {
        self.section = section
        self.results = results
    }

    var name: String { section.name }
    var indexTitle: String? { results?.indexTitle(forSectionNamed: name) }
    var numberOfObjects: Int { section.entries.count }
    var objects: [Any]? { results.map { results in section.entries.map { results.result(for: $0.id) } } }
}

/// Index paths of two indexes: a section, and a place in it. On Apple's platforms the user interface brings these.
extension IndexPath {
    /// A path of two indexes, the section first.
    public init(row: Int, section: Int) { self.init(indexes: [section, row]) }
    /// The same as `init(row:section:)`: an item is a row.
    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

    /// The first index. Traps for an empty path.
    public var section: Int {
        get { self[0] }
        set { self[0] = newValue }
    }

    /// The second index, the place in the section. Traps for a path with fewer than two.
    public var row: Int {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// The same index as `row`.
    public var item: Int {
        get { self[1] }
        set { self[1] = newValue }
    }
}
