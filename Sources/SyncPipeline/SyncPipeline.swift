import Foundation
public import OpenCoreData
public import SyncConfiguration
// Events about runs use the types of SyncReports, so its names are part of this interface.
@_exported public import SyncReports
import Synchronization

/// Remote JSON to managed objects: polls each resource when it is due, fetches its pages, parses them in operations of their own and saves them
/// through the document's stack. It reports through events only.
///
/// `PipelineState` decides what happens next; this class carries it out.
public final class SyncPipeline: Sendable {
    struct State: Sendable {
        var machine: PipelineState
        var configuration: CisternConfiguration
        var mapping: ModelMapping
        /// Of the resources that were polled since it came into force.
        var prepared: [ResourceScope: PreparedResource] = [:]
        /// Which resources write the same rows; nil: nobody has asked since it came into force.
        var sharing: EntitySharing?
        var runs: [ResourceScope: Running] = [:]
        /// Steps of runs that have ended.
        var steps = 0
        var waiters: [Int: CheckedContinuation<RunReport?, Never>] = [:]
        var waiterCount = 0
        /// Who waits until something may be forgotten.
        var resets: [Int: CheckedContinuation<Bool, Never>] = [:]
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
        /// What the machine wants done, in order. One thread at a time processes it.
        var outbox: [PipelineState.Output] = []
        var isDelivering = false
    }

    /// A run and the task it runs in; nil: until it waits for the first time.
    struct Running: Sendable {
        let id: Int
        let run: SyncRun
        var task: Task<Void, Never>?
    }

    let document: UIManagedDocument
    let clock: any SyncClock
    let observe: @Sendable (SyncEvent) -> Void
    let state: Mutex<State>
    let writer: ScheduleWriter
    /// For tests of what happens when pages arrive at the same time.
    let parseProbe = Mutex<ParseProbe?>(nil)
    private let random: RandomSource
    private let secrets: SecretResolver
    private let version: String
    private let tracer: (any ExchangeTracing)?
    private let transports: TransportPool
    private let tokens: TokenService
    private let fetchQueue = OperationQueue()
    let parseQueue = OperationQueue()
    let trust = PageTrust()
    let archive: BodyArchive
    let workers: Workers
    let slots: RequestSlots
    let gates: RequestGates
    private let openRuns: OpenRuns
    /// The last save failed.
    private let savesFail = Atomic(false)
    private let timer = Mutex<WakeTimer?>(nil)

    /// - Parameters:
    ///   - document: open already, with the model that `model(for:)` made of this configuration.
    ///   - tokens: those that are fetched; it may be the one that a pipeline before this has used.
    ///   - tracer: hears of each request for a page and its answer; it may be the one of a pipeline before this.
    ///   - observer: called from any thread; it returns quickly.
    /// Throws `SyncError` for a configuration that this pipeline can't run.
    public init(
        document: UIManagedDocument, configuration: CisternConfiguration, transports: TransportPool, clock: any SyncClock,
        secrets: SecretResolver, tokens: TokenPool = TokenPool(), version: String, random: RandomSource = .system,
        tracer: (any ExchangeTracing)? = nil, observer: @escaping @Sendable (SyncEvent) -> Void
    ) throws {
        try Self.check(configuration)
        self.document = document
        self.transports = transports
        self.clock = clock
        self.random = random
        self.secrets = secrets
        let gates = RequestGates(clock: clock)
        self.gates = gates
        var service = TokenService(pool: tokens, transports: transports, clock: clock, random: random, observe: observer)
        service.gates = gates
        self.tokens = service
        self.version = version
        self.tracer = tracer
        self.observe = observer
        slots = RequestSlots(max(1, configuration.daemon.maxParallelRequests), clock: clock)
        archive = BodyArchive(package: document.fileURL, observe: observer)
        let openRuns = OpenRuns(folder: document.fileURL)
        self.openRuns = openRuns
        workers = Workers(document)
        writer = ScheduleWriter(document: document, clock: clock) { scope, began in openRuns.stored(scope, began: began) }
        state = Mutex(
            State(
                machine: PipelineState(chance: random), configuration: configuration,
                mapping: document.mapping(configuration.model)))
        // Requests are limited by their slots. A fetch that waits for its next attempt holds no slot, and must hold no place in the queue either.
        fetchQueue.name = "fetch"
        parseQueue.name = "parse"
        // Threads apart: pages that are parsed on all cores would take those of the queue's default, on which every task runs.
        parseQueue.qualityOfService = .utility
        parseQueue.maxConcurrentOperationCount = max(1, configuration.daemon.maxParallelParses)
        document.managedObjectContext.materializesNotificationObjects = false
        document.root.materializesNotificationObjects = false
        // Two pages may bring the same new object at the same time: the later one's values override the earlier one's.
        document.root.mergePolicy = .mergeByPropertyObjectTrump
        document.observe { [weak self] event in self?.documentDid(event) }
        timer.withLock { $0 = WakeTimer(clock: clock) { [weak self] in self?.handle(.due) } }
    }

