public import JSONPaths

/// `incremental`: how a run asks for what has changed since the run before. The place that runs have come to is a value of the records themselves,
/// the largest of a field that was seen, or a token of the service's own, and each part of a resource has its own.
public struct IncrementalConfiguration: Sendable, Hashable {
    /// What the field holds.
    public enum Kind: Sendable, Hashable {
        /// `time`: when a record was changed, written so.
        case time(DateFormat)
        /// `integer`: a number that grows: an ID, a version.
        case integer
        /// `token`: nothing; the service gives a token at the end of each listing, from which the next run goes on.
        case token(DeltaToken)
    }

    /// Where a run begins that has nothing to go on from.
    public enum Start: Sendable, Hashable {
        /// Seconds since 1970.
        case time(seconds: Double)
        /// So long before the run.
        case ago(TimeSpan)
        /// A value of the field.
        case integer(Int64)
    }

    /// How the records of a listing follow each other.
    public enum Order: String, Sendable, Hashable, CaseIterable {
        /// In no order that could be relied on; the default.
        case unsorted
        /// The oldest first: what has been read is behind a run, also where it ends early.
        case ascending = "asc"
        /// The newest first: a run ends with the first page that has an older record than it asked for.
        case descending = "desc"
    }

    /// What becomes of records without the field.
    public enum MissingField: String, Sendable, Hashable, CaseIterable {
        /// They are taken like others; the default.
        case include
        /// The run fails.
        case fail
    }

    /// What a run does whose first request is answered 400, 410 or 422.
    public enum Rejection: String, Sendable, Hashable, CaseIterable {
        /// It begins once more, and asks for everything; the default.
        case full
        /// It fails.
        case fail
    }

    /// `incremental.kind` and `incremental.format`, or what is said of the token.
    public var kind: Kind
    /// `incremental.field`: where a record holds it; `nil`: runs go on from where the range ended that the run before has asked for.
    public var field: JSONPath?
    /// `incremental.since`: the query parameter that says from where on; `nil`: none does, or templates do.
    public var since: String?
    /// `incremental.until`: the query parameter that says up to where; `nil`: none does, or templates do.
    public var until: String?
    /// `incremental.request_format`: how times are written in requests. Default: as in records.
    public var requestFormat: DateFormat?
    /// `incremental.start`; `nil`: a run with nothing to go on from does not say from where.
    public var start: Start?
    /// `incremental.lookback`, default none: so much of what is known is asked for once more. Only of times.
    public var lookback = TimeSpan.zero
    /// `incremental.order`.
    public var order = Order.unsorted
    /// `incremental.full_every`: how long after the last run that asked for everything another one does; `nil`: never. By default 24 h where deletions
    /// are found by listing everything, and where pages are counted, since a record that is changed meanwhile moves others from page to page; else never.
    public var fullEvery: TimeSpan?
    /// `incremental.window`: a longer range is asked for in steps of this length; `nil`: at once.
    public var window: TimeSpan?
    /// `incremental.on_missing`.
    public var onMissing = MissingField.include
    /// `incremental.on_cursor_rejected`.
    public var onRejection = Rejection.full

    /// What has changed by a field, everything else as built in.
    public init(_ kind: Kind, field: JSONPath?) {
        self.kind = kind
        self.field = field
    }
}

extension IncrementalConfiguration {
    /// The token that runs go on from; `nil`: it is none.
    public var token: DeltaToken? { if case .token(let token) = kind { token } else { nil } }
}

/// What a service gives at the end of a listing, and takes to list what has changed since: a token, or an address that has it.
public struct DeltaToken: Sendable, Hashable {
    /// `incremental.path` or `incremental.header`: where the last page holds it.
    public var origin: PaginationConfiguration.Cursor.Origin
    /// `incremental.in`: `query` (the default), `header` or `body`.
    public var place = PaginationConfiguration.Place.query
    /// `incremental.param`: the query parameter, the header, or the place in the body that carries it; `nil`: it is the address at which the next run
    /// begins.
    public var parameter: String?

    /// An address, unless a parameter is named.
    public init(from origin: PaginationConfiguration.Cursor.Origin) {
        self.origin = origin
    }
}

extension DeltaToken {
    /// Where the body of a page holds it; `nil`: a header does.
    public var path: JSONPath? { if case .path(let path) = origin { path } else { nil } }
    /// The header of a page that holds it; `nil`: the body does.
    public var header: String? { if case .header(let header) = origin { header } else { nil } }
}
