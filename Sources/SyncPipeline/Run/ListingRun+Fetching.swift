import Foundation
import OpenCoreData
import SyncConfiguration

/// What is requested and when: requests, the page ahead, and what a run waits for before it makes them.
extension ListingRun {
    /// What all requests of a run have in common.
    struct Surroundings {
        let number: Int64
        let recipe: PageRecipe
        let settings: FetchSettings
        let transport: any HTTPTransport
        let cookies = RunCookies()
        /// How many pages the steps before have read.
        let pagesBefore: Int
        /// What requests take for now.
        let now: Date
    }

    /// - Parameters:
    ///   - repetition: how many pages were asked for in the same way before.
    ///   - stored: what is known of the page; nil: it is requested without conditions, and all of it is read.
    ///   - isCompared: whether records that are the same as when the page was read last are left out.
    ///   - isNew: whether its records have no rows yet, as far as is known: then they are packed while they arrive.
    func fetch(
        _ request: PageRequest, page: Int, repetition: Int = 0, stored: StoredRequest?, isCompared: Bool, isNew: Bool, _ surroundings: Surroundings
    ) -> PageFetching {
        let observe = environment.observe, scope = scope, id = id
        var fetchEnvironment = FetchEnvironment(
            settings: surroundings.settings, transport: surroundings.transport, clock: environment.clock, random: environment.random,
            slots: environment.slots, cookies: surroundings.cookies
        ) { [self] event in
            switch event {
            case .attempt: step { $0.waits[page] = nil }
            case .asking:
                step { $0.waits[page] = nil }
                if page == 1, beginsPoll { environment.asks(scope) }
            case .waiting(let delay): step { $0.waits[page] = environment.clock.instant.advanced(by: delay) }
            case .retrying(let error, let delay):
                step { $0.waits[page] = environment.clock.instant.advanced(by: delay) }
                observe(.retrying(scope: scope, run: id, page: page, attempt: error.attempts, delay: delay, reason: "\(error)"))
            }
        } notBefore: { [environment] in
            environment.notBefore(scope)
        } willWait: { [environment] until in
            await environment.willWait(scope, until)
        }
        fetchEnvironment.listener = environment.tracer.map { ExchangeListener(tracer: $0, scope: scope) }
        fetchEnvironment.gate = environment.gates.gate(of: scope.whole)
        fetchEnvironment.deadline = part?.deadline ?? progress.startedAt.advanced(by: resource.limits.maxRunTime.duration)
        fetchEnvironment.spool = SpoolPlace(folder: environment.document.fileURL, leavesFree: environment.store.minFreeDisk.bytes)
        if environment.archive.isKept(scope) {
            fetchEnvironment.recorder = BodyRecorder(
                archive: environment.archive, scope: scope, run: surroundings.number, page: page, repetition: repetition, now: surroundings.now,
                named: resource.namedHeaders)
        }
        if let size = environment.parseProbe?.listSize { fetchEnvironment.spool.listSize = size }
        var fetch = PageFetch(
            request, validators: stored?.validators, recognisesUnmodified: stored?.facts != nil, environment: fetchEnvironment)
        if isCompared, let count = stored?.manifest, count > 0 {
            // What cannot be read is not known: then all of the page is read, and whoever reads its rows hears of the failure.
            fetch.knownRecords = { [self] in try? await manifest(of: request.key, count: count) }
        }
        var packing: PagePacking?
        // What is not wanted must not be packed, and that shows when the page is read.
        if isNew, resource.filter.isEmpty, environment.parseProbe?.isPacking != false,
            let spill = environment.document.root.persistentStoreCoordinator?.blockSpill
        {
            packing = PagePacking(
                surroundings.recipe, run: surroundings.number, clock: environment.clock, queue: environment.parseQueue, spill: spill)
            if packing != nil { environment.parseProbe?.packs(scope) }
        }
        fetch.arrival = packing
        return PageFetching(operation: FetchOperation(fetch), packing: packing)
    }

