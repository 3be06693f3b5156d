import Foundation
import Glibc
import SyncConfiguration
import SyncControl
import SyncPipeline
import Synchronization

/// What is known about the process as a whole, and the place for requests to it. Shared by the life cycle and the control socket.
final class DaemonLifeCycle: Sendable {
    private struct Facts {
        var state = DaemonState()
        var configuration: CisternConfiguration
        var generation = 1
        var loadedAt: Date
        var files: [String]
        var toml: String
        var reloadError: String?
        var hasBeenReady = false
        var waiters: [CheckedContinuation<Result<ControlResponse, ControlError>, Never>] = []
        var liveness: Liveness?
        var document: (any OpenDocument)?
    }

    let startedAt: Date
    let programVersion: String
    let watchdogTimeout: Duration?
    let recorder: StatusRecorder
    private let facts: Mutex<Facts>
    private let actions: AsyncStream<DaemonState.Action>.Continuation
    private let now: @Sendable () -> Date

    init(
        reading: ConfigurationReading, configuration: CisternConfiguration, version: String, watchdogTimeout: Duration?, recorder: StatusRecorder,
        actions: AsyncStream<DaemonState.Action>.Continuation, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        startedAt = now()
        programVersion = version
        self.watchdogTimeout = watchdogTimeout
        self.recorder = recorder
        self.actions = actions
        self.now = now
        facts = Mutex(
            Facts(
                configuration: configuration, loadedAt: startedAt, files: reading.files, toml: reading.resolved?.toml(origins: true) ?? ""))
    }

    // MARK: The life cycle

    /// Something happened. What follows from it is put into the stream of actions.
    func tell(_ event: DaemonState.Event) {
        let (next, isEnd) = facts.withLock { facts in (facts.state.handle(event), facts.state.phase == .stopped) }
        for action in next { actions.yield(action) }
        if isEnd { actions.finish() }
    }

    var isStopWanted: Bool { facts.withLock { $0.state.isStopWanted } }
    var isStopping: Bool { facts.withLock { $0.state.phase == .stopping || $0.state.phase == .stopped } }
    var exitStatus: ExitStatus { facts.withLock { $0.state.exitStatus } }
    var configurationInForce: CisternConfiguration { facts.withLock { $0.configuration } }
    var generation: Int { facts.withLock { $0.generation } }

    /// Whether READY was said.
    var hasBeenReady: Bool { facts.withLock { $0.hasBeenReady } }

    /// Whether READY is said for the first time.
    func isFirstReady() -> Bool {
        facts.withLock { facts in
            defer { facts.hasBeenReady = true }
            return !facts.hasBeenReady
        }
    }

    func watch(_ liveness: Liveness, _ document: any OpenDocument) {
        facts.withLock { facts in
            facts.liveness = liveness
            facts.document = document
        }
    }

    // MARK: Reload

    /// Asks for a reload. Refused while the daemon stops.
    func requestReload() throws(ControlError) {
        if isStopping { throw Self.stopping }
        tell(.reloadRequested)
    }

    /// Asks for a reload that begins after this call, and waits for its outcome.
    func requestReloadAndWait() async throws(ControlError) -> ControlResponse {
        let result = await withCheckedContinuation { continuation in
            let isRefused = facts.withLock { facts in
                if facts.state.phase == .stopping || facts.state.phase == .stopped { return true }
                facts.waiters.append(continuation)
                return false
            }
            if isRefused { continuation.resume(returning: .failure(Self.stopping)) } else { tell(.reloadRequested) }
        }
        return try result.get()
    }

    /// Those who wait for the reload that begins now.
    func takeWaiters() -> [CheckedContinuation<Result<ControlResponse, ControlError>, Never>] {
        facts.withLock { facts in
            defer { facts.waiters = [] }
            return facts.waiters
        }
    }

    func refuseWaiters() {
        for waiter in takeWaiters() { waiter.resume(returning: .failure(Self.stopping)) }
    }

    /// A new configuration is in force. Returns its number.
    func accept(_ configuration: CisternConfiguration, _ reading: ConfigurationReading) -> Int {
        let now = now()
        return facts.withLock { facts in
            facts.configuration = configuration
            facts.generation += 1
            facts.loadedAt = now
            facts.files = reading.files
            facts.toml = reading.resolved?.toml(origins: true) ?? ""
            facts.reloadError = nil
            return facts.generation
        }
    }

    /// The new configuration was refused; the old one stays.
    func refuse(_ reason: String) { facts.withLock { $0.reloadError = reason } }

    /// The sentence that goes with READY.
    var readyText: String {
        let (error, generation) = facts.withLock { ($0.reloadError, $0.generation) }
        if let error { return "Reload failed: \(error); old configuration kept" }
        return generation == 1 ? recorder.readyText : recorder.text
    }

    static let stopping = ControlError("cisternd is stopping", advice: "try again once it is running", code: .unavailable)

    // MARK: Answers

    func version() -> ControlVersion {
        ControlVersion(name: configurationInForce.daemon.name, version: programVersion, pid: getpid())
    }

    func runningConfiguration() -> RunningConfiguration {
        facts.withLock { facts in
            RunningConfiguration(generation: facts.generation, loadedAt: facts.loadedAt, files: facts.files, toml: facts.toml)
        }
    }

    func snapshot(resources: [ResourceStatus]) -> StatusSnapshot {
        let (facts, saving, backup, text) = (self.facts.withLock { $0 }, recorder.document, recorder.backup, recorder.text)
        let watchdog = StatusSnapshot.Watchdog(
            enabled: watchdogTimeout != nil, intervalSeconds: watchdogTimeout.map { Double($0.components.seconds) },
            failing: facts.liveness?.failing ?? [])
        let unsaved = facts.document?.unsavedChanges ?? 0
        return StatusSnapshot(
            generatedAt: now(),
            daemon: StatusSnapshot.Daemon(
                name: facts.configuration.daemon.name, version: programVersion, pid: getpid(), state: facts.state.phase.rawValue,
                startedAt: startedAt, configurationGeneration: facts.generation, configurationLoadedAt: facts.loadedAt,
                reloadError: facts.reloadError.map { RemoteText.line($0) }, status: text, degraded: recorder.isDegraded, watchdog: watchdog),
            document: StatusSnapshot.Document(
                path: facts.document?.path ?? facts.configuration.document.path, unsavedChanges: unsaved,
                oldestUnsavedSeconds: unsaved == 0 ? nil : facts.document?.oldestUnsavedSeconds, lastSaveAt: saving.lastSave, error: saving.error,
                held: saving.held, opening: saving.opening, lastBackupAt: backup.last, backupError: backup.error),
            resources: resources)
    }
}
