import Dispatch
import Foundation
import Glibc
import Synchronization

/// Pings the service manager as long as every liveness check holds, three times per watchdog interval.
///
/// A timer on one queue starts the judge on another. A check that never returns therefore cannot hide: the next turn of the
/// timer finds the judge still busy, names the check and sends nothing.
public final class Watchdog: Sendable {
    private struct State {
        /// Grows with each start and stop; a timer of an older one does nothing.
        var generation = 0
        var isRunning = false
        var isJudging = false
        var current: String?
        var misses = 0
    }

    /// The time after which the manager gives up on the daemon.
    public let timeout: Duration

    private let notify: Notify
    private let checks: [LivenessCheck]
    private let clock: any ServiceClock
    private let onFailure: @Sendable (LivenessFailure) -> Void
    private let state = Mutex(State())
    private let timerQueue = DispatchQueue(label: "cistern.watchdog.timer")
    private let judgeQueue = DispatchQueue(label: "cistern.watchdog.judge")

    /// - Parameter onFailure: called for each failed judgement, on a queue of this object.
    public init(
        timeout: Duration, notify: Notify, checks: [LivenessCheck], clock: any ServiceClock = SystemServiceClock(),
        onFailure: @escaping @Sendable (LivenessFailure) -> Void
    ) {
        self.timeout = timeout
        self.notify = notify
        self.checks = checks
        self.clock = clock
        self.onFailure = onFailure
    }

    /// The interval that the manager asks for, nil if it watches nobody or somebody else. Takes the variables out of the
    /// environment: no child is to ping for us. To be called once, before the second thread starts.
    public static func takeTimeout(
        from environment: [String: String] = ProcessInfo.processInfo.environment, process: pid_t = getpid(),
        unset: (String) -> Void = { unsetenv($0) }
    ) -> Duration? {
        unset("WATCHDOG_USEC")
        unset("WATCHDOG_PID")
        guard let microseconds = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), microseconds > 0 else { return nil }
        if let watched = environment["WATCHDOG_PID"], pid_t(watched) != process { return nil }
        return .microseconds(microseconds)
    }

    /// Begins to judge, the first time a third of the interval from now.
    public func start() {
        let generation = state.withLock { state -> Int? in
            guard !state.isRunning else { return nil }
            state.isRunning = true
            state.generation += 1
            return state.generation
        }
        if let generation { arm(generation) }
    }

    /// No more judgements. During a shutdown the manager's stop time-out takes over from the watchdog.
    public func stop() {
        state.withLock { state in
            state.isRunning = false
            state.generation += 1
        }
    }

    private func arm(_ generation: Int) {
        clock.schedule(after: timeout / 3, on: timerQueue) { [weak self] in self?.tick(generation) }
    }

    private func tick(_ generation: Int) {
        let (isCurrent, stuck) = state.withLock { state -> (Bool, LivenessFailure?) in
            guard state.generation == generation else { return (false, nil) }
            guard state.isJudging else {
                state.isJudging = true
                return (true, nil)
            }
            state.misses += 1
            let finding = LivenessFailure.Finding(check: state.current ?? "judge", reason: "does not answer")
            return (true, LivenessFailure(findings: [finding], consecutive: state.misses))
        }
        guard isCurrent else { return }
        if let stuck {
            onFailure(stuck)
        } else {
            judgeQueue.async { self.judge() }
        }
        arm(generation)
    }

    private func judge() {
        var findings: [LivenessFailure.Finding] = []
        for check in checks {
            state.withLock { $0.current = check.name }
            if case .failed(let reason) = check.verdict() {
                findings.append(.init(check: check.name, reason: reason))
            }
        }
        let (failure, isRunning) = state.withLock { state -> (LivenessFailure?, Bool) in
            state.isJudging = false
            state.current = nil
            state.misses = findings.isEmpty ? 0 : state.misses + 1
            return (findings.isEmpty ? nil : LivenessFailure(findings: findings, consecutive: state.misses), state.isRunning)
        }
        guard isRunning else { return }
        if let failure {
            onFailure(failure)
        } else {
            notify.watchdogPing()
        }
    }

    /// Returns when the judgements begun so far have ended. For tests.
    func drain() {
        timerQueue.sync {}
        judgeQueue.sync {}
    }
}

/// One thing that must hold for the daemon to count as alive.
public struct LivenessCheck: Sendable {
    /// What a check says of itself.
    public enum Verdict: Sendable, Equatable {
        /// What the check looks at is in order.
        case alive
        /// With what is wrong, in a few words for an operator.
        case failed(String)
    }

    /// Short and fixed; appears in the journal.
    public let name: String
    /// Asked on the judge's queue. Should answer at once from what is known; one that hangs counts as failed.
    public let verdict: @Sendable () -> Verdict

    /// - Parameter verdict: called for each judgement, one after the other with the other checks.
    public init(_ name: String, verdict: @escaping @Sendable () -> Verdict) {
        self.name = name
        self.verdict = verdict
    }
}

/// A judgement that did not end in a ping.
public struct LivenessFailure: Sendable, Equatable, CustomStringConvertible {
    /// One check that failed.
    public struct Finding: Sendable, Equatable {
        /// `LivenessCheck.name`
        public let check: String
        /// What the check said, or `does not answer` if it had not returned by the next turn.
        public let reason: String

        /// `check` is the name of the check, `reason` a few words for an operator.
        public init(check: String, reason: String) {
            self.check = check
            self.reason = reason
        }
    }

    /// The checks that failed, in the order in which they were asked; never empty.
    public let findings: [Finding]
    /// How many judgements in a row have failed, this one included.
    public let consecutive: Int

    /// `consecutive` counts this failure too: 1 for the first.
    public init(findings: [Finding], consecutive: Int) {
        self.findings = findings
        self.consecutive = consecutive
    }

    /// `check: reason` for each finding, joined by semicolons, on one line.
    public var description: String { findings.map { "\($0.check): \($0.reason)" }.joined(separator: "; ") }
}
