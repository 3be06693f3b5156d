extension ManifestWriter {
    /// What all requests have in common.
    var baseRequester: DataValue {
        let first = streams.first
        return .having([
            ("type", .text("HttpRequester")), ("url_base", .text("\(base)/api/")), ("authenticator", first.flatMap { authenticator($0) }),
        ])
    }

    /// Whether a stream authenticates as the others do.
    private func isUsual(_ stream: StreamFacts) -> Bool { stream.words("auth") == streams.first?.words("auth") }

    func requester(_ stream: StreamFacts) -> DataValue {
        var members: [(String, DataValue?)] = []
        if stream.holds("custom requester") {
            members = [
                ("type", .text("CustomRequester")), ("class_name", .text("source.components.Requester")), ("url_base", .text("\(base)/api/")),
                ("authenticator", authenticator(stream)),
            ]
        } else if layout == .inline || !isUsual(stream) {
            // Some write the whole address in one.
            if layout == .inline, chance("url", 4) {
                members = [("type", .text("HttpRequester")), ("url", .text("\(base)/api\(path(stream))"))]
            } else {
                members = [("type", .text("HttpRequester")), ("url_base", .text(chance("slash", 2) ? "\(base)/api" : "\(base)/api/"))]
            }
            members.append(("authenticator", authenticator(stream)))
        } else {
            members = [("$ref", .text("#/definitions/base_requester"))]
        }
        let own = path(stream)
        if layout == .parameters {
            // A parameter of the name is taken for what is not said; a template in it would not be filled in by another one.
            if !own.contains("{{"), chance("path \(stream.stream)", 2) { members.append(("path", .text("{{ parameters['path'] }}"))) }
        } else if !members.contains(where: { $0.0 == "url" }) {
            members.append(("path", .text(own)))
        }
        members.append(("http_method", .text(stream.word("method") == "POST" ? "POST" : "GET")))
        let parameters = parameters(stream), headers = headers(stream)
        members.append(("request_parameters", parameters.isEmpty ? nil : .having(parameters)))
        members.append(("request_headers", headers.isEmpty ? nil : .having(headers)))
        if let body = json(stream) {
            let isTyped = chance("body \(stream.stream)", 3)
            let typed = DataValue.having([("type", .text("RequestBodyJsonObject")), ("value", body)])
            members.append((isTyped ? "request_body" : "request_body_json", isTyped ? typed : body))
        } else if stream.word("body") == "form or text" {
            members.append(("request_body_data", .having([("kind", .text("all"))])))
        }
        members.append(("error_handler", errorHandler(stream)))
        return .having(members)
    }

    // MARK: Path

    /// What the template of a path ends with: unique, so that streams do not share an address.
    func path(_ stream: StreamFacts) -> String {
        var path = ""
        if stream.has("templates", "path:config") { path += "/accounts/\(config("account_id"))" }
        let isInPath = stream.has("templates", "path:partition") || stream.has("templates", "path:nested-partition")
        let isSaidElsewhere = stream.has("templates", "query:partition") || stream.has("templates", "body:partition")
        let isElsewhere = isSaidElsewhere || !stream.words("partition in").isEmpty
        if stream.has("templates", "path:grandparent"), let above = grandparentField(stream) {
            path += "/above/{{ stream_partition['parent_slice']['\(above)'] }}"
        }
        if isInPath || !isElsewhere {
            for field in partitionFields(stream) { path += "/of/{{ \(partitionValue(stream, field)) }}" }
        }
        if stream.has("templates", "path:logic") { path += "/{{ 'live' if config['account_id'] else 'test' }}" }
        if stream.has("templates", "path:start") { path += "/since/{{ stream_interval['start_time'] }}" }
        return path + "/" + slug(stream)
    }

    /// What a template says for the part's value, in one of the usual ways.
    private func partitionValue(_ stream: StreamFacts, _ field: String) -> String {
        let root = chance("slice \(stream.stream)", 2) ? "stream_slice" : "stream_partition"
        let value = member(root, field, field)
        let inner = stream.has("templates", "path:nested-partition") ? "\(value).uuid" : value
        return stream.has("templates", "path:logic") ? "\(inner) if \(inner) else 'all'" : inner
    }

    // MARK: Parameters and headers

    private func parameters(_ stream: StreamFacts) -> [(String, DataValue?)] {
        var parameters: [(String, DataValue?)] = []
        if stream.has("auth", "api-key query (template)") { parameters.append(("apikey", .text(config("api_key")))) }
        if stream.has("templates", "query:config") { parameters.append(("account", .text(config("account_id")))) }
        if stream.has("templates", "query:partition") {
            for field in partitionFields(stream) { parameters.append((field, .text("{{ \(partitionValue(stream, field)) }}"))) }
        }
        if stream.has("templates", "query:now") { parameters.append(("day", .text("{{ now_utc().strftime('%Y-%m-%d') }}"))) }
        if stream.has("templates", "query:logic") { parameters.append(("mode", .text("{{ 'full' if config['account_id'] else 'short' }}"))) }
        if stream.has("templates", "query:start") { parameters.append(("changed_since", .text("{{ stream_interval['start_time'] }}"))) }
        if stream.has("templates", "query:end") { parameters.append(("changed_until", .text("{{ stream_interval['end_time'] }}"))) }
        if stream.has("templates", "query:next") || stream.word("page token in") == "query (template)" {
            parameters.append(("page", .text("{{ next_page_token['next_page_token'] }}")))
        }
        if chance("constant \(stream.stream)", 4) { parameters.append(("expand", .text("all"))) }
        return parameters
    }

    private func headers(_ stream: StreamFacts) -> [(String, DataValue?)] {
        var headers: [(String, DataValue?)] = []
        if stream.has("auth", "api-key header (template)") {
            let isPrefixed = chance("template", 2)
            headers.append(("X-Auth-Token", .text((isPrefixed ? "Token " : "") + config("api_key"))))
        } else if stream.has("templates", "header:config") {
            headers.append(("X-Account", .text(config("account_id"))))
        }
        return headers
    }

    // MARK: Body

    private func json(_ stream: StreamFacts) -> DataValue? {
        let templates = stream.words("templates").filter { $0.hasPrefix("body:") }
        guard stream.word("body") == "json" || !templates.isEmpty else { return nil }
        var filter: [(String, DataValue?)] = [("kind", .text("all")), ("active", .bool(true)), ("weight", .int(3))]
        if templates.contains("body:config") { filter.append(("account", .text(config("account_id")))) }
        if templates.contains("body:partition") {
            for field in partitionFields(stream) { filter.append((field, .text("{{ stream_partition['\(field)'] }}"))) }
        }
        if templates.contains("body:now") { filter.append(("day", .text("{{ now_utc().strftime('%Y-%m-%d') }}"))) }
        if templates.contains("body:start") { filter.append(("changed_since", .text("{{ stream_interval['start_time'] }}"))) }
        if templates.contains("body:end") { filter.append(("changed_until", .text("{{ stream_interval['end_time'] }}"))) }
        var body: [(String, DataValue?)] = [("filter", .having(filter))]
        if templates.contains("body:next") { body.append(("page", .text("{{ next_page_token['next_page_token'] }}"))) }
        return .having(body)
    }

    // MARK: Errors

    private func errorHandler(_ stream: StreamFacts) -> DataValue? {
        let errors = stream.words("errors")
        guard !errors.isEmpty else { return nil }
        if errors.contains("custom") {
            return .having([("type", .text("CustomErrorHandler")), ("class_name", .text("source.components.ErrorHandler"))])
        }
        var filters: [DataValue] = [], waits: [DataValue] = []
        for error in errors {
            let action = error.split(separator: " ").first.map { $0.uppercased() } ?? ""
            if error.hasSuffix("by status") {
                filters.append(filter(action, ("http_codes", .list([.int(Self.statuses[action] ?? 400)]))))
            } else if error.hasSuffix("by message") {
                filters.append(filter(action, ("error_message_contains", .text("\(action.lowercased()) this"))))
            } else if error.hasSuffix("by predicate") {
                filters.append(filter(action, ("predicate", .text("{{ response.get('error', {}).get('code') == '\(action.lowercased())' }}"))))
            } else if error.hasPrefix("wait ") {
                let header = error.contains("Retry-After") ? "Retry-After" : "X-Rate-Limit-Reset"
                let type = error.contains("until") ? "WaitUntilTimeFromHeader" : "WaitTimeFromHeader"
                waits.append(.having([("type", .text(type)), ("header", .text(header))]))
            } else if error == "exponential backoff" {
                waits.append(.having([("type", .text("ExponentialBackoffStrategy")), ("factor", .int(2))]))
            } else if error == "constant backoff" {
                waits.append(.having([("type", .text("ConstantBackoffStrategy")), ("backoff_time_in_seconds", .int(5))]))
            }
        }
        let handler = DataValue.having([
            ("type", .text("DefaultErrorHandler")), ("max_retries", errors.contains("max_retries") ? .int(4) : nil),
            ("backoff_strategies", waits.isEmpty ? nil : .list(waits)), ("response_filters", filters.isEmpty ? nil : .list(filters)),
        ])
        guard chance("composite", 2) else { return handler }
        return .having([("type", .text("CompositeErrorHandler")), ("error_handlers", .list([handler]))])
    }

    private func filter(_ action: String, _ condition: (String, DataValue)) -> DataValue {
        .having([("type", .text("HttpResponseFilter")), ("action", .text(action)), (condition.0, condition.1)])
    }

    private static let statuses = ["RATE_LIMITED": 429, "IGNORE": 404, "FAIL": 403, "RETRY": 502, "SUCCESS": 206]
}
