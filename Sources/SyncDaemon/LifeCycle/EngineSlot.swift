import SyncConfiguration
import SyncControl
import SyncPipeline
import Synchronization

/// The place of the engine in use. A reload that changes the model or how the store is kept puts another engine there.
///
/// Whoever steers, watches or stops the daemon holds the slot and never an engine. While engines are exchanged, what needs one waits; somebody who waits
/// for a poll that the exchange cut off is served by the next one.
final class EngineSlot: Sendable {
    /// Makes an engine over the closed document of another, and starts it.
    typealias Maker = @Sendable (any OpenDocument) async throws -> DaemonEngine

    /// Why the engine is not the one that was asked for.
    enum ExchangeFailure: Error {
        /// The new engine could not be made; the former configuration is in force again.
        case kept(any Error)
        /// A stop was asked for meanwhile. The document is closed, and nothing runs.
        case givenUp
        /// The new engine could not be made, for the first reason, nor the former one again, for the second. The document is closed, and nothing runs.
        case lost(any Error, any Error)
        /// The document could not be saved and closed. Nothing runs.
        case unsaved(any Error)
    }

    private struct State {
        var engine: DaemonEngine
        /// Counts engines.
        var number = 1
        var isExchanging = false
        /// No engine runs any more, nor will one.
        var hasEnded = false
        var isClosed = false
        /// Short calls under way: the exchange begins after them.
        var calls = 0
        var exchange: CheckedContinuation<Void, Never>?
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// Moves while engines are exchanged.
        var steps = 0
    }

    private let state: Mutex<State>

    init(_ engine: DaemonEngine) {
        state = Mutex(State(engine: engine))
    }

    private var engine: DaemonEngine { state.withLock { $0.engine } }

    // MARK: Exchange

    /// The exchange made a step, or what it waits for did.
    func steps() { state.withLock { $0.steps &+= 1 } }

    /// Ends the engine in use as a stop does, its document saved and closed, and lets `make` make its successor; if that fails, `makeAgain` one as it was.
    /// One exchange at a time.
    ///
    /// - Parameter isPassing: whether to try again to close the document, which has failed with this error. Takes as long as a pause between two attempts.
    func exchange(
        grace: Duration, isPassing: (any Error) async -> Bool = { _ in false }, for make: Maker, orAgain makeAgain: Maker
    ) async throws(ExchangeFailure) {
        let old = await begin()
        await old.pipeline.stop(grace: grace)
        steps()
        // Also what the stop has given up on: nobody may ask a store that is closed.
        await old.pipeline.ended()
        while true {
            steps()
            do {
                try await old.document.close()
                break
            } catch {
                if await isPassing(error) { continue }
                finish(nil, isClosed: false)
                throw .unsaved(error)
            }
        }
        steps()
        do {
            await serve(old, by: try await make(old.document))
        } catch is StopWanted {
            finish(nil, isClosed: true)
            throw .givenUp
        } catch let reason {
            do {
                await serve(old, by: try await makeAgain(old.document))
            } catch is StopWanted {
                finish(nil, isClosed: true)
                throw .givenUp
            } catch {
                finish(nil, isClosed: true)
                throw .lost(reason, error)
            }
            throw .kept(reason)
        }
    }

    private func begin() async -> DaemonEngine {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                state.isExchanging = true
                if state.calls > 0 { state.exchange = continuation }
                return state.calls == 0
            }
            if isIdle { continuation.resume() }
        }
        return engine
    }

    /// What the former one was asked for and did not do, its successor does.
    private func serve(_ old: DaemonEngine, by new: DaemonEngine) async {
        for poll in old.pipeline.unserved {
            // Its resource may be gone.
            _ = try? await new.pipeline.sync(poll.scope.description, cause: poll.cause, full: poll.isFull, wait: false)
        }
        finish(new, isClosed: false)
    }

    private func finish(_ new: DaemonEngine?, isClosed: Bool) {
        let waiting = state.withLock { state in
            if let new { state.engine = new } else { state.hasEnded = true }
            state.number += 1
            state.isExchanging = false
            state.isClosed = isClosed
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    // MARK: Calls

    /// Returns when an engine runs, or none will any more.
    private func settle() async {
        while state.withLock({ $0.isExchanging }) {
            await withCheckedContinuation { continuation in
                let isWaiting = state.withLock { state in
                    if state.isExchanging { state.waiting.append(continuation) }
                    return state.isExchanging
                }
                if !isWaiting { continuation.resume() }
            }
        }
    }

    /// A call that no exchange interrupts. Throws `SyncError.stopping` where nothing runs any more.
    private func calling<Answer>(_ body: (any SyncPipelining) async throws -> Answer) async throws -> Answer {
        let engine = try await pickUp()
        defer { hangUp() }
        return try await body(engine.pipeline)
    }

    /// Does something with the open document, which no exchange closes meanwhile: it waits, and whoever keeps it waiting tells `steps()`. Throws
    /// `SyncError.stopping` where nothing runs any more.
    func withDocument<Answer>(_ body: (any OpenDocument) async throws -> Answer) async throws -> Answer {
        let engine = try await pickUp()
        defer { hangUp() }
        return try await body(engine.document)
    }

    /// The engine in use, until `hangUp()`.
    private func pickUp() async throws -> DaemonEngine {
        while true {
            await settle()
            let engine = try state.withLock { state throws(SyncError) -> DaemonEngine? in
                if state.hasEnded { throw .stopping }
                if state.isExchanging { return nil }
                state.calls += 1
                return state.engine
            }
            if let engine { return engine }
        }
    }

    private func hangUp() {
        let exchange = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.calls -= 1
            guard state.calls == 0 else { return nil }
            defer { state.exchange = nil }
            return state.exchange
        }
        exchange?.resume()
    }
}

