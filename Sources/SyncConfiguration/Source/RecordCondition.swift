import JSONPaths

/// What a record has to say: a table of `filter`, of which one suffices, `where` in `also`, or what `deletion` asks of a record. Everything that it says
/// has to hold.
public struct RecordCondition: Sendable, Hashable {
    /// A bound of time.
    public enum Moment: Sendable, Hashable {
        /// Seconds since 1970.
        case time(seconds: Double)
        /// So long before the page is read.
        case ago(TimeSpan)
    }

    /// `path`: where to look in the record, whether or not an attribute is read from there.
    public var path: JSONPath
    /// What has to hold of what is there, all of it.
    public var tests: [ValueTest] = []
    /// `after`: it is a time, then or later; nil: that is not asked, as in `deletion` never.
    public var after: Moment?
    /// `before`: it is a time, and an earlier one; nil: that is not asked.
    public var before: Moment?
    /// `format`, default rfc3339: how the time is written. A record whose time cannot be read is set aside.
    public var format = DateFormat.rfc3339

    /// A condition that every record fulfils, until it says more.
    public init(path: JSONPath) {
        self.path = path
    }

    /// Whether the same record may fit at one time and not at another.
    package var dependsOnTime: Bool {
        func moves(_ moment: Moment?) -> Bool { if case .ago? = moment { true } else { false } }
        return moves(after) || moves(before)
    }
}
