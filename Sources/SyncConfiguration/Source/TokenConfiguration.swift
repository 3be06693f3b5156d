import JSONPaths

/// The kinds of `auth` whose secret is fetched: a token, kept in memory until it expires or is refused.
extension AuthenticationConfiguration {
    /// An access token of OAuth 2.0 (RFC 6749), sent in a header (RFC 6750).
    public struct OAuth2: Sendable, Hashable {
        /// What the token is asked for with.
        public enum Grant: String, Sendable, Hashable, CaseIterable {
            /// Client and secret alone (RFC 6749, 4.4).
            case clientCredentials = "client-credentials"
            /// A token that stands for somebody's consent (RFC 6749, 6). The service may replace it with each answer.
            case refreshToken = "refresh-token"
            /// Name and password of a user (RFC 6749, 4.3).
            case password
            /// A signed token (RFC 7523, 2.1), as accounts of programs have it.
            case jwtBearer = "jwt-bearer"
        }

        /// Where client and secret stand in a token request.
        public enum ClientAuthentication: String, Sendable, Hashable, CaseIterable {
            /// In `Authorization`, both encoded as in a form (RFC 6749, 2.3.1); the default.
            case basic
            /// In the form.
            case body
            /// No secret, but a signed token in the form (RFC 7523, 2.2).
            case privateKeyJWT = "private-key-jwt"
        }

        /// `auth.grant`: required.
        public var grant: Grant
        /// `auth.token_url`: required; `https`, or a host of this machine. The client's secret goes to its origin only.
        public var tokenURL: String
        /// `auth.client_id`: required but for `password` and `jwt-bearer`; a text, or a reference to a secret.
        public var clientID: SecretText?
        /// `auth.client_secret`; nil for a public client, which names itself in the form.
        public var clientSecret: SecretReference?
        /// `auth.scopes`: joined by blanks. Empty: the service decides.
        public var scopes: [String] = []
        /// `auth.audience`: a field of that name; nil for none.
        public var audience: String?
        /// `auth.client_auth`, default `basic`.
        public var clientAuthentication = ClientAuthentication.basic
        /// `auth.refresh_token`: the first one; needed for that grant. Those that a service puts in its place are stored by the daemon.
        public var refreshToken: SecretReference?
        /// `auth.username`: needed for the grant `password`.
        public var username: SecretText?
        /// `auth.password`; nil: it is empty.
        public var password: SecretReference?
        /// `auth.assertion`: what is signed, for the grant `jwt-bearer` or a client that signs. What it must say is added where it does not: the
        /// client (`iss`; of a client that signs, also `sub`), the service's address (`aud`) and, for the grant, the scopes.
        public var assertion: WebToken?
        /// `auth.fields`: further fields of the form, sorted by name.
        public var fields: [SecretField] = []
        /// `auth.early_refresh`: how long before its end a token is no longer used; half of its life at most. Default 60 s.
        public var earlyRefresh = TimeSpan.seconds(60)
        /// `auth.token_path`: where the answer holds the token.
        public var tokenPath = JSONPath(keys: ["access_token"])
        /// `auth.expires_path`: where the answer says in how many seconds it ends.
        public var expiresPath = JSONPath(keys: ["expires_in"])
        /// `auth.lifetime`: how long a token is used whose answer does not say it. Nil: until it is refused.
        public var lifetime: TimeSpan?
        /// `auth.header`: the header that carries the token.
        public var header = "Authorization"
        /// `auth.scheme`: the word before the token; empty for none.
        public var scheme = "Bearer"
        /// `auth.tls`: for the service of tokens; nil: what holds for the resource, if that is its server.
        public var tls: TLSConfiguration?

        /// How long an assertion is good unless the configuration says it.
        public static let defaultAssertionLifetime = TimeSpan.minutes(5)

        /// A token of this grant, asked for at this address; everything else as it is by default.
        public init(grant: Grant, tokenURL: String, clientID: SecretText? = nil, clientSecret: SecretReference? = nil) {
            self.grant = grant
            self.tokenURL = tokenURL
            self.clientID = clientID
            self.clientSecret = clientSecret
        }

        /// Every secret it refers to.
        public var secrets: [SecretReference] {
            let user = grant == .password ? [username?.reference, password] : []
            let ofClient = ([clientID?.reference, clientSecret, refreshToken] + user).compactMap(\.self)
            return ofClient + fields.compactMap(\.value.reference) + (assertion?.secrets ?? [])
        }
    }

