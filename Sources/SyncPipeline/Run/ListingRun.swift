import Foundation
import OpenCoreData
import SyncConfiguration
import Synchronization

/// One reading of one listing: page after page, fetched, parsed and saved; then the conclusions. It is a run of a resource, or a part of one.
final class ListingRun: Sendable {
    typealias Environment = SyncRun.Environment
    typealias Progress = SyncRun.Progress
    typealias Conclusion = SyncRun.Conclusion

    let id: UUID
    let resource: ResourceConfiguration
    let scope: ResourceScope
    let cause: RunCause
    let isFull: Bool
    let environment: Environment
    /// Nil: it is a run by itself.
    let part: Part?
    let prepared: PreparedResource
    private let progressState: Mutex<Progress>
    let knowledge = Mutex(Knowledge())
    /// What it has to conclude from still.
    let gone = Mutex<Gone?>(nil)

    /// - Parameters:
    ///   - id: that of its run.
    ///   - isFull: requests every page without conditions.
    ///   - part: what it is of its run; nil: it is a run by itself.
    init(
        _ prepared: PreparedResource, of scope: ResourceScope, id: UUID, cause: RunCause, environment: Environment, isFull: Bool = false,
        part: Part? = nil
    ) {
        self.prepared = prepared
        resource = prepared.resource
        self.scope = scope
        self.id = id
        self.cause = cause
        self.isFull = isFull
        self.environment = environment
        self.part = part
        progressState = Mutex(Progress(startedAt: environment.clock.instant))
    }

    /// What a listing is of a run that has several.
    struct Part {
        /// The number of the run.
        let number: Int64
        /// Whether the limits between polls count from its first request.
        let isFirst: Bool
        /// When the run has to end.
        let deadline: SyncInstant
        /// Knows what others vouch for, for all listings of the run.
        let vouching: VouchingMemory
    }

    /// Nobody is told that a part begins, and it waits for no save: its run does.
    var isPart: Bool { part != nil }
    /// Whether the limits between polls count from its first request.
    var beginsPoll: Bool { part?.isFirst != false }

    /// What decides what a body becomes.
    var fingerprint: String { prepared.fingerprint }
    var comparison: RecordComparison { prepared.comparison }

    var progress: Progress { progressState.withLock { $0 } }

    /// Ends the run when the open page is done.
    func stopAfterPage() { progressState.withLock { $0.mustStop = true } }

    /// What the run found is saved at once when it ends, not with the document's own next save.
    func hurry() { progressState.withLock { $0.isHurried = true } }

    /// Runs to the end, whatever it is; never throws. With `isWaitedFor` the document is saved at once, else the report waits for the
    /// document's own save.
    func run(isWaitedFor: Bool, acceptsDeletes: Bool) async -> Conclusion {
        let startedAt = environment.clock.wallTime
        if !isPart { environment.begin(RunStart(run: id, scope: scope, cause: cause, startedAt: startedAt)) }
        var tally = RunTally()
        var state: RunState?
        do {
            var begin = try await loadBegin(startedAt, acceptsDeletes: acceptsDeletes)
            if let part { begin.state.number = part.number }
            state = begin.state
            tally.mayCompare = begin.mayCompare
            tally.completeRun = begin.state.completeRun
            tally.sawGone = begin.state.hasGone
            tally.isReadAnew =
                begin.mustRead
                || resource.deletion.detect == .snapshot && begin.step.increment?.isFull != false
                    && begin.state.missing.waitsForAnotherListing(confirmRuns: resource.deletion.confirmRuns, now: startedAt)
            try await readSteps(&tally, begin)
        } catch is CancellationError {
            tally.outcome = .cancelled
        } catch SyncError.cancelled {
            tally.outcome = .cancelled
        } catch let vanishing as Vanishing {
            if let waiting = await vanish(&tally, vanishing, state, startedAt) { return waiting }
        } catch {
            tally.fail(error)
        }
        return await conclude(tally, state: state, startedAt: startedAt, isWaitedFor: isWaitedFor, acceptsDeletes: acceptsDeletes)
    }

    // MARK: Pages

    /// What is known of the first page, read in one go with the resource's own state.
    typealias KnownPage = (key: String, request: StoredRequest?)

    /// What a run begins with.
    struct Beginning {
        var state: RunState
        let mayCompare: Bool
        let mustRead: Bool
        /// What it asks for first.
        let step: Step
        /// What is known of that; nil: nobody has looked.
        let stored: KnownPage?
    }

