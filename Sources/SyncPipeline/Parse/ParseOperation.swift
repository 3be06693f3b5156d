import Foundation
import JSONReader
import OpenCoreData
import SyncConfiguration
import Synchronization

/// What a parsed and saved page came to.
struct ParsedPage: Sendable {
    let facts: PageFacts
    let counts: RecordCounts
    let rejected: [RejectedRecord]
    let members: KeySet
}

/// Parses one page on an operation queue: makes a worker context of its own inside `main()`, as a child of the main context, reads and maps the
/// records there, sets the page's checkpoint beside them, and saves into the main context. All of it or nothing.
// Unchecked because `Operation` is; the input is immutable and the result lies behind a mutex.
final class ParseOperation: Operation, @unchecked Sendable {
    /// What to parse, and how.
    struct Input: Sendable {
        let document: UIManagedDocument
        let resource: ResourceConfiguration
        let mapping: ModelMapping
        let settings: FetchSettings
        let scope: ResourceScope
        let run: Int64
        let pageNumber: Int
        let requestKey: String
        let page: FetchedPage
        let remainingBadRecords: Int
        let now: Date
    }

    private let input: Input
    private let outcome = Mutex<Result<ParsedPage, any Error>?>(nil)

    init(_ input: Input) { self.input = input }

    /// Set when the operation has finished. Cancelled operations fail with `SyncError.cancelled`.
    var result: Result<ParsedPage, any Error>? { outcome.withLock { $0 } }

    override func main() {
        let result: Result<ParsedPage, any Error>
        if isCancelled {
            result = .failure(SyncError.cancelled)
        } else {
            let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
            worker.name = "worker \(input.scope) page \(input.pageNumber)"
            worker.parent = input.document.managedObjectContext
            // Rows go in and rows go up: nobody could want objects of them.
            worker.materializesNotificationObjects = false
            result = worker.performAndWait {
                do {
                    let page = try parse(in: worker)
                    if isCancelled { throw SyncError.cancelled }
                    try worker.save()
                    return .success(page)
                } catch {
                    // The worker is thrown away with everything in it: nothing of the page is left anywhere.
                    worker.reset()
                    return .failure(error)
                }
            }
        }
        outcome.withLock { $0 = result }
    }

    private func parse(in worker: NSManagedObjectContext) throws -> ParsedPage {
        let resource = input.resource
        let mapper = try RecordMapper(
            mapping: input.mapping, entity: resource.entity, context: worker, now: input.now, run: input.run,
            maxRejected: input.remainingBadRecords)
        let envelope = EnvelopePlan(resource.pagination)
        let reader = JSONRecordReader()
        let summary = try reader.read(
            body: input.page.body, records: resource.records.map(EntityMapping.compile) ?? .root,
            plan: mapper.plan, envelope: envelope.plan, limits: JSONReaderLimits(resource.limits)
        ) { record in
            if self.isCancelled { throw SyncError.cancelled }
            try mapper.add(record)
        }
        try mapper.flush()
        let said = envelope.values(summary)
        let facts = PageFacts(
            page: input.page, pagination: resource.pagination, settings: input.settings, records: summary.recordCount,
            cursor: said.cursor, hasMore: said.hasMore, total: said.total, totalPages: said.totalPages)
        let members = mapper.members
        try StoredRequest(validators: input.page.validators, facts: facts, members: members).store(
            scope: input.scope, key: input.requestKey, mapping: input.mapping.fingerprint, run: input.run, now: input.now, in: worker)
        try quarantine(mapper.rejected, in: worker)
        return ParsedPage(facts: facts, counts: mapper.counts, rejected: mapper.rejected, members: members)
    }

    private func quarantine(_ records: [RejectedRecord], in worker: NSManagedObjectContext) throws {
        for record in records {
            // The same bad record, seen again, is counted and not multiplied.
            let digest = BodyDigest(of: "\(input.scope)\n\(record.raw)").description
            var row = try StateRow.find(StateModel.quarantine, key: [.string(digest)], in: worker)
            row["source"] = .string(input.scope.source)
            row["resource"] = .string(input.scope.resource)
            row["run"] = .int64(input.run)
            row["page"] = .int64(Int64(input.pageNumber))
            row["record"] = .int64(Int64(record.record))
            row["reason"] = .string(record.reason)
            row["path"] = .string(record.path)
            row["raw"] = .string(record.raw)
            row["seenAt"] = AttributeValue(input.now)
            row["count"] = .int64(row.integer("count") + 1)
            row.write(in: worker)
        }
    }
}

extension JSONReaderLimits {
    /// What a resource's `limits` table says.
    init(_ limits: LimitsConfiguration) {
        self.init()
        maxDepth = limits.maxDepth
        maxString = limits.maxString.bytes
        maxKey = limits.maxKey.bytes
        maxNumberDigits = limits.maxNumberDigits
        maxRecordsPerPage = limits.maxRecordsPerPage
    }
}
