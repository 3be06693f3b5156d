import Foundation
public import OpenCoreData
public import SyncConfiguration
import Synchronization

/// Remote JSON to managed objects: polls each resource when it is due, fetches its pages, parses them in operations of their own and saves them through the
/// document's stack. It tells the world by events and otherwise nothing.
public final class SyncPipeline: Sendable {
    struct Worker: Sendable {
        var resource: ResourceConfiguration
        var schedule: Schedule
        var status: ResourceStatus
        var running: (run: SyncRun, task: Task<RunReport, Never>)?
        var lastStarted: Date?
        var parkedUntil: Date?
        var acceptsDeletes = false
        var mustRunAgain = false
        /// Who asked for the run that is due.
        var askedBy: RunCause?
        var since: Date
    }

    struct State: Sendable {
        var configuration: CisternConfiguration
        var mapping: ModelMapping
        var workers: [ResourceScope: Worker] = [:]
        var isRunning = false
        var steps = 0
    }

    let document: UIManagedDocument
    let clock: any SyncClock
    let observe: @Sendable (SyncEvent) -> Void
    private let secrets: SecretResolver
    private let version: String
    private let transports: TransportPool
    private let random: RandomSource
    private let fetchQueue = OperationQueue()
    private let parseQueue = OperationQueue()
    let state: Mutex<State>
    private let slots: RequestSlots
    private let schedulerBox = Mutex<Scheduler<ResourceScope>?>(nil)

    /// - Parameters:
    ///   - document: open already, with the model that `model(for:)` made of this configuration.
    ///   - observer: called from any thread; it returns quickly.
    /// Throws `SyncError` for a configuration that this pipeline can't run.
    public init(
        document: UIManagedDocument, configuration: CisternConfiguration, transports: TransportPool, clock: any SyncClock,
        secrets: SecretResolver, version: String, random: RandomSource = .system, observer: @escaping @Sendable (SyncEvent) -> Void
    ) throws {
        try Self.check(configuration)
        self.document = document
        self.transports = transports
        self.clock = clock
        self.secrets = secrets
        self.version = version
        self.random = random
        self.observe = observer
        slots = RequestSlots(max(1, configuration.daemon.maxParallelRequests))
        state = Mutex(
            State(
                configuration: configuration,
                mapping: ModelMapping(configuration.model, model: document.managedObjectModel)))
        fetchQueue.name = "fetch"
        fetchQueue.maxConcurrentOperationCount = max(1, configuration.daemon.maxParallelRequests)
        parseQueue.name = "parse"
        parseQueue.maxConcurrentOperationCount = max(1, configuration.daemon.maxParallelParses)
        document.managedObjectContext.materializesNotificationObjects = false
        document.root.materializesNotificationObjects = false
        // Two pages may bring one new object at the same time: the later one's values lie over the earlier one's.
        document.root.mergePolicy = .mergeByPropertyObjectTrump
        document.observe { [weak self] event in self?.documentDid(event) }
    }

    /// The model of a configuration's document: its entities and the pipeline's own.
    public static func model(for configuration: CisternConfiguration) throws -> NSManagedObjectModel {
        try check(configuration)
        return ModelBuilder.model(for: configuration.model)
    }

    private static func check(_ configuration: CisternConfiguration) throws {
        for resource in configuration.sources.flatMap(\.resources) {
            guard let entity = configuration.model.entity(named: resource.entity) else { throw SyncError.unknownEntity(resource.entity) }
            guard resource.key.isEmpty || resource.key == entity.key else {
                throw SyncError.keyOfResource(scope: resource.scope, entity: entity.name, expected: entity.key)
            }
        }
    }

    // MARK: Life

    /// Loads what earlier runs left behind and arms the schedule.
    ///
    /// - Parameter armed: false leaves the schedule alone: only `sync` polls.
    public func start(armed: Bool) async throws {
        let scheduler = Scheduler<ResourceScope>(clock: clock) { [weak self] due in
            for scope in due { self?.launch(scope, cause: .schedule, isWaitedFor: false) }
        }
        schedulerBox.withLock { $0 = scheduler }
        try await arm(state.withLock { $0.configuration })
        state.withLock { $0.isRunning = true }
        if armed { scheduler.start() }
        announceSchedule()
    }

    /// Loads what earlier runs left behind and arms the schedule.
    public func start() async throws { try await start(armed: true) }

    /// Takes no more work, lets open pages finish for so long, then stops them. What was saved into the main context stays there: the caller
    /// closes the document.
    public func stop(grace: Duration) async {
        schedulerBox.withLock { $0 }?.stop()
        let running = state.withLock { state in
            state.isRunning = false
            return state.workers.values.compactMap(\.running)
        }
        // A run ends at its next page; after the grace the page itself is given up.
        for (run, _) in running { run.stopAfterPage() }
        // Runs that only wait for the next save need not wait for its time.
        try? await document.save()
        let clock = clock
        let limit = Task {
            do { try await clock.sleep(for: grace) } catch { return }
            for (_, task) in running { task.cancel() }
        }
        for (_, task) in running { _ = await task.value }
        limit.cancel()
        await transports.shutdown()
    }

