import JSONPaths

/// `pages` as it stands in the files.
struct PaginationTable: ConfigurationTable {
    enum Kind: String, TableKind {
        case none, page, offset, cursor, keyset, graphql
        case linkHeader = "link-header"
        case bodyLink = "body-link"

        var keys: [String] {
            switch self {
            case .none: []
            case .page: ["in", "param", "start", "size_param", "size"]
            case .offset: ["in", "param", "start", "limit_param", "limit"]
            case .cursor: ["path", "header", "in", "param"]
            case .keyset: ["from", "in", "param"]
            case .linkHeader: ["rel"]
            case .bodyLink: ["path", "rel"]
            case .graphql: ["page_info", "variable"]
            }
        }

        /// Where its pages begin if nothing is written; nil: they are not counted.
        var start: Int? {
            switch self {
            case .page: PaginationConfiguration.PageNumber().start
            case .offset: PaginationConfiguration.Offset().start
            case .none, .cursor, .keyset, .linkHeader, .bodyLink, .graphql: nil
            }
        }
    }

    /// What happens when the same next token or the same body comes twice.
    private enum RepeatGuard: String, CaseIterable {
        /// The run fails.
        case fail
    }

    var kind: Kind?
    var rel: String?
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
    var place = PaginationConfiguration.Place.query
    var pageInfo: JSONPath?
    var variable = "after"

    static var keys: [Key<Self>] {
        let token = Codec<String>.text("a name", maxLength: 128)
        let size = Codec<String>.text("a name, or \"\" to ask for no size", isEmptyAllowed: true, maxLength: 128)
        let relation = Codec<String>.text("a link relation such as \"next\"", maxLength: 128, wrong: ["\"a b\""]) { word in
            word.contains(" ") ? ("\"\(word)\" is not one relation", "write one word") : nil
        }
        let header = Codec<String>.text("the name of a header", maxLength: 128, wrong: ["\"A B\""]) { name in
            RequestName.isToken(name) ? nil : ("\"\(name)\" is not the name of a header", "use letters, digits and \"-\"")
        }
        let variable = Codec<String>.text("the name of a variable", maxLength: 128, wrong: ["\"$after\"", "\"a b\"", "\"1a\""]) { name in
            if GraphQLQuery.isName(name) { return nil }
            return ("\"\(name)\" is not the name of a variable", "use letters, digits and \"_\", without \"$\"")
        }
        return [
            Key("kind", Codec<Kind>.choice(Kind.self).optional(), \.kind),
            Key("rel", relation.optional(), \.rel),
            Key("param", token.optional(), \.param),
            Key("start", Codec<Int>.integer(0...1_000_000_000).optional(), \.start),
            Key("size_param", size, \.sizeParam),
            Key("size", .integer(1...1_000_000), \.size),
            Key("limit_param", size, \.limitParam),
            Key("limit", .integer(1...1_000_000), \.limit),
            Key("path", Codec<JSONPath>.jsonPath.optional(), \.path),
            Key("header", header.optional(), \.header),
            Key("from", Codec<JSONPath>.jsonPath.optional(), \.from),
            Key("in", .choice(PaginationConfiguration.Place.self), \.place),
            Key("page_info", Codec<JSONPath>.jsonPath.optional(), \.pageInfo),
            Key("variable", variable, \.variable),
            Key("repeat_guard", .choice(RepeatGuard.self), always: .fail),
        ] + Key.structural("stop")
    }

    /// The value the table stands for.
    ///
    /// - Parameter resource: what else is known of the resource; its body, if it has one, above all.
    func configuration(
        _ layer: Layer, _ origins: [String: DocumentNode.Place], stop: PaginationConfiguration.StopRules, of resource: ResourceConfiguration,
        _ complaints: Complaints
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
        let check = PaginationCheck(layer: layer, table: table, resource: resource, complaints: complaints)
        check.stop()
        var result = PaginationConfiguration(value(of: kind, check) ?? PaginationConfiguration.Kind.none)
        result.stop = stop
        return result
    }

    /// Nil where something is missing.
    private func value(of kind: Kind, _ check: PaginationCheck) -> PaginationConfiguration.Kind? {
        switch kind {
        case .none: return PaginationConfiguration.Kind.none
        case .linkHeader: return .linkHeader(relation: rel ?? "next")
        case .bodyLink:
            check.need("path", of: kind, "write path = \"$.paging.next\", where the answer holds the address of the next page")
            return path.map { .bodyLink(path: $0, relation: rel) }
        case .page:
            var page = PaginationConfiguration.PageNumber()
            page.place = place
            page.parameter = param ?? page.parameter
            page.start = start ?? page.start
            page.sizeParameter = sizeParam.isEmpty ? nil : sizeParam
            page.size = size
            check.names(page.parameter, page.sizeParameter, key: "size_param", in: place)
            return .page(page)
        case .offset:
            var offset = PaginationConfiguration.Offset()
            offset.place = place
            offset.parameter = param ?? offset.parameter
            offset.start = start ?? offset.start
            offset.limitParameter = limitParam.isEmpty ? nil : limitParam
            offset.limit = limit
            check.names(offset.parameter, offset.limitParameter, key: "limit_param", in: place)
            return .offset(offset)
        case .cursor:
            var origin = path.map(PaginationConfiguration.Cursor.Origin.path)
            if let header { origin = origin ?? .header(header) }
            check.one("path", "header", of: kind, "write path = \"$.next_cursor\", where the answer holds the token")
            guard let origin else { return nil }
            var cursor = PaginationConfiguration.Cursor(from: origin)
            cursor.place = place
            cursor.parameter = param ?? cursor.parameter
            check.name(cursor.parameter, key: "param", in: place)
            return .cursor(cursor)
        case .keyset:
            check.need("from", of: kind, "write from = \"$.id\", where each record holds what the listing is sorted by")
            guard let from else { return nil }
            var keyset = PaginationConfiguration.Keyset(from: from)
            keyset.place = place
            keyset.parameter = param ?? keyset.parameter
            check.name(keyset.parameter, key: "param", in: place)
            return .keyset(keyset)
        case .graphql:
            check.need("page_info", of: kind, "write page_info = \"\(check.suggestedPageInfo)\", where the answer holds hasNextPage and endCursor")
            guard let pageInfo else { return nil }
            var graphQL = PaginationConfiguration.GraphQL(pageInfo: pageInfo)
            graphQL.variable = variable
            check.variable(of: graphQL)
            return .graphQL(graphQL)
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
            Key("last", path, \.last),
            Key("total", path, \.total),
            Key("total_pages", path, \.totalPages),
            Key("max_pages", .integer(1...100_000_000), \.maxPages),
        ]
    }
}