    /// The model of a configuration's document: its entities and the pipeline's own.
    public static func model(for configuration: CisternConfiguration) throws -> NSManagedObjectModel {
        try check(configuration)
        return ModelBuilder.model(for: configuration.model)
    }

    private static func check(_ configuration: CisternConfiguration) throws {
        let entities = Dictionary(configuration.model.entities.map { ($0.name, $0) }) { first, _ in first }
        for resource in configuration.sources.flatMap(\.resources) {
            guard let entity = entities[resource.entity] else { throw SyncError.unknownEntity(resource.entity) }
            for mention in resource.also where entities[mention.entity] == nil { throw SyncError.unknownEntity(mention.entity) }
            guard resource.key.isEmpty || resource.key == entity.key else {
                throw SyncError.keyOfResource(scope: resource.scope, entity: entity.name, expected: entity.key)
            }
            do { _ = try resource.partitions?.parents.map { try ParentList.predicate(of: $0) } } catch {
                throw SyncError.page("\(resource.scope): \(error)")
            }
        }
    }

    // MARK: Life

    /// Loads what earlier runs left behind and arms the schedule.
    ///
    /// - Parameter armed: false leaves the schedule alone: only `sync` polls.
    public func start(armed: Bool) async throws {
        // From now on: what was written before is looked at with each page's first answer.
        document.root.persistentStoreCoordinator?.askForOthers {}
        handle(.leftOpen(openRuns.suspects))
        await archive.perform { [archive] in archive.dropArrivals() }
        try await RunState.rename(entitiesOf: state.withLock { $0.configuration.model }, document: document)
        try await reload(state.withLock { $0.configuration })
        handle(.started(isArmed: armed))
    }

    /// Loads what earlier runs left behind and arms the schedule.
    public func start() async throws { try await start(armed: true) }

    /// Takes over a new configuration of the same model. Runs in progress end with the configuration they began with.
    public func reload(_ configuration: CisternConfiguration) async throws {
        try Self.check(configuration)
        let (stored, schedules) = try await RunState.loadAll(document: document)
        try await forgetManifests(ofAllOf: schedules, but: configuration)
        try await keepBodies(as: configuration)
        // Loaded first, then put into force in one step, based on the state at that time.
        let mapping = document.mapping(configuration.model)
        var savesOtherwise = false
        openGates(configuration, schedules)
        handle(.configured(configuration.sources.flatMap(\.resources), configuration.daemon, stored: stored, schedules: schedules)) { state in
            savesOtherwise = state.configuration.document != configuration.document
            state.configuration = configuration
            state.mapping = mapping
            state.prepared = [:]
            state.sharing = nil
        }
        slots.resize(max(1, configuration.daemon.maxParallelRequests))
        parseQueue.maxConcurrentOperationCount = max(1, configuration.daemon.maxParallelParses)
        if savesOtherwise { document.autosavePolicy = AutosavePolicy(configuration.document) }
        trust.keep(only: configuration.scopes())
        tokens.pool.keep(only: Set(configuration.sources.flatMap(\.resources).compactMap { try? TokenRequest($0) }))
        // Files that a configuration names may have changed as well, such as a file of certificate authorities.
        await transports.renew()
    }

