import SyncControl
import SyncPipeline

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
        return "a run is \(RelativeTime.text(overrun)) beyond its limit"
    }

    /// b: a probe of the root context came back in time. A slow disk fails it; a full one does not, for then the probe is answered.
    static func root(sentAt: Duration?, now: Duration) -> String? {
        guard let sentAt, now - sentAt > rootPatience else { return nil }
        return "the root context has not answered for \(RelativeTime.text(now - sentAt))"
    }

    /// e: what is under way gets on.
    mutating func movement(_ liveness: PipelineLiveness, now: Duration) -> String? {
        guard liveness.isBusy, liveness.progress == progress, let last = lastProgress else {
            progress = liveness.progress
            lastProgress = now
            return nil
        }
        guard now - last > stallLimit else { return nil }
        return "nothing was finished for \(RelativeTime.text(now - last))"
    }
}