    /// Begins to fetch the page after one that is about to be parsed, if it says that there is one. Nil also if the run would have to wait before it.
    func pageAhead(
        of page: FetchedPage, _ pagination: Pagination, _ tally: RunTally, _ surroundings: Surroundings
    ) async throws -> PageAhead? {
        guard let next = surroundings.recipe.outlook(of: page).flatMap(pagination.foreseen), !tally.requestKeys.contains(next.key),
            !progress.mustStop,
            environment.notBefore(scope) == nil, environment.document.unsavedChangeCount < unsavedLimit, !isDiskLow
        else { return nil }
        let known = try await storedRequest(next.key, after: tally), stored = isFull || tally.isReadAnew ? nil : known
        return PageAhead(
            next,
            fetch: fetch(
                next, page: surroundings.pagesBefore + pagination.pages + 2, stored: stored, isCompared: tally.mayCompare,
                isNew: known == nil && tally.isNew, surroundings),
            on: environment.fetchQueue)
    }

    /// Takes in what an outcome says of the server.
    func note(_ outcome: FetchOutcome, _ tally: inout RunTally) {
        let evidence = Breaker.Evidence(outcome, resource.breaker)
        // Others of its place may wait for that.
        if evidence == .works, tally.evidence != .works { environment.answered(scope) }
        tally.evidence.take(evidence)
    }

    /// Takes in why the run ends.
    func stop(_ tally: inout RunTally, after outcome: FetchOutcome) {
        // The status of an earlier page says nothing about a request that got no response.
        if let error = outcome.error { tally.status = error.status }
        tally.error = outcome.error.map { "\($0)" }
        tally.failure = outcome.error.map { RunFailure($0) }
        tally.outcome = .failed
        switch outcome {
        case .parked(let until, _):
            tally.outcome = .parked
            tally.parkedUntil = until
            environment.observe(.parked(scope: scope, until: until))
        case .authenticationRejected(let error):
            environment.observe(.authenticationRejected(scope: scope, url: error.url, status: error.status ?? 401))
        case .refused(let error):
            var isAddress = false
            if case .refused = error.kind { isAddress = true }
            environment.observe(.refused(scope: scope, url: error.url, reason: "\(error)", isAddress: isAddress))
        case .cancelled: tally.outcome = .cancelled
        case .page, .notModified, .leftAlone, .failed: break
        }
        tally.parkedUntil = outcome.notBefore ?? tally.parkedUntil
    }

    /// The server told another resource to leave it alone. Waits, or parks the run and returns false if that takes too long for a run.
    func mayWait(until: Date, _ tally: inout RunTally) async throws -> Bool {
        let wait = environment.clock.wallTime.duration(to: until)
        guard wait <= resource.retry.retryAfterPark.duration else {
            tally.outcome = .parked
            tally.parkedUntil = until
            tally.error = "the server allows no request until \(HTTPDate.format(until))"
            environment.observe(.parked(scope: scope, until: until))
            return false
        }
        step { $0.waits[$0.page] = environment.clock.instant.advanced(by: wait) }
        defer { step { $0.waits[$0.page] = nil } }
        try await environment.clock.sleep(for: wait)
        return true
    }

    /// How many unsaved changes hold a run.
    private var unsavedLimit: Int { max(environment.documentLimits.autosaveChanges * 4, 1) }

    private var isDiskLow: Bool { DiskSpace.free(at: environment.document.fileURL).map { $0 < environment.store.minFreeDisk.bytes } ?? false }

    /// Holds the run while the root context is behind, or disk space is low. Returns whether it had to.
    func waitForRoom(until deadline: SyncInstant) async throws -> Bool {
        let limit = unsavedLimit
        var hasWaited = false
        if environment.document.unsavedChangeCount >= limit {
            environment.observe(.held(.unsavedChanges(environment.document.unsavedChangeCount)))
            step { $0.waitsForDisk = true }
            await environment.document.waitUntilUnsaved(isBelow: limit)
            step { $0.waitsForDisk = false }
            environment.observe(.resumed)
            hasWaited = true
        }
        // What can be fetched again goes before anybody waits.
        if isDiskLow {
            let least = environment.store.minFreeDisk.bytes
            await environment.archive.perform { [archive = environment.archive] in archive.makeRoom(least) }
        }
        var isHeld = false
        // Also where a stop ends the wait: nobody else says that it is over.
        defer {
            if isHeld {
                step { $0.waitsForDisk = false }
                environment.observe(.resumed)
            }
        }
        while let free = DiskSpace.free(at: environment.document.fileURL), free < environment.store.minFreeDisk.bytes {
            if !isHeld {
                environment.observe(.held(.lowDisk(free: free, minimum: "\(environment.store.minFreeDisk)")))
            }
            isHeld = true
            step { $0.waitsForDisk = true }
            if progress.mustStop || environment.clock.instant >= deadline { throw SyncError.cancelled }
            try await environment.clock.sleep(for: .seconds(10))
        }
        return hasWaited || isHeld
    }

