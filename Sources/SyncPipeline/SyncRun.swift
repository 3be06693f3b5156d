import Foundation
import OpenCoreData
import SyncConfiguration
import Synchronization

/// One run of one resource: page after page, fetched, parsed and saved; then the conclusions.
final class SyncRun: Sendable {
    /// What a run works with.
    struct Environment: Sendable {
        let document: UIManagedDocument
        let daemon: DaemonConfiguration
        let store: StoreConfiguration
        let documentLimits: DocumentConfiguration
        let mapping: ModelMapping
        let transports: TransportPool
        let slots: RequestSlots
        let clock: any SyncClock
        let secrets: SecretResolver
        let version: String
        let fetchQueue: OperationQueue
        let parseQueue: OperationQueue
        let observe: @Sendable (SyncEvent) -> Void
    }

    /// Where a run is, for status and liveness.
    struct Progress: Sendable {
        var page = 0
        var records = 0
        var startedAt: SyncInstant
        /// Moves whenever anything does.
        var steps = 0
        var mustStop = false
    }

    let id = UUID()
    let resource: ResourceConfiguration
    let scope: ResourceScope
    let cause: RunCause
    private let environment: Environment
    private let progressState: Mutex<Progress>

    init(_ resource: ResourceConfiguration, cause: RunCause, environment: Environment) {
        self.resource = resource
        self.scope = ResourceScope(source: resource.source, resource: resource.name)
        self.cause = cause
        self.environment = environment
        progressState = Mutex(Progress(startedAt: environment.clock.instant))
    }

    var progress: Progress { progressState.withLock { $0 } }

    /// Ends the run when the open page is done.
    func stopAfterPage() { progressState.withLock { $0.mustStop = true } }

    /// What the run has come to so far.
    private struct Tally {
        var outcome = RunOutcome.succeeded
        var isComplete = false
        var pages = 0
        var notModified = 0
        var bytes = 0
        var counts = RecordCounts()
        var status: Int?
        var error: String?
        var parkedUntil: Date?
        var seen = KeySet()
        var requestKeys: Set<String> = []
        var isPartial = false
        var badRecords = 0
        var pacing: ServerPacing?
        var wroteAnything: Bool { pages > notModified || counts.deleted > 0 }
    }

    /// The report, and what the schedule needs to know beside it.
    struct Conclusion: Sendable {
        var report: RunReport
        var parkedUntil: Date?
        var pacing: ServerPacing?
        var heldDeletes: Int
        var guardName: String?
    }

    /// Runs to the end, whatever it is; never throws. With `isWaitedFor` the document is saved at once, else the report waits for the
    /// document's own save.
    func run(isWaitedFor: Bool, acceptsDeletes: Bool) async -> Conclusion {
        let startedAt = environment.clock.wallTime
        environment.observe(.runStarted(RunStart(run: id, scope: scope, cause: cause, startedAt: startedAt)))
        var tally = Tally()
        var state: RunState?
        do {
            let loaded = try await RunState.load(scope: scope, document: environment.document)
            state = loaded
            try await readPages(&tally, number: loaded.number)
        } catch is CancellationError {
            tally.outcome = .cancelled
        } catch SyncError.cancelled {
            tally.outcome = .cancelled
        } catch {
            tally.outcome = .failed
            tally.error = error.inWords
        }
        return await conclude(tally, state: state, startedAt: startedAt, isWaitedFor: isWaitedFor, acceptsDeletes: acceptsDeletes)
    }

    // MARK: Pages

