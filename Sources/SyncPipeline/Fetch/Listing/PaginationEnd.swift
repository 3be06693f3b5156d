/// How a listing ended: which rule ended it, and what speaks against its being complete.
public struct PaginationEnd: Sendable, Hashable {
    /// The rule that ended a listing.
    public enum Rule: String, Sendable, Hashable {
        /// `kind = "none"`: there is one page.
        case singlePage = "single page"
        /// No link to a next page.
        case noNextLink = "no next link"
        /// No token for a next page.
        case noCursor = "no cursor"
        /// No last record with a value that the next page could begin after. Unlike the other rules it is no end: what follows is not known.
        case noLastValue = "no last value"
        /// `empty_page`
        case emptyPage = "empty_page"
        /// `short_page`
        case shortPage = "short_page"
        /// `has_more` is false.
        case hasMore = "has_more"
        /// `total` records were seen.
        case total = "total"
        /// `total_pages` pages were seen.
        case totalPages = "total_pages"
        /// `incremental.order = "desc"`: what follows is older than what was asked for.
        case known = "known"
        /// `max_pages`
        case maxPages = "max_pages"
        /// `max_records`
        case maxRecords = "max_records"
    }

    /// Reasons to doubt that a listing is complete. Any of them forbids sweeping, and a cursor beyond what was seen.
    public enum Doubt: Sendable, Hashable, CustomStringConvertible {
        /// `has_more` promised more.
        case moreWasPromised
        /// `total` promised more records than were seen.
        case recordsMissing(seen: Int, total: Int)
        /// More records were seen than `total` said.
        case recordsTooMany(seen: Int, total: Int)
        /// `total` changed while the listing was read.
        case totalChanged(from: Int, to: Int)
        /// `total_pages` promised more pages than were seen.
        case pagesMissing(seen: Int, total: Int)
        /// The `Link` header offered a next page that was not asked for.
        case linkNotFollowed
        /// There was a link to a next page in the body.
        case bodyLinkNotFollowed
        /// The `Link` header offered several different next pages.
        case conflictingLinks
        /// The next link leads where it must not.
        case linkRefused(String)
        /// There was a token for a next page.
        case cursorNotFollowed
        /// The page does not end with a record that has what the next page would begin after.
        case noLastValue(page: Int, path: String)
        /// `max_pages` cut the listing.
        case cut(pages: Int)
        /// `max_records` cut the listing.
        case cutAtRecords(Int)
        /// The `Link` header holds something that cannot be read.
        case linkUnreadable
        /// The body says something about the listing that cannot be read.
        case unreadable(String)
        /// An object stood where no list was declared.
        case loneObject
        /// `null` stood where a list was expected, and rows were listed before.
        case null
        /// Every record of this page was set aside.
        case nothingMapped(page: Int)

        /// The doubt in words.
        public var description: String {
            switch self {
            case .moreWasPromised: "has_more promised more"
            case .recordsMissing(let seen, let total): "\(seen) of \(total) records seen"
            case .recordsTooMany(let seen, let total): "\(seen) records seen where \(total) were announced"
            case .totalChanged(let old, let new): "the total changed from \(old) to \(new) while the listing was read"
            case .pagesMissing(let seen, let total): "\(seen) of \(total) pages seen"
            case .linkNotFollowed: "the Link header offers a next page; set pages.kind"
            case .bodyLinkNotFollowed: "there was a link to a next page in the body"
            case .conflictingLinks: "the Link header names several next pages"
            case .linkRefused(let why): "next link: \(why)"
            case .cursorNotFollowed: "there was a token for a next page"
            case .noLastValue(let page, let path):
                "page \(page) does not end with a record that has a text or a number at \(path), after which the next page would begin"
            case .cut(let pages): "cut after \(pages) pages (max_pages)"
            case .cutAtRecords(let records): "cut after \(records) records (max_records)"
            case .linkUnreadable: "the Link header cannot be read"
            case .unreadable(let what): "\(what) cannot be read"
            case .loneObject: "an object where a list was expected; if it is the record, write records = \"$\""
            case .null: "null where a list was expected; that does not prove that what was listed is gone"
            case .nothingMapped(let page): "every record of page \(page) was set aside"
            }
        }
    }

    /// The rules that applied, in a fixed order; never empty.
    public let rules: [Rule]
    /// What speaks against completeness.
    public let doubts: [Doubt]

    /// Whether the listing was read to its end, as far as every rule can tell.
    public var isComplete: Bool { doubts.isEmpty }
}
