/// `auth`: how requests identify themselves. Secrets stand here by reference only.
public enum AuthenticationConfiguration: Sendable, Hashable {
    case none
    case bearer(Bearer)
    case basic(Basic)
    case apiKey(APIKey)

    /// A token in a header: `Authorization: Bearer …`.
    public struct Bearer: Sendable, Hashable {
        public var token: SecretReference
        public var header: String
        /// The word before the token; empty for none.
        public var scheme: String

        public init(token: SecretReference, header: String = "Authorization", scheme: String = "Bearer") {
            self.token = token
            self.header = header
            self.scheme = scheme
        }
    }

    /// User name and password.
    public struct Basic: Sendable, Hashable {
        /// A user name is no secret, but may be kept as one.
        public enum User: Sendable, Hashable {
            case name(String)
            case secret(SecretReference)
        }

        public var username: User
        public var password: SecretReference

        public init(username: User, password: SecretReference) {
            self.username = username
            self.password = password
        }
    }

    /// A key under a name of the service's own choice.
    public struct APIKey: Sendable, Hashable {
        public enum Place: String, Sendable, Hashable, CaseIterable {
            case header
            case query
            case cookie
        }

        public var name: String
        public var place: Place
        public var value: SecretReference

        public init(name: String = "X-Api-Key", in place: Place = .header, value: SecretReference) {
            self.name = name
            self.place = place
            self.value = value
        }
    }

    /// Every secret it refers to.
    public var secrets: [SecretReference] {
        switch self {
        case .none: []
        case .bearer(let bearer): [bearer.token]
        case .basic(let basic):
            if case .secret(let user) = basic.username { [user, basic.password] } else { [basic.password] }
        case .apiKey(let key): [key.value]
        }
    }
}
