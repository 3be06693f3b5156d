import JSONPaths

/// `[[source.resource]]`: one list of records and everything about fetching it, fully resolved: what stands at the resource goes before
/// what stands at its source, that before `[defaults]`, and that before the built-in value.
public struct ResourceConfiguration: Sendable, Hashable {
    /// Letters, digits, `.`, `_` and `-`; unique in its source.
    public var name: String
    /// The name of the source it belongs to.
    public var source: String
    /// Whether both the resource and its source are enabled.
    public var isEnabled = true
    /// The absolute URL of the first request, `http` or `https`, without user information and fragment. ``parameters`` are not in it.
    public var url: String
    /// The entity its records become; it exists in the model.
    public var entity: String
    /// The attributes a record is recognised by; they exist in the entity.
    public var key: [String]
    /// Where the records stand in the document; `nil`: the document is an array of them.
    public var records: JSONPath?
    /// Query parameters, sorted by name; those of the source come before those of the resource of another name.
    public var parameters: [QueryParameter] = []
    /// Further headers of the request, on top of ``HTTPConfiguration/headers`` (a name that stands in both is taken from here).
    public var headers: [HeaderField] = []
    /// The statuses whose body is taken. 304 is understood besides.
    public var success: [Int] = [200]
    public var authentication = AuthenticationConfiguration.none
    public var pagination = PaginationConfiguration()
    public var schedule = ScheduleConfiguration()
    public var http = HTTPConfiguration()
    public var tls = TLSConfiguration()
    public var retry = RetryConfiguration()
    public var limits = LimitsConfiguration()
    public var parse = ParsePolicy()
    public var deletion = DeletionConfiguration()

    public init(name: String, source: String, url: String, entity: String, key: [String]) {
        self.name = name
        self.source = source
        self.url = url
        self.entity = entity
        self.key = key
    }

    /// What verbs and messages call it: `github/repos`.
    public var scope: String { "\(source)/\(name)" }
}
