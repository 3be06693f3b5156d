import Dispatch
import Foundation
import SyncConfiguration
import SyncControl
import SyncPipeline
import Synchronization
import Systemd

/// The checks behind the watchdog's ping: main queue, root context, scheduler, operations, movement.
///
/// None of them waits: each looks at the answers since it last asked, and asks again. A remote failure fails none of them.
final class Liveness: Sendable {
    private struct State {
        var judgement: LivenessJudgement
        /// Whether the main queue has not answered the last question yet.
        var isMainAsked = false
        var rootAskedAt: Duration?
        /// What each failing test says.
        var complaints: [String: String] = [:]
    }

    private let state: Mutex<State>
    private let pipeline: any SyncPipelining
    private let document: any OpenDocument
    private let clock: any ServiceClock
    private let mainQueue: DispatchQueue

    init(
        pipeline: any SyncPipelining, document: any OpenDocument, configuration: CisternConfiguration, clock: any ServiceClock = SystemServiceClock(),
        mainQueue: DispatchQueue = .main
    ) {
        self.pipeline = pipeline
        self.document = document
        self.clock = clock
        self.mainQueue = mainQueue
        state = Mutex(State(judgement: LivenessJudgement(stallLimit: Self.stallLimit(configuration))))
    }

    /// The tests that failed when they were last asked, each with what it says.
    var failing: [String] { state.withLock { $0.complaints }.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" } }

    func reload(_ configuration: CisternConfiguration) {
        state.withLock { $0.judgement.stallLimit = Self.stallLimit(configuration) }
    }

    /// The five tests, in the order in which they are asked. A first question that is still open fails only when it is asked again.
    var checks: [LivenessCheck] {
        [
            check("main-queue") { [self] in askMainQueue() },
            check("root-context") { [self] in askRootContext() },
            check("scheduler") { [self] in LivenessJudgement.scheduler(pipeline.liveness) },
            check("operations") { [self] in LivenessJudgement.operations(pipeline.liveness) },
            check("movement") { [self] in
                let liveness = pipeline.liveness, now = clock.now
                return state.withLock { $0.judgement.movement(liveness, now: now) }
            },
        ]
    }

    private func check(_ name: String, _ test: @escaping @Sendable () -> String?) -> LivenessCheck {
        LivenessCheck(name) { [self] in
            let complaint = test()
            state.withLock { $0.complaints[name] = complaint }
            return complaint.map { .failed($0) } ?? .alive
        }
    }

    private func askMainQueue() -> String? {
        let isUnanswered = state.withLock { state in
            defer { state.isMainAsked = true }
            return state.isMainAsked
        }
        if isUnanswered { return "the main queue has run nothing since it was last asked" }
        mainQueue.async { [self] in state.withLock { $0.isMainAsked = false } }
        return nil
    }

    private func askRootContext() -> String? {
        let now = clock.now
        let (sentAt, isOpen) = state.withLock { state in
            let isOpen = state.rootAskedAt != nil
            if !isOpen { state.rootAskedAt = now }
            return (state.rootAskedAt, isOpen)
        }
        if isOpen { return LivenessJudgement.root(sentAt: sentAt, now: now) }
        document.probe { [self] in state.withLock { $0.rootAskedAt = nil } }
        return nil
    }

    /// The longest single wait the configuration allows, and a minute.
    static func stallLimit(_ configuration: CisternConfiguration) -> Duration {
        var longest = Duration.zero
        for resource in configuration.sources.flatMap(\.resources) {
            let waits = [resource.http.totalTimeout, resource.retry.maxDelay, resource.retry.retryAfterPark].map(\.duration)
            longest = max(longest, waits.max() ?? .zero)
        }
        return longest + .seconds(60)
    }
}

/// What the watchdog's tests conclude from what was seen. A value without a clock; `Liveness` brings it the facts.
struct LivenessJudgement: Sendable {
    /// How long the root context may take for a probe.
    static let rootPatience = Duration.seconds(10)
    /// How long the scheduler may be behind, and an operation beyond its own limit.
    static let slack = Duration.seconds(60)

    /// How long work may be under way without anything being finished: longer than any single wait the configuration allows.
    var stallLimit: Duration
    private var progress = 0
    private var lastProgress: Duration?

    init(stallLimit: Duration) {
        self.stallLimit = stallLimit
    }

    /// c: the scheduler acts on time, and forgets nobody.
    static func scheduler(_ liveness: PipelineLiveness) -> String? {
        if let forgotten = liveness.forgotten { return "\(forgotten) has neither a due time nor a run" }
        guard liveness.schedulerOverdue > slack else { return nil }
        return "the next poll is \(RelativeTime.text(liveness.schedulerOverdue)) overdue"
    }

    /// d: no operation is far beyond its own limit.
    static func operations(_ liveness: PipelineLiveness) -> String? {
        guard let overrun = liveness.longestOverrun, overrun > slack else { return nil }
        return "a run is \(RelativeTime.text(overrun)) over its limit"
    }

    /// b: a probe of the root context came back in time. A slow disk fails it; a full one does not, for then the probe is answered.
    static func root(sentAt: Duration?, now: Duration) -> String? {
        guard let sentAt, now - sentAt > rootPatience else { return nil }
        return "the root context has not answered for \(RelativeTime.text(now - sentAt))"
    }

    /// e: work in progress makes progress.
    mutating func movement(_ liveness: PipelineLiveness, now: Duration) -> String? {
        guard liveness.isBusy, liveness.progress == progress, let last = lastProgress else {
            progress = liveness.progress
            lastProgress = now
            return nil
        }
        guard now - last > stallLimit else { return nil }
        return "nothing has finished for \(RelativeTime.text(now - last))"
    }
}
