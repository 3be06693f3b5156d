import Foundation
import GRDB
import OpenCoreDataTestSupport
import SyncConfiguration
import SyncTestSupport
import Synchronization

@testable import OpenCoreData
@testable import SyncPipeline

/// The processes of a simulation, one after the other, and what is done to them.
struct SimulatedLife {
    struct Process {
        let folder: URL
        let document: UIManagedDocument
        let documentClock: ManualDocumentClock
        let pipeline: SyncPipeline
        let disk: SimulatedDisk
    }

    /// Somebody who waits for reports.
    private final class Waiter: Sendable {
        let isDone = Atomic<Bool>(false)
    }

    let simulation: Simulation
    private(set) var process: Process?
    private var plan = Simulation.Plan()
    private var waiters: [Waiter] = []
    /// Somebody else who has locked the file for writing.
    var lock: DatabaseQueue?
    /// Whether something could not be written since the last time that all was.
    var isBehind = false
    private var count = 0

    init(_ simulation: Simulation) {
        self.simulation = simulation
    }

    var clock: ManualClock { simulation.clock }

    // MARK: Steps

    mutating func begin(_ plan: Simulation.Plan) async throws {
        self.plan = plan
        simulation.tell("\(plan)") { $0.configure(plan) }
        try await start(in: simulation.folder.appendingPathComponent("0"))
    }

    mutating func step(_ random: inout SeededNumbers) async throws {
        let list = SimulatedServer.lists[random.next(upTo: SimulatedServer.lists.count)]
        switch random.next(upTo: 43) {
        case 0..<18:
            simulation.answer(
                random.chance(30) ? SimulatedServer.Lie.allCases[random.next(upTo: SimulatedServer.Lie.allCases.count)] : nil, using: &random)
        case 18..<25: pass([.seconds(1), .seconds(16), .seconds(61), .seconds(600), .seconds(3600), .seconds(18_000)][random.next(upTo: 6)])
        case 25, 26: passToNextDeadline()
        case 27, 28: try await sync(list.scope, waits: false)
        case 29, 30: try await sync(list.scope, waits: true)
        case 31: try await pause(list.scope)
        case 32: try await resume(list.scope)
        case 33: try await reload(Simulation.Plan(using: &random))
        case 34, 35: simulation.change(using: &random)
        case 36: try random.chance(60) ? unlock() : lockFile()
        case 37: try await stop(&random)
        case 38: try await kill()
        case 39: try await save()
        case 40, 41: fillDisk(random.chance(50) ? .SQLITE_FULL : .SQLITE_NOMEM)
        default: try await slowDown(&random)
        }
        try await rest()
        try await check()
    }

    func pass(_ duration: Duration) {
        simulation.tell("\(duration) pass")
        clock.advance(by: duration)
        process?.documentClock.advance(by: duration.inSeconds)
    }

    private func passToNextDeadline() {
        let next = clock.deadlines.first.map { max(clock.instant.duration(to: $0), .zero) } ?? .seconds(1)
        pass(next)
    }

    private mutating func sync(_ scope: ResourceScope, waits: Bool) async throws {
        guard let pipeline = process?.pipeline, !plan.removed.contains(scope) else { return }
        simulation.tell("sync \(scope)\(waits ? " and wait" : "")") { $0.ask(scope) }
        guard waits else {
            _ = try await pipeline.sync("\(scope)", cause: .signal, wait: false)
            return
        }
        let waiter = Waiter()
        waiters.append(waiter)
        let simulation = simulation, since = clock.wallTime
        Task {
            let reports = try? await pipeline.sync("\(scope)", cause: .control, wait: true)
            for report in reports ?? [] where report.scope != scope || report.startedAt < since && report.outcome != .parked {
                simulation.tell("") {
                    $0.fail("somebody who waits for \(scope) since \(since) got the report of \(report.scope) of \(report.startedAt)")
                }
            }
            waiter.isDone.store(true, ordering: .releasing)
        }
    }

    private func pause(_ scope: ResourceScope) async throws {
        guard !plan.removed.contains(scope) else { return }
        simulation.tell("pause \(scope)")
        try? await process?.pipeline.pause("\(scope)")
    }

