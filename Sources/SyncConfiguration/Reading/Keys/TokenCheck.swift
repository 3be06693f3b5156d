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
                "write path = \"$.nextSyncToken\" and param = \"syncToken\", or path = \"$['@odata.deltaLink']\" where the last page holds an address"
            )
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
        case .query:
            taken = resource.parameters.map(\.name) + resource.secretParameters.map(\.name) + resource.authentication.names(in: .query)
        case .header:
            let headers = resource.headers.map(\.name) + resource.secretHeaders.map(\.name) + resource.authentication.names(in: .header)
            taken = headers.map { $0.lowercased() }
        // Whether secrets go there is for them to say: see `checkBodySecrets`.
        case .body: taken = []
        }
        if taken.contains(place == .header ? parameter.lowercased() : parameter) {
            complain("param", "\(parameter) has a value already, and the token goes there", "remove it there: the first request goes without")
        }
        checkPages(parameter, in: place)
    }

    /// A page is not meant by what carries the token, unless the listing goes on from a token as well: then the one takes the place of the other.
    private func checkPages(_ parameter: String, in place: PaginationConfiguration.Place) {
        let kind = resource.pagination.kind, counted: (place: PaginationConfiguration.Place, names: [String?])?
        switch kind {
        case .page(let page): counted = (page.place, [page.parameter, page.sizeParameter])
        case .offset(let offset): counted = (offset.place, [offset.parameter, offset.limitParameter])
        case .none, .cursor, .keyset, .linkHeader, .bodyLink, .graphQL: counted = nil
        }
        guard place != .body else {
            guard let body = resource.body else { return }
            let isTaken = kind.bodyPlaces.contains { page in
                body.hasOverlap(of: page, parameter) && (counted != nil || !body.isSamePlace(page, parameter))
            }
            if isTaken { complain("param", "\(parameter), or a part of it, says which page is meant", "use the place the service expects") }
            return
        }
        guard let counted, counted.place == place else { return }
        let names = counted.names.compactMap(\.self)
        let isTaken = place == .header ? names.contains { $0.lowercased() == parameter.lowercased() } : names.contains(parameter)
        if isTaken { complain("param", "\(parameter) says which page is meant", "use the name the service expects") }
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
