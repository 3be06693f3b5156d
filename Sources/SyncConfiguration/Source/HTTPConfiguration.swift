/// `http`: one exchange with the server.
public struct HTTPConfiguration: Sendable, Hashable {
    /// How far a redirect or a link in an answer may lead.
    public enum Reach: String, Sendable, Hashable, CaseIterable {
        case none
        case sameOrigin = "same-origin"
        case any
    }

    /// Whether private, loopback and link-local addresses may be connected to.
    public enum PrivateNetworks: Sendable, Hashable {
        /// Only when the configured URL itself names such an address.
        case auto
        case allow
        case refuse
    }

    public enum Conditional: String, Sendable, Hashable, CaseIterable {
        /// Validators are kept and sent.
        case auto
        case off
    }

    /// `nil` (`"auto"`): made of the daemon's name, its version and the contact.
    public var userAgent: String?
    /// Sent with every request; in the order of their names.
    public var headers: [HeaderField] = []
    /// In force; not to be set in this version.
    public private(set) var acceptEncoding = ["gzip"]
    public var connectTimeout = TimeSpan.seconds(10)
    public var firstByteTimeout = TimeSpan.seconds(30)
    /// The longest silence inside a body.
    public var idleTimeout = TimeSpan.seconds(15)
    /// The whole exchange, redirects included.
    public var totalTimeout = TimeSpan.seconds(120)
    /// `nil` (`"off"`): any speed will do.
    public var minSpeed: MinimumSpeed? = MinimumSpeed(perSecond: .bytes(256), over: .seconds(30))
    public var maxHeaderBytes = ByteCount.kibibytes(64)
    /// The body as it comes.
    public var maxBodyCompressed = ByteCount.mebibytes(8)
    /// The body after decompression.
    public var maxBody = ByteCount.mebibytes(16)
    /// Decompressed by compressed size; looked at past the first MiB.
    public var maxRatio = 100
    public var redirects = Reach.sameOrigin
    public var maxRedirects = 3
    /// Links taken from bodies and `Link` headers.
    public var nextLinks = Reach.sameOrigin
    public var allowPrivateNetworks = PrivateNetworks.auto
    public var conditional = Conditional.auto

    /// The built-in values.
    public init() {}
}
