/// `deletion`: when a row whose record has vanished goes too.
public struct DeletionConfiguration: Sendable, Hashable {
    public enum Detection: String, Sendable, Hashable, CaseIterable {
        case none
        /// A complete listing that does not hold the record.
        case snapshot
    }

    public enum Action: String, Sendable, Hashable, CaseIterable {
        /// The row is marked, and removed after ``DeletionConfiguration/purgeAfter``.
        case tombstone
        case delete
    }

    public var detect = Detection.none
    public var action = Action.tombstone
    /// Complete runs in a row that must have missed the record.
    public var confirmRuns = 2
    /// The largest share of the scope one run may delete, from 0 to 1. Beyond it nothing is deleted.
    public var maxFraction = 0.10
    /// The largest number one run may delete. Beyond it nothing is deleted.
    public var maxCount = 1000
    /// A complete listing with fewer records is not believed while rows exist.
    public var minExpected = 1
    public var purgeAfter = TimeSpan.days(30)

    /// The built-in values.
    public init() {}
}
