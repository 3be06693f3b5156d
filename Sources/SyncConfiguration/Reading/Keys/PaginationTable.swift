import JSONPaths

/// `pages` as it stands in the files.
struct PaginationTable: ConfigurationTable {
    enum Kind: String, TableKind {
        case none, page, cursor
        case linkHeader = "link-header"

        var keys: [String] {
            switch self {
            case .none: []
            case .page: ["param", "start", "size_param", "size"]
            case .cursor: ["path", "header", "in", "param"]
            case .linkHeader: ["rel"]
            }
        }
    }

    /// What happens when the same next token or the same body comes twice.
    private enum RepeatGuard: String, CaseIterable {
        /// The run fails.
        case fail
    }

    var kind: Kind?
    var rel = "next"
    var param: String?
    var start = 1
    var sizeParam = "per_page"
    var size = 100
    var path: JSONPath?
    var header: String?
    var place = PaginationConfiguration.Cursor.Place.query

    static var keys: [Key<Self>] {
        let token = Codec<String>.text("a name", maxLength: 128)
        let relation = Codec<String>.text("a link relation such as \"next\"", maxLength: 128, wrong: ["\"a b\""]) { word in
            word.contains(" ") ? ("\"\(word)\" is not one relation", "write one word") : nil
        }
        let header = Codec<String>.text("the name of a header", maxLength: 128, wrong: ["\"A B\""]) { name in
            RequestName.isToken(name) ? nil : ("\"\(name)\" is not the name of a header", "use letters, digits and \"-\"")
        }
        return [
            Key("kind", Codec<Kind>.choice(Kind.self, later: ["offset", "body-link", "keyset", "graphql"]).optional(), \.kind),
            Key("rel", relation, \.rel),
            Key("param", token.optional(), \.param),
            Key("start", .integer(0...1_000_000_000), \.start),
            Key("size_param", .text("a name, or \"\" to ask for no size", isEmptyAllowed: true, maxLength: 128), \.sizeParam),
            Key("size", .integer(1...1_000_000), \.size),
            Key("path", Codec<JSONPath>.jsonPath.optional(), \.path),
            Key("header", header.optional(), \.header),
            Key("in", .choice(PaginationConfiguration.Cursor.Place.self, later: ["body"]), \.place),
            Key("repeat_guard", .choice(RepeatGuard.self), always: .fail),
        ] + Key.structural("stop") + Key.later("limit_param", "limit", "from", "query_file", "page_info", "variable")
    }

    /// The value the table stands for.
    func configuration(
        _ layer: Layer, _ origins: [String: DocumentNode.Place], stop: PaginationConfiguration.StopRules, _ complaints: Complaints
    ) -> PaginationConfiguration {
        guard let node = layer.node, let table = node.table else { return PaginationConfiguration() }
        guard let kind else {
            guard table["kind"] == nil else { return PaginationConfiguration() }
            Kind.complainOfNone(
                named: origins.keys.filter { $0 != "repeat_guard" }, common: .linkHeader, at: node.place, layer.subject, complaints)
            return PaginationConfiguration()
        }
        kind.complainOfOthers(origins, shared: ["kind", "repeat_guard"], layer.subject, complaints)
        if kind == .none, let node = table["stop"] {
            complaints.add(
                at: node.place, layer.subject, key: "stop", "stop rules need a kind other than \"none\"", "remove them, or change the kind")
        }
        var result = PaginationConfiguration(value(of: kind, layer, table, complaints))
        result.stop = stop
        return result
    }

    private func value(
        of kind: Kind, _ layer: Layer, _ table: [String: DocumentNode], _ complaints: Complaints
    ) -> PaginationConfiguration.Kind {
        switch kind {
        case .none: return .none
        case .linkHeader: return .linkHeader(relation: rel)
        case .page:
            var page = PaginationConfiguration.PageNumber()
            page.parameter = param ?? page.parameter
            page.start = start
            page.sizeParameter = sizeParam.isEmpty ? nil : sizeParam
            page.size = size
            if page.parameter == page.sizeParameter {
                complaints.add(
                    at: table["size_param"]?.place ?? table["param"]?.place, layer.subject, key: "size_param",
                    "param and size_param are both \"\(page.parameter)\"", "use the names the service expects")
            }
            return .page(page)
        case .cursor:
            var origin = path.map(PaginationConfiguration.Cursor.Origin.path)
            if let header { origin = origin ?? .header(header) }
            if table["path"] != nil, let both = table["header"] {
                complaints.add(at: both.place, layer.subject, key: "header", "path and header cannot be used together", "remove one of them")
            }
            guard let origin else {
                if table["path"] == nil, table["header"] == nil {
                    complaints.add(
                        at: layer.node?.place, layer.subject, key: "path", "kind = \"cursor\" needs path or header",
                        "write path = \"$.next_cursor\", where the answer holds the token")
                }
                return .none
            }
            var cursor = PaginationConfiguration.Cursor(from: origin)
            cursor.place = place
            cursor.parameter = param ?? cursor.parameter
            if cursor.place == .header, !RequestName.isToken(cursor.parameter) {
                complaints.add(
                    at: table["param"]?.place, layer.subject.key("param"), "\"\(cursor.parameter)\" is not the name of a header",
                    "use letters, digits and \"-\"")
            }
            return .cursor(cursor)
        }
    }
}

extension PaginationConfiguration.StopRules: ConfigurationTable {
    static var keys: [Key<Self>] {
        let path = Codec<JSONPath>.jsonPath.optional()
        return [
            Key("empty_page", .bool, \.emptyPage),
            Key("short_page", .bool, \.shortPage),
            Key("has_more", path, \.hasMore),
            Key("total", path, \.total),
            Key("total_pages", path, \.totalPages),
            Key("max_pages", .integer(1...100_000_000), \.maxPages),
        ]
    }
}