    /// A token that a login of the service's own kind answers with.
    public struct Session: Sendable, Hashable {
        /// Where the answer holds the token.
        public enum TokenPlace: Sendable, Hashable {
            /// `auth.token_path`: in the body, JSON. `$` for a body that is the token, as a JSON text.
            case path(JSONPath)
            /// `auth.token_header`: in this header.
            case header(String)
        }

        /// `auth.login`: required.
        public var login: Login
        /// `auth.token_path` or `auth.token_header`: one of them is required.
        public var token: TokenPlace
        /// `auth.expires_path`: where the answer says in how many seconds the token ends, or when, in seconds since 1970. Default none.
        public var expiresPath: JSONPath?
        /// `auth.lifetime`: how long a token is used whose answer does not say it. Nil: until it is refused.
        public var lifetime: TimeSpan?
        /// `auth.early_refresh`: how long before its end a token is no longer used; half of its life at most. Default 60 s.
        public var earlyRefresh = TimeSpan.seconds(60)
        /// `auth.send_as`: where requests carry the token. Default `Authorization: Bearer …`.
        public var sendAs = SendAs()
        /// `auth.tls`: for the service that answers the login; nil: what holds for the resource, if that is its server.
        public var tls: TLSConfiguration?

        /// The token at `token` in the answer to `login`.
        public init(login: Login, token: TokenPlace) {
            self.login = login
            self.token = token
        }
    }

    /// `auth.login`: the request that is answered with a token.
    public struct Login: Sendable, Hashable {
        /// What a POST holds.
        public enum Body: Sendable, Hashable {
            /// Nothing.
            case none
            /// `login.json`: a JSON document.
            case json(SecretJSON)
            /// `login.form`: fields, sorted by name.
            case form([SecretField])
        }

        /// `login.url`, or `login.path` after the source's `base_url`: the absolute address. Its secrets go to its origin only.
        public var url: String
        /// `login.method`, default `POST`.
        public var method = RequestMethod.post
        /// `login.json` or `login.form`.
        public var body = Body.none
        /// `login.params`: parameters of the query, sorted by name.
        public var parameters: [SecretField] = []
        /// `login.headers`: headers of the login, sorted by name.
        public var headers: [SecretField] = []
        /// `login.username`: for basic authentication of the login itself; nil for none.
        public var username: SecretText?
        /// `login.password`; nil: it is empty.
        public var password: SecretReference?

        /// An empty POST.
        public init(url: String) {
            self.url = url
        }

        /// Every secret it refers to.
        public var secrets: [SecretReference] {
            let inBody: [SecretReference] =
                switch body {
                case .none: []
                case .json(let json): json.secrets
                case .form(let fields): fields.compactMap(\.value.reference)
                }
            return inBody + (parameters + headers).compactMap(\.value.reference) + [username?.reference, password].compactMap(\.self)
        }
    }

    /// `auth.send_as`: where requests carry the token of a session.
    public struct SendAs: Sendable, Hashable {
        /// `send_as.in`: `header` (the default), `query`, `cookie` or `body`.
        public var place = APIKey.Place.header
        /// `send_as.name`: of the header, parameter or cookie, default `Authorization`; in a body the place.
        public var name = "Authorization"
        /// `send_as.prefix`: what stands before the token, in a header only. Default `Bearer ` in the header `Authorization`, else nothing.
        public var prefix = "Bearer "

        /// `Authorization: Bearer …`.
        public init() {}
    }
}

extension ResourceConfiguration {
    /// Every secret that its requests refer to.
    public var secrets: [SecretReference] {
        authentication.secrets + (secretHeaders + secretParameters + secretFields).compactMap(\.value.reference)
    }

    /// Certificates and keys that its connections show, in PEM form: they are not sent as secrets are.
    public var identity: [SecretReference] { tls.identity + (authentication.tls?.identity ?? []) }

    /// The keys among them, or what holds one.
    public var keysOfTLS: [SecretReference] { tls.secrets + (authentication.tls?.secrets ?? []) }

    /// What of all this has several lines.
    public var keysOfSeveralLines: [SecretReference] { authentication.keysOfSeveralLines + identity }
}