    private func readPages(_ tally: inout Tally, number: Int64) async throws {
        let settings = try FetchSettings(
            resource: resource, daemon: environment.daemon, version: environment.version, secrets: environment.secrets)
        let options = TransportOptions(resource: resource, settings: settings, daemon: environment.daemon)
        let transport = try environment.transports.transport(for: options)
        let cookies = RunCookies()
        var pagination = Pagination(resource.pagination, limits: resource.limits, first: settings.first)
        let deadline = environment.clock.instant.advanced(by: resource.limits.maxRunTime.duration)
        var mustRead = false
        while true {
            try Task.checkCancellation()
            if progress.mustStop { throw SyncError.cancelled }
            if environment.clock.instant >= deadline {
                throw SyncError.page("\(scope): the run took longer than limits.max_run_time = \(resource.limits.maxRunTime)")
            }
            try await waitForRoom()
            let request = pagination.request
            let page = pagination.pages + 1
            step { $0.page = page }
            let stored = mustRead ? nil : try await storedRequest(request.key)
            let observe = environment.observe, scope = scope, id = id
            let fetch = PageFetch(
                request, validators: stored?.validators, recognisesUnmodified: stored != nil,
                environment: FetchEnvironment(
                    settings: settings, transport: transport, clock: environment.clock, slots: environment.slots, cookies: cookies
                ) { event in
                    if case .retrying(let error, let delay) = event {
                        observe(
                            .retrying(
                                scope: scope, run: id, page: page, attempt: error.attempts, delay: delay, reason: "\(error)"))
                    }
                })
            let outcome = await environment.fetchQueue.run(FetchOperation(fetch))
            step { _ in }
            let facts: PageFacts
            switch outcome {
            case .page(let fetched):
                facts = try await parse(fetched, request: request, settings: settings, number: number, page: page, tally: &tally)
            case .notModified(let unmodified):
                guard let stored, let known = stored.facts else {
                    mustRead = true
                    continue
                }
                facts = known
                tally.status = 304
                tally.pages += 1
                tally.notModified += 1
                tally.bytes += unmodified.received
                tally.pacing = unmodified.pacing
                tally.seen.keys.formUnion(stored.members.keys)
                tally.counts.unchanged += known.records
                environment.observe(.pageNotModified(scope: scope, run: id, page: page))
            default:
                stop(&tally, after: outcome)
                return
            }
            mustRead = false
            tally.requestKeys.insert(request.key)
            switch pagination.advance(facts) {
            case .next: continue
            case .end(let end):
                tally.isComplete = end.isComplete && !tally.isPartial
                if !tally.isComplete {
                    tally.outcome = .incomplete
                    tally.error = end.doubts.isEmpty ? "a page came in part only (206)" : end.doubts.map(\.description).joined(separator: "; ")
                }
                return
            case .repetition(let repetition):
                throw SyncError.page("\(scope): \(repetition.rawValue) (pages.repeat_guard): page \(page) leads nowhere new")
            }
        }
    }

    private func parse(
        _ fetched: FetchedPage, request: PageRequest, settings: FetchSettings, number: Int64, page: Int, tally: inout Tally
    ) async throws -> PageFacts {
        tally.status = fetched.status
        tally.bytes += fetched.received
        tally.pacing = fetched.pacing
        let operation = ParseOperation(
            ParseOperation.Input(
                document: environment.document, resource: resource, mapping: environment.mapping, settings: settings, scope: scope,
                run: number, pageNumber: page, requestKey: request.key, page: fetched,
                remainingBadRecords: resource.limits.maxBadRecords - tally.badRecords, now: environment.clock.wallTime))
        let parsed: ParsedPage
        do {
            parsed = try await environment.parseQueue.run(operation)
        } catch let error as SyncError {
            throw error
        } catch {
            throw SyncError.page("\(scope): page \(page), \(settings.redactor.redact(fetched.address)): \(error.inWords)")
        }
        step { $0.records += parsed.facts.records }
        tally.pages += 1
        tally.isPartial = tally.isPartial || fetched.isPartial
        tally.counts += parsed.counts
        tally.badRecords += parsed.rejected.count
        tally.seen.keys.formUnion(parsed.members.keys)
        if let first = parsed.rejected.first {
            environment.observe(
                .quarantined(scope: scope, run: id, page: page, count: parsed.rejected.count, first: "record \(first.record): \(first.reason)"))
        }
        environment.observe(
            .pageSaved(
                PageReport(
                    scope: scope, run: id, page: page, url: settings.redactor.redact(fetched.address), status: fetched.status,
                    bytes: fetched.received, counts: parsed.counts, duration: fetched.duration)))
        return parsed.facts
    }

