import Glibc
import Synchronization

/// Receives the daemon's signals in a thread of its own, which exists from the start: if no more threads can be created, the queues stand still, but
/// signals are still received. No work is done in a signal handler.
///
/// The signals are blocked first, in every thread: one that comes before somebody listens waits in the kernel and is neither lost nor fatal.
public final class Signals: Sendable {
    private struct Listener: Sendable {
        let patience: @Sendable () -> Duration
        let handler: @Sendable (DaemonSignal) -> Void
    }

    private struct State {
        var listener: Listener?
        /// What came before anybody listened.
        var early: [DaemonSignal] = []
    }

    private let state = Mutex(State())

    /// How long a stop may take before the daemon is ready.
    static let startPatience = Duration.seconds(40)

    private static var all: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in DaemonSignal.allCases { sigaddset(&set, signal.number) }
        return set
    }

    /// Blocks the daemon's signals in this thread and in every thread it starts from now on, and ignores SIGPIPE and SIGXFSZ: the calls that meet a
    /// closed connection or a file that may not grow report the error. Must be called before the second thread starts.
    public static func block() {
        var set = all
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Starts the thread.
    /// - Throws: `StartFailure` if it cannot be made.
    public init() throws(StartFailure) {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Signals>.fromOpaque(context).takeRetainedValue().listen() }
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            throw StartFailure(.osError, "cannot create a thread for signals: \(String(cString: strerror(code))); raise TasksMax= or LimitNPROC=")
        }
        pthread_detach(thread)
    }

    /// Hands on what comes from now on, and what came before. Equal signals that wait together arrive as one.
    /// - Parameters:
    ///   - patience: how long a stop may take that a signal asks for now. Then the process ends with the status `osError`, whatever holds it: what
    ///     is committed by then is safe, as in a power failure.
    ///   - handler: called in the thread of this object, one signal after the other; before this returns, for those that came before.
    func listen(patience: @escaping @Sendable () -> Duration, handler: @escaping @Sendable (DaemonSignal) -> Void) {
        state.withLock { state in
            state.listener = Listener(patience: patience, handler: handler)
            for signal in state.early { handler(signal) }
            state.early = []
        }
    }

    /// Stops listening; the signals stay blocked.
    func stop() { state.withLock { $0.listener = nil } }

    private func listen() {
        var set = Self.all, number: Int32 = 0
        while true {
            guard sigwait(&set, &number) == 0, let signal = DaemonSignal.allCases.first(where: { $0.number == number }) else { continue }
            let listener = state.withLock { state in
                if state.listener == nil { state.early.append(signal) }
                return state.listener
            }
            if signal == .terminate || signal == .interrupt { LastResort.arm(after: listener?.patience() ?? Self.startPatience) }
            listener?.handler(signal)
        }
    }
}

/// Ends a stop that does not finish.
enum LastResort {
    /// Makes the kernel end the process after this long. It needs no thread, no memory and no queue. Only the first call counts: a repeated request
    /// to stop does not postpone the end.
    static func arm(after patience: Duration) {
        guard isArmed.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else { return }
        signal(SIGALRM) { _ in
            // Nothing but these two may be called here.
            let line: StaticString = "<2>cisternd did not stop in time and exits now; what is committed is safe\n"
            _ = write(STDERR_FILENO, line.utf8Start, line.utf8CodeUnitCount)
            _exit(ExitStatus.osError.rawValue)
        }
        alarm(UInt32(clamping: patience.components.seconds + 1))
    }

    private static let isArmed = Atomic(false)
}

/// The signals the daemon answers.
public enum DaemonSignal: Sendable, Hashable, CaseIterable {
    /// SIGTERM: stop.
    case terminate
    /// SIGINT: stop, from a terminal.
    case interrupt
    /// SIGHUP: read the configuration again.
    case hangUp
    /// SIGUSR1: poll everything now, within the limits.
    case pollNow
    /// SIGUSR2: write the status to the journal.
    case dumpStatus

    /// The system's number for it, as `sigaction(2)` takes it.
    public var number: Int32 {
        switch self {
        case .terminate: SIGTERM
        case .interrupt: SIGINT
        case .hangUp: SIGHUP
        case .pollNow: SIGUSR1
        case .dumpStatus: SIGUSR2
        }
    }

    /// As `kill -l` and the manual write it, with `SIG`.
    public var name: String {
        switch self {
        case .terminate: "SIGTERM"
        case .interrupt: "SIGINT"
        case .hangUp: "SIGHUP"
        case .pollNow: "SIGUSR1"
        case .dumpStatus: "SIGUSR2"
        }
    }
}
