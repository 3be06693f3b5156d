import JSONPaths

/// What is at hand where a table `auth` becomes a value.
struct AuthenticationReading {
    let kind: String
    let layer: Layer
    let table: [String: DocumentNode]
    let complaints: Complaints

    /// Complains if a key is missing.
    func need(_ key: String, _ suggestion: String? = nil) {
        guard table[key] == nil else { return }
        complain(key, "\"\(key)\" is missing; kind = \"\(kind)\" needs it", suggestion ?? "write \(key) = { credential = \"ID\" }")
    }

    /// Complains of a name that is none in its place: only a body has others than headers have, and none that could be guessed.
    func checkCarrier(_ node: DocumentNode?, _ name: String, in place: AuthenticationConfiguration.APIKey.Place) {
        if place == .body {
            guard node == nil else { return }
            complain(
                "name", "\"name\" is missing; in = \"body\" needs it", "write name = \"/auth/key\", where the body has it, or the name of a field")
        } else if !RequestName.isToken(name) {
            complain(
                "name", "\"\(name)\" is not the name of a header",
                "use letters, digits and \"-\", or write in = \"body\" if it is a place in the body")
        }
    }

    /// Complains of a key where it stands, or of the table where it is missing.
    func complain(_ key: String, _ message: String, _ suggestion: String) {
        complaints.add(at: table[key]?.place ?? layer.node?.place, layer.subject, key: key, message, suggestion)
    }
}

extension AuthenticationTable {
    /// `kind = "oauth2"`.
    func oauth2(_ reading: AuthenticationReading, _ inner: Inner) -> AuthenticationConfiguration {
        reading.need("grant", "write grant = \"client-credentials\"")
        reading.need("token_url", "write token_url = \"https://login.example.com/oauth/token\"")
        guard let grant else { return .none }
        if grant != .password, grant != .jwtBearer { reading.need("client_id", "write client_id = \"…\", or client_id = { credential = \"ID\" }") }
        // A client that shows a certificate may do without (RFC 8705).
        let hasSecret = clientAuthentication != .privateKeyJWT && inner.tls?.clientCertificate == nil
        if grant == .clientCredentials, hasSecret { reading.need("client_secret") }
        if grant == .refreshToken { reading.need("refresh_token") }
        if grant == .password {
            reading.need("username", "write username = \"…\", or username = { credential = \"ID\" }")
            reading.need("password")
        }
        let owners: [(key: String, grant: AuthenticationConfiguration.OAuth2.Grant)] = [
            ("refresh_token", .refreshToken), ("username", .password), ("password", .password),
        ]
        for (key, owner) in owners where reading.table[key] != nil && grant != owner {
            reading.complain(
                key, "\"\(key)\" belongs to grant = \"\(owner.rawValue)\", but the grant is \"\(grant.rawValue)\"",
                "remove it, or change the grant")
        }
        complainOfOwnFields(reading)
        let signed = assertion(reading, inner, grant)
        guard let tokenURL else { return .none }
        var result = AuthenticationConfiguration.OAuth2(grant: grant, tokenURL: tokenURL, clientID: clientID, clientSecret: clientSecret)
        result.scopes = scopes
        result.audience = audience
        result.clientAuthentication = clientAuthentication
        result.refreshToken = refreshToken
        result.assertion = signed
        switch username {
        case .name(let name): result.username = .text(name)
        case .secret(let secret): result.username = .secret(secret)
        case nil: break
        }
        result.password = password?.reference
        result.fields = fields
        result.earlyRefresh = earlyRefresh
        result.tokenPath = tokenPath ?? result.tokenPath
        result.expiresPath = expiresPath ?? result.expiresPath
        result.lifetime = lifetime
        result.header = header
        result.scheme = scheme
        result.tls = inner.tls
        return .oauth2(result)
    }

    /// Fields that have keys of their own would stand in the form twice.
    private func complainOfOwnFields(_ reading: AuthenticationReading) {
        let own = [
            "grant_type": "grant", "client_id": "client_id", "client_secret": "client_secret", "scope": "scopes", "audience": "audience",
            "refresh_token": "refresh_token", "username": "username", "password": "password", "assertion": "assertion",
            "client_assertion": "assertion",
        ]
        for field in fields {
            guard let key = own[field.name] else { continue }
            reading.complain("fields", "the field \(field.name) has a key of its own", "use \(key)")
        }
    }

    /// `kind = "session"`.
    func session(_ reading: AuthenticationReading, _ inner: Inner) -> AuthenticationConfiguration {
        reading.need("login", "write login = { path = \"/login\", json = { user = \"…\", password = { credential = \"ID\" } } }")
        let login = inner.login.configuration(reading, base: inner.base)
        let sendAs = inner.sendAs.configuration(reading)
        if reading.table["token_path"] != nil, reading.table["token_header"] != nil {
            reading.complain("token_header", "token_path and token_header cannot be used together", "remove one of them")
        }
        if reading.table["token_path"] == nil, reading.table["token_header"] == nil {
            reading.complain(
                "token_path", "kind = \"session\" needs token_path or token_header",
                "write token_path = \"$.token\", where the answer to the login holds the token")
        }
        guard let login, let token = tokenPath.map(AuthenticationConfiguration.Session.TokenPlace.path) ?? tokenHeader.map({ .header($0) })
        else { return .none }
        var result = AuthenticationConfiguration.Session(login: login, token: token)
        result.expiresPath = expiresPath
        result.lifetime = lifetime
        result.earlyRefresh = earlyRefresh
        result.sendAs = sendAs
        result.tls = inner.tls
        return .session(result)
    }
}