    private func stop(_ tally: inout Tally, after outcome: FetchOutcome) {
        tally.status = outcome.error?.status ?? tally.status
        tally.error = outcome.error.map { "\($0)" }
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
        case .page, .notModified, .failed: break
        }
        tally.parkedUntil = outcome.notBefore ?? tally.parkedUntil
    }

    /// Holds the run while the root context is behind, or the disk is low.
    private func waitForRoom() async throws {
        let limit = max(environment.documentLimits.autosaveChanges * 4, 1)
        if environment.document.unsavedChangeCount >= limit {
            environment.observe(.held(reason: "\(environment.document.unsavedChangeCount) changed objects wait for the disk"))
            await environment.document.waitUntilUnsaved(isBelow: limit)
            environment.observe(.resumed)
        }
        var isHeld = false
        while let free = DiskSpace.free(at: environment.document.fileURL), free < environment.store.minFreeDisk.bytes {
            if !isHeld {
                environment.observe(
                    .held(reason: "only \(free >> 20) MiB are free, less than store.min_free_disk = \(environment.store.minFreeDisk)"))
            }
            isHeld = true
            if progress.mustStop { throw SyncError.cancelled }
            step { _ in }
            try await environment.clock.sleep(for: .seconds(10))
        }
        if isHeld { environment.observe(.resumed) }
    }

    private func storedRequest(_ key: String) async throws -> StoredRequest? {
        let scope = scope, fingerprint = environment.mapping.fingerprint
        return try await environment.document.withWorker { worker in
            try StoredRequest.load(scope: scope, key: key, mapping: fingerprint, in: worker)
        }
    }

    private func step(_ change: (inout Progress) -> Void) {
        progressState.withLock { progress in
            progress.steps += 1
            change(&progress)
        }
    }

    // MARK: Conclusions

    private func conclude(
        _ tally: Tally, state: RunState?, startedAt: Date, isWaitedFor: Bool, acceptsDeletes: Bool
    ) async -> Conclusion {
        var tally = tally
        var verdict = Sweep.Verdict()
        let endedAt = environment.clock.wallTime
        if let state {
            do {
                verdict = try await write(&tally, state: state, startedAt: startedAt, endedAt: endedAt, acceptsDeletes: acceptsDeletes)
                if tally.wroteAnything || state.mustWrite(tally.outcome) {
                    let isStopping = tally.outcome == .cancelled || progress.mustStop
                    if isStopping { return conclusion(tally, verdict, startedAt) }
                    if isWaitedFor { try await environment.document.save() } else { try await environment.document.committed() }
                }
            } catch {
                tally.outcome = .failed
                tally.error = error.inWords
            }
        }
        if let guardName = verdict.guardName {
            environment.observe(
                .deletesHeld(scope: scope, run: id, count: verdict.held, known: state?.members.keys.count ?? 0, guardName: guardName))
        }
        return conclusion(tally, verdict, startedAt)
    }

    private func conclusion(_ tally: Tally, _ verdict: Sweep.Verdict, _ startedAt: Date) -> Conclusion {
        let report = RunReport(
            run: id, scope: scope, cause: cause, startedAt: startedAt, endedAt: environment.clock.wallTime, outcome: tally.outcome,
            isComplete: tally.isComplete, pages: tally.pages, notModifiedPages: tally.notModified, bytes: tally.bytes, counts: tally.counts,
            httpStatus: tally.status, error: tally.error, nextPollAt: nil)
        return Conclusion(
            report: report, parkedUntil: tally.parkedUntil, pacing: tally.pacing, heldDeletes: verdict.held, guardName: verdict.guardName)
    }

    /// Writes the run's row, what it concludes about missing rows, and the resource's state: one worker, one save.
    private func write(
        _ tally: inout Tally, state: RunState, startedAt: Date, endedAt: Date, acceptsDeletes: Bool
    ) async throws -> Sweep.Verdict {
        // A run that found everything unchanged writes nothing: what it learnt is in memory, and costs one conditional request if it is lost.
        guard tally.wroteAnything || state.mustWrite(tally.outcome) || sweepIsDue(tally, state) else { return Sweep.Verdict() }
        let snapshot = tally, scope = scope, resource = resource, cause = cause, id = id
        guard let entity = environment.mapping.entities[resource.entity] else { return Sweep.Verdict() }
        let (verdict, deleted): (Sweep.Verdict, Int) = try await environment.document.withWorker { worker in
            var verdict = Sweep.Verdict()
            var deleted = 0
            var row = try StateRow.find(
                StateModel.resource, key: [.string(scope.source), .string(scope.resource)], in: worker)
            let known = state.members.keys
            if snapshot.isComplete && snapshot.outcome == .succeeded {
                let removal = Removal(entity: entity, action: resource.deletion.action, now: endedAt, run: state.number)
                if resource.deletion.detect == .snapshot {
                    verdict = Sweep(configuration: resource.deletion).verdict(
                        known: known, seen: snapshot.seen.keys, missing: state.missing, isAccepted: acceptsDeletes || state.mayDelete)
                    if !verdict.doomed.isEmpty { deleted = try removal.remove(verdict.doomed, in: worker) }
                    if resource.deletion.action == .tombstone {
                        try removal.purge(olderThan: endedAt.advanced(by: .zero - resource.deletion.purgeAfter.duration), in: worker)
                    }
                }
                let left = snapshot.seen.keys.union(verdict.missing.counts.keys)
                row["members"] = .data(KeySet(left).data)
                row["missing"] = verdict.missing.counts.isEmpty ? .null : .data(verdict.missing.data)
                row["heldDeletes"] = .int64(Int64(verdict.held))
                if verdict.guardName == nil { row["mayDelete"] = .bool(false) }
                row["completeAt"] = AttributeValue(endedAt)
                row["rows"] = .int64(Int64(snapshot.seen.keys.count))
                try Self.forgetRequests(scope, keeping: snapshot.requestKeys, in: worker)
            } else {
                row["members"] = .data(KeySet(known.union(snapshot.seen.keys)).data)
            }
            row["runNumber"] = .int64(state.number)
            row["pages"] = .int64(Int64(snapshot.pages))
            row["httpStatus"] = AttributeValue(snapshot.status)
            row["lastError"] = AttributeValue(snapshot.outcome == .succeeded ? nil : snapshot.error)
            let failed = snapshot.outcome == .failed || snapshot.outcome == .parked
            row["consecutiveFailures"] = .int64(failed ? row.integer("consecutiveFailures") + 1 : 0)
            row["parkedUntil"] = AttributeValue(snapshot.parkedUntil)
            if snapshot.outcome == .succeeded { row["lastSuccess"] = AttributeValue(endedAt) }
            row.write(in: worker)
            try Self.recordRun(
                snapshot, number: state.number, uuid: id, scope: scope, cause: cause, startedAt: startedAt, endedAt: endedAt, deleted: deleted,
                in: worker)
            try worker.save()
            return (verdict, deleted)
        }
        tally.counts.deleted += deleted
        return verdict
    }

    private func sweepIsDue(_ tally: Tally, _ state: RunState) -> Bool {
        guard resource.deletion.detect == .snapshot, tally.isComplete else { return false }
        return !state.missing.counts.isEmpty || state.members.keys != tally.seen.keys
    }

    private static func forgetRequests(_ scope: ResourceScope, keeping keys: Set<String>, in worker: NSManagedObjectContext) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: StateModel.request)
        request.predicate = NSPredicate(format: "scope == %@", "\(scope)")
        for object in try worker.fetch(request) {
            guard let key = object.value(forKey: "request") as? String else { continue }
            if !keys.contains(key) {
                worker.delete(object)
            } else if object.value(forKey: "previous") != nil {
                object.setValue(nil, forKey: "previous")
            }
        }
    }

    private static func recordRun(
        _ tally: Tally, number: Int64, uuid: UUID, scope: ResourceScope, cause: RunCause, startedAt: Date, endedAt: Date, deleted: Int,
        in worker: NSManagedObjectContext
    ) throws {
        var row = try StateRow.find(
            StateModel.run, key: [.string(scope.source), .string(scope.resource), .int64(number)], in: worker)
        row["uuid"] = .uuid(uuid)
        row["cause"] = .string(cause.rawValue)
        row["startedAt"] = AttributeValue(startedAt)
        row["endedAt"] = AttributeValue(endedAt)
        row["outcome"] = .string(tally.outcome.rawValue)
        row["isComplete"] = .bool(tally.isComplete)
        row["pages"] = AttributeValue(tally.pages)
        row["bytes"] = AttributeValue(tally.bytes)
        row["inserted"] = AttributeValue(tally.counts.inserted)
        row["updated"] = AttributeValue(tally.counts.updated)
        row["unchanged"] = AttributeValue(tally.counts.unchanged)
        row["deleted"] = AttributeValue(deleted)
        row["quarantined"] = AttributeValue(tally.counts.quarantined)
        row["httpStatus"] = AttributeValue(tally.status)
        row["error"] = AttributeValue(tally.error)
        row.write(in: worker)
        // The history of a resource is bounded.
        let old = NSFetchRequest<NSManagedObject>(entityName: StateModel.run)
        old.predicate = NSPredicate(
            format: "source == %@ AND resource == %@ AND number <= %lld", scope.source, scope.resource, number - 500)
        for object in try worker.fetch(old) { worker.delete(object) }
    }
}
