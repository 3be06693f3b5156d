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
    ///   - status: that of the redirect. 307 and 308 keep method and body (RFC 9110, 15.4.8 and 15.4.9); after any other many programs ask with a
    ///     GET, which would be another question.
    ///   - method: the request's method.
    ///   - sendsContent: whether the request sends anything: no other origin gets that.
    /// - Throws: why the redirect is not followed.
    public mutating func follow(
        locations: [String], from address: HTTPAddress, status: Int, method: RequestMethod = .get, sendsContent: Bool = false
    ) throws(Refusal) -> HTTPAddress {
        guard reach != .none else { throw .redirectNotAllowed }
        guard method == .get || status == 307 || status == 308 else { throw .redirectOfPOST(status) }
        guard let location = locations.first else { throw .missingLocation }
        guard locations.allSatisfy({ $0 == location }) else { throw .malformedAddress("several Locations") }
        guard !location.allSatisfy({ $0 == " " || $0 == "\t" }) else { throw .emptyAddress }
        let target = try address.resolving(location)
        guard address.origin.scheme != "https" || target.origin.scheme == "https" else { throw .downgrade }
        guard target.origin == address.origin || !sendsContent else { throw .contentForOtherOrigin(target.origin) }
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
    /// A redirect or next link to another origin, of a request that sends something.
    case contentForOtherOrigin(Origin)
    /// A redirect where the configuration allows none.
    case redirectNotAllowed
    /// A next link where the configuration follows none.
    case nextLinksNotAllowed
    /// A redirect without `Location`.
    case missingLocation
    /// More redirects than allowed.
    case tooManyRedirects(Int)
    /// A redirect of a POST with a status that does not say that it stays one.
    case redirectOfPOST(Int)
    /// A redirect to an address that was already requested in this exchange.
    case redirectLoop
    /// The address leads to this machine or a private network; the address actually used.
    case privateAddress(String)
    /// A credential would have gone to another origin.
    case credentialLeak
    /// An address that is to be stored holds a credential.
    case credentialInAddress
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
        case .contentForOtherOrigin(let origin):
            "leads to another origin, \(origin), and what the request sends is not for that; "
                + "if the service has moved, write its address in base_url or url"
        case .redirectNotAllowed: "redirects are not allowed (redirects = \"none\")"
        case .nextLinksNotAllowed: "next links are not followed (next_links = \"none\")"
        case .missingLocation: "redirect without Location"
        case .tooManyRedirects(let limit): "more than \(limit) redirects (max_redirects)"
        case .redirectOfPOST(let status):
            "status \(status) would make a GET of a POST; if the service has moved, write the address it leads to in path or url"
        case .redirectLoop: "redirects form a loop"
        case .privateAddress(let address):
            "\(address) is not a public address; set allow_private_networks = true if you mean to ask it"
        case .credentialLeak: "a credential would have gone to another origin"
        case .credentialInAddress: "the address holds a credential, which would be stored with it"
        case .unexpectedStatus(let status): "status \(status) answers a request that was not made"
        case .contentEncoding(let encoding): "content encoding “\(encoding)” was not offered"
        }
    }
}
