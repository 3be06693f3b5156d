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
        /// Property names and values as text, in the model's order; a to-one as the key it points to.
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
        /// The records that would be set aside, at most 1000: position in the page from 0, why, and where in it (empty: no place).
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
        let model = try SyncPipeline.model(for: configuration)
        // A separate store, so that keys and references resolve as they would; in memory, so that it leaves nothing behind, however it ends.
        let document = TrialDocument(
            fileURL: URL(fileURLWithPath: "/dev/null"), model: model, autosavePolicy: AutosavePolicy(), clock: SystemDocumentClock())
        try document.openStore(creating: true)
        let trial = Trial(
            document: document, configuration: configuration, mapping: ModelMapping(configuration.model, model: model), transports: transports,
            clock: clock, secrets: secrets, tokens: TokenService(pool: tokens, transports: transports, clock: clock), version: version)
        let recipe = try await trial.recipe(of: resource)
        // The objects that there are parts for are none of the pages'.
        let known = try await document.withWorker { worker in
            try trial.mapping.entities.values.reduce(into: Set<NSManagedObjectID>()) { known, entity in
                known.formUnion(try worker.fetch(FetchPlan(entity: entity.entity)).map(\.id))
            }
        }
        var result: [Page] = [], badRecords = 0
        try await trial.fetch(count, recipe) { page, pagination in
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
            let objects = try objects(mapping: recipe.mapping, resource: recipe.resource, besides: known, in: worker, limit: limit)
            let make = { (next: String) in
                Page(
                    method: request.method, sent: redactor.redact(request.content.description), url: redactor.redact(page.address),
                    status: page.status,
                    headers: page.headers.map { ($0.name, redactor.redact($0.value)) }, bytes: page.received, duration: page.duration,
                    counts: mapper.counts,
                    rejected: mapper.rejected.map { ($0.record, $0.reason, $0.path) }, deletions: mapper.deletions, objects: objects, next: next,
                    facts: reading.facts)
            }
            return (make, reading.facts)
        }
    }

    private static func objects(
        mapping: ModelMapping, resource: ResourceConfiguration, besides known: Set<NSManagedObjectID>, in worker: NSManagedObjectContext, limit: Int
    ) throws -> [Object] {
        let names = [resource.entity] + mapping.entities.keys.sorted().filter { $0 != resource.entity }
        var result: [Object] = []
        for name in names {
            guard let entity = mapping.entities[name] else { continue }
            var plan = FetchPlan(entity: entity.entity)
            plan.limit = limit + known.count
            for found in try worker.fetch(plan).filter({ !known.contains($0.id) }).prefix(limit) {
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

/// What a trial works with.
private struct Trial {
    let document: UIManagedDocument
    let configuration: CisternConfiguration
    let mapping: ModelMapping
    let transports: TransportPool
    let clock: any SyncClock
    let secrets: SecretResolver
    let tokens: TokenService
    let version: String

    /// Fetches pages until there are enough of them, or `take` wants no more.
    func fetch(_ count: Int, _ recipe: PageRecipe, _ take: (FetchedPage, inout Pagination) throws -> Bool) async throws {
        let settings = recipe.settings
        let transport = try await transports.transport(
            for: TransportOptions(resource: recipe.resource, settings: settings, daemon: configuration.daemon))
        var pagination = Pagination(recipe.resource, first: settings.first)
        let environment = FetchEnvironment(settings: settings, transport: transport, clock: clock)
        for _ in 0..<max(1, count) {
            let outcome = await PageFetch(pagination.request, environment: environment).run()
            guard case .page(let page) = outcome else {
                if let error = outcome.error { throw error }
                throw SyncError.cancelled
            }
            guard try take(page, &pagination) else { return }
        }
    }

    /// How pages become objects: of a resource with parts, those of the first.
    func recipe(of resource: ResourceConfiguration) async throws -> PageRecipe {
        let mapping = mapping.reading(resource)
        let partition = try await firstPart(of: resource) ?? .none, now = clock.wallTime
        let increment = resource.incremental.map { Increment($0, before: nil, isFull: true, now: now) }
        let times = resource.isTimed ? RunTimes(increment?.slice(after: nil), now: now) : nil
        let filled = try resource.filled(for: partition, at: times)
        guard let entity = mapping.entities[resource.entity] else { throw SyncError.unknownEntity(resource.entity) }
        let constants = try partition.constants(of: entity, among: mapping, for: resource, at: times)
        let settings = try FetchSettings(
            resource: filled, daemon: configuration.daemon, version: version, secrets: secrets, tokens: tokens)
        return PageRecipe(resource: filled, mapping: mapping, settings: settings, constants: constants)
    }

    /// Nil: the resource is one list. Where it has parts for objects, these come from the first page of what lists them.
    private func firstPart(of resource: ResourceConfiguration) async throws -> Partition? {
        guard let partitions = resource.partitions else { return nil }
        if case .values(let values) = partitions.kind { return values.first.map { Partition(value: $0, as: partitions.alias) } }
        guard let list = ParentList(of: resource), let parents = configuration.resource(scope: list.parents.resource) else { return nil }
        let recipe = try await recipe(of: parents)
        try await fetch(1, recipe) { page, _ in
            let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
            worker.parent = document.managedObjectContext
            try worker.performAndWait {
                _ = try recipe.read(page, into: worker, run: 1, now: clock.wallTime, badRecords: 0)
                try worker.save()
            }
            return false
        }
        let found = try await document.withWorker { [mapping] worker in
            guard let entity = mapping.entities[list.parents.entity] else { throw SyncError.unknownEntity(list.parents.entity) }
            return try list.objects(entity, mapping, in: worker) { _ in true }
        }
        guard let first = found.first else {
            throw SyncError.page("\(resource.scope): the first page of \(parents.scope) has no object that there would be a part for")
        }
        return first
    }
}

/// A document without a file.
// It adds nothing to what its parent guards.
private final class TrialDocument: UIManagedDocument, @unchecked Sendable {
    override func persistentStoreType(forFileType fileType: String) -> String { NSInMemoryStoreType }
}
