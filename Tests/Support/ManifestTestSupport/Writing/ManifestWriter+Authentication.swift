extension ManifestWriter {
    /// The kinds of a stream, without what only says more of one.
    private func kinds(_ stream: StreamFacts) -> [String] {
        let details = [
            "selective", "oauth2 rotating refresh token", "oauth2 extra fields in the token request", "oauth2 headers in the token request",
        ]
        return stream.words("auth").filter { !details.contains($0) && !$0.hasPrefix("session login") }
    }

    func authenticator(_ stream: StreamFacts) -> DataValue? {
        let kinds = kinds(stream)
        guard stream.has("auth", "selective") else { return kinds.first.flatMap { authenticator($0, stream, "") } }
        var ways: [(String, DataValue?)] = []
        for (index, kind) in kinds.enumerated() { ways.append(("way\(index + 1)", authenticator(kind, stream, "credentials"))) }
        return .having([
            ("type", .text("SelectiveAuthenticator")),
            ("authenticator_selection_path", .list([.text("credentials"), .text("auth_type")])), ("authenticators", .having(ways)),
        ])
    }

    /// - Parameter group: the object of the settings that the secrets are in; empty: none.
    private func authenticator(_ kind: String, _ stream: StreamFacts, _ group: String) -> DataValue? {
        func secret(_ name: String) -> DataValue { .text(group.isEmpty ? config(name) : "{{ config['\(group)']['\(name)'] }}") }
        func key(_ prefix: String, _ place: DataValue) -> DataValue {
            .having([
                ("type", .text("ApiKeyAuthenticator")), ("api_token", .text(prefix + secret("api_key").shown)), ("inject_into", place),
            ])
        }
        switch kind {
        case "bearer": return .having([("type", .text("BearerAuthenticator")), ("api_token", secret("api_key"))])
        case "api-key header": return key("", option("header", chance("name", 2) ? "X-Api-Key" : "api-token"))
        case "api-key header with prefix": return key("Key ", option("header", "X-Api-Key"))
        case "api-key header (Authorization)": return key("", option("header", "Authorization"))
        case "api-key header (Authorization) with prefix": return key("Token token=", option("header", "Authorization"))
        case "api-key query": return key("", option("request_parameter", "api_key"))
        case "api-key body": return key("", option("body_json", "api_key"))
        case "basic":
            return .having([("type", .text("BasicHttpAuthenticator")), ("username", secret("username")), ("password", secret("password"))])
        case "basic with empty password":
            return .having([
                ("type", .text("BasicHttpAuthenticator")), ("username", secret("api_key")), ("password", text("", if: chance("empty", 2))),
            ])
        case "oauth2 refresh-token", "oauth2 client-credentials": return oauth(kind, stream, secret)
        case "session token": return session(stream, secret)
        case "oauth2 jwt-bearer":
            return .having([("type", .text("JwtAuthenticator")), ("secret_key", secret("api_key")), ("algorithm", .text("RS256"))])
        case "custom": return .having([("type", .text("CustomAuthenticator")), ("class_name", .text("source.components.Authenticator"))])
        case "none": return .having([("type", .text("NoAuth"))])
        default: return nil
        }
    }

    private func oauth(_ kind: String, _ stream: StreamFacts, _ secret: (String) -> DataValue) -> DataValue {
        let refreshes = kind == "oauth2 refresh-token"
        var members: [(String, DataValue?)] = [
            ("type", .text("OAuthAuthenticator")), ("token_refresh_endpoint", .text("\(base)/oauth/token")),
            ("client_id", secret("client_id")), ("client_secret", secret("client_secret")),
            ("grant_type", .text(refreshes ? "refresh_token" : "client_credentials")),
        ]
        if refreshes { members.append(("refresh_token", secret("refresh_token"))) }
        if stream.has("auth", "oauth2 rotating refresh token") { members.append(("refresh_token_updater", .object([]))) }
        if stream.has("auth", "oauth2 extra fields in the token request") {
            members.append(("refresh_request_body", .having([("audience", .text("everything"))])))
        }
        if stream.has("auth", "oauth2 headers in the token request") {
            members.append(("refresh_request_headers", .having([("X-Purpose", .text("sync"))])))
        }
        if chance("scopes", 3) { members.append(("scopes", .list([.text("read"), .text("list")]))) }
        return .having(members)
    }

    private func session(_ stream: StreamFacts, _ secret: (String) -> DataValue) -> DataValue {
        let hasKey = stream.has("auth", "session login with ApiKeyAuthenticator")
        let login: DataValue
        if hasKey {
            let key = DataValue.having([
                ("type", .text("ApiKeyAuthenticator")), ("api_token", secret("api_key")), ("inject_into", option("header", "x-api-key")),
            ])
            login = .having([
                ("type", .text("HttpRequester")), ("url_base", .text("\(base)/auth")), ("path", .text("/token")), ("http_method", .text("GET")),
                ("authenticator", key),
            ])
        } else {
            let body = DataValue.having([("username", secret("username")), ("password", secret("password"))])
            login = .having([
                ("type", .text("HttpRequester")), ("url_base", .text("\(base)/auth")), ("path", .text("/login")), ("http_method", .text("POST")),
                ("request_body_json", body),
            ])
        }
        let use: DataValue
        if chance("bearer", 2) {
            use = .having([("type", .text("Bearer"))])
        } else {
            use = .having([("type", .text("ApiKey")), ("inject_into", option("header", "X-Session"))])
        }
        return .having([
            ("type", .text("SessionTokenAuthenticator")), ("login_requester", login),
            ("session_token_path", .list(chance("deep", 2) ? [.text("data"), .text("token")] : [.text("token")])),
            ("expiration_duration", .text("PT1H")), ("request_authentication", use),
        ])
    }

    // MARK: Settings

    /// What users fill in: secrets without, everything else with a default.
    var specification: DataValue {
        var secrets: [(String, Bool)] = []
        func need(_ name: String, isSecret: Bool = true) {
            if !secrets.contains(where: { $0.0 == name }) { secrets.append((name, isSecret)) }
        }
        for stream in streams {
            for kind in stream.words("auth") {
                switch kind {
                case "basic":
                    need("username", isSecret: false)
                    need("password")
                case "session token":
                    if stream.has("auth", "session login with ApiKeyAuthenticator") {
                        need("api_key")
                    } else {
                        need("username", isSecret: false)
                        need("password")
                    }
                case "oauth2 refresh-token", "oauth2 client-credentials":
                    need("client_id", isSecret: chance("id", 2))
                    need("client_secret")
                    if kind == "oauth2 refresh-token" { need("refresh_token") }
                case "none", "custom", "selective": break
                default: need("api_key")
                }
            }
        }
        var fields: [(String, DataValue?)] = []
        for (name, isSecret) in secrets {
            let title = name.replacing("_", with: " ")
            fields.append(
                (
                    name,
                    .having([
                        ("type", .text("string")), ("title", .text(title)), ("airbyte_secret", flag(isSecret)),
                        ("default", text("our-\(name)", if: !isSecret)),
                    ])
                ))
        }
        var properties: [(String, DataValue?)] = []
        if streams.contains(where: { $0.has("auth", "selective") }) {
            properties.append(("credentials", credentials(fields)))
            // Some streams may ask for a secret outside of it.
            if streams.contains(where: { !$0.has("auth", "selective") }) { properties += fields }
        } else {
            properties = fields
        }
        properties.append(("account_id", .having([("type", .text("string")), ("title", .text("Account")), ("default", .text("acme"))])))
        properties.append(("start_date", .having([("type", .text("string")), ("format", .text("date-time")), ("default", .text(startDate))])))
        for stream in streams where stream.word("partition").contains("list") && stream.word("list from") == "configuration" {
            let values = DataValue.list([.text("north"), .text("east"), .text("far south")])
            properties.append(("values_\(slug(stream))", .having([("type", .text("array")), ("default", values)])))
        }
        let required = properties.map { DataValue.text($0.0) }
        return .having([("type", .text("object")), ("required", .list(required)), ("properties", .having(properties))])
    }

    private func credentials(_ fields: [(String, DataValue?)]) -> DataValue {
        let stream = streams.first { $0.has("auth", "selective") }
        var choices: [DataValue] = []
        let ways = stream.map { kinds($0).count } ?? 0
        for index in 0..<ways {
            let type = DataValue.having([("type", .text("string")), ("const", .text("way\(index + 1)"))])
            var inner = fields
            inner.insert(("auth_type", type), at: 0)
            choices.append(.having([("type", .text("object")), ("properties", .having(inner))]))
        }
        return .having([("type", .text("object")), ("oneOf", .list(choices))])
    }
}
