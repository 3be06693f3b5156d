import JSONReader
import SyncConfiguration

/// What of a resource decides how its pages are taken apart.
struct SievePlan: Sendable {
    /// Where the records are.
    let records: JSONPath
    /// Whether the page is not taken apart: its records may be in several lists, or other lists of it are read as well.
    let keepsWhole: Bool
    /// What is read of what is around them.
    let envelope: EnvelopePlan
    /// What is read of the last of them besides, one field: what the next page begins after; nil: nothing.
    let lastRecord: JSONFieldPlan?
    let limits: JSONReaderLimits
    /// How the records are written.
    let format: ContentFormat
    /// What names the values of records that are lists; nil: records are objects.
    let columns: ColumnNames?
    /// How much more they may be as JSON.
    let maxRatio: Int

    /// - Parameter judged: what has to be known of a page before anything else is made of it.
    init(_ resource: ResourceConfiguration, judged: [JSONField] = []) {
        let records = resource.records ?? .root
        self.records = records
        keepsWhole = records.hasWildcard || !resource.also.isEmpty
        envelope = EnvelopePlan(resource.pagination, judged: judged, token: resource.incremental?.token)
        lastRecord = resource.pagination.kind.lastRecordPath.map { JSONFieldPlan([JSONField("\($0)", path: $0)]) }
        limits = JSONReaderLimits(resource.limits)
        format = resource.format
        columns = resource.columns
        maxRatio = resource.http.maxRatio
    }
}

extension JSONReaderLimits {
    /// What a resource's `limits` table says.
    fileprivate init(_ limits: LimitsConfiguration) {
        self.init()
        maxDepth = limits.maxDepth
        maxString = limits.maxString.bytes
        maxKey = limits.maxKey.bytes
        maxNumberDigits = limits.maxNumberDigits
        maxRecordsPerPage = limits.maxRecordsPerPage
    }
}
