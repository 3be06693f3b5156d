import JSONPaths

/// How a resource's pages are asked for: method and body.
extension Assembly {
    /// Fills in method, body and what they mean, and complains of what does not fit together.
    func assembleRequest(
        of resource: inout ResourceConfiguration, _ values: ResourceTable, _ origins: [String: DocumentNode.Place], _ own: Layer
    ) {
        func complain(_ key: String, _ message: String, _ suggestion: String) {
            complaints.add(at: origins[key] ?? own.node?.table?[key]?.place ?? own.node?.place, own.subject, key: key, message, suggestion)
        }
        let isQuery = values.isQuery
        resource.isGraphQL = isQuery || values.queryInJSON != nil && values.records?.segments.first == .key("data")
        resource.isIdempotent = values.isIdempotent
        resource.method = values.requestMethod
        let given: [(key: String, isThere: Bool)] = [
            ("json", values.json != nil), ("form", values.form != nil), ("query", values.query != nil), ("query_file", values.queryFile != nil),
        ]
        let bodies = given.filter(\.isThere).map(\.key)
        if bodies.count > 1 { complain(bodies[1], "\(bodies[0]) and \(bodies[1]) cannot be used together", "remove one of them") }
        if values.variables != nil, !isQuery, own.node?.table?["query"] == nil, own.node?.table?["query_file"] == nil {
            complain("variables", "there is no query that would have variables", "write query = \"…\", or put them into json")
        }
        if resource.method == .get {
            for key in bodies {
                complain(key, "a GET sends nothing", "write method = \"POST\", or move what is in it into params")
            }
            if values.isIdempotent { complain("idempotent", "a GET may always be made again", "remove it, or write method = \"POST\"") }
        }
        if let json = values.json { resource.body = .json(json) }
        if let text = values.queryInJSON, let problem = GraphQLQuery.complaint(ofText: text) {
            complain("json", "query: \(problem.message)", problem.suggestion)
        }
        if let form = values.form { resource.body = .form(form) }
        guard isQuery else {
            // A query that was refused has been complained about, too.
            if resource.body == nil, ["query", "query_file"].contains(where: { own.node?.table?[$0] != nil }) {
                resource.body = .graphQL(nil, values.variables)
            }
            return
        }
        if values.records == nil, own.node?.table?["records"] == nil {
            complain("records", "the answer to a query is no list of records", "write records = \"$.data.items.nodes\", where the answer has them")
        }
        // A file that cannot be read has been complained about; the rest is checked as if it said nothing.
        let text = values.query ?? values.queryFile.flatMap { queryText($0, at: origins["query_file"], own.subject.key("query_file")) }
        resource.body = .graphQL(text, values.variables)
    }

    /// Secrets in a body have a place of their own.
    func checkBodySecrets(_ resource: ResourceConfiguration, _ auth: Layer, _ origins: [String: DocumentNode.Place], _ own: Layer) {
        var secrets: [BodySecret] = []
        switch resource.authentication {
        case .apiKey(let key) where key.place == .body: secrets.append(BodySecret(key.name, auth, key: "name"))
        case .session(let session) where session.sendAs.place == .body:
            secrets.append(BodySecret(session.sendAs.name, auth.table("send_as"), key: "name"))
        case .jwt(let token) where token.sendAs.place == .body:
            secrets.append(BodySecret(token.sendAs.name, auth.table("send_as"), key: "name"))
        case .none, .bearer, .basic, .apiKey, .oauth2, .session, .jwt, .hmac: break
        }
        for field in resource.secretFields { secrets.append(BodySecret(field.name, own, key: "secret_fields", at: origins["secret_fields"])) }
        for (number, secret) in secrets.enumerated() {
            func complain(_ message: String, _ suggestion: String) {
                complaints.add(at: secret.at ?? own.node?.place, secret.layer.subject, key: secret.key, message, suggestion)
            }
            guard resource.method == .post, let body = resource.body else {
                complain(
                    "a secret in the body needs a request that has one",
                    "write method = \"POST\" and json = { … } or form = { … } at the resource; json = {} if nothing else is sent")
                continue
            }
            if case .form = body, secret.place.hasPrefix("/") {
                complain("a form has no places such as \"\(secret.place)\"", "write the name of a field")
            } else if let problem = body.complaint(place: secret.place) {
                complain(problem.message, problem.suggestion)
            } else if body.hasValue(at: secret.place) {
                complain("\"\(secret.place)\" has a value in the body as well", "remove one of them")
            } else if let page = resource.pagination.kind.bodyPlaces.first(where: { body.hasOverlap(of: $0, secret.place) }) {
                complain(
                    "\"\(secret.place)\" and \"\(page)\", which says what page is meant, are one place, or one is inside of the other",
                    "use another place")
            } else if let token = resource.incremental?.token, token.place == .body, let carrier = token.parameter,
                body.hasOverlap(of: carrier, secret.place)
            {
                complain(
                    "\"\(secret.place)\" and \"\(carrier)\", where the token of incremental goes, are one place, or one is inside of the other",
                    "use another place")
            } else if let other = secrets[..<number].first(where: { body.hasOverlap(of: $0.place, secret.place) }) {
                complain("\"\(secret.place)\" and \"\(other.place)\" are one place, or one is inside of the other", "remove one of them")
            }
        }
    }

