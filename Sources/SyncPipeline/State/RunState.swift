import Foundation
import OpenCoreData
import SyncConfiguration

/// What a resource's earlier runs left behind.
struct RunState: Sendable, Hashable {
    /// The number of the run that begins now.
    var number: Int64
    /// Which readings of which pages the last complete listing was, if the resource vouches for their rows and no others.
    var listing: BodyDigest?
    /// How many rows it had.
    var rows: Int
    var missing: MissingKeys.Stored
    var mayDelete: Bool
    var failures: Int
    var lastSuccess: Date?
    var completeAt: Date?
    /// The number of the run that read the last complete listing; 0: none did.
    var completeRun: Int64
    var parkedUntil: Date?
    var nextPollAt: Date?
    var isPaused: Bool
    var heldDeletes: Int
    var httpStatus: Int?
    var lastError: String?
    /// What decided what bodies became then; nil: before that was recorded.
    var fingerprint: String?
    /// With which of its parts the run begins; empty: with the first.
    var resumeAt = ""
    /// How far runs have come in what grows; nil: nobody knows.
    var cursor: String?
    /// When the last run began that asked for everything.
    var fullAt: Date?
    /// Records have said that rows are gone which are there.
    var hasGone = false

    /// - Parameter entity: what records become now. Rows of another entity are none of the resource's any more. Nil: whatever it was.
    static func load(scope: ResourceScope, entity: String? = nil, in worker: NSManagedObjectContext) throws -> RunState {
        let row = try ResourceTable.row(of: scope, in: worker), isSame = isOurs(row.mapping, entity)
        let missing = isSame ? try StoredKeys.data(.missing, of: scope, in: worker) : nil
        return row.state(isSame: isSame, missing: MissingKeys.Stored(missing ?? Data()))
    }

    /// The state of all resources that the store knows, and what is stored of their schedules.
    static func loadAll(document: UIManagedDocument) async throws -> ([ResourceScope: ResourceStatus], [ResourceScope: StoredSchedule]) {
        try await document.withWorker { worker in
            var statuses: [ResourceScope: ResourceStatus] = [:], schedules: [ResourceScope: StoredSchedule] = [:]
            for row in try StateRow<ResourceTable>.all(in: worker) where !row.source.isEmpty && row.partition.isEmpty {
                statuses[row.scope] = ResourceStatus(row.scope, row.state())
                schedules[row.scope] = row.schedule
            }
            return (statuses, schedules)
        }
    }

    /// Lets resources and pages go on vouching for the rows of entities that have other names now. Called before any run.
    static func rename(entitiesOf model: ModelConfiguration, document: UIManagedDocument) async throws {
        var names: [String: String] = [:]
        for entity in model.entities {
            // A name that is an entity's again means that one.
            if let former = model.renamed[entity.name], model.entity(named: former) == nil { names[former] = entity.name }
        }
        if names.isEmpty { return }
        let isChanged = try await document.withWorker { [names] worker in
            var isChanged = false
            for var row in try StateRow<ResourceTable>.all(in: worker) {
                guard let mapping = ModelMapping.renamed(row.mapping, names) else { continue }
                row.mapping = mapping
                row.write(in: worker)
                isChanged = true
            }
            for var row in try StateRow<RequestTable>.all(in: worker) {
                guard let mapping = ModelMapping.renamed(row.mapping, names) else { continue }
                row.mapping = mapping
                row.write(in: worker)
                isChanged = true
            }
            if isChanged { try worker.save() }
            return isChanged
        }
        if isChanged { try await document.save() }
    }

    /// Forgets parts of what is remembered of a resource and of all its parts. What they vouch for stays: nothing is missing because of it.
    static func forget(_ parts: Set<ResetPart>, of scope: ResourceScope, in worker: NSManagedObjectContext) throws {
        for var row in try ResourceTable.parts(of: scope, in: worker) + [ResourceTable.row(of: scope, in: worker)] {
            if parts.contains(.cursor) {
                row.cursor = nil
                row.fullAt = nil
            }
            if parts.contains(.validators) {
                row.listing = nil
                for var page in try StateRow<RequestTable>.all(where: [.isEqual(\.scope, "\(row.scope)")], in: worker) {
                    if page.manifest > 0 { try StoredManifest.delete(ofPage: page.request, scope: page.scope, in: worker) }
                    page.manifest = 0
                    page.etag = nil
                    page.lastModified = nil
                    page.facts = nil
                    page.write(in: worker)
                }
            }
            row.write(in: worker)
        }
    }

    /// Has everything of some resources read again by their next polls, as far as they have ever been polled.
    static func forgetKnowledge(of scopes: Set<ResourceScope>, in worker: NSManagedObjectContext) throws {
        for scope in scopes {
            if try ResourceTable.row(of: scope, in: worker).isNew { continue }
            try forget([.validators, .cursor], of: scope, in: worker)
        }
    }

    /// Whether what is remembered of a page or a resource is about rows of an entity. Nil: whatever it was.
    private static func isOurs(_ fingerprint: String?, _ entity: String?) -> Bool {
        guard let entity, let stored = ModelMapping.entity(ofFingerprint: fingerprint) else { return true }
        return stored == entity
    }

