import Foundation
import JSONReader
import OpenCoreData
public import SyncConfiguration

/// How a page of a resource becomes rows, and what it says about its listing: shared by a run, which keeps what it reads, and a trial, which shows
/// it.
struct PageRecipe: Sendable {
    let resource: ResourceConfiguration
    let mapping: ModelMapping
    let settings: FetchSettings

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
        let mapper = try RecordMapper(
            mapping: mapping, entity: resource.entity, context: context, now: now, run: run, limits: resource.limits,
            maxRejected: resource.limits.maxBadRecords - badRecords, records: page.content.records, probe: probe, isCancelled: isCancelled)
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
        try mapper.flush()
        var facts = try facts(of: page, summary)
        facts.rejected = mapper.rejectedRecords
        facts.unidentified = mapper.unidentified
        return Reading(facts: facts, mapper: mapper)
    }

    /// What a page says of its listing, before its records are read; nil where that depends on more of them than the last, or it cannot be read.
    func outlook(of page: FetchedPage) -> PageFacts? {
        // What is wrong is said when the page is read.
        guard let summary = try? page.content.readEnvelope(policies: policies) else { return nil }
        return try? facts(of: page, summary)
    }

    private func facts(of page: FetchedPage, _ summary: JSONPageSummary) throws -> PageFacts {
        let said = settings.sieve.envelope.values(summary)
        var cursor = said.cursor
        if let plan = settings.sieve.lastRecord { cursor = try page.content.readLast(plan, policies: policies) }
        var facts = PageFacts(
            page: page, pagination: resource.pagination, settings: settings, records: summary.recordCount, cursor: cursor,
            hasMore: said.hasMore, total: said.total, totalPages: said.totalPages)
        facts.unreadable = said.unreadable
        facts.isLoneObject = resource.records == nil && summary.recordList == .singleObject
        facts.isNull = summary.recordList == .null
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
    }
}

/// Fetches pages of a resource and maps them, and keeps nothing: what `cisternctl try` shows.
public enum PageTrial {
    /// One object as it would be stored.
    public struct Object: Sendable {
        /// Its entity in the model: the resource's, or one that its records name.
        public let entity: String
        /// Property names and values as text, in the model's order; a to-one as the key it points to.
        public let values: [(name: String, value: String)]
        /// It is one of the page's records, and not something that a record names.
        public let isRecord: Bool
    }

    /// One page.
    public struct Page: Sendable {
        /// The address that answered, after redirects, with secrets masked.
        public let url: String
        /// The status of the response, a success: 206 if only a part came.
        public let status: Int
        /// All headers of the response, in its order, with secrets in the values masked.
        public let headers: [(name: String, value: String)]
        /// Bytes of the body on the wire, before decompression.
        public let bytes: Int
        /// How long fetching took, failed attempts and waits included.
        public let duration: Duration
        /// What its records would have become in an empty store: each page is mapped by itself.
        public let counts: RecordCounts
        /// The records that would be set aside, at most 1000: position in the page from 0, why, and where in it (empty: no place).
        public let rejected: [(record: Int, reason: String, path: String)]
        /// What would be stored, the resource's own entity first, then the others by name; of each entity up to the limit.
        public let objects: [Object]
        /// Where the listing continues, in words.
        public let next: String
        /// What it says about the listing.
        let facts: PageFacts
    }

