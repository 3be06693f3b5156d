/// One section of a controller's results, as it was when it was asked for.
public protocol NSFetchedResultsSectionInfo: AnyObject {
    /// The value that the objects of the section share, as text; empty for nil, and where there are no sections.
    var name: String { get }
    /// What stands for the section in an index; nil for a section without a name.
    var indexTitle: String? { get }
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
