import Foundation
import OpenCoreData
import SyncConfiguration
import Synchronization

/// One run of one resource: its listing, or one after the other those that it has parts for.
final class SyncRun: Sendable {
    /// What a run works with.
    struct Environment: Sendable {
        let document: UIManagedDocument
        let workers: Workers
        let daemon: DaemonConfiguration
        let store: StoreConfiguration
        let documentLimits: DocumentConfiguration
        let mapping: ModelMapping
        let transports: TransportPool
        let slots: RequestSlots
        let gates: RequestGates
        let clock: any SyncClock
        let random: RandomSource
        let secrets: SecretResolver
        let tokens: TokenService
        let version: String
        let fetchQueue: OperationQueue
        let parseQueue: OperationQueue
        let trust: PageTrust
        let archive: BodyArchive
        let parseProbe: ParseProbe?
        let tracer: (any ExchangeTracing)?
        let observe: @Sendable (SyncEvent) -> Void
        /// Until when the resource's server wants to be left alone, whichever resource it told; nil if it may be polled.
        let notBefore: @Sendable (ResourceScope) -> Date?
        /// Called when a run asks for its first page, each time.
        let asks: @Sendable (ResourceScope) -> Void
        /// Called, and awaited, before a wait that a server asked for.
        let willWait: @Sendable (ResourceScope, Date) async -> Void
        /// Called when a run has got a page for the first time.
        let answered: @Sendable (ResourceScope) -> Void

        /// Tells that a run begins.
        func begin(_ start: RunStart) {
            observe(.runStarted(start))
            if trust.asksForOthers(at: clock.instant, isDue: start.cause == .schedule) {
                // Rows may have changed if another program has written to the store: they are checked again, page by page.
                document.root.persistentStoreCoordinator?.askForOthers { [trust] in trust.forgetAll() }
            }
        }

        /// Returns when what a run has found is in the file. Somebody who is in a hurry does not wait for the document's own save.
        func commit(isHurried: Bool) async throws {
            if isHurried { try await document.save() } else { try await document.committed() }
        }
    }

    /// Where a run is, for status and liveness.
    struct Progress: Sendable {
        var page = 0
        var records = 0
        var startedAt: SyncInstant
        /// Moves whenever anything does.
        var steps = 0
        var mustStop = false
        /// Somebody waits for the report.
        var isHurried = false
        /// When requests that wait for their next attempt may continue, by page.
        var waits: [Int: SyncInstant] = [:]
        /// When its current wait ends.
        var waitsUntil: SyncInstant? { waits[page] }
        /// It cannot continue until the disk does.
        var waitsForDisk = false
    }

    /// The report, and what the schedule needs to know beside it.
    struct Conclusion: Sendable {
        var report: RunReport
        var parkedUntil: Date?
        var pacing: ServerPacing?
        var heldDeletes: Int
        var guardName: String?
        /// All that was asked for was read: everything, or what had changed.
        var isCaughtUp = false
        /// The server says that the part is gone, and nothing was concluded from that yet.
        var isGone = false
        /// There was nothing to ask for, since what lists its parents was never read.
        var lacksParents = false
        /// What it says of the server.
        var evidence = Breaker.Evidence.none
    }

    /// What changes while it runs.
    struct State {
        /// Of what it reads now, or read last.
        var listing: ListingRun?
        /// Of what it has read before.
        var records = 0
        var steps = 0
        var mustStop = false
        var isHurried = false
        /// All is read, and what was found is being saved.
        var isSaving = false
    }

    let resource: ResourceConfiguration
    let environment: Environment
    let scope: ResourceScope
    let id: UUID
    let cause: RunCause
    private let isFull: Bool
    /// The other resources whose pages write rows that this one's write, as far as the run has to know.
    let sharers: Set<ResourceScope>
    let prepared: PreparedResource
    let start: SyncInstant
    let state: Mutex<State>

    /// - Parameters:
    ///   - isFull: requests every page without conditions.
    ///   - sharers: for a replay, the other resources whose pages write rows that this one's write.
    init(
        _ prepared: PreparedResource, cause: RunCause, environment: Environment, isFull: Bool = false, sharers: Set<ResourceScope> = []
    ) {
        self.prepared = prepared
        resource = prepared.resource
        scope = ResourceScope(source: resource.source, resource: resource.name)
        // Foundation's own generator opens a file for each.
        var random = SystemRandomNumberGenerator()
        id = UUID.random(using: &random)
        self.cause = cause
        self.isFull = isFull
        self.sharers = sharers
        self.environment = environment
        start = environment.clock.instant
        state = Mutex(State())
        if resource.partitions == nil {
            let listing = ListingRun(prepared, of: scope, id: id, cause: cause, environment: environment, isFull: isFull)
            state.withLock { $0.listing = listing }
        }
    }

