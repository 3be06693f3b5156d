/// Why a credential cannot be used. Says what, where and what to do; never the value.
public enum CredentialError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Not a file name: empty, longer than 240 bytes, or with characters other than letters, digits, `_`, `-` and `.`.
    case invalidName(String)
    /// `searched`: the paths that were tried; empty if the manager passed no credentials at all.
    case missing(name: String, searched: [String])
    case unreadable(name: String, path: String, reason: String)
    case empty(name: String, path: String)
    /// `limit` in bytes.
    case tooLarge(name: String, path: String, limit: Int)
    /// `offset`: of the first byte that is not printable text.
    case notText(name: String, path: String, offset: Int)

    public var description: String {
        switch self {
        case .invalidName(let name):
            return "credential name \"\(name)\" is not usable: use letters, digits, \"_\", \"-\" and \".\" only"
        case .missing(let name, let searched) where searched.isEmpty:
            return "credential \"\(name)\" is missing: the service manager passed no credentials; "
                + "put it into /etc/cistern/credentials/\(name) and restart the service"
        case .missing(let name, let searched):
            return "credential \"\(name)\" is missing, looked for \(searched.joined(separator: ", ")); "
                + "put it into /etc/cistern/credentials/\(name), or add LoadCredential=\(name):FILE to the unit, and restart the service"
        case .unreadable(let name, let path, let reason):
            return "credential \"\(name)\" at \(path) cannot be read: \(reason)"
        case .empty(let name, let path):
            return "credential \"\(name)\" at \(path) is empty: write the secret into the file it comes from"
        case .tooLarge(let name, let path, let limit):
            return "credential \"\(name)\" at \(path) is larger than \(limit / 1_024) KiB: is this the right file?"
        case .notText(let name, let path, let offset):
            return "credential \"\(name)\" at \(path) is not one line of printable text (byte \(offset)): "
                + "write the secret without control characters or further lines"
        }
    }
}
