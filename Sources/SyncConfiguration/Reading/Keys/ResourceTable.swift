import JSONPaths

/// What may stand at a resource, and at a source for all of its resources. Absent values are `nil`.
struct ResourceTable: ConfigurationTable {
    var name: String?
    var isEnabled = true
    var url: String?
    var baseURL: String?
    var path: String?
    var entity: String?
    var key: [String]?
    var records: JSONPath?
    var mapKey: String?
    var format = Format.json
    var columns: ColumnNames?
    var packing = Packing.none
    var zipEntry: String?
    var parameters: [QueryParameter] = []
    var headers: [HeaderField] = []
    var secretParameters: [SecretField] = []
    var secretHeaders: [SecretField] = []
    var secretFields: [SecretField] = []
    var assigned: [AssignedProperty] = []
    var success = [200]
    var emptyStatuses: [Int] = []
    var rateLimitedIf: [AnswerCondition] = []
    var retryIf: [AnswerCondition] = []
    var ignoreIf: [AnswerCondition] = []
    var failIf: [AnswerCondition] = []
    var filter: [RecordCondition] = []
    /// `nil`: as the body has it.
    var method: RequestMethod?
    var json: BodyValue?
    var form: [FormField]?
    var query: String?
    var queryFile: String?
    var variables: BodyValue?
    var isIdempotent = false

    /// How it is asked for.
    var requestMethod: RequestMethod { method ?? (isQuery ? .post : .get) }
    /// What answers mean besides what their statuses say, in the order in which that is asked.
    var conditions: [AnswerCondition] { rateLimitedIf + retryIf + ignoreIf + failIf }
    /// Whether it has a query.
    var isQuery: Bool { query != nil || queryFile != nil }

    static var shared: [Key<Self>] {
        let own: [Key<Self>] = [
            Key("name", Codec<String>.name.optional(), \.name),
            Key("enabled", .bool, \.isEnabled),
            Key("path", Codec<String>.urlPath.optional(), \.path),
            Key("entity", Codec<String>.text("the name of an entity", maxLength: 128).optional(), \.entity),
            Key("key", Codec<[String]>.attributeNames.optional(), \.key),
            Key("records", Codec<JSONPath>.recordsPath.optional(), \.records),
            Key("map_key", Codec<String>.text("the name of an attribute", maxLength: 128).optional(), \.mapKey),
            Key("params", .parameters, \.parameters) { $1.parameters = $1.parameters.overlaid(with: $0) },
            Key("headers", .headers, \.headers) { $1.headers = $1.headers.overlaid(with: $0) },
            Key("secret_params", .secretParameters, \.secretParameters) {
                $1.secretParameters = $1.secretParameters.overlaid(with: $0, isCaseSensitive: true)
            },
            Key("secret_headers", .secretHeaders, \.secretHeaders) {
                $1.secretHeaders = $1.secretHeaders.overlaid(with: $0, isCaseSensitive: false)
            },
            Key("secret_fields", .secretBodyFields, \.secretFields) {
                $1.secretFields = $1.secretFields.overlaid(with: $0, isCaseSensitive: true)
            },
            Key("set", .assignments, \.assigned) { $1.assigned = $1.assigned.overlaid(with: $0) },
            Key("success", .statuses(200...299), \.success),
            Key("empty_statuses", .emptyStatuses, \.emptyStatuses),
            Key("method", Codec<RequestMethod>.choice(RequestMethod.self).optional(), \.method),
            Key("json", Codec<BodyValue>.json.optional(), \.json) { $1.json = overlaid($1.json, with: $0) },
            Key("form", Codec<[FormField]>.form.optional(), \.form) { $1.form = ($1.form ?? []).overlaid(with: $0 ?? []) },
            Key("query", Codec<String>.graphQLQuery.optional(), \.query),
            Key("query_file", Codec<String>.text("the name of a file").optional(), \.queryFile),
            Key("variables", Codec<BodyValue>.variables.optional(), \.variables) { $1.variables = overlaid($1.variables, with: $0) },
            Key("idempotent", .bool, \.isIdempotent),
            Key("format", .choice(Format.self), \.format),
            Key("columns", Codec<ColumnNames>.columnNames.optional(), \.columns),
            Key("unpack", .choice(Packing.self), \.packing),
            Key("zip_entry", Codec<String>.text("the name of a file in a zip file, such as \"*.csv\"", maxLength: 1024).optional(), \.zipEntry),
        ]
        return own + judging
            + Key.structural(
                "also", "schedule", "http", "tls", "retry", "rate", "breaker", "limits", "parse", "schema", "deletion", "auth", "pages", "for_each",
                "incremental", "csv"
            )
    }

