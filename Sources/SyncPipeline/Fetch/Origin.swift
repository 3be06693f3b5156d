/// Scheme, host and port: what credentials belong to.
public struct Origin: Sendable, Hashable, Codable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// In lower case, without brackets and without a trailing dot.
    public let host: String
    /// The port, also where it is the scheme's own.
    public let port: Int

    init(scheme: String, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// The port that a scheme has when an address names none.
    static func defaultPort(of scheme: String) -> Int { scheme == "https" ? 443 : 80 }

    /// `https://api.example`, with the port where it is not the scheme's own.
    public var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == Self.defaultPort(of: scheme) ? "\(scheme)://\(name)" : "\(scheme)://\(name):\(port)"
    }
}
