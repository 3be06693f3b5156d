import Foundation
import OpenCoreData
import SyncConfiguration

/// What a trial works with: the parts of a pipeline, over an empty store in memory.
struct TrialBench: Sendable {
    let document: UIManagedDocument
    let configuration: CisternConfiguration
    let mapping: ModelMapping
    let transports: TransportPool
    let clock: any SyncClock
    let secrets: SecretResolver
    let tokens: TokenService
    let version: String

    /// - Throws: what the model says of itself.
    init(
        _ configuration: CisternConfiguration, transports: TransportPool, clock: any SyncClock, secrets: SecretResolver, tokens: TokenPool,
        version: String
    ) throws {
        let model = try SyncPipeline.model(for: configuration)
        // A separate store, so that keys and references resolve as they would; in memory, so that it leaves nothing behind, however it ends.
        let document = TrialDocument(
            fileURL: URL(fileURLWithPath: "/dev/null"), model: model, autosavePolicy: AutosavePolicy(), clock: SystemDocumentClock())
        try document.openStore(creating: true)
        self.document = document
        self.configuration = configuration
        mapping = ModelMapping(configuration.model, model: model)
        self.transports = transports
        self.clock = clock
        self.secrets = secrets
        self.tokens = TokenService(pool: tokens, transports: transports, clock: clock)
        self.version = version
    }

    /// What the requests for a resource go over.
    func transport(_ recipe: PageRecipe) async throws -> any HTTPTransport {
        try await transports.transport(
            for: TransportOptions(resource: recipe.resource, settings: recipe.settings, daemon: configuration.daemon))
    }

    /// Fetches pages until there are enough of them, or `take` wants no more.
    func fetch(_ count: Int, _ recipe: PageRecipe, _ take: (FetchedPage, inout Pagination) throws -> Bool) async throws {
        let settings = recipe.settings
        let transport = try await transport(recipe)
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
        let partition = try await firstPart(of: resource) ?? .none, now = clock.wallTime
        let increment = resource.incremental.map { Increment($0, before: nil, isFull: true, now: now) }
        return try recipe(of: resource, for: partition, increment, now: now)
    }

    /// How pages of a part become objects, in the first step of a run.
    ///
    /// - Parameters:
    ///   - increment: what the run asks for; nil: the resource has nothing of the kind.
    ///   - now: wall time of the run's begin.
    /// - Throws: `SyncError` where a place of a template would be empty, and `FetchError` if the address cannot be asked.
    func recipe(of resource: ResourceConfiguration, for partition: Partition, _ increment: Increment?, now: Date) throws -> PageRecipe {
        let mapping = mapping.reading(resource)
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
        guard let first = try await parts(list, among: nil).first else {
            throw SyncError.page("\(resource.scope): the first page of \(parents.scope) has no object that there would be a part for")
        }
        return first
    }

    /// The parts that there are for objects in the store.
    ///
    /// - Parameter listed: the rows that the other resource lists; nil: all that are there.
    func parts(_ list: ParentList, among listed: KeyRuns?) async throws -> [Partition] {
        try await document.withWorker { [mapping] worker in
            guard let entity = mapping.entities[list.parents.entity] else { throw SyncError.unknownEntity(list.parents.entity) }
            return try list.objects(entity, mapping, in: worker) { listed?.contains($0) ?? true }
        }
    }
}

/// A document without a file.
// It adds nothing to what its parent guards.
private final class TrialDocument: UIManagedDocument, @unchecked Sendable {
    override func persistentStoreType(forFileType fileType: String) -> String { NSInMemoryStoreType }
}
