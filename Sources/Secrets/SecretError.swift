import SyncConfiguration

/// Why a secret cannot be used. Says what, where and what to do; never the value.
public enum SecretError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reference, and the file that it led to; none for an environment variable.
    public struct Place: Sendable, Equatable, CustomStringConvertible {
        /// As it stands in the configuration.
        public var reference: SecretReference
        /// The file that was read; `nil` for an environment variable.
        public var path: String?

        /// Without a path: the secret is in no file, or it is not known in which.
        public init(_ reference: SecretReference, at path: String? = nil) {
            self.reference = reference
            self.path = path
        }

        /// The subject of a sentence, such as `credential "ID" at /run/…`; never the value.
        public var description: String {
            switch reference {
            case .credential(let name): "credential \"\(name)\"" + (path.map { " at \($0)" } ?? "")
            case .file(let path): "the secret in \(path)"
            case .environment(let name): "the environment variable \(name)"
            }
        }
    }

    /// Not a file name: empty, longer than 240 bytes, or with characters other than letters, digits, `_`, `-` and `.`.
    case invalidName(String)
    /// `searched`: the paths that were tried; empty if there was nowhere to look.
    case missing(name: String, searched: [String])
    /// The environment variable is not set, or holds nothing.
    case notSet(String)
    /// The file could not be opened or read; `reason` is in the system's words.
    case unreadable(Place, reason: String)
    /// The place is there, and holds nothing but perhaps a line end.
    case empty(Place)
    /// `limit` in bytes.
    case tooLarge(Place, limit: Int)
    /// `offset`: of the first byte that is not printable text.
    case notText(Place, offset: Int)

    /// One sentence: what is wrong, where, and mostly what to do about it; never the value.
    public var description: String {
        switch self {
        case .invalidName(let name):
            "credential name \"\(name)\" is not usable: use letters, digits, \"_\", \"-\" and \".\" only"
        case .missing(let name, let searched) where searched.isEmpty:
            "credential \"\(name)\" is missing: the service manager passed no credentials; "
                + "put it into /etc/cistern/credentials/\(name) and restart the service"
        case .missing(let name, let searched):
            "credential \"\(name)\" is missing, looked for \(searched.joined(separator: ", ")); "
                + "put it into /etc/cistern/credentials/\(name), or add LoadCredential=\(name):FILE to the unit, and restart the service"
        case .notSet(let name):
            "the environment variable \(name) is not set; set it in the unit, or use a credential"
        case .unreadable(let place, let reason):
            "\(place) cannot be read: \(reason)"
        case .empty(let place):
            "\(place) is empty: write the secret into the file it comes from"
        case .tooLarge(let place, let limit):
            "\(place) is larger than \(limit / 1_024) KiB: is this the right file?"
        case .notText(let place, let offset):
            "\(place) is not one line of printable text (byte \(offset)): write the secret without control characters or further lines"
        }
    }
}
