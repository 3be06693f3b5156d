public import Foundation

/// How a run of a resource ended.
public struct RunReport: Sendable, Hashable {
    /// Tells runs apart, in events and in the journal. All zeros if no run took place because the resource is parked.
    public let run: UUID
    /// The resource that was polled.
    public let scope: ResourceScope
    /// What set it off.
    public let cause: RunCause
    /// Wall time of the start, before the first request.
    public let startedAt: Date
    /// Wall time of the end, after the last page was saved or given up.
    public let endedAt: Date
    /// Only `succeeded` says that the listing was read to its end.
    public let outcome: RunOutcome
    /// Whether everything the server has was seen.
    public let isComplete: Bool
    /// How many pages were taken in, those that were not modified included.
    public let pages: Int
    /// How many of ``pages`` were as they had been (a 304, or the same `ETag` or body), so that nothing was parsed.
    public let notModifiedPages: Int
    /// Bytes of the bodies on the wire, before decompression, of all pages.
    public let bytes: Int
    /// What became of the records of all pages, and the rows that the run removed. Records of a page that was not modified are unchanged.
    public let counts: RecordCounts
    /// The status of the last response; nil if no server answered.
    public let httpStatus: Int?
    /// What went wrong, as a sentence.
    public var error: String?
    /// What went wrong, as a value.
    public let failure: RunFailure?
    /// When the resource is due again.
    public var nextPollAt: Date?

    /// Puts a report together as it is given. Without counts nothing was read; nil for `nextPollAt` where nobody has set a due time yet.
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

    /// Reads what ``encode(to:)`` writes. Throws `DecodingError` if a field is missing that is not optional; a missing count is zero.
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

/// Why a run was started.
public enum RunCause: String, Sendable, Codable {
    /// Its due time, also the first after a start; `SIGUSR1`; or a verb of the control socket. Nothing gives `start` at present.
    case schedule, signal, control, start
    /// The verb `replay`: bodies in the archive were mapped once more, and no server was asked.
    case replay
}

/// How a run ended.
public enum RunOutcome: String, Sendable, Codable {
    /// Every page was fetched or unchanged.
    case succeeded
    /// It ended, but not everything was seen: nothing is concluded from what is missing.
    case incomplete
    /// An error ended it; what earlier pages brought is kept.
    case failed
    /// Stopped by a reload, a stop or a time limit.
    case cancelled
    /// The server asked to come back later.
    case parked
}

/// What a run failed of, beside the sentence that says it.
public enum RunFailure: String, Sendable, Hashable, Codable {
    /// No trust: the certificate or the TLS handshake failed.
    case tls
    /// A page could not be had for another reason.
    case fetch
    /// What came could not be used, or led nowhere, or it took too long.
    case page
    /// The store could not be read or written.
    case store
}

/// What happened to the records of a page or a run. A count is a property and a line in ``kinds``; sums, the control protocol, the journal and
/// sentences take it from there.
public struct RecordCounts: Sendable, Hashable {
    /// Records that made a new row, or filled one that only stood for its key until then.
    public var inserted = 0
    /// Records that changed a row which was there.
    public var updated = 0
    /// Records whose row says the same already, those of pages that were not modified included.
    public var unchanged = 0
    /// Rows removed, or marked as deleted, because a complete listing no longer holds them. They count as no records.
    public var deleted = 0
    /// Records set aside because they could not be read or mapped.
    public var quarantined = 0

    /// All zero.
    public init() {}

    /// A count, and what it is called.
    public struct Kind: Sendable {
        /// In JSON, SQL and the journal.
        public let name: String
        /// In sentences; nil: they pass over it.
        public let word: String?
        /// Whether it counts records that were looked at.
        let isOfRecords: Bool
        /// Where the count is kept.
        public let path: any WritableKeyPath<RecordCounts, Int> & Sendable

        fileprivate init(_ name: String, _ path: any WritableKeyPath<RecordCounts, Int> & Sendable, word: String?, isOfRecords: Bool = true) {
            self.name = name
            self.word = word
            self.isOfRecords = isOfRecords
            self.path = path
        }
    }

    /// Every count, in the order in which sentences name them.
    public static let kinds = [
        Kind("inserted", \.inserted, word: "inserted"), Kind("updated", \.updated, word: "updated"), Kind("unchanged", \.unchanged, word: nil),
        Kind("deleted", \.deleted, word: "deleted", isOfRecords: false), Kind("quarantined", \.quarantined, word: "set aside"),
    ]

    /// Adds each count to its own.
    public static func += (left: inout RecordCounts, right: RecordCounts) {
        for kind in kinds { left[keyPath: kind.path] += right[keyPath: kind.path] }
    }

    /// How many records were looked at.
    public var records: Int { Self.kinds.reduce(0) { $1.isOfRecords ? $0 + self[keyPath: $1.path] : $0 } }

    /// How many rows were changed in the database.
    public var changes: Int { inserted + updated + deleted }

    /// `12 inserted, 3 updated`; empty if nothing was changed.
    public var inWords: String {
        Self.kinds.compactMap { kind in
            let count = self[keyPath: kind.path]
            return count > 0 ? kind.word.map { "\(count) \($0)" } : nil
        }.joined(separator: ", ")
    }
}

extension RecordCounts: Codable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// What is not there is zero: it may come from a version that did not count it.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        for kind in Self.kinds { self[keyPath: kind.path] = try values.decodeIfPresent(Int.self, forKey: Key(stringValue: kind.name)) ?? 0 }
    }

    /// Writes every count under its name, also those that are zero.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        for kind in Self.kinds { try values.encode(self[keyPath: kind.path], forKey: Key(stringValue: kind.name)) }
    }
}
