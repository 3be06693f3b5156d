import JSONPaths

/// `auth` as it stands in the files.
struct AuthenticationTable: ConfigurationTable {
    enum Kind: String, TableKind {
        case none, bearer, basic
        case apiKey = "api-key"
        case oauth2, session, jwt, hmac

        var keys: [String] {
            switch self {
            case .none: []
            case .bearer: ["token", "header", "scheme"]
            case .basic: ["username", "password"]
            case .apiKey: ["name", "in", "value", "prefix"]
            case .oauth2:
                [
                    "grant", "token_url", "client_id", "client_secret", "client_auth", "scopes", "audience", "refresh_token", "username", "password",
                    "assertion", "fields", "token_path", "expires_path", "lifetime", "early_refresh", "header", "scheme", "tls",
                ]
            case .session: ["login", "token_path", "token_header", "expires_path", "lifetime", "early_refresh", "send_as", "tls"]
            case .jwt: ["key", "key_encoding", "algorithm", "claims", "headers", "lifetime", "early_refresh", "send_as"]
            case .hmac:
                [
                    "key", "key_encoding", "key_id", "algorithm", "template", "encoding", "in", "header", "header_value", "name", "timestamp_format",
                    "timestamp_header", "timestamp_param", "nonce_header", "nonce_param",
                ]
            }
        }
    }

    var kind: Kind?
    var token: SecretReference?
    var header = "Authorization"
    var scheme = "Bearer"
    var username: AuthenticationConfiguration.Basic.User?
    var password: SecretText?
    var name = "X-Api-Key"
    var place = AuthenticationConfiguration.APIKey.Place.header
    var value: SecretReference?
    var prefix = ""
    var grant: AuthenticationConfiguration.OAuth2.Grant?
    var tokenURL: String?
    var clientID: SecretText?
    var clientSecret: SecretReference?
    var clientAuthentication = AuthenticationConfiguration.OAuth2.ClientAuthentication.basic
    var scopes: [String] = []
    var audience: String?
    var refreshToken: SecretReference?
    var fields: [SecretField] = []
    var earlyRefresh = TimeSpan.seconds(60)
    var tokenHeader: String?
    var webToken = WebTokenTable()
    var signature = SignatureTable()
    private var writtenAlgorithm: WrittenAlgorithm?
    /// As it is written, or else the kind's own.
    var algorithm: WrittenAlgorithm {
        get { writtenAlgorithm ?? (kind == .hmac ? .request(.sha256) : .token(.rs256)) }
        set { writtenAlgorithm = newValue }
    }
    private var writtenLifetime: TimeSpan?
    /// As it is written; a token that is made here has one in any case.
    var lifetime: TimeSpan? {
        get { writtenLifetime ?? (kind == .jwt ? AuthenticationConfiguration.WebToken.defaultLifetime : nil) }
        set { writtenLifetime = newValue }
    }
    private var writtenTokenPath: JSONPath?
    private var writtenExpiresPath: JSONPath?
    /// As it is written, or else the kind's own.
    var tokenPath: JSONPath? {
        get { writtenTokenPath ?? (kind == .oauth2 ? JSONPath(keys: ["access_token"]) : nil) }
        set { writtenTokenPath = newValue }
    }
    /// As it is written, or else the kind's own.
    var expiresPath: JSONPath? {
        get { writtenExpiresPath ?? (kind == .oauth2 ? JSONPath(keys: ["expires_in"]) : nil) }
        set { writtenExpiresPath = newValue }
    }

    static let laterKinds = ["aws-sigv4"]

    static var keys: [Key<Self>] {
        let header = Codec<String>.headerName
        let scheme = Codec<String>.text("a word such as \"Bearer\"", isEmptyAllowed: true, maxLength: 64, wrong: ["\"a b\""]) { word in
            word.isEmpty || RequestName.isToken(word) ? nil : ("\"\(word)\" is not one word", "write one word, or \"\" for none")
        }
        let carrier: [Key<Self>] = [
            Key("kind", Codec<Kind>.authentication.optional(), \.kind),
            Key("token", Codec<SecretReference>.secret.optional(), \.token),
            Key("header", header, \.header),
            Key("scheme", scheme, \.scheme),
            Key("username", Codec<AuthenticationConfiguration.Basic.User>.user.optional(), \.username),
            Key("password", Codec<SecretText>.password.optional(), \.password),
            Key("name", .carrierName, \.name),
            Key("in", .choice(AuthenticationConfiguration.APIKey.Place.self), \.place),
            Key("value", Codec<SecretReference>.secret.optional(), \.value),
            Key("prefix", Codec<String>.headerPrefix, \.prefix),
        ]
        let fetched: [Key<Self>] = [
            Key("grant", Codec<AuthenticationConfiguration.OAuth2.Grant>.choice(AuthenticationConfiguration.OAuth2.Grant.self).optional(), \.grant),
            Key("token_url", Codec<String>.encryptedURL.optional(), \.tokenURL),
            Key("client_id", Codec<SecretText>.textOrSecret("the client's name or a reference", maxLength: 1024).optional(), \.clientID),
            Key("client_secret", Codec<SecretReference>.secret.optional(), \.clientSecret),
            Key("client_auth", .choice(AuthenticationConfiguration.OAuth2.ClientAuthentication.self), \.clientAuthentication),
            Key("scopes", .scopes, \.scopes),
            Key("audience", Codec<String>.text("the name of an audience", maxLength: 1024).optional(), \.audience),
            Key("refresh_token", Codec<SecretReference>.secret.optional(), \.refreshToken),
            Key("fields", .secretFields, \.fields),
            Key("token_path", Codec<JSONPath>.jsonPath.optional(), \.tokenPath),
            Key("token_header", header.optional(), \.tokenHeader),
            Key("expires_path", Codec<JSONPath>.jsonPath.optional(), \.expiresPath),
            Key("lifetime", Codec<TimeSpan>.timeSpan(.seconds(1) ... .days(366)).optional(), \.lifetime),
            Key("early_refresh", .timeSpan(.zero ... .hours(24)), \.earlyRefresh),
        ]
        // What signs tokens and what signs requests have keys of one name.
        let algorithm: [Key<Self>] = [Key("algorithm", Codec<WrittenAlgorithm>.algorithm, \.algorithm)]
        let made: [Key<Self>] = WebTokenTable.keys(at: \Self.webToken).filter { $0.name != "algorithm" } + algorithm
        let signed: [Key<Self>] = SignatureTable.keys(at: \Self.signature)
        let tables: [Key<Self>] = Key.structural("login", "send_as", "assertion", "tls")
        return carrier + fetched + made + signed + tables + Key.later("pool", "tokens", "strategy")
    }

