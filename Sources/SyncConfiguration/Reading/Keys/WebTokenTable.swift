/// What a signed token is made of, as it stands in the files: in `auth` itself, or in a table of its own. How long it lives is said apart.
struct WebTokenTable {
    typealias WebToken = AuthenticationConfiguration.WebToken

    var key: SecretReference?
    var keyEncoding = WebToken.KeyEncoding.text
    var algorithm = WebToken.Algorithm.rs256
    var claims: [SecretJSON.Member] = []
    var headers: [SecretJSON.Member] = []

    /// The keys, for a table that has them among its own.
    static func keys<Root>(at path: WritableKeyPath<Root, Self>) -> [Key<Root>] {
        [
            Key("key", Codec<SecretReference>.secret.optional(), path.appending(path: \Self.key)),
            Key("key_encoding", Codec<WebToken.KeyEncoding>.choice(WebToken.KeyEncoding.self), path.appending(path: \Self.keyEncoding)),
            Key("algorithm", Codec<WebToken.Algorithm>.choice(WebToken.Algorithm.self), path.appending(path: \Self.algorithm)),
            Key("claims", Codec<[SecretJSON.Member]>.claims, path.appending(path: \Self.claims)),
            Key("headers", Codec<[SecretJSON.Member]>.tokenHeaders, path.appending(path: \Self.headers)),
        ]
    }

    /// The value the table stands for; nil without a key, which has been complained about.
    func configuration(_ reading: AuthenticationReading, lifetime: TimeSpan) -> WebToken? {
        if keyEncoding != .text, !algorithm.isShared {
            reading.complain(
                "key_encoding", "the key of \(algorithm.rawValue) is in PEM form",
                "remove key_encoding, or write algorithm = \"HS256\"")
        }
        guard let key else { return nil }
        var webToken = WebToken(key: key, algorithm: algorithm)
        webToken.keyEncoding = keyEncoding
        webToken.claims = claims
        webToken.headers = headers
        webToken.lifetime = lifetime
        return webToken
    }
}

/// `auth.assertion` as it stands in the files.
struct AssertionTable: ConfigurationTable {
    var webToken = WebTokenTable()
    var lifetime = AuthenticationConfiguration.OAuth2.defaultAssertionLifetime

    static var keys: [Key<Self>] {
        WebTokenTable.keys(at: \Self.webToken) + [Key("lifetime", .timeSpan(.seconds(1) ... .days(366)), \.lifetime)]
    }

    /// The value the table stands for; nil if it is not there, or has no key.
    func configuration(_ reading: AuthenticationReading) -> AuthenticationConfiguration.WebToken? {
        let layer = reading.layer.table("assertion")
        guard let table = layer.node?.table else { return nil }
        let own = AuthenticationReading(kind: reading.kind, layer: layer, table: table, complaints: reading.complaints)
        if table["key"] == nil { own.complain("key", "\"key\" is missing; an assertion is signed with it", "write key = { credential = \"ID\" }") }
        return webToken.configuration(own, lifetime: lifetime)
    }
}

extension AuthenticationTable {
    /// What a request for a token signs; nil if it signs nothing.
    func assertion(_ reading: AuthenticationReading, _ inner: Inner, _ grant: AuthenticationConfiguration.OAuth2.Grant)
        -> AuthenticationConfiguration.WebToken?
    {
        let isSigning = clientAuthentication == .privateKeyJWT
        guard grant == .jwtBearer || isSigning else {
            if reading.table["assertion"] != nil {
                reading.complain(
                    "assertion", "\"assertion\" belongs to grant = \"jwt-bearer\" or client_auth = \"private-key-jwt\"",
                    "remove it, or write one of them")
            }
            return nil
        }
        reading.need("assertion", "write assertion = { key = { credential = \"ID\" }, claims = { iss = \"…\" } }")
        if isSigning, grant == .jwtBearer {
            reading.complain("client_auth", "the assertion is what the token is asked for with, and says who asks", "remove client_auth")
        }
        if isSigning, reading.table["client_secret"] != nil {
            reading.complain("client_secret", "a client that signs has no secret", "remove it, or remove client_auth")
        }
        if isSigning { reading.need("client_id", "write client_id = \"…\", or client_id = { credential = \"ID\" }") }
        let webToken = inner.assertion.configuration(reading)
        if let webToken, reading.table["client_id"] == nil, !isSigning, !webToken.claims.contains(where: { $0.name == "iss" }) {
            reading.complain(
                "assertion", "the assertion does not say who asks for the token",
                "write claims = { iss = \"…\" } in it, as the service calls this account, or client_id = \"…\"")
        }
        return webToken
    }

    /// `kind = "jwt"`.
    func jwt(_ reading: AuthenticationReading, _ inner: Inner) -> AuthenticationConfiguration {
        reading.need("key")
        let sendAs = inner.sendAs.configuration(reading)
        let life = lifetime ?? AuthenticationConfiguration.WebToken.defaultLifetime
        var webToken = webToken
        switch algorithm {
        case .token(let algorithm): webToken.algorithm = algorithm
        case .request(let algorithm):
            reading.complain(
                "algorithm", "\(algorithm.rawValue) signs requests, and no tokens", "write algorithm = \"RS256\", or another one of tokens")
        }
        guard let made = webToken.configuration(reading, lifetime: life) else { return .none }
        var result = AuthenticationConfiguration.JWT(made)
        result.earlyRefresh = earlyRefresh
        result.sendAs = sendAs
        return .jwt(result)
    }
}

extension Codec where Value == [SecretJSON.Member] {
    /// What a token says.
    static var claims: Codec {
        let times = "remove it; lifetime says how long the token is good"
        return members(
            "a table of claims, as in { iss = \"me\", aud = \"https://api.example.com\", sub = { credential = \"ID\" } }",
            own: ["exp": times, "iat": times, "nbf": times])
    }

    /// What the header of a token says.
    static var tokenHeaders: Codec {
        let form = "remove it; a token is made in one form only"
        return members(
            "a table of what the token's header says, as in { kid = \"key-1\" }",
            own: ["alg": "remove it, and write algorithm", "b64": form, "crit": form])
    }

    /// The members of a JSON object, whose texts may be references.
    ///
    /// - Parameter own: names that are not for whoever writes the table, and what to do about each.
    private static func members(_ expected: String, own: [String: String]) -> Codec {
        let wrong = ["1", "\"a=b\"", "[]", "{ \"\" = 1 }", "{ a = 1979-05-27 }", "{ a = { credential = 1 } }", "{ credential = \"x\" }"]
        return Codec(expected: expected, wrong: wrong + own.keys.sorted().map { "{ \($0) = 1 }" }) { node in
            guard let table = node.table else { return mismatch(node, expected) }
            if table.count == 1, let name = table.keys.first, ["credential", "file", "env"].contains(name) {
                return .wrong("a reference stands for one value, not for all of them", "write \(expected)")
            }
            var members: [SecretJSON.Member] = []
            for (name, value) in table.ordered {
                if name.isEmpty { return .wrong("a value has no name", "give it one") }
                if let remedy = own[name] { return .wrong("\(name) is written for each token", remedy) }
                switch Codec<SecretJSON>.tree(of: value) {
                case .value(let json): members.append(.init(name: name, value: json))
                case .wrong(let message, let suggestion): return .wrong("\(name): \(message)", suggestion)
                case .later(let what): return .later(what)
                }
            }
            return .value(members.sorted { $0.name < $1.name })
        } toml: {
            SecretJSON.object($0).toml
        }
    }
}