    /// Fetches up to `count` pages. Throws `FetchError`, `SyncError` and what reading the page throws.
    public static func run(
        _ resource: ResourceConfiguration, configuration: CisternConfiguration, transports: TransportPool, clock: any SyncClock,
        secrets: SecretResolver, version: String, pages count: Int, objects limit: Int = 20
    ) async throws -> [Page] {
        let model = try SyncPipeline.model(for: configuration)
        // A separate store, so that keys and references resolve as they would; in memory, so that it leaves nothing behind, however it ends.
        let document = TrialDocument(
            fileURL: URL(fileURLWithPath: "/dev/null"), model: model, autosavePolicy: AutosavePolicy(), clock: SystemDocumentClock())
        try document.openStore(creating: true)
        let mapping = ModelMapping(configuration.model, model: model)
        let settings = try FetchSettings(resource: resource, daemon: configuration.daemon, version: version, secrets: secrets)
        let transport = try await transports.transport(
            for: TransportOptions(resource: resource, settings: settings, daemon: configuration.daemon))
        var pagination = Pagination(resource.pagination, limits: resource.limits, first: settings.first)
        let recipe = PageRecipe(resource: resource, mapping: mapping, settings: settings)
        var result: [Page] = [], badRecords = 0
        let environment = FetchEnvironment(settings: settings, transport: transport, clock: clock)
        while result.count < max(1, count) {
            let outcome = await PageFetch(pagination.request, environment: environment).run()
            guard case .page(let page) = outcome else {
                if let error = outcome.error { throw error }
                throw SyncError.cancelled
            }
            let (read, facts) = try read(
                page, by: recipe, badRecords: badRecords, document: document, limit: limit, now: clock.wallTime)
            badRecords += facts.rejected
            let step = pagination.advance(facts)
            result.append(read(step.words))
            guard case .next = step else { break }
        }
        return result
    }

    private static func read(
        _ page: FetchedPage, by recipe: PageRecipe, badRecords: Int, document: UIManagedDocument, limit: Int, now: Date
    ) throws -> ((String) -> Page, PageFacts) {
        let redactor = recipe.settings.redactor
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = document.managedObjectContext
        return try worker.performAndWait {
            let reading = try recipe.read(page, into: worker, run: 1, now: now, badRecords: badRecords)
            let mapper = reading.mapper
            let objects = try objects(mapping: recipe.mapping, resource: recipe.resource, in: worker, limit: limit)
            let make = { (next: String) in
                Page(
                    url: redactor.redact(page.address), status: page.status,
                    headers: page.headers.map { ($0.name, redactor.redact($0.value)) }, bytes: page.received, duration: page.duration,
                    counts: mapper.counts,
                    rejected: mapper.rejected.map { ($0.record, $0.reason, $0.path) }, objects: objects, next: next, facts: reading.facts)
            }
            return (make, reading.facts)
        }
    }

    private static func objects(
        mapping: ModelMapping, resource: ResourceConfiguration, in worker: NSManagedObjectContext, limit: Int
    ) throws -> [Object] {
        let names = [resource.entity] + mapping.entities.keys.sorted().filter { $0 != resource.entity }
        var result: [Object] = []
        for name in names {
            guard let entity = mapping.entities[name] else { continue }
            var plan = FetchPlan(entity: entity.entity)
            plan.limit = limit
            for found in try worker.fetch(plan) {
                guard let row = found.row else { continue }
                result.append(try Object(entity: name, values: values(row, entity, in: worker), isRecord: name == resource.entity))
            }
        }
        return result
    }

    private static func values(
        _ row: RowSnapshot, _ entity: EntityMapping, in worker: NSManagedObjectContext
    ) throws -> [(name: String, value: String)] {
        try entity.layout.names.enumerated().compactMap { slot, name in
            guard !name.hasPrefix("cistern") else { return nil }
            if case .objectID(let target) = row[slot] {
                let key = try worker.currentRows([target])[target].flatMap { $0.layout.constraints[0].key(of: $0) }
                return (name, key.map { $0.values.map { "\($0.plain ?? "nil")" }.joined(separator: ", ") } ?? "?")
            }
            return (name, row[slot].plain.map { "\($0)" } ?? "NULL")
        }
    }
}

extension Pagination.Step {
    fileprivate var words: String {
        switch self {
        case .next(let request): "next page: \(request)"
        case .end(let end):
            "the end (\(end.rules.map(\.rawValue).joined(separator: ", ")))"
                + (end.doubts.isEmpty ? "" : "; not complete: " + end.doubts.map(\.description).joined(separator: "; "))
        case .repetition(let what): "refused: \(what.rawValue)"
        }
    }
}

/// A document without a file.
// It adds nothing to what its parent guards.
private final class TrialDocument: UIManagedDocument, @unchecked Sendable {
    override func persistentStoreType(forFileType fileType: String) -> String { NSInMemoryStoreType }
}
