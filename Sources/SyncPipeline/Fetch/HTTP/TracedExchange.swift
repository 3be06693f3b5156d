public import Foundation
import NIOHTTP1
public import SyncReports

/// One request and what came of it, without secrets: for somebody who has to find out what goes on between this program and a server.
///
/// Of an exchange that was redirected there is one for each hop. Requests for tokens are not among them.
public struct TracedExchange: Sendable, Hashable {
    /// A header as it may be shown.
    public struct Field: Sendable, Hashable {
        /// As it was sent.
        public let name: String
        /// `[redacted]` unless it is known to be harmless.
        public let value: String
    }

    /// When the request was sent.
    public let time: Date
    /// What it was for.
    public let scope: ResourceScope
    /// Which attempt at the page it was; the first is 1.
    public let attempt: Int
    /// `GET` or `POST`.
    public let method: String
    /// Without what identifies the request.
    public let address: String
    /// In the order in which they were sent.
    public let requestFields: [Field]
    /// Bytes of the body that was sent.
    public let sent: Int
    /// Nil: no answer came.
    public internal(set) var status: Int?
    /// In the order in which they came.
    public internal(set) var responseFields: [Field] = []
    /// Bytes of a page's body as it came; 0 of any other body.
    public internal(set) var received = 0
    /// From the request to the end of what was read, or to the failure.
    public internal(set) var duration = Duration.zero
    /// Why it came to nothing; nil: an answer came to its end.
    public internal(set) var error: String?
}

/// Takes exchanges in.
public protocol ExchangeTracing: Sendable {
    /// Whether anybody looks: nothing is put together otherwise.
    var isTracing: Bool { get }
    /// Takes one in. Called on no particular thread, in the middle of a run: it returns at once.
    func trace(_ exchange: TracedExchange)
}

extension TracedExchange {
    /// The values of these headers say nothing of who asks. Of any other only the name is shown: a list of those that are secret would never be complete.
    private static let harmless: Set<String> = [
        "accept", "accept-encoding", "age", "cache-control", "connection", "content-encoding", "content-length", "content-type", "date", "etag",
        "expires", "host", "if-modified-since", "if-none-match", "keep-alive", "last-modified", "ratelimit-limit", "ratelimit-remaining",
        "ratelimit-reset", "retry-after", "server", "transfer-encoding", "user-agent", "vary", "x-ratelimit-limit", "x-ratelimit-remaining",
        "x-ratelimit-reset",
    ]

    /// Headers as they may be shown.
    /// - Parameter isShown: false for one whose value is a secret whatever its name is.
    static func fields(_ headers: HTTPHeaders, _ redactor: Redactor, where isShown: (_ name: String) -> Bool = { _ in true }) -> [Field] {
        headers.map { name, value in
            let isHarmless = harmless.contains(name.lowercased()) && isShown(name)
            return Field(name: redactor.redact(name), value: isHarmless ? redactor.redact(value) : Redactor.mask)
        }
    }
}
