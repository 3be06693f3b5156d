import Foundation
import JSONReader
import OpenCoreData
public import SyncConfiguration

/// Fetches pages of a resource and maps them, and keeps nothing: what `cisternctl try` shows.
public enum PageTrial {
    /// One object as it would be stored.
    public struct Object: Sendable {
        /// Its entity in the model: the resource's, or one that its records name.
        public let entity: String
        /// Property names and values as text, with secrets masked, in the model's order; a to-one as the key it points to.
        public let values: [(name: String, value: String)]
        /// It is one of the page's records, and not something that a record names.
        public let isRecord: Bool
    }

    /// One page.
    public struct Page: Sendable {
        /// How it was asked for.
        public let method: RequestMethod
        /// What was sent, with secrets masked; empty with a GET.
        public let sent: String
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
        /// The records that would be set aside, at most 1000: position in the page from 0, why, with secrets masked, and where in it (empty: no place).
        public let rejected: [(record: Int, reason: String, path: String)]
        /// How many records say that their objects are gone: nothing is made of them.
        public let deletions: Int
        /// What would be stored, the resource's own entity first, then the others by name; of each entity up to the limit.
        public let objects: [Object]
        /// Where the listing continues, in words.
        public let next: String
        /// What it says about the listing.
        let facts: PageFacts
    }

    /// Fetches up to `count` pages.
    ///
    /// - Parameter tokens: those that are fetched on the way.
    /// - Throws: `FetchError`, `SyncError` and what reading the page throws.
    public static func run(
        _ resource: ResourceConfiguration, configuration: CisternConfiguration, transports: TransportPool, clock: any SyncClock,
        secrets: SecretResolver, tokens: TokenPool = TokenPool(), version: String, pages count: Int, objects limit: Int = 20
    ) async throws -> [Page] {
        let bench = try TrialBench(
            configuration, transports: transports, clock: clock, secrets: secrets, tokens: tokens, version: version)
        let document = bench.document
        let recipe = try await bench.recipe(of: resource)
        // The objects that there are parts for are none of the pages'.
        let known = try await document.withWorker { worker in
            try bench.mapping.entities.values.reduce(into: Set<NSManagedObjectID>()) { known, entity in
                known.formUnion(try worker.fetch(FetchPlan(entity: entity.entity)).map(\.id))
            }
        }
        var result: [Page] = [], badRecords = 0
        try await bench.fetch(count, recipe) { page, pagination in
            let (make, facts) = try read(
                page, pagination.request, by: recipe, badRecords: badRecords, document: document, besides: known, limit: limit, now: clock.wallTime)
            badRecords += facts.rejected
            let step = pagination.advance(facts)
            result.append(make(step.words(recipe.settings.redactor)))
            if case .next = step { return true }
            return false
        }
        return result
    }

    private static func read(
        _ page: FetchedPage, _ request: PageRequest, by recipe: PageRecipe, badRecords: Int, document: UIManagedDocument,
        besides known: Set<NSManagedObjectID>, limit: Int,
        now: Date
    ) throws -> ((String) -> Page, PageFacts) {
        let redactor = recipe.settings.redactor
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = document.managedObjectContext
        return try worker.performAndWait {
            let reading = try recipe.read(page, into: worker, run: 1, now: now, badRecords: badRecords)
            let mapper = reading.mapper
            let objects = try objects(mapping: recipe.mapping, resource: recipe.resource, besides: known, in: worker, limit: limit, redactor)
            let make = { (next: String) in
                Page(
                    method: request.method, sent: redactor.redact(request.content.description), url: redactor.redact(page.address),
                    status: page.status,
                    headers: page.headers.map { ($0.name, redactor.redact($0.value)) }, bytes: page.received, duration: page.duration,
                    counts: mapper.counts,
                    rejected: mapper.rejected.map { ($0.record, redactor.redact($0.reason), $0.path) }, deletions: mapper.deletions, objects: objects,
                    next: next,
                    facts: reading.facts)
            }
            return (make, reading.facts)
        }
    }

    private static func objects(
        mapping: ModelMapping, resource: ResourceConfiguration, besides known: Set<NSManagedObjectID>, in worker: NSManagedObjectContext, limit: Int,
        _ redactor: Redactor
    ) throws -> [Object] {
        let names = [resource.entity] + mapping.entities.keys.sorted().filter { $0 != resource.entity }
        var result: [Object] = []
        for name in names {
            guard let entity = mapping.entities[name] else { continue }
            var plan = FetchPlan(entity: entity.entity)
            plan.limit = limit + known.count
            for found in try worker.fetch(plan).filter({ !known.contains($0.id) }).prefix(limit) {
                guard let row = found.row else { continue }
                let values = try Self.values(row, entity, in: worker).map { (name: $0.name, value: redactor.redact($0.value)) }
                result.append(Object(entity: name, values: values, isRecord: name == resource.entity))
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
    /// In words, with secrets masked, as far as the page said them.
    fileprivate func words(_ redactor: Redactor) -> String {
        switch self {
        case .next(let request): return "next page: \(request.words(redactor))"
        case .end(let end):
            let rules = end.rules.map(\.rawValue).joined(separator: ", "), doubts = end.doubts.map(\.description).joined(separator: "; ")
            return "the end (\(rules))" + (doubts.isEmpty ? "" : "; not complete: \(redactor.redact(doubts))")
        case .repetition(let what): return "refused: \(what.rawValue)"
        }
    }
}
