import JSONPaths

/// `pages`: how a listing goes on, and when it ends. Any stop rule that holds ends it; one that promises more at that moment makes the
/// run incomplete.
public struct PaginationConfiguration: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// One request. A `Link` header that offers a next page makes the run incomplete.
        case none
        case page(PageNumber)
        case cursor(Cursor)
        /// The link of this relation in the `Link` header, `next` unless said otherwise.
        case linkHeader(relation: String)
    }

    /// Numbered pages.
    public struct PageNumber: Sendable, Hashable {
        public var parameter = "page"
        /// The number of the first page.
        public var start = 1
        /// The parameter that asks for the size of a page; `nil`: the size is not asked for.
        public var sizeParameter: String? = "per_page"
        public var size = 100

        public init() {}
    }

    /// A token from each answer that goes into the next request.
    public struct Cursor: Sendable, Hashable {
        /// Where the answer holds the token. Absent, null and empty mean the end.
        public enum Origin: Sendable, Hashable {
            case path(JSONPath)
            case header(String)
        }

        /// Where the request carries it.
        public enum Place: String, Sendable, Hashable, CaseIterable {
            case query
            case header
        }

        public var origin: Origin
        public var place = Place.query
        /// The query parameter or the header.
        public var parameter = "cursor"

        public init(from origin: Origin) {
            self.origin = origin
        }
    }

    /// `stop`: the rules that end a listing.
    public struct StopRules: Sendable, Hashable {
        /// A page without records is the last.
        public var emptyPage = true
        /// A page with fewer records than were asked for is the last.
        public var shortPage = false
        /// A truth value in the body: whether there is more.
        public var hasMore: JSONPath?
        /// The number of records of the whole listing.
        public var total: JSONPath?
        /// The number of pages of the whole listing.
        public var totalPages: JSONPath?
        /// Reached: the listing was cut, the run is incomplete. The smaller of this and ``LimitsConfiguration/maxPages`` counts.
        public var maxPages = 10_000

        public init() {}
    }

    public var kind = Kind.none
    public var stop = StopRules()

    /// No pagination.
    public init() {}

    public init(_ kind: Kind) {
        self.kind = kind
    }
}
