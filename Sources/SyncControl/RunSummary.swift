import Foundation

/// How a run of a resource ended.
public struct RunSummary: Sendable, Hashable, Codable {
    /// `source/resource`.
    public var scope: String
    public var run: UUID
    /// `schedule`, `signal`, `control` or `start`.
    public var cause: String
    public var startedAt: Date
    public var endedAt: Date
    /// `succeeded`, `incomplete`, `failed`, `cancelled` or `parked`.
    public var outcome: String
    /// Whether everything the server has was seen.
    public var complete: Bool
    public var pages: Int
    public var notModifiedPages: Int
    public var bytes: Int
    public var inserted: Int
    public var updated: Int
    public var unchanged: Int
    public var deleted: Int
    public var quarantined: Int
    public var httpStatus: Int?
    /// What went wrong, as a sentence.
    public var error: String?
    public var nextPollAt: Date?

    public init(
        scope: String, run: UUID, cause: String, startedAt: Date, endedAt: Date, outcome: String, complete: Bool, pages: Int = 0,
        notModifiedPages: Int = 0, bytes: Int = 0, inserted: Int = 0, updated: Int = 0, unchanged: Int = 0, deleted: Int = 0,
        quarantined: Int = 0, httpStatus: Int? = nil, error: String? = nil, nextPollAt: Date? = nil
    ) {
        self.scope = scope
        self.run = run
        self.cause = cause
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.outcome = outcome
        self.complete = complete
        self.pages = pages
        self.notModifiedPages = notModifiedPages
        self.bytes = bytes
        self.inserted = inserted
        self.updated = updated
        self.unchanged = unchanged
        self.deleted = deleted
        self.quarantined = quarantined
        self.httpStatus = httpStatus
        self.error = error
        self.nextPollAt = nextPollAt
    }

    /// How many records were changed in the database.
    public var changes: Int { inserted + updated + deleted }

    enum CodingKeys: String, CodingKey {
        case scope, run, cause, outcome, complete, pages, bytes, inserted, updated, unchanged, deleted, quarantined, error
        case startedAt = "started_at"
        case endedAt = "ended_at"
        case notModifiedPages = "not_modified_pages"
        case httpStatus = "http_status"
        case nextPollAt = "next_poll_at"
    }
}