    /// What a run asks for at once.
    struct Step {
        let listing: PreparedResource
        /// Of what it is a step; nil: the resource asks for everything each time.
        let increment: Increment?
        let slice: Increment.Slice?
        /// What its requests take for now.
        let now: Date
    }

    private func loadBegin(_ now: Date, acceptsDeletes: Bool) async throws -> Beginning {
        try await environment.workers.run { [self] worker in
            let (mayCompare, mustRead) = try mayCompare(in: worker)
            var state = try RunState.load(scope: scope, entity: resource.entity, in: worker)
            if let entity = prepared.mapping.entities[resource.entity], entity.deletionSign != nil {
                state.hasGone = try GoneRows.areThere(of: scope, entity: entity.name, in: worker)
                if state.hasGone, state.fingerprint != fingerprint {
                    // Other rules said so. Pages that say it under these are read once more.
                    try GoneRows.forget(of: scope, entity: entity.name, in: worker)
                    try worker.save()
                }
            }
            let step = try firstStep(increment(state, now, acceptsDeletes: acceptsDeletes), now)
            let stored = try (step.listing.pagination?.request.key).map { ($0, try storedRequest($0, in: worker)) }
            return Beginning(state: state, mayCompare: mayCompare, mustRead: mustRead, step: step, stored: stored)
        }
    }

    /// Reads the pages of a step.
    ///
    /// - Returns: how they ended; nil: the run is over, and the tally says why.
    func readPages(_ tally: inout RunTally, number: Int64, _ step: Step, first: KnownPage?) async throws -> PaginationEnd? {
        var ahead: PageAhead?
        do {
            let end = try await readPages(&tally, number: number, step, first: first, ahead: &ahead)
            await ahead?.giveUp()
            return end
        } catch {
            await ahead?.giveUp()
            throw error
        }
    }