    /// Takes over a new configuration of the same model. Runs in progress end with the configuration they began with.
    public func reload(_ configuration: CisternConfiguration) async throws {
        try Self.check(configuration)
        try await arm(configuration)
        announceSchedule()
    }

    private func arm(_ configuration: CisternConfiguration) async throws {
        var instants: [ResourceScope: SyncInstant] = [:]
        var workers: [ResourceScope: Worker] = [:]
        let now = clock.wallTime
        for source in configuration.sources {
            for resource in source.resources {
                let scope = ResourceScope(source: resource.source, resource: resource.name)
                let schedule = Schedule(resource.schedule)
                let stored = try await RunState.load(scope: scope, document: document)
                var worker =
                    state.withLock { $0.workers[scope] }
                    ?? Worker(resource: resource, schedule: schedule, status: ResourceStatus(scope, stored), since: now)
                worker.resource = resource
                worker.schedule = schedule
                worker.parkedUntil = worker.parkedUntil ?? stored.parkedUntil
                let isEnabled = source.isEnabled && resource.isEnabled
                worker.status.isEnabled = isEnabled
                if isEnabled && !worker.status.isPaused {
                    let due: Date
                    if let known = worker.status.nextPollAt {
                        due = min(
                            known,
                            schedule.pollOnRequest(now: now, lastStarted: nil, parkedUntil: worker.parkedUntil).advanced(
                                by: resource.schedule.every.duration))
                    } else {
                        due = schedule.firstPoll(
                            now: now, daemon: configuration.daemon, stored: nil, lastSuccess: stored.lastSuccess,
                            parkedUntil: worker.parkedUntil, random: random.next())
                    }
                    worker.status.nextPollAt = due
                    if worker.running == nil { instants[scope] = clock.instant.advanced(by: now.duration(to: due)) }
                } else {
                    worker.status.nextPollAt = nil
                }
                workers[scope] = worker
            }
        }
        let ready = workers
        state.withLock { state in
            // Runs that began meanwhile stay known.
            for (scope, old) in state.workers where old.running != nil && ready[scope] == nil { old.running?.task.cancel() }
            state.configuration = configuration
            state.mapping = ModelMapping(configuration.model, model: document.managedObjectModel)
            var merged = ready
            for (scope, old) in state.workers { merged[scope]?.running = old.running }
            state.workers = merged
        }
        schedulerBox.withLock { $0 }?.replaceAll(with: instants)
    }

    // MARK: Polling

    /// Polls now, as far as the limits allow. `scope` is a source, `source/resource`, or nil for everything. With `wait` the reports come when
    /// what was fetched is committed; without, none. Throws `SyncError.unknownScope`.
    @discardableResult
    public func sync(_ scope: String?, cause: RunCause, full: Bool = false, wait: Bool) async throws -> [RunReport] {
        let scopes = try self.scopes(scope)
        if !wait {
            for scope in scopes { request(scope, cause: cause) }
            return []
        }
        return await withTaskGroup(of: RunReport?.self) { group in
            for scope in scopes { group.addTask { await self.runAndWait(scope, cause: cause) } }
            var reports: [RunReport] = []
            for await report in group {
                if let report { reports.append(report) }
            }
            return reports.sorted { $0.scope < $1.scope }
        }
    }

    func scopes(_ text: String?) throws -> [ResourceScope] {
        let workers = state.withLock { $0.workers }
        guard let text else { return workers.filter { $0.value.status.isEnabled }.keys.sorted() }
        let matches = workers.keys.filter { "\($0)" == text || $0.source == text }.sorted()
        guard !matches.isEmpty else {
            throw SyncError.unknownScope(text, known: workers.keys.sorted().map(\.description))
        }
        return matches
    }

    /// Marks a resource as due; many requests before it runs are one.
    private func request(_ scope: ResourceScope, cause: RunCause) {
        let now = clock.wallTime
        let due: Date? = state.withLock { state in
            guard let worker = state.workers[scope], worker.status.isEnabled, !worker.status.isPaused else { return nil }
            if worker.running != nil {
                state.workers[scope]?.mustRunAgain = true
                return nil
            }
            state.workers[scope]?.askedBy = cause
            return worker.schedule.pollOnRequest(now: now, lastStarted: worker.lastStarted, parkedUntil: worker.parkedUntil)
        }
        guard let due else { return }
        if due <= now {
            launch(scope, cause: cause, isWaitedFor: false)
        } else {
            schedulerBox.withLock { $0 }?.expedite(scope, to: clock.instant.advanced(by: now.duration(to: due)))
        }
    }

