public import NIOHTTP1

/// One request as it goes on the wire: address and headers include the credentials.
///
/// Printing it shows the method and the origin only.
public struct HTTPRequest: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `GET`, the only method of this version.
    public let method: String
    /// Where it goes, credentials in the query included.
    public var address: HTTPAddress
    /// All headers except those that the transport sets itself (`Host`, `Connection`).
    public var headers: HTTPHeaders

    /// A GET request.
    public init(address: HTTPAddress, headers: HTTPHeaders) {
        method = "GET"
        self.address = address
        self.headers = headers
    }

    /// Method and origin.
    public var description: String { "\(method) \(address.origin)" }

    /// Method and origin.
    public var debugDescription: String { description }

    /// Nothing, so that a dump shows no credential.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