    /// What holds for requests does so before any is made by the new configuration.
    private func openGates(_ configuration: CisternConfiguration, _ stored: [ResourceScope: StoredSchedule]) {
        let asked = state.withLock { state in
            let known = state.machine.resources.filter { $0.value.startedAt != nil }.map(\.key.source)
            return Set(known + state.machine.leftBehind.keys.map(\.source) + stored.filter { $0.value.startedAt != nil }.map(\.key.source))
        }
        gates.configure(configuration.sources.flatMap(\.resources)) { asked.contains($0.source) }
    }

    /// What records were is known only while their resource is there, as one list: whoever else writes the rows meanwhile does not ask for one that is not.
    private func forgetManifests(ofAllOf stored: [ResourceScope: StoredSchedule], but configuration: CisternConfiguration) async throws {
        let known = state.withLock { $0.configuration }.scopes(where: \.isOneList).intersection(configuration.scopes(where: \.isOneList))
        let absent = stored.filter { $0.value.isRemoved || !known.contains($0.key) }.keys.sorted()
        let hadAny = try await document.withWorker { worker in
            let forgotten = try absent.filter { try StoredManifest.forget($0, in: worker) }
            try worker.save()
            return !forgotten.isEmpty
        }
        // Before it is stored that they are back.
        if hadAny { try await document.save() }
    }

    /// Takes no more work, lets open pages finish for so long, then stops them, and returns a second later at the latest; ten seconds after that, if a
    /// refresh token was on its way to be replaced. Called again, the shorter time counts. What was saved into the main context stays there: the caller closes the document.
    public func stop(grace: Duration) async {
        await withCheckedContinuation { continuation in
            handle(.stopping(grace: grace)) { $0.stopWaiters.append(continuation) }
        }
        openRuns.close()
        // What comes in answer to a request that was made may be the only token that is still good for anything.
        await tokens.settle()
        await transports.shutdown()
    }

    /// Returns, after a stop, when no run is open any more: one that the stop has given up on may still be.
    public func ended() async {
        while let running = state.withLock({ $0.runs.values.first }) {
            if let task = running.task { await task.value } else { await Task.yield() }
        }
    }

    // MARK: Polling

    /// Polls now, as far as the limits allow. `scope` is a source, `source/resource`, or nil for everything. With `wait` the reports come when
    /// what was fetched is committed, each of a run that began after the call; of a resource that its server wants left alone comes a report at
    /// once that says until when, and of one that is paused or disabled comes none. Without `wait`, none at all. Throws `SyncError.unknownScope`.
    @discardableResult
    public func sync(_ scope: String?, cause: RunCause, full: Bool = false, wait: Bool) async throws -> [RunReport] {
        let scopes = try self.scopes(scope)
        if !wait {
            for scope in scopes { handle(.asked(scope, cause, isFull: full)) }
            return []
        }
        return await withTaskGroup(of: RunReport?.self) { group in
            // In this order: who has parts for what another lists waits for it, if it was asked for before.
            for scope in scopes { group.addImmediateTask { await self.ask { .asked(scope, cause, waiter: $0, isFull: full) } } }
            var reports: [RunReport] = []
            for await report in group {
                if let report { reports.append(report) }
            }
            return reports.sorted { $0.scope < $1.scope }
        }
    }

