import JSONPaths

/// Complains of what a table `pages` says that does not fit together, or not with the request that it is about.
struct PaginationCheck {
    let layer: Layer
    let table: [String: DocumentNode]
    let resource: ResourceConfiguration
    let complaints: Complaints

    /// A key that a kind cannot do without.
    func need(_ key: String, of kind: PaginationTable.Kind, _ suggestion: String) {
        // A value that was refused has been complained about.
        guard table[key] == nil else { return }
        complaints.add(at: layer.node?.place, layer.subject, key: key, "kind = \"\(kind.rawValue)\" needs \(key)", suggestion)
    }

    /// Two keys of which a kind needs one.
    func one(_ first: String, _ second: String, of kind: PaginationTable.Kind, _ suggestion: String) {
        if table[first] != nil, let both = table[second] {
            complaints.add(
                at: both.place, layer.subject, key: second, "\(first) and \(second) cannot be used together", "remove one of them")
        }
        guard table[first] == nil, table[second] == nil else { return }
        complaints.add(at: layer.node?.place, layer.subject, key: first, "kind = \"\(kind.rawValue)\" needs \(first) or \(second)", suggestion)
    }

    /// One word of a page says whether there is more.
    func stop() {
        let stop = table["stop"]?.table ?? [:]
        guard stop["has_more"] != nil, let both = stop["last"] else { return }
        complaints.add(
            at: both.place, layer.subject.key("stop"), key: "last", "has_more and last cannot be used together", "keep the one that the service sends"
        )
    }

    /// What carries the place of a page, and what asks for its size.
    ///
    /// - Parameter key: where the parameter of the size is set.
    func names(_ parameter: String, _ size: String?, key: String, in place: PaginationConfiguration.Place) {
        guard let size else { return name(parameter, key: "param", in: place) }
        func complain(_ message: String, _ suggestion: String) {
            complaints.add(at: table[key]?.place ?? table["param"]?.place, layer.subject, key: key, message, suggestion)
        }
        // The name of a header means the same in any case.
        if parameter == size || place == .header && parameter.lowercased() == size.lowercased() {
            return complain("param and \(key) are both \"\(parameter)\"", "use the names the service expects")
        }
        if place == .body, resource.body?.hasOverlap(of: parameter, size) == true {
            return complain(
                "param = \"\(parameter)\" and \(key) = \"\(size)\" are one place in the body, or one of them is inside of the other",
                "use the places the service expects")
        }
        name(parameter, key: "param", in: place)
        guard place == .body else { return name(size, key: key, in: place) }
        // That there is none has been said.
        guard let body = resource.body else { return }
        // The size is set where the other one has been set already: both have to find their places.
        name(size, key: key, in: body.setting(.number("0"), at: parameter) ?? body)
    }

    /// What carries something in a request: of the header a name, of the body a place that it has.
    func name(_ parameter: String, key: String, in place: PaginationConfiguration.Place) {
        switch place {
        case .query: break
        case .header:
            guard !RequestName.isToken(parameter) else { return }
            complaints.add(
                at: table[key]?.place ?? table["in"]?.place, layer.subject.key(key), "\"\(parameter)\" is not the name of a header",
                "use letters, digits and \"-\"")
        case .body:
            guard let body = resource.body else {
                return complaints.add(
                    at: table["in"]?.place, layer.subject, key: "in", "in = \"body\" needs a request that has one",
                    "write method = \"POST\" and json = { … } or form = { … } at the resource")
            }
            name(parameter, key: key, in: body)
        }
    }

    private func name(_ parameter: String, key: String, in body: RequestBody) {
        guard let problem = body.complaint(place: parameter) else { return }
        complaints.add(at: table[key]?.place ?? table["in"]?.place, layer.subject.key(key), problem.message, problem.suggestion)
    }

    /// The variable of a query that gets the cursor.
    func variable(of graphQL: PaginationConfiguration.GraphQL) {
        let place = table["variable"]?.place ?? layer.node?.place
        for key in ["has_more", "last"] {
            guard let stop = table["stop"]?.table?[key] else { continue }
            complaints.add(at: stop.place, layer.subject.key("stop"), key: key, "hasNextPage says whether there is more", "remove \(key)")
        }
        guard let body = resource.body, case .json(let value) = body else {
            return complaints.add(
                at: table["kind"]?.place, layer.subject, key: "kind", "kind = \"graphql\" needs a query",
                "write query = \"…\" or query_file = \"NAME.graphql\" at the resource")
        }
        if let problem = body.complaint(place: graphQL.parameter) {
            return complaints.add(at: place, layer.subject, key: "variable", problem.message, problem.suggestion)
        }
        if value.member("variables")?.member(graphQL.variable) != nil {
            return complaints.add(
                at: place, layer.subject, key: "variable", "the variable \(graphQL.variable) has a value already, and the cursor goes there",
                "remove it from variables: the first request goes without")
        }
        guard let query = value.member("query")?.plainText, !GraphQLQuery.declares(graphQL.variable, in: query) else { return }
        complaints.add(
            at: place, layer.subject, key: "variable", "the query has no variable $\(graphQL.variable), and the cursor would go nowhere",
            "declare it, as in query($\(graphQL.variable): String), and write after: $\(graphQL.variable) where the connection is asked for")
    }

    /// Where `pageInfo` likely is: beside the records.
    var suggestedPageInfo: String {
        guard let records = resource.records, !records.segments.isEmpty, !records.hasWildcard else { return "$.data.items.pageInfo" }
        return JSONPath(segments: records.segments.dropLast() + [.key("pageInfo")]).description
    }
}
