/// The tokens of `auth` that are made here.
extension AuthenticationConfiguration {
    /// A signed token (JWT, RFC 7519): what it says, and what it is signed with.
    public struct WebToken: Sendable, Hashable {
        /// How it is signed (RFC 7518, 3.1; RFC 8037, 3.1).
        public enum Algorithm: String, Sendable, Hashable, CaseIterable {
            /// RSA with PKCS #1 v1.5 and SHA-256, SHA-384 or SHA-512.
            case rs256 = "RS256", rs384 = "RS384", rs512 = "RS512"
            /// ECDSA on the curve P-256 with SHA-256, on P-384 with SHA-384.
            case es256 = "ES256", es384 = "ES384"
            /// HMAC with SHA-256, SHA-384 or SHA-512.
            case hs256 = "HS256", hs384 = "HS384", hs512 = "HS512"
            /// Ed25519.
            case edDSA = "EdDSA"

            /// Whether the service has the same key; else it has the public one.
            public var isShared: Bool {
                switch self {
                case .hs256, .hs384, .hs512: true
                case .rs256, .rs384, .rs512, .es256, .es384, .edDSA: false
                }
            }
        }

        /// How a shared key is written.
        public enum KeyEncoding: String, Sendable, Hashable, CaseIterable {
            /// The text is the key; the default.
            case text
            /// The bytes are written in Base64, in either alphabet.
            case base64
        }

        /// How long a token is good unless the configuration says it.
        public static let defaultLifetime = TimeSpan.minutes(10)

        /// `key`: required; a private key in PEM form or, for the algorithms that begin with HS, the shared one. Read again for each token.
        public var key: SecretReference
        /// `key_encoding`: of a shared key.
        public var keyEncoding = KeyEncoding.text
        /// `algorithm`, default `RS256`.
        public var algorithm: Algorithm
        /// `claims`: what it says, sorted by name. When it was made, from when and until when it is good, and which one it is come on top.
        public var claims: [SecretJSON.Member] = []
        /// `headers`: what its header says beyond the algorithm and `typ`, sorted by name.
        public var headers: [SecretJSON.Member] = []
        /// `lifetime`: from `iat` to `exp`.
        public var lifetime = WebToken.defaultLifetime

        /// A token that says nothing but its times.
        public init(key: SecretReference, algorithm: Algorithm = .rs256) {
            self.key = key
            self.algorithm = algorithm
        }

        /// Every secret it refers to.
        public var secrets: [SecretReference] { [key] + (claims + headers).flatMap(\.value.secrets) }

        /// Those of them that have several lines.
        public var keysOfSeveralLines: [SecretReference] { algorithm.isShared ? [] : [key] }
    }

    /// A signed token that requests carry, used until shortly before it ends.
    public struct JWT: Sendable, Hashable {
        /// What is made.
        public var webToken: WebToken
        /// `auth.early_refresh`: how long before its end a token is no longer used; half of its life at most. Default 60 s.
        public var earlyRefresh = TimeSpan.seconds(60)
        /// `auth.send_as`: where requests carry it. Default `Authorization: Bearer …`.
        public var sendAs = SendAs()

        /// Such tokens, sent as `Authorization: Bearer …`.
        public init(_ webToken: WebToken) {
            self.webToken = webToken
        }
    }
}
