/// What a server wants of its clients.
public struct ClientDemand: Sendable {
    /// The PEM file of who must have signed their certificates.
    public let authority: String
    /// Whether those without one are turned away.
    public let isRequired: Bool

    /// Certificates of this authority.
    public init(authority: String, isRequired: Bool = true) {
        self.authority = authority
        self.isRequired = isRequired
    }
}
