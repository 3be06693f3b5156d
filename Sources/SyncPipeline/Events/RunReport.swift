public import Foundation

public struct RunReport: Sendable, Hashable {
    public let run: UUID
    public let scope: ResourceScope
    public let cause: RunCause
    public let startedAt: Date
    public let endedAt: Date
    public let outcome: RunOutcome
    public let isComplete: Bool
    public let pages: Int
    public let notModifiedPages: Int
    public let bytes: Int
    public let counts: RecordCounts
    public let httpStatus: Int?
    /// What went wrong, as a sentence.
    public let error: String?
    /// When the resource is due again.
    public let nextPollAt: Date?
}
