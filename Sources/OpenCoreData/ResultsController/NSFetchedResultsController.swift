import Foundation

/// The results of a fetch request, kept current: in order, in sections, and with a delegate that hears of every change.
///
/// With a delegate, the results follow what changes in the context: edits made there, what children push into it, what is merged, rolled back
/// or reset. They follow by object ID: rows are judged, and an object is made only when somebody asks for it or the delegate is handed it. The
/// changes of objects that a key path of the predicate, a sort key or the sections goes over count too. Without a delegate the results stay as
/// they were fetched.
///
/// - The request needs sort descriptors, and its results are objects or IDs. Unsaved changes always count.
/// - `fetchLimit` and `fetchOffset` hold at all times: what is pushed out of the window is deleted from the results, what comes into it inserted.
///   Each change of a possible result is then a fetch.
/// - The objects of a section must be neighbours: sort by the section's key first, or by something that orders the objects as it does.
/// - Changing the request takes effect with the next `performFetch()`. Set the delegate before it: what changes in between is missed.
///
/// It belongs to its context's queue.
open class NSFetchedResultsController<ResultType>: NSObject {
    let results: FetchedResults
    private let request: NSFetchRequest<ResultType>?
    /// Of another type, for the delegate.
    private var face: NSFetchedResultsController<any NSFetchRequestResult>?
    private var fetched: (generation: Int, objects: [ResultType])?

    /// A name that Core Data would keep computed sections under. Nothing is kept here: sections are found in one pass over the rows.
    public let cacheName: String?

    /// Makes a controller. Nothing is fetched until `performFetch()`. Traps for a request without sort descriptors, and for one
    /// whose results are neither objects nor IDs.
    ///
    /// - Parameter sectionNameKeyPath: what the objects of a section share; nil for no sections. If it names a transient property, or one that
    ///   the class answers by itself, every result is made into an object to be asked.
    public init(
        fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext, sectionNameKeyPath: String?,
        cacheName name: String?
    ) {
        if fetchRequest.sortDescriptors == nil {
            Violation.misuse("a fetched results controller needs a request with sort descriptors; an empty list orders by object ID")
        }
        let type = fetchRequest.resultType
        guard type == .managedObjectResultType || type == .managedObjectIDResultType else {
            Violation.misuse("a fetched results controller yields objects or object IDs, not dictionaries or numbers")
        }
        request = fetchRequest
        cacheName = name
        results = FetchedResults(
            context: context, sectionNameKeyPath: sectionNameKeyPath, yieldsIDs: type == .managedObjectIDResultType,
            plan: { try context.plan(for: fetchRequest) }, request: { fetchRequest.erased() })
        super.init()
        results.owner = self
    }

    /// The same results under another type.
    private init(sharing results: FetchedResults, cacheName: String?) {
        self.results = results
        self.cacheName = cacheName
        request = nil
        super.init()
    }

    /// What is fetched. Changes of it take effect with the next `performFetch()`.
    open var fetchRequest: NSFetchRequest<ResultType> {
        if let request { return request }
        guard let copy = results.erasedRequest() as? NSFetchRequest<ResultType> else {
            Violation.misuse("a controller handed to a delegate has results of type any NSFetchRequestResult")
        }
        return copy
    }

    /// Where the results live. The controller is used, and its delegate called, on this context's queue.
    open var managedObjectContext: NSManagedObjectContext { results.context }
    /// The key path whose values divide the results into sections; nil: they are not divided.
    open var sectionNameKeyPath: String? { results.sectionNameKeyPath }

    /// Who hears of changes. Not retained.
    open weak var delegate: (any NSFetchedResultsControllerDelegate)? {
        get { results.delegate }
        set { results.delegate = newValue }
    }

    /// Would forget kept sections; none are kept.
    open class func deleteCache(withName name: String?) {}

    /// Fetches. The delegate hears nothing of it. Throws what the fetch throws, and 134060 where the objects are not sorted by their sections; the
    /// results are then what they were.
    open func performFetch() throws { try results.fetch() }

    // MARK: Results

    /// The results in order; nil before the first `performFetch()`.
    open var fetchedObjects: [ResultType]? {
        results.context.checkQueue()
        guard let sections = results.sections else { return nil }
        if let fetched, fetched.generation == results.generation { return fetched.objects }
        let objects = sections.ids.map { typed($0) }
        fetched = (results.generation, objects)
        return objects
    }

    /// The result at an index path. Traps if there is none.
    open func object(at indexPath: IndexPath) -> ResultType {
        results.context.checkQueue()
        guard let sections = results.sections?.sections, indexPath.count == 2, sections.indices.contains(indexPath.section),
            sections[indexPath.section].entries.indices.contains(indexPath.row)
        else { Violation.misuse("no object at index path \(Array(indexPath)) of the fetched results") }
        return typed(sections[indexPath.section].entries[indexPath.row].id)
    }

    /// Where a result stands; nil if it is none.
    open func indexPath(forObject object: ResultType) -> IndexPath? {
        results.context.checkQueue()
        let id = (object as? NSManagedObject)?.objectID ?? object as? NSManagedObjectID
        return id.flatMap { results.sections?.place(of: $0) }.map { IndexPath(row: $0.row, section: $0.section) }
    }

    private func typed(_ id: NSManagedObjectID) -> ResultType {
        let result = results.result(for: id)
        guard let typed = result as? ResultType else {
            Violation.misuse("a result of entity \(id.entity.name ?? "?") is a \(type(of: result)), not a \(ResultType.self)")
        }
        return typed
    }

    // MARK: Sections

    /// The sections; nil before the first `performFetch()`. Without a key path for sections it is one, of everything.
    open var sections: [any NSFetchedResultsSectionInfo]? {
        results.context.checkQueue()
        return results.sectionInfos
    }

    /// The titles of the sections, each once.
    open var sectionIndexTitles: [String] {
        var seen: Set<String> = []
        return (results.sections?.sections ?? []).compactMap { results.indexTitle(forSectionNamed: $0.name) }.filter { seen.insert($0).inserted }
    }

    /// What stands for a section in an index: what the delegate says, else the name's first letter, capitalised; nil for no name.
    open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
        if let owner = results.owner, owner !== self { return owner.sectionIndexTitle(forSectionName: sectionName) }
        guard let delegate = results.delegate else { return FetchedResults.indexTitle(ofName: sectionName) }
        return delegate.controller(erased, sectionIndexTitleForSectionName: sectionName)
    }

    /// The first section with this title. Traps if there is none.
    ///
    /// - Parameter sectionIndex: the title's place in `sectionIndexTitles`; it is not needed, for each title stands there once.
    open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
        let names = (results.sections?.sections ?? []).map(\.name)
        guard let section = names.firstIndex(where: { results.indexTitle(forSectionNamed: $0) == title }) else {
            Violation.misuse("no section of the fetched results has the index title \"\(title)\"")
        }
        return section
    }

    // MARK: Identity

    /// Controllers of the same results are equal, whatever the type of their results.
    open override func isEqual(_ object: Any?) -> Bool { (object as? any FetchedResultsOwner)?.results === results }
    open override var hash: Int { ObjectIdentifier(results).hashValue }
}

extension NSFetchedResultsController: FetchedResultsOwner {
    var erased: NSFetchedResultsController<any NSFetchRequestResult> {
        if let same = self as? NSFetchedResultsController<any NSFetchRequestResult> { return same }
        if let face { return face }
        let made = NSFetchedResultsController<any NSFetchRequestResult>(sharing: results, cacheName: cacheName)
        face = made
        return made
    }
}