    private func resume(_ scope: ResourceScope) async throws {
        guard !plan.removed.contains(scope) else { return }
        simulation.tell("resume \(scope)") { $0.resume(scope) }
        try? await process?.pipeline.resume("\(scope)")
    }

    private mutating func reload(_ plan: Simulation.Plan) async throws {
        let configuration = try PipelineFixture.configuration(plan.configuration), before = self.plan
        simulation.tell("reload: \(plan)") { $0.configure(plan, isReload: true) }
        do {
            try await process?.pipeline.reload(configuration)
            self.plan = plan
        } catch _ where process?.disk.cause != nil || lock != nil {
            // What a list that is not there any more has said has to be forgotten first, and nothing can be written.
            simulation.tell("the reload is refused") { $0.configure(before) }
            return
        }
        simulation.tell("") { $0.configure(plan) }
    }

    private func save() async throws {
        simulation.tell("save")
        try? await process?.document.save()
    }

    // MARK: Processes

    private mutating func start(in folder: URL) async throws {
        let number = simulation.nextProcess(), simulation = simulation
        let configuration = try PipelineFixture.configuration(plan.configuration)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let documentClock = ManualDocumentClock()
        let document = UIManagedDocument(
            fileURL: folder, model: try SyncPipeline.model(for: configuration), autosavePolicy: AutosavePolicy(interval: 15),
            clock: documentClock)
        document.persistentStoreOptions = [
            NSPersistentStoreTimeoutOption: 0.0, SQLiteRowSumsOption: true, NSSQLitePragmasOption: ["synchronous": "off"],
        ]
        try document.openStore(creating: true)
        let disk = SimulatedDisk()
        try disk.stand(under: document)
        let transport = StubTransport { request, _ in try await simulation.ask(request, by: number) }
        let pipeline = try SyncPipeline(
            document: document, configuration: configuration, transports: TransportPool { _ in transport }, clock: clock, secrets: .none,
            version: "test", random: RandomSource { 0.5 }
        ) { simulation.heard($0, from: number) }
        // Pages are short: a record or two are packed while the others arrive.
        pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: 1000, listSize: 60) }
        process = Process(folder: folder, document: document, documentClock: documentClock, pipeline: pipeline, disk: disk)
        try await pipeline.start(armed: true)
        try await rest()
    }

    /// A stop ends within its grace and two seconds, whatever is under way.
    mutating func stop(_ random: inout SeededNumbers) async throws {
        guard let process else { return }
        let grace = [0, 3, 20][random.next(upTo: 3)], pipeline = process.pipeline
        simulation.tell("stop within \(grace) s")
        let stop = Task { await pipeline.stop(grace: .seconds(grace)) }
        func hasStopped() -> Bool { pipeline.state.withLock { $0.machine.phase } == .stopped }
        // The task may be late.
        while pipeline.state.withLock({ $0.machine.phase }) == .running { await Task.yield() }
        let end = clock.instant.advanced(by: .seconds(grace + 2))
        while clock.instant < end, !hasStopped() {
            try await rest(until: hasStopped)
            if hasStopped() { break }
            if random.chance(30) { simulation.answer(nil, using: &random) } else { pass(.seconds(1)) }
        }
        let limit = ContinuousClock.now.advanced(by: Self.patience)
        while process.disk.isHolding, !hasStopped(), ContinuousClock.now < limit { await Task.yield() }
        try await rest(until: hasStopped)
        guard hasStopped() else { throw Simulation.Failure(words: "the stop has not ended after \(grace) s and two more") }
        await stop.value
        try mend()
        try await process.document.close()
        simulation.tell("another process") { [isBehind] in $0.restart(isKill: false, isForgetful: isBehind) }
        isBehind = false
        try await start(in: process.folder)
    }

    /// The process ends between two instructions: what is in the file is what the next one finds.
    mutating func kill() async throws {
        guard let process else { return }
        count += 1
        let next = simulation.folder.appendingPathComponent("\(count)")
        let isForgetful = isBehind
        // Nobody writes meanwhile: the file is locked, or the commit that a slow disk holds has it locked.
        var guardian: DatabaseQueue?
        while lock == nil, guardian == nil, !process.disk.isHolding {
            do { guardian = try Self.locked(process.document.storeURL) } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                await Task.yield()
            }
        }
        try FileManager.default.copyItem(at: process.folder, to: next)
        try guardian.map(Self.release)
        // A kill is one moment, the copy is not: what was asked meanwhile was noted before it was asked.
        let notes = next.appendingPathComponent(OpenRuns.fileName), place = process.folder.appendingPathComponent(OpenRuns.fileName)
        _ = simulation.nextProcess {
            try? FileManager.default.removeItem(at: notes)
            try? FileManager.default.copyItem(at: place, to: notes)
        }
        simulation.tell("a kill, and another process") { $0.restart(isKill: true, isForgetful: isForgetful) }
        try await abandon(process)
        isBehind = false
        try await start(in: next)
    }

    /// Takes down what a kill would have taken with it.
    private mutating func abandon(_ process: Process) async throws {
        try mend()
        let waiter = Waiter()
        Task {
            await process.pipeline.stop(grace: .zero)
            waiter.isDone.store(true, ordering: .releasing)
        }
        while !waiter.isDone.load(ordering: .acquiring) {
            await Task.yield()
            if clock.deadlines.isEmpty == false { clock.advance(by: .milliseconds(100)) }
        }
        try? await process.document.close()
        try? FileManager.default.removeItem(at: process.folder)
    }

    mutating func end() async throws {
        if let process { try await abandon(process) }
        process = nil
    }

    // MARK: Rest

    /// Against hangs only.
    private static let patience = Duration.seconds(600)

    /// Waits until everything waits: for an answer, for the clock, or for a commit; or until `isEnough`.
    func rest(until isEnough: () -> Bool = { false }) async throws {
        guard let process else { return }
        let limit = ContinuousClock.now.advanced(by: Self.patience)
        var calm = 0
        while calm < 3 {
            if isEnough() { return }
            if process.disk.isHolding {
                // Who waits for the disk, and who is still busy, cannot be told apart.
                for _ in 0..<100 where !isEnough() { await Task.yield() }
                return
            }
            calm = isResting(process) ? calm + 1 : 0
            if calm == 2, !process.disk.isSlow {
                try? await process.pipeline.writer.written()
                if !isResting(process) { calm = 0 }
            }
            if ContinuousClock.now > limit { throw Simulation.Failure(words: "nothing comes to rest: \(unrest(process))") }
            await Task.yield()
        }
    }

    private func unrest(_ process: Process) -> String {
        let (wake, runs) = process.pipeline.state.withLock { ($0.machine.wakeTime, $0.runs.mapValues(\.run.progress)) }
        return
            "wake \(wake.map { clock.instant.duration(to: $0) } ?? .zero), runs \(runs), asked \(simulation.pendingScopes), \(clock.deadlines.count) sleep"
    }

    private func isResting(_ process: Process) -> Bool {
        let now = clock.instant
        let (wake, runs, isBusy) = process.pipeline.state.withLock { state in
            (state.machine.wakeTime, state.runs.mapValues(\.run.progress), state.isDelivering || !state.outbox.isEmpty || state.machine.isSaving)
        }
        let (isSaving, alarms) = process.document.status.withLock { status in
            (status.isSaving, [status.isBackingOff, status.isTimerArmed].count { $0 })
        }
        // A document that is to try again, or to save later, has been told so before its clock is.
        if isSaving || process.documentClock.due.count < alarms { return false }
        if isBusy || wake.map({ $0 <= now }) ?? false { return false }
        let asked = simulation.pendingScopes, isUnsaved = process.document.hasUnsavedChanges
        var sleepers = asked.count + [wake != nil, process.pipeline.writer.waitsUntil != nil].count { $0 }
        for (scope, progress) in runs where !asked.contains(scope) {
            if let until = progress.waitsUntil, until > now {
                sleepers += 1
            } else if !(progress.waitsForDisk && isUnsaved) {
                return false
            }
        }
        // One that has asked for the page ahead as well is still at the one before.
        let isAtItsPage = asked.allSatisfy { scope in runs[scope].map { $0.page >= simulation.pagesAsked(scope) } ?? false }
        return isAtItsPage && clock.deadlines.count == sleepers
    }

    // MARK: Checks

    private mutating func check() async throws {
        guard let process else { return }
        let wasCommitted = !process.document.hasUnsavedChanges
        let rows = try await rows(process)
        let isCommitted = wasCommitted && !process.document.hasUnsavedChanges
        if isCommitted && lock == nil { isBehind = false }
        let isSeen = !process.disk.isSlow
        simulation.tell("") {
            $0.compare(rows, isCommitted: isCommitted)
            if isSeen { $0.regainSight() }
        }
        if let words = try await teams(process, isSettled: false) { throw Simulation.Failure(words: words) }
        if let forgotten = process.pipeline.liveness.forgotten { throw Simulation.Failure(words: "\(forgotten) is forgotten") }
        if let failure = simulation.failure { throw Simulation.Failure(words: failure) }
    }

    /// The names of the rows that are no tombstones.
    private func rows(_ process: Process) async throws -> [String: [Int: String]] {
        try await process.document.withWorker { worker in
            try SimulatedServer.keys.keys.reduce(into: [:]) { rows, entity in
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                request.predicate = NSPredicate(format: "cisternDeletedAt == nil")
                rows[entity] = try worker.fetch(request).reduce(into: [:]) { found, object in
                    // A thing that others only name is no row yet.
                    if object.value(forKey: ModelBuilder.Bookkeeping.stub.rawValue) as? Bool == true { return }
                    found[object.value(forKey: "id") as? Int ?? 0] = object.value(forKey: "name") as? String ?? "nil"
                }
            }
        }
    }

    /// In the end nothing is in the way any more, and servers tell the truth: everything comes to what they have.
    mutating func settle(_ random: inout SeededNumbers) async throws {
        try mend()
        try await rest()
        try await reload(Simulation.Plan())
        for list in SimulatedServer.lists { try await resume(list.scope) }
        try await rest()
        let before = simulation.ask { $1.completions }
        var isSettled = false
        for _ in 0..<80 where !isSettled {
            try await answerAll(&random)
            let after = simulation.ask { $1.completions }
            isSettled = SimulatedServer.lists.allSatisfy { (after[$0.scope] ?? 0) >= (before[$0.scope] ?? 0) + 3 }
            if isSettled { isSettled = try await difference() == nil }
            pass(.seconds(3600))
            try await rest()
        }
        if let file = process?.document.storeURL, case let report = try SQLiteStoreVerification.verify(file), !report.isSound {
            throw Simulation.Failure(words: "rows are not as they were written: \(report)")
        }
        if let difference = try await difference() { throw Simulation.Failure(words: difference) }
        if let process, let words = try await teams(process, isSettled: true) { throw Simulation.Failure(words: words) }
        if !isSettled { throw Simulation.Failure(words: "not everything is read completely any more") }
        if let waiter = waiters.firstIndex(where: { !$0.isDone.load(ordering: .acquiring) }) {
            throw Simulation.Failure(words: "the \(waiter + 1). of those who waited for a sync still waits")
        }
        try await checkStatus()
    }

    private mutating func answerAll(_ random: inout SeededNumbers) async throws {
        while !simulation.pendingScopes.isEmpty {
            simulation.answer(nil, using: &random)
            try await rest()
        }
        pass(.seconds(16))
        try await rest()
        try await check()
    }

    private func difference() async throws -> String? {
        guard let process else { return nil }
        let rows = try await rows(process)
        for (entity, found) in rows {
            var wanted: [Int: String] = [:]
            for list in SimulatedServer.lists where list.entity == entity {
                wanted.merge(simulation.ask { server, _ in server.names[list.scope] ?? [:] }) { $1 }
            }
            if found != wanted { return "\(entity): there is \(found.sorted { $0.key < $1.key }) and should be \(wanted.sorted { $0.key < $1.key })" }
        }
        return nil
    }

    private func checkStatus() async throws {
        guard let process else { return }
        let lastSuccess = simulation.ask { $1.lastSuccess }
        for status in await process.pipeline.status().resources {
            if status.lastSuccess != lastSuccess[status.scope] {
                throw Simulation.Failure(words: "\(status.scope) says \(String(describing: status.lastSuccess)) was its last success")
            }
            if status.isDegraded || status.consecutiveFailures > 0 { throw Simulation.Failure(words: "\(status)") }
        }
    }
}
