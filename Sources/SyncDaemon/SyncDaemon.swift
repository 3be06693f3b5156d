import Dispatch
import Foundation
import Glibc
import Logging
import OpenCoreData
import SyncConfiguration
import SyncControl
import SyncPipeline
import Synchronization
import Systemd

/// The daemon: puts the parts together, starts them in order, and puts them away in the reverse order.
///
/// The main thread of the process is not used here: it runs the main queue, which serves the document's main context and nothing else.
public final class SyncDaemon: Sendable {
    /// What the daemon gets from the outside.
    public struct Options: Sendable {
        /// The main configuration file.
        public var configuration: String
        /// Looked at for the service manager's directories and for secrets.
        public var environment: [String: String]
        /// What it says it is, in the journal and on the control socket.
        public var version: String
        /// The way to the service manager; silent if there is none.
        public var notify: Notify
        /// How long the service manager waits for a sign of life; `nil` if it does not.
        public var watchdogTimeout: Duration?
        /// A control socket that was passed.
        public var controlSocket: Int32?
        /// Where entries go before the configuration is known.
        public var journal: Journal
        /// Who hears the process's signals; nil: nobody does.
        public var signals: Signals?
        /// A block of the main context that holds the main queue for longer is told in the journal; `nil`: none is.
        public var maxBlock: Duration?
        /// Where configuration files are read from, at the start and at each reload.
        public var files: any ConfigurationFiles
        var clocks = MachineClocks()
        /// By which backups are made.
        var clock: any SyncClock = SystemClock()
        /// How often the manager is asked for time while the database is opened.
        var openingPause = SyncDaemon.extensionPause

        /// Without optional arguments: no watchdog, a control socket of its own, no signals, and configuration files from disk.
        public init(
            configuration: String, environment: [String: String], version: String, notify: Notify, watchdogTimeout: Duration? = nil,
            controlSocket: Int32? = nil, journal: Journal, signals: Signals? = nil, maxBlock: Duration? = nil,
            files: any ConfigurationFiles = DiskConfigurationFiles()
        ) {
            self.configuration = configuration
            self.environment = environment
            self.version = version
            self.notify = notify
            self.watchdogTimeout = watchdogTimeout
            self.controlSocket = controlSocket
            self.journal = journal
            self.signals = signals
            self.maxBlock = maxBlock
            self.files = files
        }
    }

    let options: Options
    let parts: any DaemonParts
    let hub = EventHub()
    let journal: JournalBox
    let reporter: JournalReporter
    let exchanges: ExchangeLog
    let reader: ConfigurationReader
    private struct Inbox {
        var lifeCycle: DaemonLifeCycle?
        /// Signals that came before there was anybody to tell.
        var early: [DaemonSignal] = []
    }
    private let inbox = Mutex(Inbox())

    /// Reads and starts nothing: ``run()`` does.
    public init(options: Options, parts: any DaemonParts) {
        self.options = options
        self.parts = parts
        let journal = JournalBox(options.journal)
        self.journal = journal
        let reporter = JournalReporter { journal.current.send($0) }
        self.reporter = reporter
        exchanges = ExchangeLog(folder: "\(ServiceDirectories.current(environment: options.environment).state)/trace") {
            reporter.send(JournalEntry($0, priority: .notice))
        }
        reader = ConfigurationReader(path: options.configuration, environment: options.environment, files: options.files)
    }

    /// Runs until it is told to stop, and returns how the process ends. Must be called once.
    public func run() async -> ExitStatus {
        let reporter = reporter
        let observation = ContextDiagnostic.observe { reporter.send(DiagnosticFormatter.entry(for: $0)) }
        defer { observation.cancel() }
        if let maxBlock = options.maxBlock { MainQueueLoad.budget = maxBlock }
        options.signals?.listen(patience: { self.stopPatience }) { self.deliver($0) }
        defer { options.signals?.stop() }
        do {
            return try await live()
        } catch let failure as StartFailure {
            return end(failure)
        } catch is StopWanted {
            options.notify.stopping(status: "Stopped before it was ready")
            flush()
            return .success
        } catch {
            return end(StartFailure(.failure, error.inWords))
        }
    }

    private func live() async throws -> ExitStatus {
        let (reading, configuration) = try readConfiguration()
        useJournal(of: configuration)
        let (actions, input) = AsyncStream<DaemonState.Action>.makeStream()
        let recorder = StatusRecorder(configuration: configuration)
        let lifeCycle = DaemonLifeCycle(
            reading: reading, configuration: configuration, version: options.version, watchdogTimeout: options.watchdogTimeout,
            recorder: recorder, actions: input)
        let early = inbox.withLock { inbox in
            inbox.lifeCycle = lifeCycle
            return inbox.early
        }
        for signal in early { lifeCycle.tell(.signal(signal)) }
        let running = try await start(configuration, lifeCycle: lifeCycle)
        lifeCycle.tell(.started)
        for await action in actions { perform(action, running) }
        return lifeCycle.exitStatus
    }

