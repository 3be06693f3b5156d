/// What a run failed of, beside the sentence that says it.
public enum RunFailure: String, Sendable, Hashable, Codable {
    /// No trust: the certificate or the agreement on TLS failed.
    case tls
    /// A page could not be had for another reason.
    case fetch
    /// What came could not be used, or led nowhere, or it took too long.
    case page
    /// The store could not be read or written.
    case store
}
