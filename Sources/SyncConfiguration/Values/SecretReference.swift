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
