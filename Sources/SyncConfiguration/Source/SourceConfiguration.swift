import JSONPaths

/// `[[source]]`: one remote service, with one resource (the short form) or several.
public struct SourceConfiguration: Sendable, Hashable {
    /// Letters, digits, `.`, `_` and `-`.
    public var name: String
    /// `enabled`, default true. False: none of its resources is polled, whatever they say.
    public var isEnabled = true
    /// At least one; in the short form, one of the source's own name.
    public var resources: [ResourceConfiguration]

    /// An enabled source. A configuration that was read never has one without resources.
    public init(name: String, resources: [ResourceConfiguration] = []) {
        self.name = name
        self.resources = resources
    }

    /// The resource of this name.
    public func resource(named name: String) -> ResourceConfiguration? {
        resources.first { $0.name == name }
    }
}

/// `[[source.resource]]`: one list of records and everything about fetching it, fully resolved: a setting of the resource overrides that of its
/// source, which overrides `[defaults]`, which overrides the built-in value.
public struct ResourceConfiguration: Sendable, Hashable {
    /// Letters, digits, `.`, `_` and `-`; unique in its source.
    public var name: String
    /// The name of the source it belongs to.
    public var source: String
    /// Whether both the resource and its source are enabled.
    public var isEnabled = true
    /// The absolute URL of the first request, `http` or `https`, without user information and fragment. ``parameters`` are not in it. A ``Template``, as
    /// the values of parameters and headers are.
    public var url: String
    /// The entity its records become; it exists in the model.
    public var entity: String
    /// The attributes a record is recognised by; they exist in the entity.
    public var key: [String]
    /// Where the records are in the document; `nil`: the document is an array of them. With wildcards there may be several lists, and maps whose values are
    /// the records.
    public var records: JSONPath?
    /// `map_key`: the attribute that is the name under which a record stands in the innermost map that a wildcard of ``records`` goes over; a text or an
    /// integer. `nil`: names mean nothing.
    public var mapKey: String?
    /// `format`, default `json`: how a response holds its records.
    public var format = ContentFormat.json
    /// `columns`: what names the values of records that are lists of them; `nil`: records are objects.
    public var columns: ColumnNames?
    /// `unpack`, default `none`: the file that a body is; `nil`: it holds the records as it is.
    public var unpacking: Unpacking?
    /// `also`: the lists of other objects that its pages mention, in the order in which they are read.
    public var also: [MentionConfiguration] = []
    /// Query parameters, sorted by name; those of the source come before those of the resource of another name.
    public var parameters: [QueryParameter] = []
    /// Further headers of the request, on top of ``HTTPConfiguration/headers`` (a name that stands in both is taken from here).
    public var headers: [HeaderField] = []
    /// `method`, default `GET`; `POST` where there is a `query`.
    public var method = RequestMethod.get
    /// `json`, `form`, or what `query` and `variables` make: what a POST sends; `nil`: nothing.
    public var body: RequestBody?
    /// `idempotent`, default false: whether a POST may be made again although the first one may have reached the server.
    public var isIdempotent = false
    /// Whether answers are those of GraphQL, where a success may hold errors: it has a `query`, `pages.kind` is `graphql`, or its `json` has a text
    /// `query`, and `records` are in `$.data`.
    public var isGraphQL = false
    /// `secret_headers`, sorted by name: headers whose values are secrets. They go to the resource's own origin only.
    public var secretHeaders: [SecretField] = []
    /// `secret_params`, sorted by name: query parameters whose values are secrets. They go to the resource's own origin only, and are taken out of
    /// addresses that are stored.
    public var secretParameters: [SecretField] = []
    /// `secret_fields`, sorted by place: texts of a POST's body that are secrets, each under its place, as in ``RequestBody/setting(_:at:)``. They are put in
    /// when a request is sent, and go to the resource's own origin only.
    public var secretFields: [SecretField] = []
    /// `for_each`: the parts that it consists of; `nil`: it is one list.
    public var partitions: PartitionConfiguration?
    /// `set`, sorted by name: properties of its objects that do not come from the records.
    public var assigned: [AssignedProperty] = []
    /// The statuses whose body is taken. 304 is understood besides.
    public var success: [Int] = [200]
    /// `empty_statuses`, default none: statuses that mean a list without records, whatever the body is.
    public var emptyStatuses: [Int] = []
    /// `rate_limited_if`, `retry_if`, `ignore_if` and `fail_if`: what answers mean besides what their statuses say. The first one that holds counts.
    public var conditions: [AnswerCondition] = []
    /// `filter`: which records are taken: those that fulfil one of these. Empty: all.
    public var filter: [RecordCondition] = []
    /// `auth`, default none.
    public var authentication = AuthenticationConfiguration.none
    /// `pages`, default one request.
    public var pagination = PaginationConfiguration()
    /// `incremental`; `nil`: every run asks for everything.
    public var incremental: IncrementalConfiguration?
    /// `schedule`: how often it is polled.
    public var schedule = ScheduleConfiguration()
    /// `http`: time limits, sizes, redirects and headers of each exchange.
    public var http = HTTPConfiguration()
    /// `tls`: which server certificates are trusted.
    public var tls = TLSConfiguration()
    /// `retry`: which failures are tried again, and when.
    public var retry = RetryConfiguration()
    /// `rate`: how often, and how many at a time, its server is asked.
    public var rate = RateConfiguration()
    /// `breaker`: when its server is no longer asked for a while.
    public var breaker = BreakerConfiguration()
    /// `limits`: how much a run, a page and a record may be.
    public var limits = LimitsConfiguration()
    /// `parse`: how odd JSON is treated. After a change the pages are read again.
    public var parse = ParsePolicy()
    /// `schema`: what becomes of records that do not match the entity, and which bodies of its pages are kept; by default none.
    public var schema = SchemaConfiguration()
    /// `deletion`: what becomes of rows that are gone; by default they stay.
    public var deletion = DeletionConfiguration()

