import Foundation
import JSONReader
import OpenCoreData
import SyncConfiguration

/// How a page of a resource becomes rows, and what it says about its listing: shared by a run, which keeps what it reads, and a trial, which shows
/// it.
struct PageRecipe: Sendable {
    let resource: ResourceConfiguration
    let mapping: ModelMapping
    let settings: FetchSettings
    /// What its objects have beside what records say.
    var constants = RecordConstants()

    /// How the JSON is taken.
    var policies: JSONReaderPolicies { JSONReaderPolicies(resource.parse) }

    /// A page that was read.
    struct Reading {
        let facts: PageFacts
        /// The result of its records, in the context they were read into.
        let mapper: RecordMapper
    }

    /// Reads a page into a context, on the context's queue. Saves nothing.
    /// - Parameters:
    ///   - badRecords: how many records of earlier pages were set aside.
    ///   - packing: has those of its records that were packed.
    ///   - isCancelled: asked every now and then; then it throws `SyncError.cancelled`.
    func read(
        _ page: FetchedPage, into context: NSManagedObjectContext, run: Int64, now: Date, badRecords: Int,
        packing: PagePacking? = nil, probe: RecordMapper.Probe? = nil, isCancelled: @escaping () -> Bool = { false }
    ) throws -> Reading {
        if resource.isGraphQL { try refuseErrors(of: page) }
        let mapper = try RecordMapper(
            mapping: mapping, entity: resource.entity, context: context, now: now, run: run, limits: resource.limits,
            maxRejected: resource.limits.maxBadRecords - badRecords, constants: constants, records: page.content.records, probe: probe,
            isCancelled: isCancelled)
        let summary = try page.content.read(plan: mapper.plan, policies: policies) { list in
            guard mapper.takesPacked else {
                packing?.end()
                return false
            }
            if isCancelled() { throw SyncError.cancelled }
            guard let records = packing?.take(list) else { return false }
            try mapper.add(records)
            return true
        } each: { record, place in
            if isCancelled() { throw SyncError.cancelled }
            try mapper.add(record, at: place)
        }
        try mention(objectsOf: page, besides: summary.recordCount, to: mapper, isCancelled: isCancelled)
        try mapper.flush()
        var facts = try facts(of: page, summary)
        facts.rejected = mapper.rejectedRecords
        facts.unidentified = mapper.unidentified
        if facts.records > 1, mapping.entities[resource.entity]?.configuration.derivedKey == .single {
            throw SyncError.page("\(resource.scope): the answer has \(facts.records) records, but \(resource.entity) has key = \"single\"")
        }
        facts.span = try span(of: page)
        return Reading(facts: facts, mapper: mapper)
    }

    /// Reads what the page mentions beside its records.
    private func mention(objectsOf page: FetchedPage, besides records: Int, to mapper: RecordMapper, isCancelled: () -> Bool) throws {
        let limit = resource.limits.maxRecordsPerPage
        var count = records
        for list in mapping.mentions {
            try page.content.read(list: list.path, plan: list.plan, policies: policies) { record in
                if isCancelled() { throw SyncError.cancelled }
                guard list.means(record) else { return }
                count += 1
                guard count <= limit else {
                    throw SyncError.page("the page has more records than limits.max_records_per_page = \(limit), those of also counted; none of it was kept")
                }
                try mapper.mention(record, in: list)
            }
        }
    }

    /// What a page says of its listing, before its records are read; nil where that depends on more of them than the last, or it cannot be read.
    func outlook(of page: FetchedPage) -> PageFacts? {
        // What is wrong is said when the page is read.
        guard let summary = try? page.content.readEnvelope(policies: policies), settings.sieve.envelope.values(summary).firstError == nil else {
            return nil
        }
        return try? facts(of: page, summary)
    }

    /// How new the page's records are; nil: the resource does not ask for it.
    private func span(of page: FetchedPage) throws -> CursorSpan? {
        guard let incremental = resource.incremental, let plan = incremental.plan else { return nil }
        var span = CursorSpan()
        _ = try page.content.read(plan: plan, policies: policies) { record, _ in
            span.add(record.problem == nil ? incremental.cursor(record[0]) : nil)
        }
        return span
    }

    /// A success of GraphQL that holds errors is no page, whatever data came with them: what is not among them need not be gone.
    /// - Throws: `SyncError` with what the first error says; also what reading the page throws.
    private func refuseErrors(of page: FetchedPage) throws {
        var policies = policies
        // Where there are errors there often are no data.
        policies.absentRecords = .noRecords
        guard let message = settings.sieve.envelope.values(try page.content.readAround(policies: policies)).firstError else { return }
        let address = settings.redactor.redact(page.address), text = RemoteText.line(settings.redactor.redact(message), limit: Self.longestMessage)
        throw SyncError.page("\(resource.scope): \(address): the answer holds errors, the first: \(text)")
    }

    /// How much is shown of what an error says.
    private static let longestMessage = 300

    private func facts(of page: FetchedPage, _ summary: JSONPageSummary) throws -> PageFacts {
        let said = settings.sieve.envelope.values(summary)
        var cursor = said.cursor, isCursorNumber = said.isCursorNumber
        if let plan = settings.sieve.lastRecord {
            let token = try page.content.readLast(plan, policies: policies)
            (cursor, isCursorNumber) = (token?.text, token?.isNumber == true)
        }
        var facts = PageFacts(
            page: page, pagination: resource.pagination, settings: settings, records: summary.recordCount, cursor: cursor,
            hasMore: said.hasMore, total: said.total, totalPages: said.totalPages)
        if facts.cursor != nil, facts.cursor == cursor { facts.isCursorNumber = isCursorNumber }
        facts.unreadable = said.unreadable
        facts.isLoneObject = resource.records == nil && summary.recordList == .singleObject
        facts.isNull = summary.recordList == .null
        // Nobody asks what comes after the only page.
        let isPaged = if case .none = resource.pagination.kind { false } else { true }
        facts.hasEmptyLists = summary.hasEmptyLists && isPaged
        return facts
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
        absentRecords = parse.recordsAbsent == .error ? .error : .noRecords
    }
}