    /// What identifies a request in its query has a name there that nothing else of the query has: both would be sent.
    ///
    /// - Parameter origins: where the resource's keys stand.
    func checkQueryNames(_ resource: ResourceConfiguration, _ auth: Layer, _ origins: [String: DocumentNode.Place]) {
        let others = [("params", resource.parameters.map(\.name)), ("secret_params", resource.secretParameters.map(\.name))]
        for (table, key, name) in queryNames(of: resource.authentication) {
            let layer = table == "auth" ? auth : auth.table("send_as")
            for (other, names) in others where names.contains(name) {
                let place = origins[other].map { place in " (\(place.file)\(place.line.map { ":\($0)" } ?? ""))" } ?? ""
                complaints.add(
                    at: layer.node?.table?[key]?.place ?? layer.node?.place ?? auth.node?.place, layer.subject, key: key,
                    "\(table).\(key) and \(other)\(place) name the same parameter, \(name): both would be sent", "remove one of them")
            }
        }
    }

    /// The parameters with which a way to identify oneself fills a query, and the keys that name them.
    private func queryNames(of authentication: AuthenticationConfiguration) -> [(table: String, key: String, name: String)] {
        switch authentication {
        case .apiKey(let key) where key.place == .query: return [("auth", "name", key.name)]
        case .session(let session) where session.sendAs.place == .query: return [("auth.send_as", "name", session.sendAs.name)]
        case .jwt(let token) where token.sendAs.place == .query: return [("auth.send_as", "name", token.sendAs.name)]
        case .hmac(let signature):
            let own: String? = if case .query(let name) = signature.carrier { name } else { nil }
            let names = [("name", own), ("timestamp_param", signature.timestampParameter), ("nonce_param", signature.nonceParameter)]
            return names.compactMap { key, name in name.map { ("auth", key, $0) } }
        case .none, .bearer, .basic, .apiKey, .oauth2, .session, .jwt: return []
        }
    }

    /// A secret that belongs into a body, and where that is said.
    private struct BodySecret {
        let place: String
        let layer: Layer
        let key: String
        let at: DocumentNode.Place?

        init(_ place: String, _ layer: Layer, key: String, at: DocumentNode.Place? = nil) {
            (self.place, self.layer, self.key) = (place, layer, key)
            self.at = at ?? layer.node?.table?[key]?.place ?? layer.node?.place
        }
    }

    /// The text of a file with a query: relative to the main file's directory.
    private func queryText(_ name: String, at place: DocumentNode.Place?, _ subject: Subject) -> String? {
        let directory = complaints.mainFile.lastIndex(of: "/").map { complaints.mainFile[...$0] } ?? ""
        let path = name.hasPrefix("/") ? name : directory + name
        let bytes: [UInt8]
        do {
            bytes = try files.contents(of: path)
        } catch {
            complaints.add(
                at: place, subject, "\(path) cannot be read: \(error)", "check the path, owner and mode; a relative path begins beside the main file")
            return nil
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            complaints.add(at: place, subject, "\(path) is not valid UTF-8", "save it as UTF-8")
            return nil
        }
        if let complaint = GraphQLQuery.complaint(text) {
            complaints.add(at: place, subject, "\(path): \(complaint.message)", complaint.suggestion)
            return nil
        }
        return text
    }
}

extension RequestBody {
    /// A query with its variables; nil: nobody knows what it is.
    fileprivate static func graphQL(_ query: String?, _ variables: BodyValue?) -> RequestBody {
        let members = [query.map { BodyValue.Member("query", .text($0)) }, variables.map { BodyValue.Member("variables", $0) }]
        return .json(.object(members.compactMap { $0 }))
    }
}

extension ResourceTable {
    /// The text that is called `query` in its `json`: a query of GraphQL where the answer has its records where GraphQL has data.
    fileprivate var queryInJSON: String? {
        switch json?.member("query") {
        case .text(let text)?: text
        case .template(let template)?: template.description
        case nil, .boolean?, .number?, .array?, .object?: nil
        }
    }
}