    /// Whether any row is known to have been listed, in a complete run or since.
    func hasListedRows() async throws -> Bool {
        let scope = scope
        return try await environment.workers.run { worker in
            try StoredKeys.entries(of: scope, in: worker).contains { ($0.kind == .members || $0.kind == .previous) && $0.keys?.isEmpty == false }
        }
    }

    /// Whether the records of pages may be compared in this run: no two pages had a record of one row when they were read last. If two had, no page's
    /// manifest says any more what a row is, and all are forgotten, before a page is read that hides it. On the context's queue.
    ///
    /// - Returns: also whether all pages have to be read whatever is known of them, since a row was changed that records hold.
    func mayCompare(in worker: NSManagedObjectContext) throws -> (mayCompare: Bool, mustRead: Bool) {
        guard comparison.isPossible else { return (false, false) }
        let held = try heldRows(in: worker)
        if held != .same, try StoredManifest.forget(scope, in: worker) { try worker.save() }
        return (try pagesAreApart(in: worker), held == .changed)
    }

    private func heldRows(in worker: NSManagedObjectContext) throws -> PageTrust.HeldRows {
        guard let held = environment.mapping.held[resource.entity], !held.isEmpty else { return .same }
        return try environment.trust.heldRows(of: scope, entities: held.sorted().compactMap { environment.mapping.entities[$0] }, in: worker) {
            count in
            environment.observe(.rowsChangedElsewhere(scope: scope, count: count))
        }
    }

    private func pagesAreApart(in worker: NSManagedObjectContext) throws -> Bool {
        if environment.trust.pagesAreApart(of: scope) { return true }
        if try StoredKeys.pagesAreApart(of: scope, in: worker) {
            environment.trust.notePagesApart(of: scope)
            return true
        }
        if try StoredManifest.forget(scope, in: worker) { try worker.save() }
        return false
    }

    /// An unchanged page says of deletions what it said: that counts where other pages have said something else meanwhile.
    func noteGoneAgain(_ request: PageRequest, _ tally: RunTally) async throws {
        guard let entity = prepared.mapping.entities[resource.entity], entity.deletionSign != nil,
            tally.sawGone || tally.pages > tally.notModified
        else { return }
        let scope = scope
        try await environment.workers.run { worker in
            try GoneRows.noteAgain(page: request.key, of: scope, entity: entity.name, in: worker)
            try worker.save()
        }
    }

    /// A server may give the same body a new tag: otherwise every later request would send the old one, and get a 200.
    func renew(_ stored: StoredRequest, by page: UnmodifiedPage, request: PageRequest) async throws {
        let fresh = page.validators, scope = scope
        guard fresh.etag != stored.validators?.etag || fresh.lastModified != stored.validators?.lastModified else { return }
        try await environment.workers.run { worker in
            try StoredRequest.renew(fresh, scope: scope, key: request.key, in: worker)
            try worker.save()
        }
    }
}

/// A page on its way.
struct PageFetching: Sendable {
    let operation: FetchOperation
    /// Has its records, as far as they have arrived; nil: they are not packed.
    let packing: PagePacking?
}

/// A page that is fetched while the one before it is parsed.
struct PageAhead: Sendable {
    let request: PageRequest
    let packing: PagePacking?
    private let task: Task<FetchOutcome, Never>

    init(_ request: PageRequest, fetch: PageFetching, on queue: OperationQueue) {
        self.request = request
        packing = fetch.packing
        task = Task { await queue.run(fetch.operation) }
    }

    /// Its outcome. A cancelled task cancels it.
    var outcome: FetchOutcome {
        get async {
            await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }

    /// It is no longer wanted. Returns when no request of it is under way.
    func giveUp() async {
        task.cancel()
        packing?.end()
        _ = await task.value
    }
}
