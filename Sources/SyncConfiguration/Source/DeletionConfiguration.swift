public import JSONPaths

/// `deletion`: how it is known that an object is gone, and what becomes of its row.
public struct DeletionConfiguration: Sendable, Hashable {
    /// How to detect that an object is gone.
    public enum Detection: String, Sendable, Hashable, CaseIterable {
        /// Not at all: nothing is ever deleted; the default.
        case none
        /// By a complete listing that does not contain its record.
        case snapshot
        /// By its own record, which says so at ``DeletionConfiguration/path``.
        case field
        /// By any record of the resource: it lists what is gone, and nothing else.
        case records
        /// By a status in place of the first page: nothing is there any more of what was listed.
        case goneStatus = "gone-status"
    }

    /// What is done to a row that is gone.
    public enum Action: String, Sendable, Hashable, CaseIterable {
        /// The row is marked, and removed after ``DeletionConfiguration/purgeAfter``.
        case tombstone
        /// The row is removed at once.
        case delete
    }

    /// `deletion.detect`, default `none`: nothing is ever deleted.
    public var detect = Detection.none
    /// `deletion.path`: where a record says that its object is gone; `nil`: none says it. With `snapshot`, a record may say it as well.
    public var path: JSONPath?
    /// `deletion.equals`, `not_equals`, `in`, `exists` or `contains`: what it says there; `nil`: anything that is neither null nor false. Null exists.
    public var test: ValueTest?
    /// `deletion.statuses`: which statuses say so; `nil`: 404 and 410 with `gone-status`, else none.
    public var statuses: [Int]?
    /// `deletion.action`, default `tombstone`.
    public var action = Action.tombstone
    /// Complete runs in a row that must have missed the record.
    public var confirmRuns = 2
    /// The largest share of the scope one run may delete, from 0 to 1, for being missing. Beyond it nothing is deleted.
    public var maxFraction = 0.10
    /// The largest number one run may delete. Beyond it nothing is deleted.
    public var maxCount = 1000
    /// A complete listing with fewer records is not believed while rows exist.
    public var minExpected = 1
    /// `deletion.purge_after`: time from the mark to the removal of a tombstone. Default 30 d.
    public var purgeAfter = TimeSpan.days(30)

    /// The built-in values.
    public init() {}
}

extension DeletionConfiguration {
    /// What a record says whose object is gone; `nil`: no record says it, or every one does.
    public var condition: RecordCondition? {
        switch detect {
        case .snapshot, .field:
            path.map { path in
                var condition = RecordCondition(path: path)
                condition.tests = test.map { [$0] } ?? []
                return condition
            }
        case .none, .records, .goneStatus: nil
        }
    }

    /// The statuses of a first page that say that all that was listed there is gone.
    public var goneStatuses: [Int] {
        switch detect {
        case .goneStatus: statuses ?? [404, 410]
        case .snapshot, .field: statuses ?? []
        case .none, .records: []
        }
    }

    /// Whether records may say that their objects are gone.
    public var isSaid: Bool { detect == .records || condition != nil }

    /// Whether records say it, and listings show nothing besides.
    public var isOnlySaid: Bool { detect == .field || detect == .records }
}
