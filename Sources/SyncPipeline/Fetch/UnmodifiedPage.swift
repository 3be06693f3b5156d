public import NIOHTTP1

/// A page that is as it was when the validators were taken.
public struct UnmodifiedPage: Sendable {
    /// How it is known.
    public enum Evidence: String, Sendable, Hashable {
        /// Status 304.
        case status = "304"
        /// A success with the same `ETag`.
        case etag = "same ETag"
        /// A success with the same body.
        case body = "same body"
    }

    /// The address that answered, after redirects, without credentials.
    public let address: HTTPAddress
    /// How it is known.
    public let evidence: Evidence
    /// All headers of the response.
    public let headers: HTTPHeaders
    /// What makes the next request conditional: what was sent, unless a success brought newer ones.
    public let validators: ConditionalGET
    /// Bytes on the wire.
    public let received: Int
    /// The time it took, failed attempts and waits included.
    public let duration: Duration
    /// How many requests were made.
    public let attempts: Int
    /// What the response says about how soon to ask again.
    public let pacing: ServerPacing
}