    private func runAndWait(_ scope: ResourceScope, cause: RunCause) async -> RunReport? {
        let now = clock.wallTime
        let due: Date? = state.withLock { state in
            guard let worker = state.workers[scope], worker.running == nil else { return nil }
            return worker.schedule.pollOnRequest(now: now, lastStarted: worker.lastStarted, parkedUntil: worker.parkedUntil)
        }
        if let due, due > now {
            do { try await clock.sleep(for: now.duration(to: due)) } catch { return nil }
        }
        launch(scope, cause: cause, isWaitedFor: true)
        guard let task = state.withLock({ $0.workers[scope]?.running?.task }) else { return nil }
        return await task.value
    }

    /// Begins a run, unless one is under way.
    private func launch(_ scope: ResourceScope, cause: RunCause, isWaitedFor: Bool) {
        let now = clock.wallTime
        state.withLock { state in
            guard state.isRunning, var worker = state.workers[scope], worker.running == nil, !worker.status.isPaused else { return }
            let run = SyncRun(worker.resource, cause: worker.askedBy ?? cause, environment: environment(state))
            worker.askedBy = nil
            let accepts = worker.acceptsDeletes
            worker.acceptsDeletes = false
            worker.lastStarted = now
            worker.mustRunAgain = false
            let task = Task { [self] in
                let conclusion = await run.run(isWaitedFor: isWaitedFor, acceptsDeletes: accepts)
                return finish(scope, conclusion, startedAt: now)
            }
            worker.running = (run, task)
            state.workers[scope] = worker
        }
        schedulerBox.withLock { $0 }?.cancel(scope)
    }

    private func environment(_ state: State) -> SyncRun.Environment {
        SyncRun.Environment(
            document: document, daemon: state.configuration.daemon, store: state.configuration.store,
            documentLimits: state.configuration.document, mapping: state.mapping, transports: transports, slots: slots, clock: clock,
            secrets: secrets, version: version, fetchQueue: fetchQueue, parseQueue: parseQueue, observe: observe)
    }

    private func finish(_ scope: ResourceScope, _ conclusion: SyncRun.Conclusion, startedAt: Date) -> RunReport {
        let ended = clock.wallTime
        var report = conclusion.report
        var wasDegraded = false, isDegraded = false, again = false
        let next: Date? = state.withLock { state in
            state.steps += 1
            guard var worker = state.workers[scope] else { return nil }
            wasDegraded = worker.status.isDegraded
            worker.running = nil
            worker.parkedUntil = conclusion.parkedUntil
            let interval = worker.schedule.interval(pacing: conclusion.pacing, random: random.next())
            let due = worker.schedule.nextPoll(started: startedAt, ended: ended, interval: interval, notBefore: conclusion.parkedUntil)
            worker.status.take(report, heldDeletes: conclusion.heldDeletes, guardName: conclusion.guardName, parkedUntil: conclusion.parkedUntil)
            let since = worker.status.lastSuccess ?? worker.since
            let isStale = !worker.schedule.isCurrent(lastSuccess: since, interval: interval, now: ended)
            worker.status.isDegraded = isStale || conclusion.guardName != nil
            isDegraded = worker.status.isDegraded
            again = worker.mustRunAgain
            worker.status.nextPollAt = worker.status.isEnabled && !worker.status.isPaused ? due : nil
            state.workers[scope] = worker
            return state.isRunning ? worker.status.nextPollAt : nil
        }
        report = report.due(next)
        if let next {
            schedulerBox.withLock { $0 }?.schedule(scope, at: clock.instant.advanced(by: ended.duration(to: next)))
        }
        observe(.runFinished(report))
        if wasDegraded != isDegraded {
            observe(.freshnessChanged(scope: scope, isDegraded: isDegraded, since: state.withLock { $0.workers[scope]?.status.lastSuccess }))
        }
        announceSchedule()
        if again { request(scope, cause: .signal) }
        return report
    }

    private func announceSchedule() {
        let next = state.withLock { state in
            state.workers.compactMap { scope, worker in worker.status.nextPollAt.map { (scope, $0) } }.min { $0.1 < $1.1 }
        }
        observe(.scheduled(next: next?.0, at: next?.1))
    }

    var dueTimes: [ResourceScope: SyncInstant] { schedulerBox.withLock { $0 }?.dueTimes ?? [:] }

    /// Lets a resource be polled again, or keeps it from it.
    func setPaused(_ scope: ResourceScope, _ isPaused: Bool) {
        state.withLock { $0.workers[scope]?.status.isPaused = isPaused }
        if isPaused {
            schedulerBox.withLock { $0 }?.cancel(scope)
            state.withLock { $0.workers[scope]?.status.nextPollAt = nil }
        } else {
            request(scope, cause: .control)
        }
    }

    private func documentDid(_ event: UIManagedDocumentEvent) {
        switch event {
        case .saved: break
        case .saveFailed(let error, let kind):
            var isFatal = false, isRetried = false
            switch kind {
            case .disk: isFatal = true
            case .transient: isRetried = true
            case .permanent: break
            }
            observe(.saveFailed(reason: error.inWords, isFatal: isFatal, isRetried: isRetried))
        }
    }
}
