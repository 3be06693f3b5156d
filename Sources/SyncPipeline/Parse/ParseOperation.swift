import Foundation
import JSONReader
import OpenCoreData
import SyncConfiguration
import Synchronization

/// What a parsed and saved page came to.
struct ParsedPage: Sendable {
    let facts: PageFacts
    let counts: RecordCounts
    /// What was set aside, as much of it as is kept.
    let rejected: [RejectedRecord]
    /// Why the first record was set aside; nil if none was.
    let firstRejection: String?
    /// The rows that the page's records are.
    let members: KeySet
    /// The rows of records that were set aside: listed, although nothing could be made of them.
    let listed: KeySet
    /// Rows of other pages' records that this one has changed, by entity.
    let overwritten: [String: Set<Int64>]
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
        /// What decides what the body becomes.
        let fingerprint: String
        /// False: the page is not to be recognised by what it was, for its request does not say which page it is.
        let isRemembered: Bool
        let page: FetchedPage
        let remainingBadRecords: Int
        let now: Date
        let probe: ParseProbe?
    }

    private let input: Input
    private let outcome = Mutex<Result<ParsedPage, any Error>?>(nil)

    init(_ input: Input) { self.input = input }

    /// Set when the operation has finished. Cancelled operations fail with `SyncError.cancelled`.
    var result: Result<ParsedPage, any Error>? { outcome.withLock { $0 } }

    /// How often a page is read again because another one changed rows of it meanwhile. After that the later one wins, value by value.
    private static let attempts = 8

    override func main() {
        var result: Result<ParsedPage, any Error>
        var attempt = 1
        repeat {
            result = isCancelled ? .failure(SyncError.cancelled) : readAndSave(isLast: attempt == Self.attempts)
            attempt += 1
        } while attempt <= Self.attempts && result.isConflict
        outcome.withLock { $0 = result }
    }

    /// - Parameter isLast: false: fails where a row is not any more what this page's changes started from. What a page makes of a row depends on
    ///   what the row is, so pages that meet in one row come to the same as if one had waited for the other.
    private func readAndSave(isLast: Bool) -> Result<ParsedPage, any Error> {
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.name = "worker \(input.scope) page \(input.pageNumber)"
        worker.parent = input.document.managedObjectContext
        worker.parentConflictPolicy = isLast ? nil : .error
        // Rows go in and rows go up: nobody could want objects of them.
        worker.materializesNotificationObjects = false
        return worker.performAndWait {
            do {
                let (page, dropped) = try parse(in: worker)
                if isCancelled { throw SyncError.cancelled }
                input.probe?.reached(input.scope, .saving)
                // A row that was only taken out of a list must not come back because it was deleted for good in the meantime.
                if try !dropped.isEmpty && input.document.managedObjectContext.rows(for: dropped).count < dropped.count { throw Conflict() }
                try worker.save()
                return .success(page)
            } catch {
                // The worker is thrown away with everything in it: nothing of the page is left anywhere.
                worker.reset()
                return .failure(error)
            }
        }
    }

    /// The page, and the rows that it says nothing about but that they are not in a list any more.
    private func parse(in worker: NSManagedObjectContext) throws -> (page: ParsedPage, dropped: [NSManagedObjectID]) {
        let resource = input.resource, scope = input.scope
        let mapper = try RecordMapper(
            mapping: input.mapping, entity: resource.entity, context: worker, now: input.now, run: input.run, limits: resource.limits,
            maxRejected: input.remainingBadRecords, probe: input.probe.map { probe in (probe.batchSize, { probe.reached(scope, $0) }) },
            isCancelled: { [weak self] in self?.isCancelled ?? true })
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
        var facts = PageFacts(
            page: input.page, pagination: resource.pagination, settings: input.settings, records: summary.recordCount,
            cursor: said.cursor, hasMore: said.hasMore, total: said.total, totalPages: said.totalPages)
        facts.unreadable = said.unreadable
        facts.rejected = mapper.rejectedRecords
        facts.unidentified = mapper.unidentified
        facts.isLoneObject = resource.records == nil && summary.recordList == .singleObject
        let members = mapper.members
        var listed = try mapper.listedRows()
        listed.keys.subtract(members.keys)
        // The validators of a part are the whole's: nothing could be told from them.
        let isRemembered = input.isRemembered && !input.page.isPartial
        try StoredRequest(
            validators: isRemembered ? input.page.validators : nil, facts: isRemembered ? facts : nil, run: input.run
        ).store(
            members: members, listed: listed, scope: input.scope, key: input.requestKey, fingerprint: input.fingerprint, now: input.now, in: worker)
        try quarantine(mapper.rejected, in: worker)
        let page = ParsedPage(
            facts: facts, counts: mapper.counts, rejected: mapper.rejected, firstRejection: mapper.firstRejection, members: members,
            listed: listed, overwritten: mapper.overwritten)
        return (page, mapper.dropped)
    }

    private func quarantine(_ records: [RejectedRecord], in worker: NSManagedObjectContext) throws {
        for record in records {
            // The same bad record, seen again, is counted and not multiplied.
            let digest = BodyDigest(of: "\(input.scope)\n\(record.hash)").description
            var row = try StateRow.find(StateModel.quarantine, key: [.string(digest)], in: worker)
            row["source"] = .string(input.scope.source)
            row["resource"] = .string(input.scope.resource)
            row["run"] = .int64(input.run)
            row["page"] = .int64(Int64(input.pageNumber))
            row["record"] = .int64(Int64(record.record))
            row["reason"] = .string(RemoteText.line(input.settings.redactor.redact(record.reason)))
            row["path"] = .string(record.path)
            row["raw"] = .string(record.raw)
            row["seenAt"] = AttributeValue(input.now)
            row["count"] = .int64(row.integer("count") + 1)
            row.write(in: worker)
        }
    }
}

/// A row was deleted for good while a page was read.
private struct Conflict: Error {}

extension Result where Failure == any Error {
    /// Whether a page was not saved because rows had changed meanwhile.
    fileprivate var isConflict: Bool {
        guard case .failure(let error) = self else { return false }
        if error is Conflict { return true }
        let refusal = error as NSError
        return refusal.domain == CocoaError.errorDomain && refusal.code == CocoaError.Code.managedObjectMerge.rawValue
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
