import Foundation
import JSONReader
import OpenCoreData
import SyncConfiguration

/// How a page of a resource becomes rows, and what it says about its listing: one and the same for a run, which keeps what it reads, and for a trial,
/// which shows it.
struct PageRecipe: Sendable {
    let resource: ResourceConfiguration
    let mapping: ModelMapping
    let settings: FetchSettings

    /// A page that was read.
    struct Reading {
        let facts: PageFacts
        /// What its records came to, in the context they were read into.
        let mapper: RecordMapper
    }

    /// Reads a page into a context, on the context's queue. Saves nothing.
    /// - Parameters:
    ///   - badRecords: how many records the pages before have set aside.
    ///   - isCancelled: asked every now and then; then it throws `SyncError.cancelled`.
    func read(
        _ page: FetchedPage, into context: NSManagedObjectContext, run: Int64, now: Date, badRecords: Int,
        probe: (batchSize: Int, reached: (ParseProbe.Stage) -> Void)? = nil, isCancelled: @escaping () -> Bool = { false }
    ) throws -> Reading {
        let mapper = try RecordMapper(
            mapping: mapping, entity: resource.entity, context: context, now: now, run: run, limits: resource.limits,
            maxRejected: resource.limits.maxBadRecords - badRecords, probe: probe, isCancelled: isCancelled)
        let envelope = EnvelopePlan(resource.pagination)
        let summary = try JSONRecordReader().read(
            body: page.body, records: resource.records ?? .root, plan: mapper.plan, envelope: envelope.plan,
            limits: JSONReaderLimits(resource.limits), policies: JSONReaderPolicies(resource.parse)
        ) { record in
            if isCancelled() { throw SyncError.cancelled }
            try mapper.add(record)
        }
        try mapper.flush()
        return Reading(facts: facts(of: page, summary, envelope.values(summary), mapper), mapper: mapper)
    }

    private func facts(of page: FetchedPage, _ summary: JSONPageSummary, _ said: EnvelopePlan.Values, _ mapper: RecordMapper) -> PageFacts {
        var facts = PageFacts(
            page: page, pagination: resource.pagination, settings: settings, records: summary.recordCount, cursor: said.cursor,
            hasMore: said.hasMore, total: said.total, totalPages: said.totalPages)
        facts.unreadable = said.unreadable
        facts.rejected = mapper.rejectedRecords
        facts.unidentified = mapper.unidentified
        facts.isLoneObject = resource.records == nil && summary.recordList == .singleObject
        facts.isNull = summary.recordList == .null
        return facts
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

extension JSONReaderPolicies {
    /// What a resource's `parse` table says.
    fileprivate init(_ parse: ParsePolicy) {
        self.init()
        duplicateKeys =
            switch parse.duplicateKeys {
            case .rejectRecord: .rejectRecord
            case .last: .last
            case .first: .first
            }
        invalidUTF8 = parse.invalidUTF8 == .replace ? .replace : .rejectPage
        loneSurrogates = parse.loneSurrogates == .replace ? .replace : .rejectRecord
        nulInText =
            switch parse.nulInText {
            case .keep: .keep
            case .strip: .strip
            case .rejectRecord: .rejectRecord
            }
        bigIntegers = parse.bigIntegers == .decimal ? .keep : .rejectRecord
        numberOverflow = parse.numberOverflow == .decimal ? .keep : .rejectRecord
        byteOrderMark = parse.byteOrderMark == .skip ? .skip : .rejectPage
        emptyBody = parse.emptyBody == .error ? .error : .noRecords
    }
}
