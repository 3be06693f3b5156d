/// Why an address, or a response, is not accepted although it could be had.
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
    /// A redirect to an address that was asked before in this exchange.
    case redirectLoop
    /// The address leads to this machine or a private network; the address actually used.
    case privateAddress(String)
    /// A credential would have gone to another origin.
    case credentialLeak
    /// A status that answers a question that was not asked, such as 304 without a condition.
    case unexpectedStatus(Int)
    /// A `Content-Encoding` that was not offered, or several.
    case contentEncoding(String)

    /// The reason, and what to do about it where something can be done.
    public var description: String {
        switch self {
        case .emptyAddress: "the address is empty"
        case .malformedAddress(let why): "the address cannot be used: \(why)"
        case .scheme(let scheme): "scheme “\(scheme)” is refused; only http and https are asked"
        case .userInformation: "user name or password in an address are refused; use the auth table"
        case .downgrade: "redirect or link from https to http refused"
        case .otherOrigin(let origin): "leads to another origin, \(origin); set redirects or next_links = \"any\" to follow"
        case .redirectNotAllowed: "redirects are not allowed (redirects = \"none\")"
        case .nextLinksNotAllowed: "next links are not followed (next_links = \"none\")"
        case .missingLocation: "redirect without Location"
        case .tooManyRedirects(let limit): "more than \(limit) redirects (max_redirects)"
        case .redirectLoop: "redirects lead in a circle"
        case .privateAddress(let address):
            "\(address) is not a public address; set allow_private_networks = true if it is meant to be asked"
        case .credentialLeak: "a credential would have gone to another origin"
        case .unexpectedStatus(let status): "status \(status) answers a question that was not asked"
        case .contentEncoding(let encoding): "content encoding “\(encoding)” was not offered"
        }
    }
}
