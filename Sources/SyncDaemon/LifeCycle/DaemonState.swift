/// The state of the daemon, and what follows from each event. A value without a clock, a socket or a thread.
///
///     starting ──► ready ◄──► reloading
///         │          │            │
///         └──────────┴──► stopping ──► stopped
///
/// What comes too early waits: a signal before READY, a reload during a reload, a poll during a poll. Several equal requests count as one.
struct DaemonState: Sendable {
    enum Phase: String, Sendable {
        case starting, ready, reloading, stopping, stopped
    }

    enum Event: Sendable, Equatable {
        /// Everything is set up.
        case started
        case signal(DaemonSignal)
        /// Somebody asks through the socket.
        case reloadRequested
        case reloadFinished
        /// The poll asked for by a signal was handed over.
        case pollFinished
        /// The daemon cannot go on.
        case failed(ExitStatus)
        /// Everything is shut down.
        case stopFinished
    }

    enum Action: Sendable, Equatable {
        case announceReady
        case reload
        case pollEverything
        case dumpStatus
        case stop(ExitStatus)
        /// Do not wait for the open page any longer.
        case skipPage
    }

    private(set) var phase = Phase.starting
    private var wantsReload = false
    private var wantsPoll = false
    private var wantsDump = false
    private var wantsStop: ExitStatus?
    private var isPolling = false
    private var hasStopSignal = false
    private var hasSkippedPage = false

    /// Whether a stop was asked for: the steps of the start look at it and give up early.
    var isStopWanted: Bool { wantsStop != nil || phase == .stopping || phase == .stopped }

    /// How the process ends, once it has been told to.
    private(set) var exitStatus = ExitStatus.success

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .started:
            guard phase == .starting else { return [] }
            if let status = wantsStop { return stop(status) }
            phase = .ready
            return [.announceReady] + pending()
        case .signal(let signal): return handle(signal)
        case .reloadRequested:
            wantsReload = true
            return pending()
        case .reloadFinished:
            guard phase == .reloading else { return [] }
            phase = .ready
            // Who cannot go on is not ready.
            return (wantsStop == nil || wantsStop == .success ? [.announceReady] : []) + pending()
        case .pollFinished:
            isPolling = false
            return pending()
        case .failed(let status):
            wantsStop = status
            // Also when the stop itself goes wrong.
            if phase == .stopping { exitStatus = status }
            return pending()
        case .stopFinished:
            phase = .stopped
            return []
        }
    }

    private mutating func handle(_ signal: DaemonSignal) -> [Action] {
        switch signal {
        case .terminate, .interrupt:
            if hasStopSignal {
                // A second request means that the wait was long enough, however long it was.
                guard phase == .stopping || phase == .reloading, !hasSkippedPage else { return [] }
                hasSkippedPage = true
                return [.skipPage]
            }
            hasStopSignal = true
            if wantsStop == nil { wantsStop = .success }
        case .hangUp: wantsReload = true
        case .pollNow: wantsPoll = true
        case .dumpStatus: wantsDump = true
        }
        return pending()
    }

    /// What of the wishes can be done now.
    private mutating func pending() -> [Action] {
        var actions: [Action] = []
        if wantsDump, phase != .starting, phase != .stopped {
            wantsDump = false
            actions.append(.dumpStatus)
        }
        guard phase == .ready else { return actions }
        if let status = wantsStop { return actions + stop(status) }
        if wantsReload {
            wantsReload = false
            phase = .reloading
            return actions + [.reload]
        }
        if wantsPoll, !isPolling {
            wantsPoll = false
            isPolling = true
            actions.append(.pollEverything)
        }
        return actions
    }

    private mutating func stop(_ status: ExitStatus) -> [Action] {
        phase = .stopping
        exitStatus = status
        return [.stop(status)]
    }
}