    /// The rows that complete runs have vouched for, and those that pages saved since: those of a run that was cut off, too.
    ///
    /// - Parameter stored: all that is stored of the resource and its pages.
    static func members(
        among stored: [StoredKeys.Entry], scope: ResourceScope, entity: String, in worker: NSManagedObjectContext
    ) throws -> KeyRuns {
        let whole = try ResourceTable.row(of: scope, in: worker).mapping, pages = try mappings(of: [.isEqual(\.scope, "\(scope)")], in: worker)
        return stored.reduce(into: KeyCollector()) { members, entry in
            guard entry.kind == .members || entry.kind == .previous else { return }
            let mapping = entry.request.isEmpty ? whole : pages[Page(scope: entry.scope, request: entry.request)]
            if isOurs(mapping, entity), let keys = entry.keys { members.add(keys) }
        }.keys
    }

    /// Those of these rows of an entity for which resources other than this one vouch. A resource that is no longer polled still vouches for what it
    /// did; a part that is none any more does not, since another part may have taken its place.
    static func vouched(
        among keys: KeyRuns, of entity: String, byOthersThan scope: ResourceScope, in worker: NSManagedObjectContext
    ) throws -> KeyRuns {
        guard !keys.isEmpty else { return [] }
        let resources = try mappings(in: worker), pages = try mappings(of: [], in: worker), former = try formerParts(in: worker)
        return try StoredKeys.entries([.members, .previous], ofOthersThan: scope, in: worker).reduce(into: KeyCollector()) { vouched, entry in
            if former.contains(entry.scope) { return }
            let mapping = entry.request.isEmpty ? resources[entry.scope] : pages[Page(scope: entry.scope, request: entry.request)]
            if ModelMapping.entity(ofFingerprint: mapping) == entity, let theirs = entry.keys { vouched.add(keys.intersection(theirs)) }
        }.keys
    }

    private static func formerParts(in worker: NSManagedObjectContext) throws -> Set<String> {
        Set(try StateRow<ResourceTable>.all(where: [.isNot(\.partition, ""), .isEqual(\.isRemoved, true)], in: worker).map { "\($0.scope)" })
    }

    private struct Page: Hashable {
        let scope: String
        let request: String
    }

    /// What decided what bodies became, by resource.
    private static func mappings(in worker: NSManagedObjectContext) throws -> [String: String] {
        try StateRow<ResourceTable>.all(in: worker).reduce(into: [:]) { $0["\($1.scope)"] = $1.mapping }
    }

    /// The same of some pages.
    private static func mappings(of chosen: [RowCondition<RequestTable>], in worker: NSManagedObjectContext) throws -> [Page: String] {
        try StateRow.all(where: chosen, in: worker).reduce(into: [:]) { $0[Page(scope: $1.scope, request: $1.request)] = $1.mapping }
    }

    /// The tombstones of an entity that are other resources' to purge.
    static func tombstones(of entity: String, byOthersThan scope: ResourceScope, in worker: NSManagedObjectContext) throws -> KeyRuns {
        let resources = try mappings(in: worker)
        return try StoredKeys.entries([.missing], ofOthersThan: scope, in: worker).reduce(into: KeyCollector()) { keys, entry in
            guard ModelMapping.entity(ofFingerprint: resources[entry.scope]) == entity else { return }
            for batch in MissingKeys(entry.data).tombstones.values { keys.add(batch) }
        }.keys
    }

    /// The tombstones of an entity whose objects something said to be gone, whoever made them, by the second they were made in.
    static func saidGone(of entity: String, in worker: NSManagedObjectContext) throws -> [Int64: KeyRuns] {
        let resources = try mappings(in: worker)
        return try StoredKeys.entries([.missing], in: worker).reduce(into: [:]) { found, entry in
            guard ModelMapping.entity(ofFingerprint: resources[entry.scope]) == entity else { return }
            for (second, keys) in MissingKeys(entry.data).said { found[second, default: []].formUnion(keys) }
        }
    }

    /// Whether an outcome must be remembered although no row changed.
    func mustWrite(_ outcome: RunOutcome) -> Bool {
        switch outcome {
        case .succeeded, .cancelled: failures > 0 || lastError != nil || completeAt == nil || mayDelete
        case .incomplete, .failed, .parked: true
        }
    }
}

extension UIManagedDocument {
    /// How records become rows of this document.
    func mapping(_ model: ModelConfiguration) -> ModelMapping {
        let migrations = root.persistentStoreCoordinator?.persistentStores.reduce(0) { $0 + $1.migrations } ?? 0
        return ModelMapping(model, model: managedObjectModel, migrations: migrations)
    }

    /// Runs `body` in a fresh worker context, child of the main context, on its own queue. What it does not save is gone.
    func withWorker<T: Sendable>(_ body: @escaping @Sendable (NSManagedObjectContext) throws -> T) async throws -> T {
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.name = "worker"
        worker.parent = managedObjectContext
        return try await worker.perform { try body(worker) }
    }
}
