import SyncControl

/// What the watchdog's tests conclude from what was seen. A value without a clock; `Liveness` brings it the facts.
struct LivenessJudgement: Sendable {
    /// How long the root context may take for a probe.
    static let rootPatience = Duration.seconds(10)
    /// How long the scheduler may be behind, and an operation beyond its own limit.
    static let slack = Duration.seconds(60)

    /// How long work may be under way without anything being finished: longer than any single wait the configuration allows.
    var stallLimit: Duration
    private var progress: UInt64 = 0
    private var lastProgress: Duration?

    init(stallLimit: Duration) {
        self.stallLimit = stallLimit
    }

    /// c: the scheduler acts on time, and forgets nobody.
    static func scheduler(_ activity: PipelineActivity) -> String? {
        if let forgotten = activity.forgotten { return "\(forgotten) has neither a due time nor a run" }
        guard activity.overdue > slack else { return nil }
        return "the next poll is \(RelativeTime.text(activity.overdue)) overdue"
    }

    /// d: no operation is far beyond its own limit.
    static func operations(_ activity: PipelineActivity) -> String? {
        guard activity.lateBy > slack else { return nil }
        return "\(activity.lateOperation ?? "an operation") is \(RelativeTime.text(activity.lateBy)) beyond its limit"
    }

    /// b: a probe of the root context came back in time. A slow disk fails it; a full one does not, for then the probe is answered.
    static func root(sentAt: Duration?, now: Duration) -> String? {
        guard let sentAt, now - sentAt > rootPatience else { return nil }
        return "the root context has not answered for \(RelativeTime.text(now - sentAt))"
    }

    /// e: what is under way gets on.
    mutating func movement(_ activity: PipelineActivity, now: Duration) -> String? {
        guard activity.isBusy, activity.progress == progress, let last = lastProgress else {
            progress = activity.progress
            lastProgress = now
            return nil
        }
        guard now - last > stallLimit else { return nil }
        return "nothing was finished for \(RelativeTime.text(now - last))"
    }
}
