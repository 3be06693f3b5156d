/// Where a secret is kept. The configuration never holds a secret itself, so this value may be printed and compared freely.
public enum SecretReference: Sendable, Hashable, CustomStringConvertible {
    /// `{ credential = "ID" }`: a credential handed over by the service manager.
    case credential(String)
    /// `{ file = "/path" }`: the content of a file, read before each request.
    case file(String)
    /// `{ env = "NAME" }`: an environment variable; other processes of the same user can read it.
    case environment(String)

    /// The reference as the configuration writes it.
    public var description: String {
        switch self {
        case .credential(let id): "{ credential = \(tomlQuoted(id)) }"
        case .file(let path): "{ file = \(tomlQuoted(path)) }"
        case .environment(let name): "{ env = \(tomlQuoted(name)) }"
        }
    }
}

/// One HTTP header of a request: a name (compared without case) and a value without control characters.
public struct HeaderField: Sendable, Hashable {
    /// In the case it is sent in.
    public var name: String
    /// Sent as it stands; no secret, since the configuration shows it.
    public var value: String

    /// A header that is taken as it is; only the reader of the configuration checks its characters.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// One query parameter of a request, not yet percent-encoded. A name may occur several times.
public struct QueryParameter: Sendable, Hashable {
    /// Not yet percent-encoded; compared with case.
    public var name: String
    /// Not yet percent-encoded; numbers and truth values of the file as their text.
    public var value: String

    /// A parameter that is encoded only when the URL is put together.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
