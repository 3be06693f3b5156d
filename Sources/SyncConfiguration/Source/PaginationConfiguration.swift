import JSONPaths

/// `pages`: how a listing continues, and when it ends. Any stop rule that holds ends it; one that promises more at that moment makes the run
/// incomplete.
public struct PaginationConfiguration: Sendable, Hashable {
    /// `pages.kind`: where the next page's address comes from.
    public enum Kind: Sendable, Hashable {
        /// One request. A `Link` header that offers a next page makes the run incomplete.
        case none
        /// A number in the query, counted up from page to page.
        case page(PageNumber)
        /// The number of records that come before the page, in the query.
        case offset(Offset)
        /// A token from each answer that goes into the next request.
        case cursor(Cursor)
        /// A value of each page's last record, after which the next page begins.
        case keyset(Keyset)
        /// The link of this relation in the `Link` header, `next` unless said otherwise.
        case linkHeader(relation: String)
        /// The link at this path in the body (`pages.path`). Absent, null and empty mean the end.
        case bodyLink(path: JSONPath)
    }

    /// Numbered pages.
    public struct PageNumber: Sendable, Hashable {
        /// `pages.param`: the query parameter with the page's number. Default `page`.
        public var parameter = "page"
        /// The number of the first page.
        public var start = 1
        /// The parameter that asks for the size of a page; `nil`: the size is not asked for.
        public var sizeParameter: String? = "per_page"
        /// `pages.size`: records asked for per page, 1 to 1,000,000. Default 100; without ``sizeParameter`` it is not used.
        public var size = 100

        /// `page=1&per_page=100`, then counting up.
        public init() {}
    }

    /// Pages that begin at an offset: each where the one before it has ended.
    public struct Offset: Sendable, Hashable {
        /// `pages.param`: the query parameter with the offset. Default `offset`.
        public var parameter = "offset"
        /// `pages.start`: the offset of the first page. Default 0.
        public var start = 0
        /// `pages.limit_param`: the parameter that asks for the size of a page, `limit` unless said otherwise; `nil`: the size is not asked for.
        public var limitParameter: String? = "limit"
        /// `pages.limit`: records asked for per page, 1 to 1,000,000. Default 100; without ``limitParameter`` it is not used.
        public var limit = 100

        /// `offset=0&limit=100`, then further by the number of records that each page had.
        public init() {}
    }

    /// A token from each answer that goes into the next request.
    public struct Cursor: Sendable, Hashable {
        /// Where the answer holds the token. Absent, null and empty mean the end.
        public enum Origin: Sendable, Hashable {
            /// `pages.path`: in the body.
            case path(JSONPath)
            /// `pages.header`: in the header of this name.
            case header(String)
        }

        /// Where the request carries it.
        public enum Place: String, Sendable, Hashable, CaseIterable {
            /// As a query parameter; the default.
            case query
            /// As a request header.
            case header
        }

        /// `pages.path` or `pages.header`: where each answer holds the token.
        public var origin: Origin
        /// `pages.in`: `query` (the default) or `header`.
        public var place = Place.query
        /// The query parameter or the header.
        public var parameter = "cursor"

        /// The token goes into the query parameter `cursor`, unless changed.
        public init(from origin: Origin) {
            self.origin = origin
        }
    }

    /// Pages of a sorted listing: each begins after the last record of the one before it. A listing whose last record has no such value cannot go on,
    /// and is incomplete.
    public struct Keyset: Sendable, Hashable {
        /// `pages.from`: where each record holds what the listing is sorted by, a text or a number.
        public var path: JSONPath
        /// `pages.in`: `query` (the default) or `header`.
        public var place = Cursor.Place.query
        /// `pages.param`: the query parameter or the header that carries the last record's value. Default `after`.
        public var parameter = "after"

        /// The value goes into the query parameter `after`, unless changed.
        public init(from path: JSONPath) {
            self.path = path
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

        /// The built-in values: an empty page or 10,000 pages end the listing; no path into the body is looked at.
        public init() {}
    }

    /// `pages.kind`, default `none`: one request.
    public var kind = Kind.none
    /// `pages.stop`: what ends the listing besides the answer's own signal.
    public var stop = StopRules()

    /// No pagination.
    public init() {}

    /// Pages of this kind with the built-in stop rules.
    public init(_ kind: Kind) {
        self.kind = kind
    }
}

/// What the kinds have in common, and where they differ: whoever adds one answers here.
extension PaginationConfiguration.Kind {
    /// Where each page holds the token of the next one, around its records; nil: it has none there.
    package var tokenOrigin: PaginationConfiguration.Cursor.Origin? {
        switch self {
        case .cursor(let cursor): cursor.origin
        case .bodyLink(let path): .path(path)
        case .none, .page, .offset, .keyset, .linkHeader: nil
        }
    }

    /// Where the last record of each page holds the token of the next one; nil: it has none.
    package var lastRecordPath: JSONPath? {
        switch self {
        case .keyset(let keyset): keyset.path
        case .none, .page, .offset, .cursor, .linkHeader, .bodyLink: nil
        }
    }

    /// Whether that token is the address of the next page: then it is treated as a link in a header is.
    package var tokenIsLink: Bool {
        switch self {
        case .bodyLink: true
        case .none, .page, .offset, .cursor, .keyset, .linkHeader: false
        }
    }

    /// The relation of the header's links that lead on; nil: they only show that there is more.
    package var linkRelation: String? {
        switch self {
        case .linkHeader(let relation): relation
        case .none, .page, .offset, .cursor, .keyset, .bodyLink: nil
        }
    }

    /// Whether one next page may be named twice: servers that scroll send one token for all pages, and the number of a page never comes again.
    /// An offset does, after a page without records, which leads to itself; and the last record of a sorted listing only where a server does not heed
    /// what it is asked for.
    package var mayRepeat: Bool {
        switch self {
        case .none, .page, .cursor: true
        case .offset, .keyset, .linkHeader, .bodyLink: false
        }
    }
}
