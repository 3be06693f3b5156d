/// `auth`: how requests identify themselves. Secrets stand here by reference only.
public enum AuthenticationConfiguration: Sendable, Hashable {
    /// Requests carry no credential; the default.
    case none
    /// `kind = "bearer"`: a token in a header.
    case bearer(Bearer)
    /// `kind = "basic"`: user name and password in `Authorization`.
    case basic(Basic)
    /// `kind = "api-key"`: a key in a header, the query, a cookie or the body.
    case apiKey(APIKey)
    /// `kind = "oauth2"`: an access token that is fetched from a service and renewed (RFC 6749), in a header.
    case oauth2(OAuth2)
    /// `kind = "session"`: a token that a login answers with.
    case session(Session)
    /// `kind = "jwt"`: a signed token that is made here (RFC 7519).
    case jwt(JWT)
    /// `kind = "hmac"`: each request is signed by itself.
    case hmac(RequestSignature)

    /// A token in a header: `Authorization: Bearer …`.
    public struct Bearer: Sendable, Hashable {
        /// `auth.token`: required; read again before each request.
        public var token: SecretReference
        /// `auth.header`: the header that carries the token. Default `Authorization`.
        public var header: String
        /// The word before the token; empty for none.
        public var scheme: String

        /// `Authorization: Bearer TOKEN`, unless another header or scheme is given.
        public init(token: SecretReference, header: String = "Authorization", scheme: String = "Bearer") {
            self.token = token
            self.header = header
            self.scheme = scheme
        }
    }

    /// User name and password.
    public struct Basic: Sendable, Hashable {
        /// A user name is no secret, but may be kept as one.
        public enum User: Sendable, Hashable {
            /// Written in the configuration itself; without a colon. May be empty.
            case name(String)
            /// Read again before each request; without a colon.
            case secret(SecretReference)

            /// What it refers to; nil: it is written out.
            public var reference: SecretReference? {
                if case .secret(let reference) = self { reference } else { nil }
            }
        }

        /// `auth.username`: required; a text, or a reference to a secret.
        public var username: User
        /// `auth.password`: required; read again before each request. Nil: it is empty, written `""`.
        public var password: SecretReference?

        /// For `kind = "basic"`: both go into `Authorization: Basic …`.
        public init(username: User, password: SecretReference?) {
            self.username = username
            self.password = password
        }
    }

    /// A key under a name of the service's own choice.
    public struct APIKey: Sendable, Hashable {
        /// The part of the request that carries the key.
        public enum Place: String, Sendable, Hashable, CaseIterable {
            /// In the header of the key's name; the default.
            case header
            /// In the address; masked where addresses are stored or logged.
            case query
            /// In the `Cookie` header.
            case cookie
            /// In the body of a POST. It is put in when the request is sent: nothing that is stored or shown of a body has it.
            case body
        }

        /// `auth.name`: of the header, query parameter or cookie, default `X-Api-Key`; in a body the place, as in ``RequestBody/setting(_:at:)``.
        public var name: String
        /// `auth.in`: `header` (the default), `query`, `cookie` or `body`.
        public var place: Place
        /// `auth.value`: the key itself; required, read again before each request.
        public var value: SecretReference
        /// `auth.prefix`: what stands before the key, in a header only: `Token token=`. Default nothing.
        public var prefix: String

        /// For `kind = "api-key"`: the header `X-Api-Key`, unless said otherwise.
        public init(name: String = "X-Api-Key", in place: Place = .header, value: SecretReference, prefix: String = "") {
            self.name = name
            self.place = place
            self.value = value
            self.prefix = prefix
        }
    }

    /// The names under which requests carry it, those that are in this part of them.
    package func names(in part: APIKey.Place) -> [String] {
        let all: [(place: APIKey.Place, name: String)] =
            switch self {
            case .none: []
            case .bearer(let bearer): [(.header, bearer.header)]
            case .basic: [(.header, "Authorization")]
            case .apiKey(let key): [(key.place, key.name)]
            case .oauth2(let oauth2): [(.header, oauth2.header)]
            case .session(let session): [(session.sendAs.place, session.sendAs.name)]
            case .jwt(let jwt): [(jwt.sendAs.place, jwt.sendAs.name)]
            case .hmac(let signature): signature.names
            }
        return all.filter { $0.place == part }.map(\.name)
    }

    /// Every secret it refers to.
    public var secrets: [SecretReference] {
        switch self {
        case .none: []
        case .bearer(let bearer): [bearer.token]
        case .basic(let basic):
            [basic.username.reference, basic.password].compactMap(\.self)
        case .apiKey(let key): [key.value]
        case .oauth2(let oauth2): oauth2.secrets
        case .session(let session): session.login.secrets
        case .jwt(let jwt): jwt.webToken.secrets
        case .hmac(let signature): signature.secrets
        }
    }

    /// `auth.tls`: whom the service of tokens is to be trusted by, and what to show it; nil: what holds for the resource, if that is its server.
    public var tls: TLSConfiguration? {
        switch self {
        case .oauth2(let oauth2): oauth2.tls
        case .session(let session): session.tls
        case .none, .bearer, .basic, .apiKey, .jwt, .hmac: nil
        }
    }

    /// Those of the secrets that have several lines, as a key in PEM form has.
    public var keysOfSeveralLines: [SecretReference] {
        switch self {
        case .none, .bearer, .basic, .apiKey, .session, .hmac: []
        case .oauth2(let oauth2): oauth2.assertion?.keysOfSeveralLines ?? []
        case .jwt(let jwt): jwt.webToken.keysOfSeveralLines
        }
    }
}
