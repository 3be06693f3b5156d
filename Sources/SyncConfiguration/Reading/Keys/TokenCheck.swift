import JSONPaths

/// Complains of what a table `incremental` with `kind = "token"` says that does not fit together, or not with the request and its pages.
struct TokenCheck {
    let layer: Layer
    let table: [String: DocumentNode]
    let resource: ResourceConfiguration
    let complaints: Complaints

    /// What the table says; nil where something is missing.
    func token(_ values: IncrementalTable) -> DeltaToken? {
        if table["path"] != nil, table["header"] != nil { complain("header", "path and header cannot be used together", "remove one of them") }
        if table["path"] == nil, table["header"] == nil {
            complain(
                "path", "kind = \"token\" needs path or header",
                "write path = \"$.nextSyncToken\" and param = \"syncToken\", or path = \"$['@odata.deltaLink']\" where the last page holds an address")
        }
        if table["param"] == nil, table["header"] != nil {
            complain("param", "a token in a header needs param", "write param = \"…\", what carries it in the next request")
        }
        if table["param"] == nil, table["in"] != nil {
            complain("in", "in says where param is, and there is none", "write param = \"…\", or remove in if the token is an address")
        }
        var origin = values.path.map(PaginationConfiguration.Cursor.Origin.path)
        if let header = values.header { origin = origin ?? .header(header) }
        guard let origin else { return nil }
        var token = DeltaToken(from: origin)
        token.place = values.place
        token.parameter = values.parameter
        if let parameter = token.parameter { check(parameter, in: token.place) } else if table["param"] == nil { checkLink() }
        return token
    }

    private func complain(_ key: String, _ message: String, _ suggestion: String) {
        complaints.add(at: table[key]?.place ?? layer.node?.place, layer.subject, key: key, message, suggestion)
    }

    /// What carries the token carries nothing else.
    private func check(_ parameter: String, in place: PaginationConfiguration.Place) {
        PaginationCheck(layer: layer, table: table, resource: resource, complaints: complaints).name(parameter, key: "param", in: place)
        let taken: [String]
        switch place {
        case .query: taken = resource.parameters.map(\.name) + resource.secretParameters.map(\.name)
        case .header: taken = (resource.headers.map(\.name) + resource.secretHeaders.map(\.name)).map { $0.lowercased() }
        case .body: taken = []
        }
        if taken.contains(place == .header ? parameter.lowercased() : parameter) {
            complain("param", "\(parameter) has a value already, and the token goes there", "remove it there: the first request goes without")
        }
        let counted: (place: PaginationConfiguration.Place, names: [String?])?
        switch resource.pagination.kind {
        case .page(let page): counted = (page.place, [page.parameter, page.sizeParameter])
        case .offset(let offset): counted = (offset.place, [offset.parameter, offset.limitParameter])
        case .none, .cursor, .keyset, .linkHeader, .bodyLink, .graphQL: counted = nil
        }
        if let counted, counted.place == place, counted.names.contains(parameter) {
            complain("param", "\(parameter) says which page is meant", "use the name the service expects")
        }
    }

    /// An address leads where it leads: only what the answer says can lead on from there.
    private func checkLink() {
        switch resource.pagination.kind {
        case .none, .cursor, .linkHeader, .bodyLink: return
        case .page, .offset, .keyset, .graphQL:
            complain(
                "path", "the pages of an address that the service gives are not counted, sorted or asked for by a query",
                "write param if it is a token, or use pages.kind = \"body-link\", \"link-header\" or \"cursor\"")
        }
    }
}
