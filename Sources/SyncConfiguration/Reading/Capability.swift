/// Something that services ask of a client, and the lines of a resource that say it. Whether this version has it is found out by reading them: what a
/// later version has is refused now.
public struct Capability: Sendable, Hashable {
    /// What it is called: `pages.offset`.
    public let name: String
    /// Lines of a resource, its path first.
    let path: String
    let lines: String
    /// The key of its entity, as TOML.
    let key: String

    init(_ name: String, _ lines: String, path: String = "/items", key: String = "[\"id\"]") {
        self.name = name
        self.path = path
        self.lines = lines
        self.key = key
    }

    /// The names of all that this version has, sorted.
    public static var supported: [String] { all.filter(\.isSupported).map(\.name).sorted() }

    /// Whether a configuration that says it is read.
    var isSupported: Bool {
        let files = ConfigurationTexts(["/cisternd.toml": text])
        return ConfigurationReader(path: "/cisternd.toml", files: files).read().configuration != nil
    }

    /// A configuration that says it.
    var text: String {
        """
        version = 1
        [entity.Owner]
        key = ["id"]
        attributes = { id = { type = "int64" }, login = { type = "string" } }
        [entity.Parent]
        key = ["id"]
        attributes = { id = { type = "int64" }, name = { type = "string" } }
        relationships = { owner = { to = "Owner" } }
        [entity.Item]
        key = \(key)
        attributes = { id = { type = "int64" }, region = { type = "string" } }
        [[source]]
        name = "s"
        base_url = "https://a.example"
        [[source.resource]]
        name = "parents"
        entity = "Parent"
        path = "/parents"
        [[source.resource]]
        name = "items"
        entity = "Item"
        path = "\(path)"
        \(lines)
        """
    }

    private static let parents = "for_each = { resource = \"parents\", as = \"parent\" }\n"
    private static let since = "incremental = { field = \"$.at\", start = \"-30d\" }\n"
    private static let window = "incremental = { field = \"$.at\", start = \"-30d\", window = \"1d\" }\n"
    private static let oauth = "token_url = \"https://a.example/token\", client_id = \"a\", client_secret = { env = \"S\" }"
    private static func json(_ members: String, _ more: String = "") -> String { "method = \"POST\"\njson = { \(members) }\n\(more)" }
    private static func form(_ fields: String, _ more: String = "") -> String { "method = \"POST\"\nform = { \(fields) }\n\(more)" }
    private static func session(_ login: String) -> String {
        "auth = { kind = \"session\", login = { path = \"/login\", \(login) }, token_path = \"$.token\" }"
    }
    private static func oauth(_ grant: String, _ more: String = "") -> String {
        "auth = { kind = \"oauth2\", grant = \"\(grant)\", \(oauth)\(more) }"
    }

    static let all: [Capability] = [authentication, requests, pages, increments, tokens, parts, deletions, others].flatMap { $0 }

    private static let others = [
        Capability("key.doubtful", ""), Capability("key.missing", "", key: "\"content\""),
        Capability("key.parent", parents + "set = { region = \"{parent.name}\" }", key: "[\"region\", \"id\"]"),
        Capability("key.constant", "set = { region = \"eu\" }", key: "[\"region\", \"id\"]"),
        Capability("key.computed", "", key: "[\"id\", \"region\"]"),
        Capability(
            "key.interval", window + "params = { a = \"{since}\", b = \"{until}\" }\nset = { region = \"{since}\" }", key: "[\"region\", \"id\"]"),
        Capability("field.parent", parents + "set = { region = \"{parent.name}\" }"),
        Capability("field.interval", window + "params = { a = \"{since}\", b = \"{until}\" }\nset = { region = \"{since}\" }"),
        Capability("filter.simple", "filter = [{ path = \"$.type\", equals = \"user\" }]"),
        Capability("filter.date", "filter = [{ path = \"$.updated_at\", after = \"-90d\" }]"),
        Capability("rec.wildcard", "records = \"$.groups[*].items\""),
        Capability("rec.wildcard.end", "records = \"$.items.*\"\nmap_key = \"id\""), Capability("rec.recursive", "records = \"$..items\""),
        Capability("fmt.ndjson", "format = \"ndjson\""), Capability("fmt.csv", "format = \"csv\""), Capability("fmt.gzip", "unpack = \"gzip\""),
        Capability("fmt.zip", "unpack = \"zip\""),
        Capability("err.retry.status", "retry.statuses = [429, 520]"), Capability("err.ignore.status", "empty_statuses = [404]"),
        Capability("err.fail.body", "fail_if = [{ path = \"$.ok\", equals = false }]"),
        Capability("err.ignore.body", "ignore_if = [{ path = \"$.ok\", equals = false }]"),
        Capability("err.retry.body", "retry_if = [{ path = \"$.ok\", equals = false }]"),
        Capability("err.rate-limited.body", "rate_limited_if = [{ path = \"$.ok\", equals = false }]"),
        Capability("rate.budget", "rate = { requests = 60, per = \"1m\" }"),
    ]