    /// The resources that a text means, those that list parents first.
    package func scopes(_ text: String?) throws -> [ResourceScope] {
        let statuses = state.withLock { state in
            let machine = state.machine
            return machine.statuses(at: clock.moment).map { ($0, depth: machine.ancestors(of: $0.scope)) }
        }.sorted { ($0.depth, $0.0.scope) < ($1.depth, $1.0.scope) }.map(\.0)
        guard let text else { return statuses.filter(\.isEnabled).map(\.scope) }
        let matches = statuses.map(\.scope).filter { "\($0)" == text || $0.source == text }
        guard !matches.isEmpty else { throw SyncError.unknownScope(text, known: statuses.map(\.scope.description)) }
        return matches
    }

    // MARK: Carrying out

    /// Tells the machine, and does what it says. `change` is applied first, in the same step.
    func handle(_ input: PipelineState.Input, _ change: (inout sending State) -> Void = { _ in }) {
        let delivers = state.withLock { state in
            change(&state)
            state.outbox += state.machine.handle(input, at: clock.moment)
            assert(state.machine.violation(at: clock.moment) == nil, state.machine.violation(at: clock.moment) ?? "")
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        if delivers { deliver() }
    }

    /// Carries out what there is, outside of the lock, and never two outputs at a time: what is to be cancelled was begun before. What is handed in
    /// meanwhile is left to another task: somebody who begins a thousand runs is not to be kept by all that they hand in.
    private func deliver() {
        let outputs = state.withLock { state in
            defer { state.outbox = [] }
            return state.outbox
        }
        for output in outputs { carryOut(output) }
        let isMore = state.withLock { state in
            state.isDelivering = !state.outbox.isEmpty
            return state.isDelivering
        }
        if isMore { Task { self.deliver() } }
    }

    private func carryOut(_ output: PipelineState.Output) {
        switch output {
        case .start(let order): begin(order)
        case .hurry(let scope, let id):
            guard let running = running(scope, id) else { return }
            running.run.hurry()
            // It may wait for a save already.
            Task { try? await document.save() }
        case .endAfterPage(let scope, let id):
            guard let running = running(scope, id) else { return }
            running.run.stopAfterPage()
            // A waiting run has no page to finish.
            if running.run.progress.waitsUntil != nil { running.task?.cancel() }
        case .cancel(let scope, let id): running(scope, id)?.task?.cancel()
        case .wake(let instant): timer.withLock { $0 }?.set(instant)
        case .store(let schedule):
            // That a run began, and when the next one is due, is remembered beside the store until the store says so. During a stop nothing waits: what
            // runs found may not be in the store yet either.
            let patience = state.withLock { $0.machine.phase == .running ? $0.configuration.document.autosaveInterval.duration : .zero }
            let waits = writer.write(schedule, began: openRuns.ended(schedule.scope), patience: patience)
            if waits, let next = schedule.nextPollAt { openRuns.expect(schedule.scope, at: next) }
        case .save:
            Task {
                try? await writer.written()
                try? await document.save()
                handle(.committed)
            }
        case .announce(let event): observe(event)
        case .answer(let waiter, let report): answer(waiter, report)
        case .mayReset(let reset, let may): state.withLock { $0.resets.removeValue(forKey: reset) }?.resume(returning: may)
        case .stopped:
            let waiters = state.withLock { state in
                defer { state.stopWaiters = [] }
                return state.stopWaiters
            }
            for waiter in waiters { waiter.resume() }
        }
    }

    private func running(_ scope: ResourceScope, _ id: Int) -> Running? {
        state.withLock { $0.runs[scope].flatMap { $0.id == id ? $0 : nil } }
    }

    private func begin(_ order: PipelineState.RunOrder) {
        // A replay asks no server, and nobody begins it again by himself: it is not suspected of anything.
        if order.cause != .replay { openRuns.begin(order.scope, at: clock.wallTime) }
        let run = state.withLock { state in
            let environment = environment(state)
            let sharers = order.cause == .replay ? state.knownSharing().sharers(of: order.resource, in: order.scope) : []
            let run = SyncRun(
                prepared(order, &state, environment), cause: order.cause, environment: environment, isFull: order.isFull, sharers: sharers)
            state.runs[order.scope] = Running(id: order.id, run: run)
            return run
        }
        // It runs here until it waits for the first time. Nothing cancels it meanwhile: outputs are carried out one after the other.
        let task = Task.immediate { [self] in
            let conclusion = await run.run(isWaitedFor: order.isWaitedFor, acceptsDeletes: order.acceptsDeletes)
            if order.cause != .replay { openRuns.end(order.scope) }
            handle(.ended(order.scope, run: order.id, conclusion)) { state in
                state.steps += run.progress.steps + 1
                if state.runs[order.scope]?.id == order.id { state.runs[order.scope] = nil }
            }
        }
        state.withLock { state in
            if state.runs[order.scope]?.id == order.id { state.runs[order.scope]?.task = task }
        }
    }

    /// An order from before a reload may be carried out after it.
    private func prepared(
        _ order: PipelineState.RunOrder, _ state: inout sending State, _ environment: SyncRun.Environment
    ) -> PreparedResource {
        if let known = state.prepared[order.scope], known.resource == order.resource { return known }
        let made = PreparedResource(order.resource, comparison: state.knownSharing().comparison(of: order.resource, in: order.scope), environment)
        state.prepared[order.scope] = made
        return made
    }

    /// Somebody who waits for a report is told when what the run left behind is stored as well.
    private func answer(_ waiter: Int, _ report: RunReport?) {
        guard let continuation = state.withLock({ $0.waiters.removeValue(forKey: waiter) }) else { return }
        Task {
            if report != nil { try? await writer.written() }
            continuation.resume(returning: report)
        }
    }

    private func environment(_ state: State) -> SyncRun.Environment {
        SyncRun.Environment(
            document: document, workers: workers, daemon: state.configuration.daemon, store: state.configuration.store,
            documentLimits: state.configuration.document, mapping: state.mapping, transports: transports, slots: slots, gates: gates, clock: clock,
            random: random, secrets: secrets, tokens: tokens, version: version, fetchQueue: fetchQueue, parseQueue: parseQueue,
            trust: trust, archive: archive, parseProbe: parseProbe.withLock { $0 }, tracer: tracer, observe: observe
        ) { [weak self] scope in
            self.flatMap { pipeline in pipeline.state.withLock { $0.machine.pacingEnd(of: scope.whole, at: pipeline.clock.moment) } }
        } asks: { [weak self] scope in
            guard let self else { return }
            openRuns.begin(scope.whole, at: clock.wallTime)
            handle(.asking(scope.whole))
        } willWait: { [weak self] scope, until in
            guard let self else { return }
            handle(.told(scope.whole, until: until))
            try? await writer.written()
        } answered: { [weak self] scope in
            self?.handle(.answered(scope.whole))
        }
    }

    func documentDid(_ event: UIManagedDocumentEvent) {
        switch event {
        case .saved:
            if savesFail.exchange(false, ordering: .sequentiallyConsistent) { observe(.saveRecovered) }
        case .saveFailed(let error, let kind):
            savesFail.store(true, ordering: .sequentiallyConsistent)
            let cause: SaveFailureCause =
                switch kind {
                case .disk: .disk
                case .transient: SaveFailure.isFull(error) ? .full : .passing
                case .permanent: .refused
                }
            observe(.saveFailed(reason: error.inWords, cause: cause))
        }
    }
}

extension CisternConfiguration {
    fileprivate func scopes(where isMeant: (ResourceConfiguration) -> Bool = { _ in true }) -> Set<ResourceScope> {
        Set(sources.flatMap(\.resources).filter(isMeant).map { ResourceScope(source: $0.source, resource: $0.name) })
    }
}

extension ResourceConfiguration {
    fileprivate var isOneList: Bool { partitions == nil }
}
