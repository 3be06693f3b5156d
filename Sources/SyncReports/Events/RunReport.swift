public import Foundation

/// How a run of a resource ended.
public struct RunReport: Sendable, Hashable {
    public let run: UUID
    public let scope: ResourceScope
    public let cause: RunCause
    public let startedAt: Date
    public let endedAt: Date
    public let outcome: RunOutcome
    /// Whether everything the server has was seen.
    public let isComplete: Bool
    public let pages: Int
    public let notModifiedPages: Int
    public let bytes: Int
    public let counts: RecordCounts
    public let httpStatus: Int?
    /// What went wrong, as a sentence.
    public var error: String?
    /// What went wrong, as a value.
    public let failure: RunFailure?
    /// When the resource is due again.
    public var nextPollAt: Date?

    public init(
        run: UUID, scope: ResourceScope, cause: RunCause, startedAt: Date, endedAt: Date, outcome: RunOutcome, isComplete: Bool, pages: Int = 0,
        notModifiedPages: Int = 0, bytes: Int = 0, counts: RecordCounts = RecordCounts(), httpStatus: Int? = nil, error: String? = nil,
        failure: RunFailure? = nil, nextPollAt: Date? = nil
    ) {
        self.run = run
        self.scope = scope
        self.cause = cause
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.outcome = outcome
        self.isComplete = isComplete
        self.pages = pages
        self.notModifiedPages = notModifiedPages
        self.bytes = bytes
        self.counts = counts
        self.httpStatus = httpStatus
        self.error = error
        self.failure = failure
        self.nextPollAt = nextPollAt
    }
}

extension RunReport {
    /// How many rows the resource vouches for after this run, where `known` were so before it: a complete run says it anew, unless it only found every
    /// page as it was.
    package func objects(known: Int?) -> Int? {
        guard outcome == .succeeded, isComplete, notModifiedPages < pages || known == nil else { return known }
        return counts.inserted + counts.updated + counts.unchanged
    }
}

extension RunReport: Codable {
    private enum CodingKeys: String, CodingKey {
        case scope, run, cause, outcome, pages, bytes, error, failure
        case isComplete = "complete"
        case startedAt = "started_at"
        case endedAt = "ended_at"
        case notModifiedPages = "not_modified_pages"
        case httpStatus = "http_status"
        case nextPollAt = "next_poll_at"
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            run: try values.decode(UUID.self, forKey: .run), scope: try values.decode(ResourceScope.self, forKey: .scope),
            cause: try values.decode(RunCause.self, forKey: .cause), startedAt: try values.decode(Date.self, forKey: .startedAt),
            endedAt: try values.decode(Date.self, forKey: .endedAt), outcome: try values.decode(RunOutcome.self, forKey: .outcome),
            isComplete: try values.decode(Bool.self, forKey: .isComplete), pages: try values.decode(Int.self, forKey: .pages),
            notModifiedPages: try values.decode(Int.self, forKey: .notModifiedPages), bytes: try values.decode(Int.self, forKey: .bytes),
            counts: try RecordCounts(from: decoder), httpStatus: try values.decodeIfPresent(Int.self, forKey: .httpStatus),
            error: try values.decodeIfPresent(String.self, forKey: .error),
            // A kind of failure that a later version knows is none that this one could tell apart.
            failure: try values.decodeIfPresent(String.self, forKey: .failure).flatMap { RunFailure(rawValue: $0) },
            nextPollAt: try values.decodeIfPresent(Date.self, forKey: .nextPollAt))
    }

    /// The counts stand beside the other fields.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(scope, forKey: .scope)
        try values.encode(run, forKey: .run)
        try values.encode(cause, forKey: .cause)
        try values.encode(startedAt, forKey: .startedAt)
        try values.encode(endedAt, forKey: .endedAt)
        try values.encode(outcome, forKey: .outcome)
        try values.encode(isComplete, forKey: .isComplete)
        try values.encode(pages, forKey: .pages)
        try values.encode(notModifiedPages, forKey: .notModifiedPages)
        try values.encode(bytes, forKey: .bytes)
        try values.encodeIfPresent(httpStatus, forKey: .httpStatus)
        try values.encodeIfPresent(error, forKey: .error)
        try values.encodeIfPresent(failure, forKey: .failure)
        try values.encodeIfPresent(nextPollAt, forKey: .nextPollAt)
        try counts.encode(to: encoder)
    }
}
