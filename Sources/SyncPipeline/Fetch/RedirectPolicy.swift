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

    /// Whether a status asks for a redirect. 300, 304, 305 and 306 do not.
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
