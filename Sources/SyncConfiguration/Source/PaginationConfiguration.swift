import JSONPaths

/// `pages`: how a listing continues, and when it ends. Any stop rule that holds ends it; one that promises more at that moment makes the run
/// incomplete.
public struct PaginationConfiguration: Sendable, Hashable {
    /// `pages.kind`: where the next page's address comes from.
    public enum Kind: Sendable, Hashable {
        /// One request. A `Link` header that offers a next page makes the run incomplete.
        case none
        /// A number in the request, counted up from page to page.
        case page(PageNumber)
        /// The number of records that come before the page, in the request.
        case offset(Offset)
        /// A token from each answer that goes into the next request.
        case cursor(Cursor)
        /// A value of each page's last record, after which the next page begins.
        case keyset(Keyset)
        /// The link of this relation in the `Link` header, `next` unless said otherwise.
        case linkHeader(relation: String)
        /// The link at this path in the body (`pages.path`). Absent, null and empty mean the end. With a relation (`pages.rel`) there is a list of links at
        /// the path, objects with `rel` or `relation`, and `href`, `url` or `uri`: it is the one of this relation.
        case bodyLink(path: JSONPath, relation: String? = nil)
        /// A connection of GraphQL: the cursor of each answer goes into a variable of the next request.
        case graphQL(GraphQL)
    }

    /// Where a request carries what says which page is meant.
    public enum Place: String, Sendable, Hashable, CaseIterable {
        /// As query parameters; the default.
        case query
        /// As request headers.
        case header
        /// In the body of a POST: `param` is a place in JSON or the name of a form's field. Until there is something to say, it is left as it is.
        case body
    }

    /// Numbered pages.
    public struct PageNumber: Sendable, Hashable {
        /// `pages.in`: `query` (the default), `header` or `body`.
        public var place = Place.query
        /// `pages.param`: the parameter with the page's number. Default `page`.
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
        /// `pages.in`: `query` (the default), `header` or `body`.
        public var place = Place.query
        /// `pages.param`: the parameter with the offset. Default `offset`.
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

        /// `pages.path` or `pages.header`: where each answer holds the token.
        public var origin: Origin
        /// `pages.in`: `query` (the default), `header` or `body`. A token that the answer holds as a number is a number in a JSON body, too.
        public var place = Place.query
        /// `pages.param`: the query parameter, the header, or the place in the body. Default `cursor`.
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
        /// `pages.in`: `query` (the default), `header` or `body`.
        public var place = Place.query
        /// `pages.param`: the query parameter, the header, or the place in the body that carries the last record's value. Default `after`.
        public var parameter = "after"

        /// The value goes into the query parameter `after`, unless changed.
        public init(from path: JSONPath) {
            self.path = path
        }
    }

    /// A connection as Relay defines it: `pageInfo` says whether there is more (`hasNextPage`), and after what it begins (`endCursor`).
    public struct GraphQL: Sendable, Hashable {
        /// `pages.page_info`: where the answer holds `pageInfo`. An answer without `hasNextPage` there leaves the listing incomplete.
        public var pageInfo: JSONPath
        /// `pages.variable`: the variable of the query that gets the cursor. Default `after`; the first request leaves it out.
        public var variable = "after"

        /// The cursor goes into the variable `after`, unless changed.
        public init(pageInfo: JSONPath) {
            self.pageInfo = pageInfo
        }

        /// Where the body has the variable: a JSON Pointer.
        package var parameter: String { "/variables/\(variable)" }
    }

    /// `stop`: the rules that end a listing.
    public struct StopRules: Sendable, Hashable {
        /// A page without records is the last.
        public var emptyPage = true
        /// A page with fewer records than were asked for is the last.
        public var shortPage = false
        /// A truth value in the body: whether there is more.
        public var hasMore: JSONPath?
        /// A truth value in the body: whether the page is the last one. The other way round than ``hasMore``, beside which it does not stand.
        public var last: JSONPath?
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
    /// Whether pages are asked for by how many others, or how many records, come before them.
    var isCounted: Bool {
        switch self {
        case .page, .offset: true
        case .none, .cursor, .keyset, .linkHeader, .bodyLink, .graphQL: false
        }
    }

    /// Where each page holds the token of the next one, around its records; nil: it has none there.
    package var tokenOrigin: PaginationConfiguration.Cursor.Origin? {
        switch self {
        case .cursor(let cursor): cursor.origin
        case .bodyLink(let path, _): .path(path)
        case .graphQL(let graphQL): .path(graphQL.pageInfo.appending(.key("endCursor")))
        case .none, .page, .offset, .keyset, .linkHeader: nil
        }
    }

    /// Where the last record of each page holds the token of the next one; nil: it has none.
    package var lastRecordPath: JSONPath? {
        switch self {
        case .keyset(let keyset): keyset.path
        case .none, .page, .offset, .cursor, .linkHeader, .bodyLink, .graphQL: nil
        }
    }

    /// Where each page has to say whether there is more; nil: it need not.
    package var hasMorePath: JSONPath? {
        switch self {
        case .graphQL(let graphQL): graphQL.pageInfo.appending(.key("hasNextPage"))
        case .none, .page, .offset, .cursor, .keyset, .linkHeader, .bodyLink: nil
        }
    }

    /// Whether that token is the address of the next page: then it is treated as a link in a header is.
    package var tokenIsLink: Bool {
        switch self {
        case .bodyLink: true
        case .none, .page, .offset, .cursor, .keyset, .linkHeader, .graphQL: false
        }
    }

    /// The relation of the link that leads on, in a list of links in the body; nil: there is no list.
    package var relationInBody: String? {
        switch self {
        case .bodyLink(_, let relation): relation
        case .none, .page, .offset, .cursor, .keyset, .linkHeader, .graphQL: nil
        }
    }

    /// The relation of the header's links that lead on; nil: they only show that there is more.
    package var linkRelation: String? {
        switch self {
        case .linkHeader(let relation): relation
        case .none, .page, .offset, .cursor, .keyset, .bodyLink, .graphQL: nil
        }
    }

    /// The places in the body of a POST that say which page is meant.
    var bodyPlaces: [String] {
        switch self {
        case .page(let page): page.place == .body ? [page.parameter, page.sizeParameter].compactMap(\.self) : []
        case .offset(let offset): offset.place == .body ? [offset.parameter, offset.limitParameter].compactMap(\.self) : []
        case .cursor(let cursor): cursor.place == .body ? [cursor.parameter] : []
        case .keyset(let keyset): keyset.place == .body ? [keyset.parameter] : []
        case .graphQL(let graphQL): [graphQL.parameter]
        case .none, .linkHeader, .bodyLink: []
        }
    }

    /// Whether one next page may be named twice: servers that scroll send one token for all pages, and the number of a page never comes again.
    /// An offset does, after a page without records, which leads to itself; and the last record of a sorted listing, or a connection's cursor, only
    /// where a server does not heed what it is asked for.
    package var mayRepeat: Bool {
        switch self {
        case .none, .page, .cursor: true
        case .offset, .keyset, .linkHeader, .bodyLink, .graphQL: false
        }
    }
}