extension EngineSlot: SyncPipelining {
    func start() async throws { try await calling { try await $0.start() } }

    /// After an exchange that is under way.
    func stop(grace: Duration) async {
        await settle()
        await engine.pipeline.stop(grace: grace)
    }

    /// Somebody does not want to wait for pages any longer, in an exchange either.
    func hurry() async { await engine.pipeline.stop(grace: .zero) }

    func ended() async { await engine.pipeline.ended() }

    func reload(_ configuration: CisternConfiguration) async throws { try await calling { try await $0.reload(configuration) } }

    func sync(_ scope: String?, cause: RunCause, full: Bool, wait: Bool) async throws -> [RunReport] {
        if !wait { return try await calling { try await $0.sync(scope, cause: cause, full: full, wait: false) } }
        return try await waiting(for: scope) { try await $0.sync($1, cause: cause, full: full, wait: true) }
    }

    func replay(_ scope: String?, wait: Bool) async throws -> [RunReport] {
        if !wait { return try await calling { try await $0.replay(scope, wait: false) } }
        return try await waiting(for: scope) { try await $0.replay($1, wait: true) }
    }

    /// Waits for runs, and where an exchange cuts them off for those of the next engine.
    private func waiting(
        for scope: String?, _ ask: @escaping @Sendable (any SyncPipelining, String?) async throws -> [RunReport]
    ) async throws -> [RunReport] {
        var reports: [ResourceScope: RunReport] = [:], open = [scope], isAgain = false
        while true {
            await settle()
            let (engine, number) = try state.withLock { state throws(SyncError) in
                if state.hasEnded { throw .stopping }
                return (state.engine, state.number)
            }
            let expected = await engine.pipeline.resources().filter { status in
                status.health != .paused && status.health != .disabled && open.contains { DaemonControl.contains($0, status.scope.description) }
            }
            try await withThrowingTaskGroup(of: [RunReport].self) { group in
                for scope in open {
                    group.addTask { [isAgain] in
                        // Of what is asked for again, something may be gone.
                        do { return try await ask(engine.pipeline, scope) } catch  where isAgain { return [] }
                    }
                }
                for try await part in group {
                    for report in part { reports[report.scope] = report }
                }
            }
            let isExchanged = state.withLock { $0.isExchanging || $0.number != number }
            let undone = expected.map(\.scope).filter { reports[$0] == nil || reports[$0]?.outcome == .cancelled }
            guard isExchanged, !undone.isEmpty else { return reports.values.sorted { $0.scope < $1.scope } }
            open = undone.map(\.description)
            isAgain = true
        }
    }

    func pause(_ scope: String?) async throws { try await calling { try await $0.pause(scope) } }
    func resume(_ scope: String?) async throws { try await calling { try await $0.resume(scope) } }
    func acceptDeletes(_ scope: String) async throws { try await calling { try await $0.acceptDeletes(scope) } }
    func reset(_ scope: String, _ parts: Set<ResetPart>) async throws { try await calling { try await $0.reset(scope, parts) } }

    /// Those of the former engine while there is none.
    func resources() async -> [ResourceStatus] { await engine.pipeline.resources() }

    func quarantine(id: String?, limit: Int, skip: Int) async throws -> [QuarantineEntry] {
        try await calling { try await $0.quarantine(id: id, limit: limit, skip: skip) }
    }

    /// While engines are exchanged: whether that moves.
    var liveness: PipelineLiveness {
        let (pipeline, steps) = state.withLock { ($0.isExchanging ? nil : $0.engine.pipeline, $0.steps) }
        return pipeline?.liveness ?? PipelineLiveness(progress: steps, isBusy: true)
    }

    var unserved: [UnservedPoll] { engine.pipeline.unserved }
}

extension EngineSlot: OpenDocument {
    var path: String { engine.document.path }
    var unsavedChanges: Int { engine.document.unsavedChanges }
    var oldestUnsavedSeconds: Double? { engine.document.oldestUnsavedSeconds }
    func probe(_ done: @escaping @Sendable () -> Void) { engine.document.probe(done) }

    func save() async throws { try await engine.document.save() }

    func close() async throws {
        await settle()
        if state.withLock({ $0.isClosed }) { return }
        try await engine.document.close()
    }
}
