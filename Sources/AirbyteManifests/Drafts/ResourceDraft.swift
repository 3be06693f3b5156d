import JSONPaths

/// A stream as the resource that it will be written as.
final class ResourceDraft {
    /// What a request sends.
    enum Body {
        case none
        case json(TOMLTable)
        case form(TOMLTable)
        case graphQL(query: String, variables: TOMLTable)
    }

    let stream: String
    let name: String
    /// The line of the stream in the manifest.
    let line: Int
    /// The part of the address that several streams have in common, without a slash at its end.
    var base = ""
    /// The rest of it, beginning with a slash or empty.
    var path = ""
    var method = "GET"
    var records: String?
    var parameters = TOMLTable()
    var headers = TOMLTable()
    var secretParameters = TOMLTable()
    var secretHeaders = TOMLTable()
    var body = Body.none
    var auth = TOMLTable()
    var pages = TOMLTable()
    var incremental = TOMLTable()
    var partitions = TOMLTable()
    var assigned = TOMLTable()
    var filter: TOMLValue?
    /// What else stands at the resource: formats, statuses, conditions.
    var extras = TOMLTable()
    var retry = TOMLTable()
    var entity: EntityDraft
    /// The resource that lists what this one has parts for.
    var parent: ResourceDraft?
    /// Fields that records do not have under their own names: where they are, by name.
    var copies: [String: JSONPath] = [:]
    /// What may hold the fields of a record beside the record itself.
    var flattened: [JSONPath] = []
    /// The keys of `extras` that make a run fail less often, and do nothing else.
    var dispensable: Set<String> = []
    /// What is said of it differently than the manifest does.
    var remarks: [AirbyteFinding] = []
    /// Whether it is there only because others have parts for what it lists.
    var isOnlyParent = false

    init(stream: String, name: String, entity: String, line: Int) {
        self.stream = stream
        self.name = name
        self.line = line
        self.entity = EntityDraft(name: entity)
    }

    /// Scheme, host and port.
    var origin: String {
        guard let separator = base.firstRange(of: "://") else { return base }
        return String(base[..<separator.upperBound] + base[separator.upperBound...].prefix { $0 != "/" && $0 != "?" })
    }

    /// This and all that it has parts for, the outermost first.
    var lineage: [ResourceDraft] { (parent?.lineage ?? []) + [self] }

    /// What decides which records it lists.
    var request: [String] {
        [base + path, "auth = \(auth.toml)", "for_each = \(partitions.toml) \(parent?.name ?? "")"] + requestLines
    }

    /// Whether requests send something; a query is no matter of the method.
    var sendsBody: Bool {
        switch body {
        case .none, .graphQL: false
        case .json, .form: true
        }
    }

    /// Where records have a field, by the names that lead to it.
    func paths(of names: [String]) -> [JSONPath] {
        guard let first = names.first else { return [] }
        if let copy = copies[first] { return [names.dropFirst().reduce(copy) { $0.appending(.key($1)) }] }
        let inner = flattened.map { base in names.reduce(base) { $0.appending(.key($1)) } }
        return inner + [JSONPath(keys: names)]
    }

    /// The attribute for a field of its records; made if there is none.
    func attribute(for names: [String]) -> EntityDraft.Attribute? {
        let paths = paths(of: names)
        guard let path = paths.first else { return nil }
        if names.count == 1, assigned[names[0]] != nil, let set = entity.attribute(named: names[0]) { return set }
        if let known = entity.attribute(at: path) { return known }
        let name = entity.add(names.joined(separator: "_"), paths: paths, type: "string")
        return entity.attribute(named: name)
    }

    private var requestLines: [String] {
        var table = TOMLTable()
        if method != "GET" { table["method"] = .text(method) }
        if let records { table["records"] = .text(records) }
        if !parameters.isEmpty { table["params"] = .table(parameters) }
        if !headers.isEmpty { table["headers"] = .table(headers) }
        if !secretParameters.isEmpty { table["secret_params"] = .table(secretParameters) }
        if !secretHeaders.isEmpty { table["secret_headers"] = .table(secretHeaders) }
        switch body {
        case .none: break
        case .json(let members): table["json"] = .table(members)
        case .form(let fields): table["form"] = .table(fields)
        case .graphQL(let query, let variables):
            // A query is asked for with POST anyway.
            table["method"] = nil
            table["query"] = .text(query)
            if !variables.isEmpty { table["variables"] = .table(variables) }
        }
        // It only reads, and a connector asks again whatever the method is.
        if method != "GET" { table["idempotent"] = .bool(true) }
        if !pages.isEmpty { table["pages"] = .table(pages) }
        if let filter { table["filter"] = filter }
        return table.lines + extras.lines
    }

    /// The lines of the resource, without those of its entity.
    ///
    /// - Parameters:
    ///   - sourceBase: the source's `base_url`, which the address begins with.
    ///   - sourceAuth: what the source says of authentication.
    ///   - parentName: what the resource that it has parts for is called there.
    func lines(sourceBase: String, sourceAuth: TOMLTable, parentName: String?) -> [String] {
        var lines = ["[[source.resource]]", "name = \(TOMLValue.text(name).toml)", "entity = \(TOMLValue.text(entity.name).toml)"]
        lines.append("path = \(TOMLValue.text(String((base + path).dropFirst(sourceBase.count))).toml)")
        if !partitions.isEmpty {
            var parts = TOMLTable()
            if let parentName { parts["resource"] = .text(parentName) }
            for entry in partitions.entries { parts[entry.key] = entry.value }
            lines.append("for_each = \(parts.toml)")
        }
        lines += requestLines
        if !incremental.isEmpty { lines.append("incremental = \(incremental.toml)") }
        if !assigned.isEmpty { lines.append("set = \(assigned.toml)") }
        if !retry.isEmpty { lines.append("retry = \(retry.toml)") }
        if auth != sourceAuth { lines.append("auth = \((auth.isEmpty ? TOMLTable([("kind", .text("none"))]) : auth).toml)") }
        return lines
    }
}