    /// The keys that say something of this kind.
    var shownKeys: [String] {
        guard let kind else { return ["kind"] }
        // A signature is in a header, or in the query.
        let idle: Set<String> = kind != .hmac ? [] : place == .query ? ["header", "header_value"] : ["name"]
        return ["kind"] + kind.keys.filter { !idle.contains($0) }
    }

    /// The tables inside of it.
    struct Inner {
        var login = LoginTable()
        var sendAs = SendAsTable()
        var assertion = AssertionTable()
        /// Nil: it is not there.
        var tls: TLSConfiguration?
        /// What a path of the login follows; nil: there is nothing it could follow.
        var base: String?
    }

    /// The value the table stands for.
    func configuration(
        _ layer: Layer, _ origins: [String: DocumentNode.Place], _ inner: Inner, _ complaints: Complaints
    ) -> AuthenticationConfiguration {
        guard let node = layer.node, let table = node.table else { return .none }
        guard let kind else {
            // A kind that was refused has been complained about.
            guard table["kind"] == nil else { return .none }
            Kind.complainOfNone(named: Array(origins.keys), common: .bearer, at: node.place, layer.subject, complaints)
            return .none
        }
        var named = origins
        for key in ["login", "send_as", "assertion", "tls"] { named[key] = table[key]?.place }
        kind.complainOfOthers(named, shared: ["kind"], layer.subject, complaints)
        let reading = AuthenticationReading(kind: kind.rawValue, layer: layer, table: table, complaints: complaints)
        func need(_ key: String) { reading.need(key) }
        switch kind {
        case .none: return .none
        case .bearer:
            need("token")
            return token.map { .bearer(.init(token: $0, header: header, scheme: scheme)) } ?? .none
        case .basic:
            need("username")
            need("password")
            guard let username, let password else { return .none }
            return .basic(.init(username: username, password: password.reference))
        case .apiKey:
            need("value")
            reading.checkCarrier(table["name"], name, in: place)
            if !prefix.isEmpty, place != .header {
                complaints.add(
                    at: table["prefix"]?.place ?? node.place, layer.subject, key: "prefix", "a prefix stands in a header only",
                    "remove it, or write in = \"header\"")
            }
            return value.map { .apiKey(.init(name: name, in: place, value: $0, prefix: prefix)) } ?? .none
        case .oauth2: return oauth2(reading, inner)
        case .session: return session(reading, inner)
        case .jwt: return jwt(reading, inner)
        case .hmac: return hmac(reading)
        }
    }
}

extension Codec where Value == AuthenticationTable.Kind {
    /// What kind of authentication it is.
    static var authentication: Codec {
        let choice = Codec.choice(AuthenticationTable.Kind.self, later: AuthenticationTable.laterKinds)
        return Codec(expected: choice.expected, wrong: choice.wrong + ["\"tls\""]) { node in
            node.string == "tls"
                ? .wrong("a certificate goes with any kind", "write client_cert and client_key in tls, and another kind, or none") : choice.read(node)
        } toml: {
            choice.toml($0)
        }
    }
}

extension Codec where Value == AuthenticationConfiguration.Basic.User {
    /// A user name, or a reference to one.
    static var user: Codec {
        let text = Codec<SecretText>.textOrSecret("a user name or a reference", isEmptyAllowed: true, maxLength: 256, wrong: ["\"a:b\""]) { name in
            name.contains(":") ? ("a user name may not contain \":\"", "remove it") : nil
        }
        return Codec(expected: text.expected, wrong: text.wrong) { node in
            switch text.read(node) {
            case .value(.text(let name)): .value(.name(name))
            case .value(.secret(let secret)): .value(.secret(secret))
            case .wrong(let message, let suggestion): .wrong(message, suggestion)
            case .later(let what): .later(what)
            }
        } toml: {
            switch $0 {
            case .name(let name): tomlQuoted(name)
            case .secret(let secret): secret.description
            }
        }
    }
}
