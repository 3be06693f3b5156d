/// `http`: one exchange with the server.
public struct HTTPConfiguration: Sendable, Hashable {
    /// How far a redirect or a link in an answer may lead.
    public enum Reach: String, Sendable, Hashable, CaseIterable {
        /// Nowhere: a redirect is refused, a next link is not followed.
        case none
        /// To the same scheme, host and port only; the default.
        case sameOrigin = "same-origin"
        /// To any origin, but never from HTTPS to HTTP by redirect; credentials stay behind.
        case any
    }

    /// Whether private, loopback and link-local addresses may be connected to.
    public enum PrivateNetworks: Sendable, Hashable {
        /// Only when the configured URL itself names such an address.
        case auto
        /// `true` in the configuration: such addresses count as any other.
        case allow
        /// `false` in the configuration: such addresses are refused, even where the configured URL names one.
        case refuse
    }

    /// Whether `ETag` and `Last-Modified` of the last answer go into the next request.
    public enum Conditional: String, Sendable, Hashable, CaseIterable {
        /// Validators are kept and sent.
        case auto
        /// Every request asks for the whole answer.
        case off
    }

    /// What becomes of the cookies that a server sets.
    public enum Cookies: String, Sendable, Hashable, CaseIterable {
        /// They are ignored.
        case off
        /// They are sent back to their origin until the run ends, and never stored.
        case run
    }

    /// How a body may be compressed on its way.
    public enum ContentCoding: String, Sendable, Hashable, CaseIterable {
        case gzip
    }

    /// `nil` (`"auto"`): made of the daemon's name, its version and the contact.
    public var userAgent: String?
    /// Sent with every request; in the order of their names.
    public var headers: [HeaderField] = []
    /// `http.accept_encoding`: what is asked for besides a body as it is, which is always accepted. Default gzip.
    public var acceptEncoding = [ContentCoding.gzip]
    /// `http.connect_timeout`: longest wait for a connection. Default 10 s.
    public var connectTimeout = TimeSpan.seconds(10)
    /// `http.first_byte_timeout`: longest wait for the complete head of the answer, beyond the time to connect. Default 30 s.
    public var firstByteTimeout = TimeSpan.seconds(30)
    /// The longest silence inside a body.
    public var idleTimeout = TimeSpan.seconds(15)
    /// The whole exchange, redirects included.
    public var totalTimeout = TimeSpan.seconds(120)
    /// `nil` (`"off"`): any speed will do.
    public var minSpeed: MinimumSpeed? = MinimumSpeed(perSecond: .bytes(256), over: .seconds(30))
    /// `http.max_header_bytes`: largest head of an answer, 1 KiB to 16 MiB. Default 64 KiB; a larger one is refused and not retried.
    public var maxHeaderBytes = ByteCount.kibibytes(64)
    /// The body as it comes.
    public var maxBodyCompressed = ByteCount.mebibytes(8)
    /// The body after decompression.
    public var maxBody = ByteCount.mebibytes(16)
    /// Decompressed by compressed size; looked at past the first MiB.
    public var maxRatio = 100
    /// `http.redirects`, default `same-origin`. Credentials never go along to another origin, and a request that sends something is not led there.
    public var redirects = Reach.sameOrigin
    /// `http.max_redirects`: redirects followed for one request, 0 to 20. Default 3; one more and the answer is refused.
    public var maxRedirects = 3
    /// Links taken from bodies and `Link` headers. A request that sends something is not led to another origin.
    public var nextLinks = Reach.sameOrigin
    /// `http.allow_private_networks`: `"auto"` (the default), true or false.
    public var allowPrivateNetworks = PrivateNetworks.auto
    /// `http.conditional`, default `auto`.
    public var conditional = Conditional.auto
    /// `http.cookies`, default `run`.
    public var cookies = Cookies.run

    /// The built-in values.
    public init() {}
}

/// `retry`: when a request is made again within a run.
public struct RetryConfiguration: Sendable, Hashable {
    /// Failures below HTTP.
    public enum Failure: String, Sendable, Hashable, CaseIterable {
        /// No connection to any address of the host.
        case connect
        /// One of the four time limits ran out: connect, first byte, idle or total.
        case timeout
        /// The connection broke before the head of the answer was complete.
        case reset
        /// The body stopped before its end: fewer bytes than announced, or chunks or compressed data cut off.
        case shortBody = "short-body"
        /// The name could not be looked up just now; one that does not exist is not retried.
        case dnsTemporary = "dns-temporary"
    }

