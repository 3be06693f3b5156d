public import Foundation
public import SyncConfiguration

/// Why a page could not be fetched: the class of the failure, where it happened, and what was seen.
///
/// Credentials were removed when it was made. `summary` and `description` may be printed; the parts hold what the server sent.
public struct FetchError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Which of the time limits ran out.
    public enum Limit: String, Sendable, Hashable {
        /// `connect_timeout`: no connection, or no TLS handshake.
        case connect = "connect_timeout"
        /// `first_byte_timeout`: no complete head of a response.
        case firstByte = "first_byte_timeout"
        /// `idle_timeout`: silence inside the body.
        case idle = "idle_timeout"
        /// `total_timeout`: the exchange as a whole.
        case total = "total_timeout"
        /// `min_speed`: too slow for too long.
        case speed = "min_speed"
    }

    /// Which of the size limits was passed.
    public enum Size: String, Sendable, Hashable {
        /// `max_header_bytes`
        case header = "max_header_bytes"
        /// `max_body_compressed`
        case compressedBody = "max_body_compressed"
        /// `max_body`
        case body = "max_body"
        /// `max_ratio`
        case ratio = "max_ratio"
        /// More gzip members in one body than anybody needs.
        case gzipMembers = "gzip members"
    }

    /// The class of a failure: what decides whether another attempt is worth while.
    public enum Kind: Sendable, Hashable {
        /// No connection to any address of the host.
        case connect
        /// A time limit ran out.
        case timeout(Limit)
        /// The connection broke before the head of the response was complete.
        case reset
        /// The body ended before its end: fewer bytes than announced, chunks or compressed data cut off.
        case shortBody
        /// The name could not be looked up just now.
        case dnsTemporary
        /// The name does not exist.
        case dnsNotFound
        /// No trust: the certificate or the TLS handshake failed.
        case tls
        /// The response is not HTTP, or contradicts itself.
        case malformed
        /// The compressed data are damaged.
        case corruptBody
        /// A status that does not mean success.
        case status(Int)
        /// A condition of the configuration says that the answer is a failure, whatever its status.
        case answer(AnswerCondition.Meaning)
        /// A success of GraphQL that holds errors.
        case answerErrors
        /// A body of a type that was not requested, such as a login page.
        case contentType
        /// A size limit was passed.
        case tooLarge(Size)
        /// There is no room for a body that is too large for the memory.
        case spool
        /// A rule forbids it.
        case refused(Refusal)
        /// A secret could not be read or cannot be sent.
        case credential
        /// `rate.requests` allows no request for longer than a run should wait.
        case budget
        /// The fetch was cancelled.
        case cancelled

        /// Whether it is certain that nothing of the request that failed was sent: it was still to be connected to the server.
        var isBeforeRequest: Bool {
            switch self {
            case .connect, .timeout(.connect), .dnsTemporary, .dnsNotFound, .tls, .credential, .budget: true
            case .timeout, .reset, .shortBody, .malformed, .corruptBody, .status, .answer, .answerErrors, .contentType, .tooLarge, .spool, .refused,
                .cancelled:
                false
            }
        }
    }

    /// The class.
    public var kind: Kind
    /// What exactly happened, in words; may be empty.
    public var detail: String
    /// The requested address, without credentials; empty if no request was made.
    public var url: String
    /// The status of the response, if there was one.
    public var status: Int?
    /// The `Content-Type` of the response, if it had one.
    public var contentType: String?
    /// The first 200 bytes of the body, as far as there were any.
    public var excerpt: String
    /// The server wants to be left alone until then.
    public var notBefore: Date?
    /// How many requests were made for the page.
    public var attempts: Int
    /// The request that failed is one to which a redirect has led: the one before it was sent, and answered.
    var isAfterRedirect = false

    /// Whether it is certain that no server has got anything of what was asked for.
    var isBeforeRequest: Bool { kind.isBeforeRequest && !isAfterRedirect }

    /// Whether a condition says that it passes, and is nothing that another credential would mend.
    var isPassing: Bool { kind == .answer(.rateLimited) || kind == .answer(.retry) }

    /// A failure.
    public init(
        _ kind: Kind, detail: String = "", url: String = "", status: Int? = nil, contentType: String? = nil, excerpt: String = "",
        notBefore: Date? = nil, attempts: Int = 1
    ) {
        self.kind = kind
        self.detail = detail
        self.url = url
        self.status = status
        self.contentType = contentType
        self.excerpt = excerpt
        self.notBefore = notBefore
        self.attempts = attempts
    }

    /// A short name for the failure, as for a column of a status table: `timeout: idle_timeout`.
    public var summary: String { RemoteText.line(classInWords) }

    private var classInWords: String {
        switch kind {
        case .connect: "cannot connect"
        case .timeout(let limit): "timeout: \(limit.rawValue)"
        case .reset: "connection lost"
        case .shortBody: "body cut short"
        case .dnsTemporary: "name lookup failed for now"
        case .dnsNotFound: "name does not exist"
        case .tls: "TLS failed"
        case .malformed: "malformed response"
        case .corruptBody: "damaged compressed body"
        case .status(let status): "status \(status)"
        case .answer(.rateLimited): "the answer is a rate limit (rate_limited_if)"
        case .answer(.retry): "the answer is a failure (retry_if)"
        case .answer(.ignore): "the answer says that there is nothing (ignore_if)"
        case .answer(.fail): "the answer is an error (fail_if)"
        case .answerErrors: "the answer holds errors"
        case .contentType: "unexpected content type"
        case .spool: "body cannot be set aside"
        case .tooLarge(let size): "limit exceeded: \(size.rawValue)"
        case .refused(let refusal): "refused: \(refusal)"
        case .credential: "credential cannot be used"
        case .budget: "the budget of requests is used up"
        case .cancelled: "cancelled"
        }
    }

    private var detailInWords: String {
        let detail = RemoteText.line(detail, limit: 500)
        return switch kind {
        case .answer: ": \(detail)"
        case .answerErrors: ", the first: \(detail)"
        default: " (\(detail))"
        }
    }

    /// One line with everything that is known.
    public var description: String {
        var text = url.isEmpty ? summary : "\(RemoteText.line(url, limit: 500)): \(summary)"
        if !detail.isEmpty { text += detailInWords }
        if let status, kind != .status(status) { text += ", status \(status)" }
        if let contentType { text += ", \(RemoteText.line(contentType, limit: 200))" }
        if attempts > 1 { text += ", \(attempts) attempts" }
        if let notBefore { text += ", not before \(HTTPDate.format(notBefore))" }
        if !excerpt.isEmpty { text += ": “\(excerpt)”" }
        return RemoteText.line(text)
    }
}
