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
    /// Members that one list of a record names.
    public var maxMembers = 10_000
    /// Objects that the records of a page name, embedded ones and keys included.
    public var maxObjectsPerPage = 1_000_000
    /// The largest share of a run's records, from 0 to 1, that may be set aside; with more of them the run fails. It fails, too, when all are.
    public var maxBadFraction = 0.5
    /// Per run; one more and the page that has it is not kept.
    public var maxBadRecords = 10_000

    /// The built-in values.
    public init() {}
}
