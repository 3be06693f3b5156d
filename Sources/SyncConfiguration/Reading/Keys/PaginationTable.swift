import JSONPaths

/// `pages` as it stands in the files.
struct PaginationTable: ConfigurationTable {
    enum Kind: String, TableKind {
        case none, page, offset, cursor, keyset
        case linkHeader = "link-header"
        case bodyLink = "body-link"

        var keys: [String] {
            switch self {
            case .none: []
            case .page: ["param", "start", "size_param", "size"]
            case .offset: ["param", "start", "limit_param", "limit"]
            case .cursor: ["path", "header", "in", "param"]
            case .keyset: ["from", "in", "param"]
            case .linkHeader: ["rel"]
            case .bodyLink: ["path"]
            }
        }

        /// Where its pages begin if nothing is written; nil: they are not counted.
        var start: Int? {
            switch self {
            case .page: PaginationConfiguration.PageNumber().start
            case .offset: PaginationConfiguration.Offset().start
            case .none, .cursor, .keyset, .linkHeader, .bodyLink: nil
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
    private var writtenStart: Int?
    /// As it is written, or else the kind's own.
    var start: Int? {
        get { writtenStart ?? kind?.start }
        set { writtenStart = newValue }
    }
    var sizeParam = "per_page"
    var size = 100
    var limitParam = "limit"
    var limit = 100
    var path: JSONPath?
    var header: String?
    var from: JSONPath?
    var place = PaginationConfiguration.Cursor.Place.query

    static var keys: [Key<Self>] {
        let token = Codec<String>.text("a name", maxLength: 128)
        let size = Codec<String>.text("a name, or \"\" to ask for no size", isEmptyAllowed: true, maxLength: 128)
        let relation = Codec<String>.text("a link relation such as \"next\"", maxLength: 128, wrong: ["\"a b\""]) { word in
            word.contains(" ") ? ("\"\(word)\" is not one relation", "write one word") : nil
        }
        let header = Codec<String>.text("the name of a header", maxLength: 128, wrong: ["\"A B\""]) { name in
            RequestName.isToken(name) ? nil : ("\"\(name)\" is not the name of a header", "use letters, digits and \"-\"")
        }
        return [
            Key("kind", Codec<Kind>.choice(Kind.self, later: ["graphql"]).optional(), \.kind),
            Key("rel", relation, \.rel),
            Key("param", token.optional(), \.param),
            Key("start", Codec<Int>.integer(0...1_000_000_000).optional(), \.start),
            Key("size_param", size, \.sizeParam),
            Key("size", .integer(1...1_000_000), \.size),
            Key("limit_param", size, \.limitParam),
            Key("limit", .integer(1...1_000_000), \.limit),
            Key("path", Codec<JSONPath>.jsonPath.optional(), \.path),
            Key("header", header.optional(), \.header),
            Key("from", Codec<JSONPath>.jsonPath.optional(), \.from),
            Key("in", .choice(PaginationConfiguration.Cursor.Place.self, later: ["body"]), \.place),
            Key("repeat_guard", .choice(RepeatGuard.self), always: .fail),
        ] + Key.structural("stop") + Key.later("query_file", "page_info", "variable")
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
        case .bodyLink:
            if table["path"] == nil {
                complaints.add(
                    at: layer.node?.place, layer.subject, key: "path", "kind = \"body-link\" needs path",
                    "write path = \"$.paging.next\", where the answer holds the address of the next page")
            }
            return path.map { .bodyLink(path: $0) } ?? .none
        case .page:
            var page = PaginationConfiguration.PageNumber()
            page.parameter = param ?? page.parameter
            page.start = start ?? page.start
            page.sizeParameter = sizeParam.isEmpty ? nil : sizeParam
            page.size = size
            complainOfOneName(page.parameter, page.sizeParameter, key: "size_param", layer, table, complaints)
            return .page(page)
        case .offset:
            var offset = PaginationConfiguration.Offset()
            offset.parameter = param ?? offset.parameter
            offset.start = start ?? offset.start
            offset.limitParameter = limitParam.isEmpty ? nil : limitParam
            offset.limit = limit
            complainOfOneName(offset.parameter, offset.limitParameter, key: "limit_param", layer, table, complaints)
            return .offset(offset)
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
            complainOfHeader(cursor.parameter, in: cursor.place, layer, table, complaints)
            return .cursor(cursor)
        case .keyset:
            guard let from else {
                if table["from"] == nil {
                    complaints.add(
                        at: layer.node?.place, layer.subject, key: "from", "kind = \"keyset\" needs from",
                        "write from = \"$.id\", where each record holds what the listing is sorted by")
                }
                return .none
            }
            var keyset = PaginationConfiguration.Keyset(from: from)
            keyset.place = place
            keyset.parameter = param ?? keyset.parameter
            complainOfHeader(keyset.parameter, in: keyset.place, layer, table, complaints)
            return .keyset(keyset)
        }
    }

    /// Complains if what carries a token in a header is no name of one.
    private func complainOfHeader(
        _ parameter: String, in place: PaginationConfiguration.Cursor.Place, _ layer: Layer, _ table: [String: DocumentNode],
        _ complaints: Complaints
    ) {
        guard place == .header, !RequestName.isToken(parameter) else { return }
        complaints.add(
            at: table["param"]?.place, layer.subject.key("param"), "\"\(parameter)\" is not the name of a header",
            "use letters, digits and \"-\"")
    }

    /// Complains if a page and its size have the same parameter.
    ///
    /// - Parameter key: where the parameter of the size is set.
    private func complainOfOneName(
        _ parameter: String, _ size: String?, key: String, _ layer: Layer, _ table: [String: DocumentNode], _ complaints: Complaints
    ) {
        guard parameter == size else { return }
        complaints.add(
            at: table[key]?.place ?? table["param"]?.place, layer.subject, key: key, "param and \(key) are both \"\(parameter)\"",
            "use the names the service expects")
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
