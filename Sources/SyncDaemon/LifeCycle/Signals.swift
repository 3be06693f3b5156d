import Dispatch
import Glibc

/// Takes the daemon's signals off the kernel, on a queue of its own. No work is done in a signal handler.
///
/// The signals are blocked first, in every thread: one that comes before somebody listens waits in the kernel and is neither lost nor fatal.
// The sources are made once and are safe to use from any thread.
public final class Signals: @unchecked Sendable {
    private let queue: DispatchQueue
    private let sources: [DaemonSignal: any DispatchSourceSignal]

    /// Blocks the daemon's signals in this thread and in every thread it starts from now on, and ignores SIGPIPE and SIGXFSZ: a
    /// connection that is gone and a file that may not grow are errors of the call that meets them. To be called before the second thread starts.
    public static func block() {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in DaemonSignal.allCases { sigaddset(&set, signal.number) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Listens. Equal signals that wait together arrive as one.
    /// - Parameter handler: called on the queue of this object.
    public init(handler: @escaping @Sendable (DaemonSignal) -> Void) {
        let queue = DispatchQueue(label: "cistern.signals")
        self.queue = queue
        var sources: [DaemonSignal: any DispatchSourceSignal] = [:]
        for signal in DaemonSignal.allCases {
            let source = DispatchSource.makeSignalSource(signal: signal.number, queue: queue)
            source.setEventHandler { handler(signal) }
            source.activate()
            sources[signal] = source
        }
        self.sources = sources
    }

    /// Listens no more; the signals stay blocked.
    public func stop() {
        for source in sources.values { source.cancel() }
    }
}
