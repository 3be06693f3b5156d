import Dispatch
import Foundation
import Logging
import SyncConfiguration
import SyncControl
import SyncPipeline
import Systemd

/// A stop was asked for before the daemon was ready.
struct StopWanted: Error {}

/// What runs while the daemon is up.
struct RunningDaemon: Sendable {
    let lifeCycle: DaemonLifeCycle
    let slot: EngineSlot
    let server: ControlServer
    let listener: ControlListener
    let liveness: Liveness
    let watchdog: Watchdog?
    let clocks: ClockWatch?
    let backups: BackupRunner
}

extension SyncDaemon {
    /// How much time is asked for at a time while something long goes on, and how often.
    static let extensionTime = Duration.seconds(30)
    static let extensionPause = Duration.seconds(10)

    // MARK: Configuration and journal

    func readConfiguration() throws(StartFailure) -> (ConfigurationReading, CisternConfiguration) {
        let reading = reader.read()
        for warning in reading.warnings { reporter.send(JournalEntry("\(warning)", priority: .warning)) }
        guard let configuration = reading.configuration else {
            throw StartFailure(.configuration, reading.errors.map(\.description).joined(separator: "\n"))
        }
        return (reading, configuration)
    }

    func useJournal(of configuration: CisternConfiguration) {
        reporter.setThreshold(Self.threshold(configuration.log.level))
        defer { exchanges.configure(configuration.log) }
        let log = configuration.log
        guard log.target != .auto || log.format != .text || configuration.daemon.name != Self.identifier else { return }
        journal.replace(with: Self.makeJournal(configuration, environment: options.environment))
    }

    static let identifier = "cisternd"

    static func makeJournal(_ configuration: CisternConfiguration, environment: [String: String]) -> Journal {
        let target: JournalTarget =
            switch configuration.log.target {
            case .auto: .auto
            case .journal: .journal
            case .stderr: .stderr
            }
        return Journal(
            target: target, format: configuration.log.format == .json ? .json : .text, identifier: configuration.daemon.name,
            environment: environment)
    }

    static func threshold(_ level: LogConfiguration.Level) -> JournalPriority {
        switch level {
        case .trace, .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        case .critical: .critical
        }
    }

    // MARK: The order of the start

    /// Lock and store, pipeline, control socket, schedule, watchdog. READY is said when all of it stands, and not before.
    func start(_ configuration: CisternConfiguration, lifeCycle: DaemonLifeCycle) async throws -> RunningDaemon {
        reporter.send(startedEntry(configuration))
        try goOn(lifeCycle)
        listen(lifeCycle)
        let slot = EngineSlot(try await assemble(configuration, lifeCycle: lifeCycle))
        do {
            try goOn(lifeCycle)
            // Connections wait from now on until the resources are known.
            let listener = try listen(configuration)
            do {
                try await slot.start()
            } catch {
                listener.remove()
                let failure = DocumentOpening.failure(error, package: configuration.document.path)
                // What the disk or another program does is not an internal error, even after the store was opened.
                guard failure.status == .software else { throw failure }
                throw StartFailure(.software, "the stored state of the sources cannot be read: \(error.inWords)")
            }
            let backups = makeBackups(configuration, slot: slot, lifeCycle: lifeCycle)
            let server = try await serve(configuration, at: listener, slot: slot, backups: backups, lifeCycle: lifeCycle)
            lifeCycle.recorder.seed(await slot.resources())
            backups.start()
            let (liveness, watchdog) = watch(configuration, slot: slot, lifeCycle: lifeCycle)
            return RunningDaemon(
                lifeCycle: lifeCycle, slot: slot, server: server, listener: listener, liveness: liveness, watchdog: watchdog,
                clocks: watchClocks(), backups: backups)
        } catch {
            // The store is left as a clean stop leaves it.
            await slot.stop(grace: .zero)
            try? await slot.close()
            throw error
        }
    }

    private func goOn(_ lifeCycle: DaemonLifeCycle) throws(StopWanted) {
        if lifeCycle.isStopWanted { throw StopWanted() }
    }

    private func startedEntry(_ configuration: CisternConfiguration) -> JournalEntry {
        let sources = configuration.sources.filter(\.isEnabled)
        return JournalEntry(
            .started,
            "cisternd \(options.version) started: \(JournalFormatter.count(sources.count, "source")), "
                + "\(JournalFormatter.count(sources.flatMap(\.resources).filter(\.isEnabled).count, "resource")), document \(configuration.document.path)",
            fields: JournalFormatter.make([("CISTERN_VERSION", options.version), ("CISTERN_CONFIG_GENERATION", "1")]))
    }

    /// Opens the document on a thread that may block, and asks the manager for patience meanwhile, as long as it moves. A stop that is asked for gives a
    /// check, a copy and a migration up.
    ///
    /// - Parameters:
    ///   - predecessor: the closed document that the new one takes the lock of; nil at the start.
    ///   - isWayBack: the store must be of the configuration's model, as it was.
    func assemble(
        _ configuration: CisternConfiguration, over predecessor: (any OpenDocument)? = nil, isWayBack: Bool = false, lifeCycle: DaemonLifeCycle,
        onStep: @escaping @Sendable () -> Void = {}
    ) async throws -> DaemonEngine {
        let notify = options.notify, parts = parts, hub = hub, recorder = lifeCycle.recorder, pause = options.openingPause
        let exchanges = exchanges
        let words = OpeningWords()
        notify.status(words.text)
        recorder.opening(words.text)
        let patience = Task {
            while !Task.isCancelled {
                try await Task.sleep(for: pause)
                words.tick(moves: onStep) { notify.extendTimeout(by: Self.extensionTime, status: $0) }
            }
        }
        defer {
            patience.cancel()
            recorder.opening(nil)
        }
        let wiring = EngineWiring {
            hub.send($0)
        } onSaved: {
            lifeCycle.recorder.saved()
        } onStep: { step in
            onStep()
            if let text = words.hear(step) {
                notify.status(text)
                recorder.opening(text)
            }
            return !lifeCycle.isStopWanted
        }
        let engine = try await blocking {
            var wiring = wiring
            wiring.predecessor = predecessor
            wiring.tracer = exchanges
            wiring.mayMigrate = !isWayBack
            return try parts.assemble(configuration, wiring)
        }
        if let migration = engine.migration { reporter.send(JournalEntry(.schemaMigrated, migration)) }
        return engine
    }