/// `auth.login` as it stands in the files.
struct LoginTable: ConfigurationTable {
    var path: String?
    var url: String?
    var method = RequestMethod.post
    var json: SecretJSON?
    var form: [SecretField]?
    var parameters: [SecretField] = []
    var headers: [SecretField] = []
    var username: SecretText?
    var password: SecretText?

    static var keys: [Key<Self>] {
        let user = Codec<SecretText>.textOrSecret("a user name or a reference", isEmptyAllowed: true, maxLength: 256)
        return [
            Key("path", Codec<String>.urlPath.optional(), \.path),
            Key("url", Codec<String>.encryptedURL.optional(), \.url),
            Key("method", .choice(RequestMethod.self), \.method),
            Key("json", Codec<SecretJSON>.json.optional(), \.json),
            Key("form", Codec<[SecretField]>.secretFields.optional(), \.form),
            Key("params", .secretFields, \.parameters),
            Key("headers", .loginHeaders, \.headers),
            Key("username", user.optional(), \.username),
            Key("password", Codec<SecretText>.password.optional(), \.password),
        ]
    }

    /// The value the table stands for; nil if it has no address.
    ///
    /// - Parameter base: what `path` follows.
    func configuration(_ reading: AuthenticationReading, base: String?) -> AuthenticationConfiguration.Login? {
        let layer = reading.layer.table("login"), complaints = reading.complaints
        guard let node = layer.node, let table = node.table else { return nil }
        func complain(_ key: String, _ message: String, _ suggestion: String) {
            complaints.add(at: table[key]?.place ?? node.place, layer.subject, key: key, message, suggestion)
        }
        if table["path"] != nil, table["url"] != nil { complain("url", "path and url cannot be used together", "remove one of them") }
        if table["path"] == nil, table["url"] == nil { complain("path", "a login needs path or url", "write path = \"/login\"") }
        if table["json"] != nil, table["form"] != nil { complain("form", "json and form cannot be used together", "remove one of them") }
        if method == .get, let body = ["json", "form"].first(where: { table[$0] != nil }) {
            complain(body, "a GET has no body", "use params, or write method = \"POST\"")
        }
        if (table["username"] == nil) != (table["password"] == nil) {
            complain(
                table["username"] == nil ? "username" : "password", "basic authentication needs username and password",
                "write both, or put them into json, form or params")
        }
        if username != nil, headers.contains(where: { $0.name.lowercased() == "authorization" }) {
            complain("headers", "username and password are the header Authorization, which stands in headers as well", "remove one of them")
        }
        if case .text(let name)? = username, name.contains(":") { complain("username", "a user name may not contain \":\"", "remove it") }
        guard let address = url ?? path.flatMap({ path in base.map { RequestURL.join($0, path) } }) else { return nil }
        if url == nil, !RequestURL.isEncryptedOrHere(address) {
            complain(
                "path", "secrets would be sent without encryption to \(RequestURL.host(of: address))",
                "use https in base_url, or write url = \"https://…\"")
        }
        var result = AuthenticationConfiguration.Login(url: address)
        result.method = method
        if let json { result.body = .json(json) } else if let form { result.body = .form(form) }
        result.parameters = parameters
        result.headers = headers
        result.username = username
        result.password = password?.reference
        return result
    }
}

/// `auth.send_as` as it stands in the files.
struct SendAsTable: ConfigurationTable {
    var place = AuthenticationConfiguration.APIKey.Place.header
    var name = "Authorization"
    private var writtenPrefix: String?
    /// As it is written, or else what belongs to the header's name.
    var prefix: String {
        get { writtenPrefix ?? (place == .header && name.lowercased() == "authorization" ? "Bearer " : "") }
        set { writtenPrefix = newValue }
    }

    static var keys: [Key<Self>] {
        [
            Key("in", .choice(AuthenticationConfiguration.APIKey.Place.self), \.place),
            Key("name", .carrierName, \.name),
            Key("prefix", .headerPrefix, \.prefix),
        ]
    }

    /// The value the table stands for.
    func configuration(_ reading: AuthenticationReading) -> AuthenticationConfiguration.SendAs {
        let layer = reading.layer.table("send_as"), table = layer.node?.table ?? [:]
        if place != .header, table["name"] == nil {
            reading.complaints.add(
                at: layer.node?.place, layer.subject, key: "name", "\"name\" is missing; in = \"\(place.rawValue)\" needs it",
                "write name = \"…\", as the service calls it")
        }
        if place != .body, !RequestName.isToken(name) {
            reading.complaints.add(
                at: table["name"]?.place, layer.subject, key: "name", "\"\(name)\" is not the name of a header",
                "use letters, digits and \"-\", or write in = \"body\" if it is a place in the body")
        }
        if place != .header, !prefix.isEmpty {
            reading.complaints.add(
                at: table["prefix"]?.place, layer.subject, key: "prefix", "a prefix stands in a header only", "remove it, or write in = \"header\"")
        }
        var result = AuthenticationConfiguration.SendAs()
        result.place = place
        result.name = name
        result.prefix = prefix
        return result
    }
}