    /// An enabled resource with the built-in values for everything else; the document is a list of records. Nothing is checked.
    public init(name: String, source: String, url: String, entity: String, key: [String]) {
        self.name = name
        self.source = source
        self.url = url
        self.entity = entity
        self.key = key
    }

    /// What verbs and messages call it: `github/repos`.
    public var scope: String { "\(source)/\(name)" }

    /// Whether its requests differ from run to run: they say times, or a part of what there is.
    public var isTimed: Bool { incremental != nil || templates.contains(where: \.isTimed) }

    /// The texts of its requests in which places may be.
    public var templates: [Template] {
        ([url] + parameters.map(\.value) + (headers + http.headers).map(\.value)).map { Template($0) } + (body?.templates ?? [])
    }
}

/// `limits`: how large a run, a page and a record may be.
public struct LimitsConfiguration: Sendable, Hashable {
    /// Per run.
    public var maxPages = 10_000
    /// Per run.
    public var maxRecords = 5_000_000
    /// `limits.max_records_per_page`: one record more and the page is refused, and the run fails. All lists of a page count together, with what is meant of
    /// the lists of ``ResourceConfiguration/also``. Default 20,000.
    public var maxRecordsPerPage = 20_000
    /// `limits.max_run_time`: a run that lasts longer fails at its next page. Default 1 h.
    public var maxRunTime = TimeSpan.hours(1)
    /// Nesting of arrays and objects.
    public var maxDepth = 128
    /// `limits.max_string`: size of one string, escapes decoded; a record with a longer one is set aside. Default 4 MiB.
    public var maxString = ByteCount.mebibytes(4)
    /// `limits.max_key`: size of one key of a JSON object, escapes decoded; a record with a longer one is set aside. Default 1 KiB.
    public var maxKey = ByteCount.kibibytes(1)
    /// `limits.max_number_digits`: digits of one number, exponent included; a record with more is set aside. Default 1000.
    public var maxNumberDigits = 1000
    /// Members that one list of a record names.
    public var maxMembers = 10_000
    /// Objects that the records of a page name, embedded ones and keys included.
    public var maxObjectsPerPage = 1_000_000
    /// The largest share of a run's records, from 0 to 1, that may be set aside; with more of them the run fails. It fails, too, when all are.
    public var maxBadFraction = 0.5
    /// Per run; one more and the page that has it is not kept.
    public var maxBadRecords = 10_000

    /// The built-in values.
    public init() {}
}