    /// On a thread that may block.
    func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "cistern.open").async { continuation.resume(with: Result { try body() }) }
        }
    }

    /// The observers of events, in this order: the recorder first, because the others ask it.
    private func listen(_ lifeCycle: DaemonLifeCycle) {
        let recorder = lifeCycle.recorder, reporter = reporter
        let manager = NotifyReporter(notify: options.notify, recorder: recorder)
        _ = hub.listen { recorder.record($0) }
        _ = hub.listen { manager.observe($0) }
        _ = hub.listen { reporter.observe($0) }
        let memory = MemoryReturn()
        _ = hub.listen { memory.observe($0) }
        _ = hub.listen { event in
            if case .saveFailed(_, cause: .disk) = event { lifeCycle.tell(.failed(.ioError)) }
        }
    }

    private func listen(_ configuration: CisternConfiguration) throws(StartFailure) -> ControlListener {
        if let passed = options.controlSocket { return ControlListener(passed: passed) }
        return try ControlListener(path: configuration.control.socket)
    }

    private func makeBackups(_ configuration: CisternConfiguration, slot: EngineSlot, lifeCycle: DaemonLifeCycle) -> BackupRunner {
        let hub = hub, recorder = lifeCycle.recorder
        return BackupRunner(slot, configuration.store, version: options.version, clock: options.clock) {
            !lifeCycle.isStopWanted
        } observe: {
            hub.send($0)
        } onNewest: {
            recorder.seedBackup($0)
        }
    }

    private func serve(
        _ configuration: CisternConfiguration, at listener: ControlListener, slot: EngineSlot, backups: BackupRunner, lifeCycle: DaemonLifeCycle
    ) async throws -> ControlServer {
        let control = DaemonControl(lifeCycle: lifeCycle, pipeline: slot, hub: hub, backups: backups)
        let journal = journal
        let logger = Logger(label: "cistern.control") { _ in JournalLogHandler(journal: journal.current, level: .warning) }
        let reporter = reporter
        let access = ControlAccess(steerGroup: configuration.control.steerGroup) { reporter.send(Self.steeredEntry($0, by: $1)) }
        let server = ControlServer(listener: listener, routes: ControlRoutes(backend: control, access: access), logger: logger)
        do {
            try await server.start()
        } catch {
            listener.remove()
            throw StartFailure(.osError, "the control socket \(configuration.control.socket) cannot be served: \(error)")
        }
        return server
    }

    /// Says who steered, so that a mirror that stands still can be traced to a person.
    private static func steeredEntry(_ request: ControlRequest, by peer: ControlPeer) -> JournalEntry {
        var text = request.verb.rawValue
        if request.verb.parameters.contains("scope") { text += " of \(request.scope ?? "everything")" }
        if request.full { text += " (full)" }
        if !request.what.isEmpty { text += " (\(request.what.map(\.rawValue).sorted().joined(separator: ", ")))" }
        return JournalEntry(
            "\(text) requested by \(peer)", priority: .notice,
            fields: JournalFormatter.make([
                ("CISTERN_VERB", request.verb.rawValue), ("CISTERN_SCOPE", request.scope ?? ""), ("CISTERN_PEER_UID", "\(peer.user)"),
                ("CISTERN_PEER_PID", "\(peer.process)"),
            ]))
    }

    private func watchClocks() -> ClockWatch? {
        let reporter = reporter
        return ClockWatch(clocks: options.clocks) { step in
            let isForward = step > .zero
            reporter.send(
                JournalEntry(
                    .clockJumped,
                    "the clock of this machine was set \(RelativeTime.text(isForward ? step : .zero - step)) \(isForward ? "forward" : "back")",
                    fields: JournalFormatter.make([("CISTERN_CLOCK_STEP_USEC", "\(JournalFormatter.microseconds(step))")])))
        }
    }

    private func watch(_ configuration: CisternConfiguration, slot: EngineSlot, lifeCycle: DaemonLifeCycle) -> (Liveness, Watchdog?) {
        let liveness = Liveness(pipeline: slot, document: slot, configuration: configuration)
        lifeCycle.watch(liveness, slot)
        guard let timeout = options.watchdogTimeout else { return (liveness, nil) }
        let reporter = reporter
        let watchdog = Watchdog(timeout: timeout, notify: options.notify, checks: liveness.checks) { failure in
            reporter.send(
                JournalEntry(
                    .watchdogMissed, "a liveness check failed, so the watchdog gets no ping: \(failure)",
                    fields: JournalFormatter.make([("CISTERN_CHECK", failure.findings.map(\.check).joined(separator: " "))])))
        }
        watchdog.start()
        return (liveness, watchdog)
    }
}
