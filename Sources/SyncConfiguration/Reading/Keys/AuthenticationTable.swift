/// `auth` as it stands in the files.
struct AuthenticationTable: ConfigurationTable {
    enum Kind: String, TableKind {
        case none, bearer, basic
        case apiKey = "api-key"

        var keys: [String] {
            switch self {
            case .none: []
            case .bearer: ["token", "header", "scheme"]
            case .basic: ["username", "password"]
            case .apiKey: ["name", "in", "value"]
            }
        }
    }

    var kind: Kind?
    var token: SecretReference?
    var header = "Authorization"
    var scheme = "Bearer"
    var username: AuthenticationConfiguration.Basic.User?
    var password: SecretReference?
    var name = "X-Api-Key"
    var place = AuthenticationConfiguration.APIKey.Place.header
    var value: SecretReference?

    static let laterKinds = ["oauth2", "jwt", "session", "hmac", "tls", "aws-sigv4"]

    static var keys: [Key<Self>] {
        let header = Codec<String>.text("the name of a header", maxLength: 128, wrong: ["\"A B\""]) { name in
            RequestName.isToken(name) ? nil : ("\"\(name)\" is not the name of a header", "use letters, digits and \"-\"")
        }
        let scheme = Codec<String>.text("a word such as \"Bearer\"", isEmptyAllowed: true, maxLength: 64, wrong: ["\"a b\""]) { word in
            word.isEmpty || RequestName.isToken(word) ? nil : ("\"\(word)\" is not one word", "write one word, or \"\" for none")
        }
        return [
            Key("kind", Codec<Kind>.choice(Kind.self, later: laterKinds).optional(), \.kind),
            Key("token", Codec<SecretReference>.secret.optional(), \.token),
            Key("header", header, \.header),
            Key("scheme", scheme, \.scheme),
            Key("username", Codec<AuthenticationConfiguration.Basic.User>.user.optional(), \.username),
            Key("password", Codec<SecretReference>.secret.optional(), \.password),
            Key("name", header, \.name),
            Key("in", .choice(AuthenticationConfiguration.APIKey.Place.self), \.place),
            Key("value", Codec<SecretReference>.secret.optional(), \.value),
        ]
            + Key.later(
                "grant", "token_url", "client_id", "client_secret", "scopes", "audience", "client_auth", "refresh_token", "early_refresh",
                "key",
                "algorithm", "claims", "headers", "lifetime", "login", "token_path", "send_as", "template", "pool", "tokens", "strategy")
    }

    /// The value the table stands for.
    func configuration(_ layer: Layer, _ origins: [String: DocumentNode.Place], _ complaints: Complaints) -> AuthenticationConfiguration {
        guard let node = layer.node, let table = node.table else { return .none }
        guard let kind else {
            // A kind that was refused has been complained about.
            guard table["kind"] == nil else { return .none }
            Kind.complainOfNone(named: Array(origins.keys), common: .bearer, at: node.place, layer.subject, complaints)
            return .none
        }
        kind.complainOfOthers(origins, shared: ["kind"], layer.subject, complaints)
        func need(_ key: String) {
            guard table[key] == nil else { return }
            complaints.add(
                at: node.place, layer.subject, key: key, "\"\(key)\" is missing; kind = \"\(kind.rawValue)\" needs it",
                "write \(key) = { credential = \"ID\" }")
        }
        switch kind {
        case .none: return .none
        case .bearer:
            need("token")
            return token.map { .bearer(.init(token: $0, header: header, scheme: scheme)) } ?? .none
        case .basic:
            need("username")
            need("password")
            guard let username, let password else { return .none }
            return .basic(.init(username: username, password: password))
        case .apiKey:
            need("value")
            return value.map { .apiKey(.init(name: name, in: place, value: $0)) } ?? .none
        }
    }
}

extension Codec where Value == AuthenticationConfiguration.Basic.User {
    /// A user name, or a reference to one.
    static var user: Codec {
        let name = Codec<String>.text("a user name or a reference", maxLength: 256)
        return Codec(expected: name.expected, wrong: ["1", "\"\"", "{ credential = 1 }", "\"a:b\""]) { node in
            if node.table != nil {
                switch Codec<SecretReference>.secret.read(node) {
                case .value(let secret): return .value(.secret(secret))
                case .wrong(let message, let suggestion): return .wrong(message, suggestion)
                case .later(let what): return .later(what)
                }
            }
            switch name.read(node) {
            case .value(let text) where text.contains(":"): return .wrong("a user name may not contain \":\"", "remove it")
            case .value(let text): return .value(.name(text))
            case .wrong(let message, let suggestion): return .wrong(message, suggestion)
            case .later(let what): return .later(what)
            }
        } toml: {
            switch $0 {
            case .name(let name): tomlQuoted(name)
            case .secret(let secret): secret.description
            }
        }
    }
}