    private func readPages(
        _ tally: inout RunTally, number: Int64, _ step: Step, first: KnownPage?, ahead: inout PageAhead?
    ) async throws -> PaginationEnd? {
        let listing = step.listing, resource = listing.resource, settings = try listing.settings.get().anew()
        let options = TransportOptions(resource: resource, settings: settings, daemon: environment.daemon)
        if let coordinator = environment.document.root.persistentStoreCoordinator {
            // Rows that wait take no room that the bodies of pages may need: without it they cost memory, and these the run.
            coordinator.blockSpillLimits.leavesFree = max(BlockSpill.Limits().leavesFree, environment.store.minFreeDisk.bytes * 2)
        }
        let transport = try await environment.transports.lease(for: options)
        if let mismatch = transport.mismatch { environment.observe(.identityMismatch(scope: scope, run: id, reason: mismatch)) }
        let surroundings = Surroundings(
            number: number,
            recipe: PageRecipe(
                resource: resource, mapping: prepared.mapping, settings: settings, constants: try listing.constants.get()), settings: settings,
            transport: transport, pagesBefore: tally.pages, now: step.now)
        var pagination = listing.pagination ?? Pagination(resource, first: settings.first)
        var first = first
        let deadline = part?.deadline ?? progress.startedAt.advanced(by: resource.limits.maxRunTime.duration)
        var mustRead = false
        while true {
            try Task.checkCancellation()
            if progress.mustStop { throw SyncError.cancelled }
            if environment.clock.instant >= deadline {
                throw SyncError.page("\(scope): the run took longer than limits.max_run_time = \(resource.limits.maxRunTime)")
            }
            // After a wait, what was read before may be out of date.
            if try await waitForRoom(until: deadline) { first = nil }
            if ahead == nil, let until = environment.notBefore(scope) {
                first = nil
                if try await !mayWait(until: until, &tally) { return nil }
            }
            let request = pagination.request
            let page = surroundings.pagesBefore + pagination.pages + 1
            self.step { $0.page = page }
            // A request that is made twice, as in scrolling, does not say which page it is for.
            let isRepeated = tally.requestKeys.contains(request.key)
            // Even if the page is read regardless of what is known of it: rows that are not as they were written must not count as unchanged.
            let known = if let first, first.key == request.key { first.request } else { try await storedRequest(request.key, after: tally) }
            first = nil
            var stored = mustRead || isFull || isRepeated || tally.isReadAnew ? nil : known
            if let run = stored?.run, try await isOverwritten(request.key, by: tally.rowsWritten(over: run)) { stored?.disbelieve() }
            // What a page said that was asked for before in this run is nobody's any more.
            if isRepeated { tally.mayCompare = false }
            let repetition = tally.repetition(of: request.key)
            let outcome: FetchOutcome, packing: PagePacking?, fetched = ahead
            ahead = nil
            if let fetched, !mustRead, fetched.request.key == request.key {
                // The previous page may have cast doubt on its rows: then nothing is known of it any longer, and a 304 is not believed.
                outcome = await fetched.outcome
                packing = fetched.packing
            } else {
                await fetched?.giveUp()
                let fetching = fetch(
                    request, page: page, repetition: repetition, stored: stored, isCompared: tally.mayCompare,
                    isNew: known == nil && tally.isNew, surroundings)
                outcome = await environment.fetchQueue.run(fetching.operation)
                packing = fetching.packing
            }
            defer { packing?.end() }
            self.step { $0.waits[page] = nil }
            note(outcome, &tally)
            let facts: PageFacts
            switch outcome {
            case .page(let fetched):
                // The page before may have cast doubt on what was left out.
                if fetched.content.isCompared, stored == nil || !tally.mayCompare {
                    tally.bytes += fetched.received
                    mustRead = true
                    continue
                }
                if !isRepeated { ahead = try await pageAhead(of: fetched, pagination, tally, surroundings) }
                var comparison = prepared.comparison
                if comparison.isPossible { comparison.mayBeKept = comparison.mayBeKept && tally.mayCompare }
                if fetched.content.isCompared { comparison.written = tally.rowsWritten(over: stored?.run ?? 0) }
                let isSettled = known.map { $0.run <= tally.completeRun } ?? false
                let before = isRepeated || isSettled ? nil : try await unsettledRows(of: request.key, since: tally.completeRun)
                do {
                    facts = try await parse(
                        fetched, packing, request: request, isRepeated: isRepeated, comparison, surroundings, page: page, tally: &tally)
                } catch is UnsoundComparison {
                    // What the next pages would be compared with may have been forgotten, too.
                    knowledge.withLock { $0.manifests = [:] }
                    mustRead = true
                    continue
                }
                // What that run made of them is not written anew where the records are the same.
                if let before { tally.unsettle(before.rows, readIn: before.run) }
            case .notModified(let unmodified):
                guard let stored, var known = stored.facts?.renewed(by: unmodified, pagination: resource.pagination, settings: settings) else {
                    mustRead = true
                    continue
                }
                if stored.run > tally.completeRun {
                    guard let members = try await members(of: request.key) else {
                        mustRead = true
                        continue
                    }
                    tally.unsettle(members, readIn: stored.run)
                }
                known.span = resource.incremental.flatMap { CursorSpan(of: known, $0.kind) }
                if let token = resource.incremental?.token { known.renewToken(token, by: unmodified, settings) }
                facts = known
                tally.take(unmodified, request: request.key, facts: known, stored: stored)
                try await renew(stored, by: unmodified, request: request)
                try await noteGoneAgain(request, tally)
                if environment.archive.isKept(scope) {
                    let slot = ArchivedHead.slot(request.key, repetition)
                    await environment.archive.perform { [archive = environment.archive, scope] in archive.confirm(slot, of: scope) }
                }
                await unmodified.body?.keepIfMissing()
                environment.observe(.pageNotModified(scope: scope, run: id, page: page))
            case .leftAlone:
                continue
            default:
                if rejectsCursor(outcome, step, tally) { throw CursorRejection(status: outcome.error?.status) }
                if saysGone(outcome, step, tally) { throw Vanishing(outcome: outcome) }
                stop(&tally, after: outcome)
                return nil
            }
            mustRead = false
            tally.note(request.key)
            let isBehind = try await follow(facts, step, page: page, &tally)
            switch pagination.advance(facts) {
            case .next:
                if isBehind { return PaginationEnd(rules: [.known], doubts: []) }
            case .end(let end): return end
            case .repetition(let repetition):
                throw SyncError.page("\(scope): \(repetition.rawValue) (pages.repeat_guard): page \(page) leads to nothing new")
            }
        }
    }

    func step(_ change: (inout Progress) -> Void) {
        progressState.withLock { progress in
            progress.steps += 1
            change(&progress)
        }
    }
}