    private static let authentication = [
        Capability("auth.bearer", "auth = { kind = \"bearer\", token = { env = \"T\" } }"),
        Capability("auth.basic", "auth = { kind = \"basic\", username = \"a\", password = { env = \"P\" } }"),
        Capability("auth.basic.empty-part", "auth = { kind = \"basic\", username = { env = \"U\" }, password = \"\" }"),
        Capability("auth.api-key.header", "auth = { kind = \"api-key\", name = \"X-Key\", prefix = \"Token \", value = { env = \"K\" } }"),
        Capability("auth.api-key.query", "auth = { kind = \"api-key\", in = \"query\", name = \"key\", value = { env = \"K\" } }"),
        Capability(
            "auth.api-key.body", json("a = 1", "auth = { kind = \"api-key\", in = \"body\", name = \"/auth/key\", value = { env = \"K\" } }")),
        Capability("auth.second-secret", "auth = { kind = \"bearer\", token = { env = \"T\" } }\nsecret_headers = { X-App = { env = \"A\" } }"),
        Capability("auth.oauth2.client-credentials", oauth("client-credentials", ", scopes = [\"a\"]")),
        Capability("auth.oauth2.refresh-token", oauth("refresh-token", ", refresh_token = { env = \"R\" }")),
        Capability("auth.oauth2.rotating", oauth("refresh-token", ", refresh_token = { env = \"R\" }")),
        Capability("auth.oauth2.password", oauth("password", ", username = \"u\", password = { env = \"P\" }")),
        Capability("auth.oauth2.extra-fields", oauth("client-credentials", ", fields = { resource = \"r\" }")),
        Capability("auth.oauth2.token-name", oauth("client-credentials", ", token_path = \"$.token\"")),
        Capability("auth.oauth2.jwt-bearer", oauth("jwt-bearer", ", assertion = { key = { env = \"K\" } }")),
        Capability("auth.jwt", "auth = { kind = \"jwt\", key = { env = \"K\" }, algorithm = \"HS256\" }"),
        Capability("auth.session", session("json = { user = \"u\", password = { env = \"P\" } }")),
        Capability("auth.session.form", session("form = { user = \"u\", password = { env = \"P\" } }")),
        Capability("auth.session.query", session("params = { user = \"u\", password = { env = \"P\" } }")),
        Capability("auth.session.login-auth", session("headers = { X-Key = { env = \"K\" } }, username = \"u\", password = { env = \"P\" }")),
    ]

    private static let requests = [
        Capability("dyn.config", ""), Capability("props.list", "params = { fields = [\"a\", \"b\"] }"),
        Capability("http.post", json("a = 1")), Capability("body.form", form("a = \"1\"")),
        Capability("body.graphql", "query = \"{ items { id } }\"\nrecords = \"$.data.items\""),
        Capability("req.query.now", "params = { day = \"{now:%F}\" }"), Capability("req.path.now", "", path: "/items/{now:%F}"),
        Capability("req.header.now", "headers = { X-Day = \"{now:%F}\" }"), Capability("req.body.now", json("day = \"{now:%F}\"")),
        Capability("req.query.partition", parents + "params = { parent = \"{parent.id}\" }"),
        Capability("req.path.partition", parents, path: "/{parent.id}/items"),
        Capability("req.header.partition", parents + "headers = { X-Parent = \"{parent.name}\" }"),
        Capability("req.body.partition", parents + json("parent = \"{parent.id}\"")),
    ]

    private static let pages = [
        Capability("pages.page", "pages = { kind = \"page\" }"), Capability("pages.offset", "pages = { kind = \"offset\" }"),
        Capability("pages.cursor", "pages = { kind = \"cursor\", path = \"$.next\" }"), Capability("pages.cursor.nowhere", ""),
        Capability("pages.broken", ""), Capability("pages.link-header", "pages = { kind = \"link-header\" }"),
        Capability("pages.body-link", "pages = { kind = \"body-link\", path = \"$.next\" }"),
        Capability("pages.body-link.by-rel", "pages = { kind = \"body-link\", path = \"$.links\", rel = \"next\" }"),
        Capability("pages.stop.inverted", "pages = { kind = \"page\", stop = { last = \"$.done\" } }"),
        Capability("pages.keyset", "pages = { kind = \"keyset\", from = \"$.id\" }"),
        Capability(
            "pages.graphql",
            "query = \"query($after: String) { items(after: $after) { id } }\"\nrecords = \"$.data.items\"\npages = { kind = \"graphql\", page_info = \"$.data.pageInfo\" }"
        ),
        Capability("pages.size.header", "headers = { X-Size = \"100\" }"), Capability("pages.size.body", json("size = 100")),
        Capability("pages.size.body-form", form("size = 100")),
        Capability("pages.page.body", json("a = 1", "pages = { kind = \"page\", in = \"body\" }")),
        Capability("pages.page.body-form", form("a = 1", "pages = { kind = \"page\", in = \"body\" }")),
        Capability("pages.page.header", "pages = { kind = \"page\", in = \"header\", param = \"X-Page\", size_param = \"X-Size\" }"),
        Capability("pages.offset.body", json("a = 1", "pages = { kind = \"offset\", in = \"body\" }")),
        Capability("pages.offset.body-form", form("a = 1", "pages = { kind = \"offset\", in = \"body\" }")),
        Capability("pages.offset.header", "pages = { kind = \"offset\", in = \"header\", param = \"X-Skip\", limit_param = \"X-Take\" }"),
        Capability("pages.cursor.body", json("a = 1", "pages = { kind = \"cursor\", path = \"$.next\", in = \"body\" }")),
        Capability("pages.cursor.body-form", form("a = 1", "pages = { kind = \"cursor\", path = \"$.next\", in = \"body\" }")),
    ]