    var progress: Progress {
        state.withLock { state in
            var progress = state.listing?.progress ?? Progress(startedAt: start)
            progress.startedAt = start
            progress.records += state.records
            progress.steps += state.steps
            progress.mustStop = progress.mustStop || state.mustStop
            progress.waitsForDisk = progress.waitsForDisk || state.isSaving
            return progress
        }
    }

    /// Ends the run when the open page is done.
    func stopAfterPage() {
        state.withLock { state in
            state.mustStop = true
            state.listing?.stopAfterPage()
        }
    }

    /// What the run found is saved at once when it ends, not with the document's own next save.
    func hurry() {
        state.withLock { state in
            state.isHurried = true
            state.listing?.hurry()
        }
    }

    /// Runs to the end, whatever it is; never throws. With `isWaitedFor` the document is saved at once, else the report waits for the
    /// document's own save.
    func run(isWaitedFor: Bool, acceptsDeletes: Bool) async -> Conclusion {
        if cause == .replay { return await replay(isWaitedFor: isWaitedFor) }
        if resource.partitions == nil, let listing = state.withLock({ $0.listing }) {
            return await listing.run(isWaitedFor: isWaitedFor, acceptsDeletes: acceptsDeletes)
        }
        let startedAt = environment.clock.wallTime
        environment.begin(RunStart(run: id, scope: scope, cause: cause, startedAt: startedAt))
        var summary = PartitionSummary(), gone: [GonePart] = []
        do {
            try await readPartitions(&summary, &gone, acceptsDeletes: acceptsDeletes)
        } catch is CancellationError {
            summary.outcome = .cancelled
        } catch SyncError.cancelled {
            summary.outcome = .cancelled
        } catch {
            summary.lacksParents = error is LackOfParents
            summary.fail(error.inWords, summary.lacksParents ? .page : RunFailure(error))
        }
        await conclude(gone, &summary, acceptsDeletes: acceptsDeletes)
        summary.judge()
        let start = RunStart(run: id, scope: scope, cause: cause, startedAt: startedAt)
        do {
            let record = PartitionedRunRecord(
                report: summary.conclusion(start, endedAt: environment.clock.wallTime).report, isCaughtUp: summary.isCaughtUp, resume: summary.resume,
                heldDeletes: summary.heldDeletes, names: summary.names, fingerprint: prepared.fingerprint)
            let place = VouchingJournal.Place(scope: scope)
            environment.trust.vouching.begin(place)
            defer { environment.trust.vouching.end(place) }
            let wrote: Bool
            do {
                environment.trust.tombstones.begin()
                defer { environment.trust.tombstones.end(isOther: true) }
                wrote = try await environment.workers.run { worker in try record.write(in: worker) }
            }
            if summary.isCaughtUp {
                await environment.archive.perform { [archive = environment.archive, scope, names = summary.names] in
                    archive.retain(parts: names, of: scope)
                }
            }
            if wrote, summary.outcome != .cancelled, !progress.mustStop {
                state.withLock { $0.isSaving = true }
                try await environment.commit(isHurried: isWaitedFor || state.withLock { $0.isHurried })
            }
        } catch {
            summary.fail(error.inWords, RunFailure(error))
        }
        return summary.conclusion(start, endedAt: environment.clock.wallTime)
    }

    // MARK: Parts

    /// A part of which the server says that it is gone.
    private typealias GonePart = (partition: Partition, listing: ListingRun)

    /// Concludes from parts being gone, once it is known of how many that was said.
    private func conclude(_ gone: [GonePart], _ summary: inout PartitionSummary, acceptsDeletes: Bool) async {
        if summary.outcome == .cancelled || progress.mustStop { return }
        let objection = Sweep(configuration: resource.deletion).objection(toGone: gone.count, ofParts: summary.answered + gone.count)
        for (partition, listing) in gone {
            summary.take(await listing.concludeGone(objection: objection, acceptsDeletes: acceptsDeletes), of: partition)
        }
    }

