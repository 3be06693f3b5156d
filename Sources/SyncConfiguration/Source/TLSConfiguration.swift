/// `tls`: whom to believe.
public struct TLSConfiguration: Sendable, Hashable {
    public enum Version: String, Sendable, Hashable, CaseIterable {
        case tls12 = "1.2"
    }

    public enum CertificateAuthority: Sendable, Hashable {
        /// The certificates the system trusts.
        case system
        /// A PEM file.
        case file(String)
        /// A credential that holds PEM text.
        case credential(String)
    }

    /// In force; not to be set in this version.
    public private(set) var minVersion = Version.tls12
    public var ca = CertificateAuthority.system
    /// Whether the server's certificate is checked.
    public var verify = true
    /// Why ``verify`` is off: every reading of the configuration warns of it in these words. Never empty when it is.
    public var insecureReason = ""

    /// The built-in values.
    public init() {}
}
