public import Foundation
public import NIOHTTP1

/// The outcome of a fetch. Every case is expected, so none is thrown.
public enum FetchOutcome: Sendable {
    /// The page, completely.
    case page(FetchedPage)
    /// Nothing new. Whether to believe that is up to the caller, who knows whether the rows are there.
    case notModified(UnmodifiedPage)
    /// The server wants to be left alone for longer than a run should wait.
    case parked(until: Date, FetchError)
    /// No request was made: another fetch was told that the server wants to be left alone.
    case leftAlone(until: Date)
    /// Status 401: the credentials are not accepted.
    case authenticationRejected(FetchError)
    /// A rule forbids the request or its response: an address, a redirect, a limit. Trying again would not help.
    case refused(FetchError)
    /// Every attempt failed.
    case failed(FetchError)
    /// It was cancelled.
    case cancelled

    /// The error, where there is one.
    public var error: FetchError? {
        switch self {
        case .page, .notModified, .leftAlone, .cancelled: nil
        case .parked(_, let error), .authenticationRejected(let error), .refused(let error), .failed(let error): error
        }
    }

    /// No request before then, if the server said so. Applies to everything of that origin and credential.
    public var notBefore: Date? {
        switch self {
        case .parked(let until, _), .leftAlone(let until): until
        case .page(let page): page.notBefore
        case .notModified(let page): page.notBefore
        default: error?.notBefore
        }
    }
}

/// A page that was fetched completely.
public struct FetchedPage: Sendable {
    /// The address that answered, after redirects, without credentials.
    public let address: HTTPAddress
    /// The status; one of those that count as success.
    public let status: Int
    /// All headers of the response.
    public let headers: HTTPHeaders
    /// What it holds.
    public let content: PageContent
    /// What makes the next request for this page conditional.
    public internal(set) var validators: ConditionalGET?
    /// Bytes on the wire, before decompression.
    public let received: Int
    /// The time the page took, failed attempts and waits included.
    public let duration: Duration
    /// How many requests were made.
    public let attempts: Int
    /// What the response says about how soon to ask again.
    public let pacing: ServerPacing
    /// A condition said that there are no records: what the body says of it, with secrets masked, empty if nothing; nil: none did.
    var ignored: String?
    /// Its body as it came, for the archive; nil: it is not kept.
    var body: ArrivedBody?
    /// The server says that its limit of requests is used up until then.
    var notBefore: Date?

    /// Whether this is only a part of the page, so that the run is not complete.
    public var isPartial: Bool { status == 206 }
}

/// A page that is unchanged since the validators were taken.
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
    /// The body of a success that brought nothing new, for the archive.
    var body: ArrivedBody?
    /// The server says that its limit of requests is used up until then.
    var notBefore: Date?
}
