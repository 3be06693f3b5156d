import Foundation
import OpenCoreData
public import SyncConfiguration

/// Fetches pages of a resource and maps them, and keeps nothing: what `cisternctl try` shows.
public enum PageTrial {
    /// One object as it would be stored.
    public struct Object: Sendable {
        public let entity: String
        /// Property names and values as text, in the model's order; a to-one as the key it points to.
        public let values: [(name: String, value: String)]
        /// It is one of the page's records, and not something that a record names.
        public let isRecord: Bool
    }

    /// One page.
    public struct Page: Sendable {
        public let url: String
        public let status: Int
        public let headers: [(name: String, value: String)]
        public let bytes: Int
        public let duration: Duration
        public let counts: RecordCounts
        public let rejected: [(record: Int, reason: String, path: String)]
        public let objects: [Object]
        /// Where the listing goes on, in words.
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
        // A store of its own, so that keys and references resolve as they would; in memory, so that it leaves nothing behind, whatever ends it.
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
                let key = try worker.currentRows([target])[target].flatMap { UniqueKey($0, slots: $0.layout.constraints[0]) }
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
