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

    init(_ resource: ResourceConfiguration) {
        let records = resource.records ?? .root
        self.records = records
        keepsWhole = records.hasWildcard || !resource.also.isEmpty
        envelope = EnvelopePlan(resource.pagination, isGraphQL: resource.isGraphQL)
        lastRecord = resource.pagination.kind.lastRecordPath.map { JSONFieldPlan([JSONField("\($0)", path: $0)]) }
        limits = JSONReaderLimits(resource.limits)
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