    /// Does what the signal says, as if the kernel had sent it. One that comes before the configuration is read waits.
    public func deliver(_ signal: DaemonSignal) {
        let lifeCycle = inbox.withLock { inbox in
            if inbox.lifeCycle == nil { inbox.early.append(signal) }
            return inbox.lifeCycle
        }
        lifeCycle?.tell(.signal(signal))
    }

    /// How long a stop may take that is asked for now. What stops in order is done before: runs take a second more than the grace, a refresh token that is on
    /// its way another eleven, and saving less than two. Nothing of it waits without an end.
    private var stopPatience: Duration {
        let lifeCycle = inbox.withLock { $0.lifeCycle }
        guard let lifeCycle, lifeCycle.hasBeenReady else { return Signals.startPatience }
        return lifeCycle.configurationInForce.daemon.shutdownGrace.duration + .seconds(20)
    }

    /// The process cannot go on: says why to everyone who may listen.
    func end(_ failure: StartFailure) -> ExitStatus {
        let line = failure.message.prefix { !$0.isNewline }
        if let code = failure.code {
            options.notify.fatal(errno: code, status: "Fatal: \(line)")
        } else {
            options.notify.status("Fatal: \(line)")
        }
        for line in failure.message.split(whereSeparator: \.isNewline) {
            reporter.send(
                JournalEntry(
                    String(line), priority: failure.status == .ioError ? .critical : .error,
                    fields: JournalFormatter.make(
                        [
                            ("CISTERN_EXIT_STATUS", "\(failure.status.rawValue)"), ("ERRNO", failure.code.map { "\($0)" } ?? ""),
                        ].filter { !$0.1.isEmpty })))
        }
        flush()
        return failure.status
    }

    /// Last words: waits briefly until manager and journal have them.
    func flush() {
        journal.current.flush(within: .seconds(2))
        options.notify.flush(within: .seconds(2), managerHasRead: true)
    }
}

extension SyncDaemon {
    /// The version of this build.
    public static var version: String { CisternVersion.current }

    /// The environment with the service's directories in it, also where no service manager has set them.
    public static func directories(in environment: [String: String]) -> [String: String] {
        let directories = ServiceDirectories.current(environment: environment)
        var environment = environment
        environment["STATE_DIRECTORY"] = directories.state
        environment["RUNTIME_DIRECTORY"] = directories.runtime
        return environment
    }

    /// Everything a process has to take from its surroundings before its second thread starts.
    public struct Launch: Sendable {
        private let configuration: String
        private let environment: [String: String]
        private let notify: Notify
        private let watchdogTimeout: Duration?
        private let sockets: [Int32]
        private let journal: Journal
        private let failure: StartFailure?
        private let maxBlock: Duration?

        /// Takes the service manager's variables out of the environment, so that no child speaks in our name.
        /// - Parameter maxBlock: how long the main context may hold the main queue without a word in the journal; `nil`: as long as it likes.
        public init(configuration: String, environment: [String: String], maxBlock: Duration? = nil) {
            self.configuration = configuration
            self.maxBlock = maxBlock
            self.environment = environment
            // Files that the daemon creates are for its user, and readable by its group.
            umask(0o027)
            notify = Notify.takingEnvironment(environment)
            watchdogTimeout = Watchdog.takeTimeout(from: environment)
            journal = Journal(identifier: SyncDaemon.identifier, environment: environment)
            do {
                sockets = try ListenDescriptors.take(from: environment)["control"]
                failure = nil
            } catch {
                sockets = []
                failure = StartFailure(.osError, "a socket that the service manager passed is not open: \(error); restart cisternd.socket")
            }
        }

        /// Runs the daemon to its end.
        public func run(_ signals: Signals) async -> ExitStatus {
            let daemon = SyncDaemon(
                options: Options(
                    configuration: configuration, environment: environment, version: SyncDaemon.version, notify: notify,
                    watchdogTimeout: watchdogTimeout, controlSocket: sockets.first, journal: journal,
                    signals: signals, maxBlock: maxBlock),
                parts: ManagedParts(environment: environment))
            if let failure { return daemon.end(failure) }
            return await daemon.run()
        }
    }
}