    private func readPartitions(_ summary: inout PartitionSummary, _ gone: inout [GonePart], acceptsDeletes: Bool) async throws {
        let deadline = start.advanced(by: resource.limits.maxRunTime.duration)
        let (found, first, runNumber) = try await partitions(), partitions = Array(found[first...] + found[..<first])
        summary.names = found.map(\.name)
        try await takeBack(Set(summary.names))
        let vouching = VouchingMemory(environment.trust.vouching)
        defer { environment.parseProbe?.vouched(vouching.rowsRead) }
        var lastNote = start
        // The last run may have ended before it came to all of them.
        for (number, partition) in partitions.enumerated() {
            summary.resume = partition.name
            try Task.checkCancellation()
            if progress.mustStop { throw SyncError.cancelled }
            if lastNote.duration(to: environment.clock.instant) >= Self.timeBetweenNotes {
                try await note(partition)
                lastNote = environment.clock.instant
            }
            var isLate = environment.clock.instant >= deadline
            if !isLate {
                let part = ListingRun.Part(number: runNumber, isFirst: number == 0, deadline: deadline, vouching: vouching)
                guard let conclusion = await read(partition, as: part, acceptsDeletes: acceptsDeletes, &summary) else { continue }
                if conclusion.isGone, let listing = state.withLock({ $0.listing }) {
                    gone.append((partition, listing))
                } else {
                    summary.take(conclusion, of: partition)
                }
                if conclusion.report.outcome == .cancelled { throw SyncError.cancelled }
                isLate = environment.clock.instant >= deadline && conclusion.report.outcome == .failed
                // Whatever ended this run must not end the next one before that has read anything else.
                if number == 0, isLate || summary.isOver { summary.resume = partitions.dropFirst().first?.name ?? "" }
            }
            if isLate {
                throw SyncError.page(
                    "\(scope): the run took longer than limits.max_run_time = \(resource.limits.maxRunTime); it came to \(number) of \(partitions.count) "
                        + "parts, and the next one begins with those that are left")
            }
            if summary.isOver { return }
        }
        summary.resume = ""
    }

    /// Parts that are parts again vouch for their rows, before any part concludes from what it does not list.
    private func takeBack(_ names: Set<String>) async throws {
        let scope = scope, place = VouchingJournal.Place(scope: scope)
        environment.trust.vouching.begin(place)
        defer { environment.trust.vouching.end(place) }
        try await environment.workers.run { worker in
            var isChanged = false
            for var part in try ResourceTable.formerParts(of: scope, in: worker) where names.contains(part.partition) {
                part.isRemoved = false
                part.write(in: worker)
                isChanged = true
            }
            if isChanged { try worker.save() }
        }
    }

    /// How often it is remembered how far a long run has come.
    private static let timeBetweenNotes = Duration.seconds(60)

    /// Remembers with which part a run begins if the process ends before this one does.
    private func note(_ partition: Partition) async throws {
        let scope = scope
        try await environment.workers.run { worker in
            var row = try ResourceTable.row(of: scope, in: worker)
            row.resumeAt = partition.name
            row.write(in: worker)
            try worker.save()
        }
    }

    /// What there is to read, with which it begins, and the number of the run.
    func partitions() async throws -> (partitions: [Partition], first: Int, number: Int64) {
        guard let configuration = resource.partitions else { return ([], 0, 0) }
        let scope = scope, mapping = environment.mapping, list = ParentList(of: resource)
        let (found, resume, number) = try await environment.workers.run { worker in
            let state = try RunState.load(scope: scope, in: worker)
            return (try list?.load(mapping, in: worker), state.resumeAt, state.number)
        }
        var partitions = found?.partitions ?? []
        if case .values(let values) = configuration.kind { partitions = values.map { Partition(value: $0, as: configuration.alias) } }
        if let found, found.partitions.isEmpty, !found.isListed, let parents = configuration.parents {
            throw LackOfParents(scope: scope, parents: parents.resource)
        }
        return (partitions, partitions.firstIndex { $0.name == resume } ?? 0, number)
    }

    /// Reads one part; nil: it cannot be asked for.
    private func read(
        _ partition: Partition, as part: ListingRun.Part, acceptsDeletes: Bool, _ summary: inout PartitionSummary
    ) async -> Conclusion? {
        let listing: ListingRun
        do {
            let resource = try PreparedResource(prepared, for: partition, environment)
            let scope = ResourceScope(source: scope.source, resource: scope.resource, partition: partition.name)
            listing = ListingRun(
                resource, of: scope, id: id, cause: cause, environment: environment, isFull: isFull,
                part: part)
        } catch {
            summary.miss(error.inWords, partition)
            return nil
        }
        turn(to: listing)
        return await listing.run(isWaitedFor: false, acceptsDeletes: acceptsDeletes)
    }

    /// Another part is read from now on.
    func turn(to listing: ListingRun) {
        state.withLock { state in
            if let before = state.listing?.progress {
                state.records += before.records
                state.steps += before.steps
            }
            // One that is turned to again was counted when it was left.
            let again = listing.progress
            state.records -= again.records
            state.steps -= again.steps
            state.listing = listing
            if state.mustStop { listing.stopAfterPage() }
        }
    }
}

/// What lists the objects that a resource has parts for was never read.
private struct LackOfParents: Error, CustomStringConvertible {
    let scope: ResourceScope
    let parents: String

    var description: String { "\(scope): \(parents) has not been listed yet, and its objects are what there are parts for" }
}
