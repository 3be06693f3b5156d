import Foundation
import JSONReader
import NIOHTTP1
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
    ///   - tombstones: knows those of objects that were said to be gone; nil: the store is asked.
    ///   - isCancelled: asked every now and then; then it throws `SyncError.cancelled`.
    func read(
        _ page: FetchedPage, into context: NSManagedObjectContext, run: Int64, now: Date, badRecords: Int,
        packing: PagePacking? = nil, tombstones: SaidTombstones? = nil, probe: RecordMapper.Probe? = nil,
        isCancelled: @escaping () -> Bool = { false }
    ) throws -> Reading {
        let mapper = try RecordMapper(
            mapping: mapping, entity: resource.entity, context: context, now: now, run: run, limits: resource.limits,
            maxRejected: resource.limits.maxBadRecords - badRecords, constants: constants, records: page.content.records, probe: probe,
            isCancelled: isCancelled)
        if let problem = page.content.header?.problem(keys: mapper.entity.keyPaths) { throw problem }
        let filtered = try RecordFilter(resource)?.judge(page.content, policies: policies, now: now, isCancelled: isCancelled)
        var number = 0
        mapper.lines = page.content.lines
        mapper.tombstones = tombstones
        mapper.redactor = settings.redactor
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
            switch filtered?[number] ?? .taken {
            case .taken: try mapper.add(record, at: place)
            case .leftOut: mapper.leaveOut(record, at: place)
            case .unclear(let problem): try mapper.setAside(record, at: place, problem)
            }
            number += 1
        }
        try mention(objectsOf: page, besides: summary.recordCount, to: mapper, at: now, isCancelled: isCancelled)
        try mapper.flush()
        var facts = try facts(of: page, summary)
        facts.rejected = mapper.rejectedRecords
        facts.unidentified = mapper.unidentified
        facts.leftOut = mapper.leftOut
        if facts.wanted > 1, mapping.entities[resource.entity]?.configuration.derivedKey == .single {
            throw SyncError.page("\(resource.scope): the answer has \(facts.wanted) records, but \(resource.entity) has key = \"single\"")
        }
        facts.span = try span(of: page, filtered)
        return Reading(facts: facts, mapper: mapper)
    }

    /// Reads what the page mentions beside its records.
    private func mention(objectsOf page: FetchedPage, besides records: Int, to mapper: RecordMapper, at now: Date, isCancelled: () -> Bool) throws {
        let limit = resource.limits.maxRecordsPerPage, seconds = now.timeIntervalSinceReferenceDate
        var count = records
        for list in mapping.mentions {
            try page.content.read(list: list.path, plan: list.plan, policies: policies) { record in
                if isCancelled() { throw SyncError.cancelled }
                var problem: ConversionProblem?
                do throws(ConversionProblem) {
                    guard try list.means(record, at: seconds) else { return }
                } catch {
                    problem = error
                }
                count += 1
                guard count <= limit else {
                    throw SyncError.page(
                        "the page has more records than limits.max_records_per_page = \(limit), those of also counted; none of it was kept")
                }
                try mapper.mention(record, in: list, problem)
            }
        }
    }

    /// What a page says of its listing, before its records are read; nil where that depends on more of them than the last, or it cannot be read.
    func outlook(of page: FetchedPage) -> PageFacts? {
        // What is wrong is said when the page is read.
        guard let summary = try? page.content.readEnvelope(policies: policies) else { return nil }
        return try? facts(of: page, summary)
    }

    /// How new the page's records are; nil: the resource does not ask for it.
    ///
    /// - Parameter filtered: what becomes of them; nil: all are taken.
    private func span(of page: FetchedPage, _ filtered: RecordFilter.Judgements?) throws -> CursorSpan? {
        guard let incremental = resource.incremental, let field = incremental.field else { return nil }
        var span = CursorSpan(), fields = [JSONField("\(field)", path: field)]
        let condition = resource.deletion.condition
        if let condition { fields.append(JSONField("deletion", path: condition.path)) }
        // A record that says that its object is gone need not say more than the key.
        let sign = condition.map { DeletionSign(field: 1, test: $0.tests.first, areTexts: resource.format.holdsTexts) }
        func isDeletion(_ record: JSONRecord) -> Bool { resource.deletion.detect == .records || sign?.isMet(by: record) == true }
        var number = 0
        _ = try page.content.read(plan: JSONFieldPlan(fields), policies: policies) { record, _ in
            let isWhole = record.problem == nil, cursor = isWhole ? incremental.cursor(record[0]) : nil
            // One that nobody wants is as old as it says, and need not say it.
            let needsNone = filtered?.leavesOut(number) == true || isWhole && isDeletion(record)
            if cursor != nil || !needsNone { span.add(cursor) }
            number += 1
        }
        return span
    }

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
        if let token = resource.incremental?.token {
            facts.take(token.header.map { page.headers.first(name: $0) } ?? said.token, as: token, from: page.address, settings)
        }
        facts.unreadable = said.unreadable
        facts.isLoneObject = resource.records == nil && summary.recordList == .singleObject
        facts.isNull = summary.recordList == .null
        facts.saysNothing = summary.recordList == .emptyBody
        // Nobody asks what comes after the only page.
        let isPaged = if case .none = resource.pagination.kind { false } else { true }
        facts.hasEmptyLists = summary.hasEmptyLists && isPaged
        return facts
    }
}

extension JSONReaderPolicies {
    /// What a resource's `parse` table says.
    init(_ parse: ParsePolicy) {
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
