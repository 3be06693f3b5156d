public import NIOHTTP1

/// A page that was fetched completely.
public struct FetchedPage: Sendable {
    /// The address that answered, after redirects, without credentials.
    public let address: HTTPAddress
    /// The status; one of those that count as success.
    public let status: Int
    /// All headers of the response.
    public let headers: HTTPHeaders
    /// The decompressed body. Behind its last byte there is room for at least 64 more, which the parser may read.
    public let body: [UInt8]
    /// The digest of the body.
    public let digest: BodyDigest
    /// What makes the next request for this page conditional.
    public let validators: ConditionalGET?
    /// Bytes on the wire, before decompression.
    public let received: Int
    /// The time the page took, failed attempts and waits included.
    public let duration: Duration
    /// How many requests were made.
    public let attempts: Int
    /// What the response says about how soon to ask again.
    public let pacing: ServerPacing

    /// Whether this is only a part of the page, so that the run is not complete.
    public var isPartial: Bool { status == 206 }
}
