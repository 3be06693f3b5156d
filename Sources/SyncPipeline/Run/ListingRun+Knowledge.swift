import OpenCoreData
import SyncConfiguration
import Synchronization

/// What a run knows of pages before it asks for them.
extension ListingRun {
    /// What is known of its pages, from the third on.
    struct Knowledge: Sendable {
        /// Nil: nobody has asked yet.
        var requests: KnownRequests?
        /// The pages that had their turn to be looked at together with others.
        var lookedAt: Set<String> = []
        /// What the records of the next pages were.
        var manifests: [String: Manifest] = [:]
    }

    /// How many pages of a run are asked for one by one whether they are known: most resources have no more.
    private static var pagesAskedForSingly: Int { 2 }

    /// What is known of a page, if its rows are what it says. The first pages of a run are asked for one by one. Then all are, and whether their rows are
    /// what they say is looked at together with those of the next pages.
    func storedRequest(_ key: String, after tally: RunTally) async throws -> StoredRequest? {
        let known = tally.pages < Self.pagesAskedForSingly ? nil : try await allRequests(besides: tally.requestKeys)
        guard let known, known.isWhole else { return try await environment.workers.run { [self] in try storedRequest(key, in: $0) } }
        guard let stored = known[key] else { return nil }
        if isLookedAt(key) { return stored }
        let group = knowledge.withLock { knowledge in
            if knowledge.lookedAt.contains(key) { return [key] }
            let group = known.group(from: key) { page, _ in !knowledge.lookedAt.contains(page) && !isLookedAt(page) }
            knowledge.lookedAt.formUnion(group)
            return group
        }
        return try await environment.workers.run { [self] worker in
            if group.count > 1, let entity = environment.mapping.entities[resource.entity],
                try holds(group, entity, in: worker, members: { try StoredKeys.members(of: scope, pages: group, in: worker) })
            {
                return stored
            }
            // One that does not hold lets none of a group hold.
            return try storedRequest(key, in: worker)
        }
    }

    private func isLookedAt(_ key: String) -> Bool { environment.trust.isKnown(key, of: scope, entity: resource.entity) }

    private func allRequests(besides read: Set<String>) async throws -> KnownRequests {
        if let known = knowledge.withLock({ $0.requests }) { return known }
        let known = try await environment.workers.run { [self] in try KnownRequests(of: scope, fingerprint: fingerprint, besides: read, in: $0) }
        knowledge.withLock { $0.requests = known }
        return known
    }

    /// What the records of a page were. A page that asks brings those of the next ones, too.
    ///
    /// - Parameter count: how many there were, as the page's own row says.
    func manifest(of key: String, count: Int) async throws -> Manifest? {
        let (known, group) = knowledge.withLock { knowledge in
            let known = knowledge.manifests.removeValue(forKey: key)
            func isSmall(_ request: StoredRequest) -> Bool { request.manifest > 0 && request.manifest <= Manifest.pieceSize }
            guard known == nil, let requests = knowledge.requests, let stored = requests[key], isSmall(stored) else { return (known, [String]()) }
            return (nil, requests.group(from: key) { isSmall($1) })
        }
        if let known, known.count == count { return known }
        let spill = environment.document.root.persistentStoreCoordinator?.blockSpill
        return try await environment.workers.run { [self] worker in
            guard group.count > 1 else { return try StoredManifest.load(count: count, of: scope, page: key, spill: spill, in: worker) }
            var manifests = try StoredManifest.load(of: scope, pages: group, in: worker)
            let manifest = manifests.removeValue(forKey: key)
            knowledge.withLock { $0.manifests = manifests }
            return manifest?.count == count ? manifest : nil
        }
    }

    /// Whether a page that is known lists rows that pages before it have made or changed in this run. Of two records of one row the later one counts,
    /// also where its page is as it was. A page that says of objects that they are gone may say it of any of those rows: which had none when it was read is
    /// not known.
    func isOverwritten(_ key: String, by written: KeyRuns) async throws -> Bool {
        if written.isEmpty { return false }
        let scope = scope, mayDelete = prepared.mapping.entities[resource.entity]?.deletionSign != nil
        return try await environment.workers.run { worker in
            if mayDelete, try GoneRows.areSaid(byPage: key, of: scope, in: worker) { return true }
            // What cannot be read may list anything.
            guard let members = try StoredKeys.keys(.members, of: scope, page: key, in: worker) else { return true }
            return !members.intersection(written).isEmpty
        }
    }

    /// The rows that a page's records are; nil where that cannot be read.
    func members(of key: String) async throws -> KeyRuns? {
        let scope = scope
        return try await environment.workers.run { try StoredKeys.keys(.members, of: scope, page: key, in: $0) }
    }

    /// The rows that a page's records were when it was read last, where a run did that since the last one that read everything, and the number of that run.
    ///
    /// - Returns: nil, too, where they cannot be read.
    func unsettledRows(of key: String, since completeRun: Int64) async throws -> (rows: KeyRuns, run: Int64)? {
        if knowledge.withLock({ $0.requests?.isBlank == true }) { return nil }
        let scope = scope
        return try await environment.workers.run { worker in
            guard let page = try RequestTable.existing(of: scope, key, in: worker), page.run > completeRun else { return nil }
            return try StoredKeys.keys(.members, of: scope, page: key, in: worker).map { (rows: $0, run: page.run) }
        }
    }

    private func holds(
        _ requests: some Collection<String>, _ entity: EntityMapping, in worker: NSManagedObjectContext, members: () throws -> KeyRuns?
    ) throws -> Bool {
        try environment.trust.holds(
            requests, of: scope, entity: entity, in: worker,
            found: { count in
                environment.observe(.rowsChangedElsewhere(scope: scope, count: count))
            }, members: members)
    }

    /// What is known of a page, if its rows are what it says. On the context's queue.
    func storedRequest(_ key: String, in worker: NSManagedObjectContext) throws -> StoredRequest? {
        guard let entity = environment.mapping.entities[resource.entity],
            let stored = try StoredRequest.load(scope: scope, key: key, fingerprint: fingerprint, in: worker)
        else { return nil }
        return try holds([key], entity, in: worker) { try StoredKeys.keys(.members, of: scope, page: key, in: worker) } ? stored : nil
    }
}