    /// What says what an answer means, in the order in which it is asked, and which of its records are taken.
    private static var judging: [Key<Self>] {
        [
            Key("rate_limited_if", .answers(.rateLimited), \.rateLimitedIf),
            Key("retry_if", .answers(.retry), \.retryIf),
            Key("ignore_if", .answers(.ignore), \.ignoreIf),
            Key("fail_if", .answers(.fail), \.failIf),
            Key("filter", .filter, \.filter),
        ]
    }

    static var keys: [Key<Self>] { shared }

    private static func overlaid(_ value: BodyValue?, with later: BodyValue?) -> BodyValue? {
        guard let value, let later else { return later ?? value }
        return value.overlaid(with: later)
    }

    /// Lets go of a body of another kind than the one that a more specific table has, and of any where that table makes the request a GET.
    mutating func dropBodies(besides table: [String: DocumentNode]) {
        let kinds = [["json"], ["form"], ["query", "query_file", "variables"]]
        let isGET = table["method"]?.string == RequestMethod.get.rawValue
        // What nothing is sent with has no place for them.
        if isGET { secretFields = [] }
        guard isGET || kinds.contains(where: { $0.contains { table[$0] != nil } }) else { return }
        if table["json"] == nil { json = nil }
        if table["form"] == nil { form = nil }
        // Variables alone are laid over those of the query that is there.
        let isQuery = kinds[2].contains { table[$0] != nil }
        if !isQuery { variables = nil }
        if !isQuery || table["query"] != nil || table["query_file"] != nil { (query, queryFile) = (nil, nil) }
    }

    /// Lets go of what a more general table says of a POST, unless the more specific one says it, too: a GET may be made again anyway.
    mutating func dropIdempotence(besides table: [String: DocumentNode], origins: inout [String: DocumentNode.Place]) {
        guard table["idempotent"] == nil, requestMethod == .get else { return }
        isIdempotent = false
        origins["idempotent"] = nil
    }
}

/// The same at a source, with the keys only a source has.
struct SourceTable: ConfigurationTable {
    var values = ResourceTable()

    static var keys: [Key<Self>] {
        ResourceTable.shared.map { $0.lifted(\SourceTable.values) } + [
            Key("url", Codec<String>.url.optional(), \.values.url),
            Key("base_url", Codec<String>.url.optional(), \.values.baseURL),
        ] + Key.structural("resource", "preset", "with", "resources", "entity_prefix")
    }
}

extension Key {
    /// The key as a key of something that holds the value.
    func lifted<Outer>(_ path: WritableKeyPath<Outer, Root>) -> Key<Outer> {
        var key = Key<Outer>(name: name)
        key.status = status
        key.expected = expected
        key.wrong = wrong
        let (set, toml) = (set, toml)
        key.hint = hint
        key.set = { node, outer in set(node, &outer[keyPath: path]) }
        key.toml = { toml($0[keyPath: path]) }
        return key
    }
}

extension Codec where Value == [String] {
    /// A list of attribute names.
    static var attributeNames: Codec {
        .list(
            of: .text("the name of an attribute", maxLength: 128), expected: "a list of attributes, as in [\"id\"]", isEmptyAllowed: false)
    }
}

extension Codec where Value == String {
    /// An absolute URL.
    static var url: Codec {
        let wrong = [
            "\"api.example.com\"", "\"ftp://example.com/\"", "\"https://\"", "\"https://user:secret@example.com/\"", "\"https://a b/\"",
            "\"https://example.com/#x\"", "\"https://{id}.example.com/\"", "\"https://example.com:99999/\"",
        ]
        return Codec.text("an http or https URL", wrong: wrong) { url in
            if url.isTemplatedHost { return ("a template cannot decide which host is asked", "write one source for each host") }
            return RequestURL.complaint(url.withTemplatesFilled)
        }
    }

    /// What follows a base URL.
    static var urlPath: Codec {
        let wrong = ["\"items\"", "\"/a b\"", "\"/a#b\"", "\"/items/{\\\"id\\\"}\""]
        return Codec.text("a path such as \"/items\"", isEmptyAllowed: true, wrong: wrong) { path in
            if !path.isEmpty, !path.hasPrefix("/"), !path.hasPrefix("?") {
                return ("\"\(path)\" does not begin with \"/\"", "did you mean \"/\(path)\"?")
            }
            return RequestURL.complaint(characters: path.withTemplatesFilled)
        }
    }
}

extension String {
    /// The text as it may be once its places are filled.
    fileprivate var withTemplatesFilled: String { Template(self).filled { _ in "x" } }

    /// Whether a place stands before the path of a URL: what there is a part for does not decide who is asked.
    fileprivate var isTemplatedHost: Bool {
        guard let separator = firstRange(of: "://") else { return false }
        return self[separator.upperBound...].prefix { $0 != "/" && $0 != "?" }.contains("{")
    }
}