    /// How much of a delay is left to chance.
    public enum Jitter: String, Sendable, Hashable, CaseIterable {
        /// Anything from nothing to the whole delay.
        case full
        /// Half of it fixed, the other half by chance.
        case equal
        /// The delay as computed, with nothing left to chance.
        case none
    }

    /// Methods that a request may be repeated with. Whether a POST may is for its resource to say (``ResourceConfiguration/isIdempotent``).
    public enum Method: String, Sendable, Hashable, CaseIterable {
        case get = "GET"
        case head = "HEAD"
    }

    /// Requests for one page in all; 1 means none is repeated.
    public var attempts = 4
    /// `retry.statuses`: answers after which the request is repeated. Empty: none; default 408, 425, 429, 500, 502, 503 and 504. 401 never is.
    public var statuses = [408, 425, 429, 500, 502, 503, 504]
    /// `retry.errors`: failures below HTTP after which the request is repeated. Empty: none; default: all of ``Failure``.
    public var errors: [Failure] = [.connect, .timeout, .reset, .shortBody, .dnsTemporary]
    /// `retry.methods`, default `GET` and `HEAD`. Without `GET` nothing is repeated, no POST either.
    public var methods: [Method] = [.get, .head]
    /// The delay before the second attempt.
    public var base = TimeSpan.seconds(1)
    /// What each further delay is multiplied by.
    public var factor = 2.0
    /// `retry.max_delay`: no delay grows beyond it. Default 60 s.
    public var maxDelay = TimeSpan.seconds(60)
    /// `retry.jitter`, default `full`.
    public var jitter = Jitter.full
    /// When the server asks for a longer wait than this, the run ends and the resource is left alone until then.
    public var retryAfterPark = TimeSpan.minutes(5)
    /// No server is left alone for longer than this, whatever it asks for.
    public var maxPark = TimeSpan.hours(24)
    /// `retry.refresh_auth_on`: answers after which a token that was fetched or made is replaced, once for a page, and the request made again. Empty:
    /// none. `nil` (`"auto"`): 401, and of a session 403, too, since some services know no difference.
    public var refreshAuthOn: [Int]?

    /// The built-in values.
    public init() {}
}

/// `tls`: whom to trust, and what to show.
public struct TLSConfiguration: Sendable, Hashable {
    /// The oldest TLS version that is agreed to.
    public enum Version: String, Sendable, Hashable, CaseIterable {
        /// TLS 1.2 or newer.
        case tls12 = "1.2"
        /// TLS 1.3 or newer.
        case tls13 = "1.3"
    }

    /// Which authorities may vouch for a server.
    public enum CertificateAuthority: Sendable, Hashable {
        /// The certificates the system trusts.
        case system
        /// A PEM file.
        case file(String)
        /// A credential that holds PEM text.
        case credential(String)
    }

    /// `tls.min_version`, default 1.2.
    public var minVersion = Version.tls12
    /// `tls.ca`: `"system"` (the default), the path of a PEM file, or `{ credential = "ID" }`.
    public var ca = CertificateAuthority.system
    /// `tls.server_name`: the name that the server is asked for in the handshake, and that its certificate must be for. Empty: that of the URL.
    public var serverName = ""
    /// `tls.pin_sha256`: SHA-256 of the SubjectPublicKeyInfo of the keys that the server may have, in base64, whoever vouches for them. Empty: any key.
    public var pinSHA256: [String] = []
    /// Whether the server's certificate is checked.
    public var verify = true
    /// Why ``verify`` is off: every reading of the configuration warns of it in these words. Never empty when it is.
    public var insecureReason = ""
    /// `tls.client_cert`: the certificate that the client shows, PEM, and those in between; nil for none. Read again for each run.
    public var clientCertificate: SecretReference?
    /// `tls.client_key`: its key, PEM; nil: in the same place.
    public var clientKey: SecretReference?

    /// The built-in values.
    public init() {}

    /// Whether it says something that is true of one server only.
    public var isOfOneServer: Bool { clientCertificate != nil || !serverName.isEmpty || !pinSHA256.isEmpty }

    /// Where certificate and key are, in PEM form.
    public var identity: [SecretReference] { [clientCertificate, clientKey].compactMap(\.self) }

    /// Where the key is, which nobody else may read.
    public var secrets: [SecretReference] { [clientKey ?? clientCertificate].compactMap(\.self) }
}