    private static let increments = [
        Capability("inc.since.query", "incremental = { field = \"$.at\", since = \"since\" }"),
        Capability("inc.since.path", since, path: "/items/{since}"), Capability("inc.since.header", since + "headers = { X-Since = \"{since}\" }"),
        Capability("inc.since.body", since + json("since = \"{since}\"")), Capability("inc.since.body-form", since + form("since = \"{since}\"")),
        Capability("inc.template.text.query", since + "params = { q = \"updated>{since:%F}\" }"),
        Capability("inc.template.text.path", since, path: "/items/after-{since:%F}"),
        Capability("inc.template.text.body", since + json("q = \"updated>{since:%F}\"")),
        Capability("inc.until.query", "incremental = { field = \"$.at\", since = \"a\", until = \"b\", window = \"1d\", start = \"-30d\" }"),
        Capability("inc.until.path", window, path: "/items/{since}/{until}"),
        Capability("inc.until.header", window + "headers = { X-Since = \"{since}\", X-Until = \"{until}\" }"),
        Capability("inc.until.body", window + json("a = \"{since}\", b = \"{until}\"")),
        Capability("inc.until.body-form", window + form("a = \"{since}\", b = \"{until}\"")),
        Capability("inc.until-now.query", "incremental = { field = \"$.at\", since = \"a\", until = \"b\", start = \"-30d\" }"),
        Capability("inc.until-now.path", since, path: "/items/{since}/{until}"),
        Capability("inc.until-now.body", since + json("a = \"{since}\", b = \"{until}\"")),
        Capability("inc.template.both.query", window + "params = { q = \"[{since:%F} TO {until:%F}]\" }"),
        Capability("inc.template.both.path", window, path: "/items/{since:%F}..{until:%F}"),
        Capability("inc.template.both.body", window + json("q = \"[{since:%F} TO {until:%F}]\"")),
        Capability("inc.template.both.body-form", window + form("q = \"[{since:%F} TO {until:%F}]\"")),
        Capability("inc.window", "incremental = { field = \"$.at\", since = \"a\", until = \"b\", window = \"1d\", start = \"-30d\" }"),
        Capability("inc.lookback", "incremental = { field = \"$.at\", since = \"since\", lookback = \"5m\" }"),
        Capability("inc.integer", "incremental = { kind = \"integer\", field = \"$.id\", since = \"after\" }"),
        Capability("inc.feed", "incremental = { field = \"$.at\", order = \"desc\" }"),
        Capability(
            "inc.format.special", "incremental = { field = \"$.at\", since = \"since\", format = \"unix-us\", request_format = \"%s.%f\" }"),
        Capability("inc.two-formats", "incremental = { field = \"$.at\", since = \"since\", format = \"unix\", request_format = \"%F\" }"),
    ]

    private static let tokens = [
        Capability(
            "inc.token.link", "incremental = { kind = \"token\", path = \"$.delta\" }\npages = { kind = \"body-link\", path = \"$.next\" }"),
        Capability("inc.token.query", "incremental = { kind = \"token\", path = \"$.token\", param = \"token\" }"),
        Capability("inc.token.header", "incremental = { kind = \"token\", header = \"X-Token\", param = \"X-Token\", in = \"header\" }"),
        Capability("inc.token.body", json("a = 1", "incremental = { kind = \"token\", path = \"$.token\", param = \"/token\", in = \"body\" }")),
    ]

    private static let parts = [
        Capability("part.list", "for_each = { values = [\"a\", \"b\"], as = \"part\" }\nparams = { part = \"{part}\" }"),
        Capability("part.for_each", parents, path: "/{parent.id}/items"),
        Capability("part.grandparent", parents, path: "/{parent.owner.login}/{parent.id}/items"),
    ]

    private static let deletions = [
        Capability("deletion.snapshot", "deletion = { detect = \"snapshot\" }"),
        Capability("deletion.field", "deletion = { detect = \"field\", path = \"$.deleted\" }"),
        Capability("deletion.field.value", "deletion = { detect = \"field\", path = \"$.state\", in = [\"removed\"] }"),
        Capability("deletion.records", "deletion = { detect = \"records\" }"),
        Capability("deletion.gone-status", parents + "deletion = { detect = \"gone-status\" }", path: "/{parent.id}/items"),
    ]
}
