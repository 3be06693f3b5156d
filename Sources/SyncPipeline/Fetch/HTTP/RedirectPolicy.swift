public import SyncConfiguration

/// Decides, hop by hop, where a redirect may lead. A value for one exchange.
public struct RedirectPolicy: Sendable {
    private let reach: HTTPConfiguration.Reach
    private let limit: Int
    private var visited: Set<HTTPAddress>
    private var hops = 0

    /// The policy of one exchange that begins at `first`.
    public init(reach: HTTPConfiguration.Reach, limit: Int, first: HTTPAddress) {
        self.reach = reach
        self.limit = limit
        visited = [first]
    }

    /// Whether a status means a redirect. 300, 304, 305 and 306 do not.
    public static func isRedirect(_ status: Int) -> Bool {
        [301, 302, 303, 307, 308].contains(status)
    }

    /// Where the next request of the exchange goes.
    /// - Parameters:
    ///   - locations: all values of the `Location` header.
    ///   - address: the address that answered with the redirect.
    ///   - method: the request's method; only what has no body is sent again elsewhere.
    /// - Throws: why the redirect is not followed.
    public mutating func follow(locations: [String], from address: HTTPAddress, method: String = "GET") throws(Refusal) -> HTTPAddress {
        guard reach != .none, method == "GET" || method == "HEAD" else { throw .redirectNotAllowed }
        guard let location = locations.first else { throw .missingLocation }
        guard locations.allSatisfy({ $0 == location }) else { throw .malformedAddress("several Locations") }
        guard !location.allSatisfy({ $0 == " " || $0 == "\t" }) else { throw .emptyAddress }
        let target = try address.resolving(location)
        guard address.origin.scheme != "https" || target.origin.scheme == "https" else { throw .downgrade }
        guard reach == .any || target.origin == address.origin else { throw .otherOrigin(target.origin) }
        guard hops < limit else { throw .tooManyRedirects(limit) }
        guard visited.insert(target).inserted else { throw .redirectLoop }
        hops += 1
        return target
    }
}

/// Why an address, or a response, is refused although it is available.
public enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// No address at all: an empty `Location` or next link.
    case emptyAddress
    /// Not an address that all parsers read alike.
    case malformedAddress(String)
    /// Something other than `http` or `https`.
    case scheme(String)
    /// A user name or password in the address.
    case userInformation
    /// From `https` to `http`.
    case downgrade
    /// A redirect or next link to another origin than the configuration allows.
    case otherOrigin(Origin)
    /// A redirect where the configuration allows none.
    case redirectNotAllowed
    /// A next link where the configuration follows none.
    case nextLinksNotAllowed
    /// A redirect without `Location`.
    case missingLocation
    /// More redirects than allowed.
    case tooManyRedirects(Int)
    /// A redirect to an address that was already requested in this exchange.
    case redirectLoop
    /// The address leads to this machine or a private network; the address actually used.
    case privateAddress(String)
    /// A credential would have gone to another origin.
    case credentialLeak
    /// A status that answers a request that was not made, such as 304 without a condition.
    case unexpectedStatus(Int)
    /// A `Content-Encoding` that was not offered, or several.
    case contentEncoding(String)

    /// The reason, and what to do about it where something can be done.
    public var description: String {
        switch self {
        case .emptyAddress: "the address is empty"
        case .malformedAddress(let why): "the address cannot be used: \(why)"
        case .scheme(let scheme): "scheme “\(scheme)” is refused; only http and https are allowed"
        case .userInformation: "an address may not contain a user name or password; use the auth table"
        case .downgrade: "redirect or link from https to http refused"
        case .otherOrigin(let origin): "leads to another origin, \(origin); set redirects or next_links = \"any\" to follow"
        case .redirectNotAllowed: "redirects are not allowed (redirects = \"none\")"
        case .nextLinksNotAllowed: "next links are not followed (next_links = \"none\")"
        case .missingLocation: "redirect without Location"
        case .tooManyRedirects(let limit): "more than \(limit) redirects (max_redirects)"
        case .redirectLoop: "redirects form a loop"
        case .privateAddress(let address):
            "\(address) is not a public address; set allow_private_networks = true if you mean to ask it"
        case .credentialLeak: "a credential would have gone to another origin"
        case .unexpectedStatus(let status): "status \(status) answers a request that was not made"
        case .contentEncoding(let encoding): "content encoding “\(encoding)” was not offered"
        }
    }
}
