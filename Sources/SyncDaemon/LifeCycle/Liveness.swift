import Dispatch
import Foundation
import SyncConfiguration
import Synchronization
import Systemd

/// The tests behind the watchdog's ping: main queue, root context, scheduler, operations, movement.
///
/// None of them waits: each looks at what was answered since it last asked, and asks anew. A remote failure fails none of them.
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
