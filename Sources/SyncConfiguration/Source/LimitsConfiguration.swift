/// `limits`: what a run, a page and a record may amount to.
public struct LimitsConfiguration: Sendable, Hashable {
    /// Per run.
    public var maxPages = 10_000
    /// Per run.
    public var maxRecords = 5_000_000
    public var maxRecordsPerPage = 20_000
    public var maxRunTime = TimeSpan.hours(1)
    /// Nesting of arrays and objects.
    public var maxDepth = 128
    public var maxString = ByteCount.mebibytes(4)
    public var maxKey = ByteCount.kibibytes(1)
    public var maxNumberDigits = 1000
    /// Per run; one more and the run fails.
    public var maxBadRecords = 100

    /// The built-in values.
    public init() {}
}
