public import Foundation

/// How a resource stands.
public struct ResourceStatus: Sendable, Hashable {
    /// In a word.
    public enum Health: String, Sendable, Hashable, Codable, CaseIterable {
        /// Current.
        case ok
        /// A run is open.
        case running
        /// Failing, older than `max_age`, or with deletions held back.
        case degraded
        /// Kept from being polled until `cisternctl resume`.
        case paused
        /// Switched off in the configuration.
        case disabled
        /// Not fetched yet.
        case pending
    }

    /// The resource this is about.
    public let scope: ResourceScope
    /// As it was when the status was taken.
    public package(set) var health: Health
    /// False where the configuration switches it off.
    public package(set) var isEnabled: Bool
    /// Whether it waits for `cisternctl resume`; survives a restart.
    public package(set) var isPaused: Bool
    /// Older than its `max_age`, or with deletions held back.
    public package(set) var isDegraded: Bool
    /// When everything was last seen, changed or not.
    public package(set) var lastSuccess: Date?
    /// Seconds since then, when the status was taken.
    public package(set) var ageSeconds: TimeInterval?
    /// When everything the server has was last seen.
    public package(set) var completeAt: Date?
    /// When it is due; nil while it is paused, disabled or running.
    public package(set) var nextPollAt: Date?
    /// The seconds from one poll to the next, before jitter, where they adapt to how often something changes.
    public package(set) var intervalSeconds: TimeInterval?
    /// Until when its server wants it left alone.
    public package(set) var parkedUntil: Date?
    /// What its server's failures have led to; nil: it is asked as configured.
    public package(set) var breaker: BreakerStatus?
    /// The latest run that ended in this process; nil before the first.
    public package(set) var lastReport: RunReport?
    /// The last status a server answered with; nil if there was none yet.
    public package(set) var httpStatus: Int?
    /// What went wrong in the last run.
    public package(set) var error: String?
    /// Runs that failed or were parked since the last one that succeeded.
    public package(set) var consecutiveFailures: Int
    /// How many rows complete runs would remove, held back by a guard.
    public package(set) var heldDeletes: Int
    /// Which guard, and where it is set: `deletion.max_fraction`.
    public package(set) var guardName: String?
    /// The page being read; nil if no run is under way.
    public package(set) var runningPage: Int?
    /// Records of the open run so far.
    public package(set) var runningRecords: Int?
    /// The rows that the last complete run vouched for.
    public package(set) var objects: Int?

    /// Takes `health` as given: the flags for enabled, paused and degraded follow from it. nil stands for what is not known, or not so.
    public init(
        _ scope: ResourceScope, _ health: Health = .pending, lastSuccess: Date? = nil, ageSeconds: TimeInterval? = nil, completeAt: Date? = nil,
        nextPollAt: Date? = nil, intervalSeconds: TimeInterval? = nil, parkedUntil: Date? = nil, objects: Int? = nil, httpStatus: Int? = nil,
        error: String? = nil,
        consecutiveFailures: Int = 0, heldDeletes: Int = 0, guardName: String? = nil, runningPage: Int? = nil, runningRecords: Int? = nil,
        lastReport: RunReport? = nil, breaker: BreakerStatus? = nil
    ) {
        self.scope = scope
        self.health = health
        isEnabled = health != .disabled
        isPaused = health == .paused
        isDegraded = health == .degraded
        self.lastSuccess = lastSuccess
        self.ageSeconds = ageSeconds
        self.completeAt = completeAt
        self.nextPollAt = nextPollAt
        self.intervalSeconds = intervalSeconds
        self.parkedUntil = parkedUntil
        self.objects = objects
        self.httpStatus = httpStatus
        self.error = error
        self.consecutiveFailures = consecutiveFailures
        self.heldDeletes = heldDeletes
        self.guardName = guardName
        self.runningPage = runningPage
        self.runningRecords = runningRecords
        self.lastReport = lastReport
        self.breaker = breaker
    }

    /// Says how it stands at a time, from everything else that is known.
    package mutating func judge(at now: Date) {
        ageSeconds = lastSuccess.map { max(0, now.timeIntervalSince($0)) }
        health = present
    }

    private var present: Health {
        if !isEnabled { return .disabled }
        if isPaused { return .paused }
        if runningPage != nil { return .running }
        if isDegraded || consecutiveFailures > 0 { return .degraded }
        return lastSuccess == nil ? .pending : .ok
    }
}

extension ResourceStatus: Codable {
    private enum CodingKeys: String, CodingKey {
        case scope, objects, error, breaker
        case health = "state"
        case lastSuccess = "last_success_at"
        case completeAt = "complete_at"
        case ageSeconds = "age_s"
        case nextPollAt = "next_poll_at"
        case intervalSeconds = "interval_s"
        case parkedUntil = "parked_until"
        case httpStatus = "http_status"
        case consecutiveFailures = "consecutive_failures"
        case heldDeletes = "held_deletes"
        case guardName = "held_by"
        case runningPage = "running_page"
        case runningRecords = "running_records"
        case lastReport = "last_run"
    }

    /// Missing fields are nil, missing `held_deletes` zero. The flags follow from `state`, so those of a running resource are not known.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try values.decode(ResourceScope.self, forKey: .scope), try values.decode(Health.self, forKey: .health),
            lastSuccess: try values.decodeIfPresent(Date.self, forKey: .lastSuccess),
            ageSeconds: try values.decodeIfPresent(Double.self, forKey: .ageSeconds),
            completeAt: try values.decodeIfPresent(Date.self, forKey: .completeAt),
            nextPollAt: try values.decodeIfPresent(Date.self, forKey: .nextPollAt),
            intervalSeconds: try values.decodeIfPresent(Double.self, forKey: .intervalSeconds),
            parkedUntil: try values.decodeIfPresent(Date.self, forKey: .parkedUntil), objects: try values.decodeIfPresent(Int.self, forKey: .objects),
            httpStatus: try values.decodeIfPresent(Int.self, forKey: .httpStatus), error: try values.decodeIfPresent(String.self, forKey: .error),
            consecutiveFailures: try values.decode(Int.self, forKey: .consecutiveFailures),
            heldDeletes: try values.decodeIfPresent(Int.self, forKey: .heldDeletes) ?? 0,
            guardName: try values.decodeIfPresent(String.self, forKey: .guardName),
            runningPage: try values.decodeIfPresent(Int.self, forKey: .runningPage),
            runningRecords: try values.decodeIfPresent(Int.self, forKey: .runningRecords),
            lastReport: try values.decodeIfPresent(RunReport.self, forKey: .lastReport),
            breaker: try values.decodeIfPresent(BreakerStatus.self, forKey: .breaker))
    }

    /// Leaves out what is nil, held deletions that are zero, and the flags: `state` speaks for them.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(scope, forKey: .scope)
        try values.encode(health, forKey: .health)
        try values.encodeIfPresent(lastSuccess, forKey: .lastSuccess)
        try values.encodeIfPresent(ageSeconds, forKey: .ageSeconds)
        try values.encodeIfPresent(completeAt, forKey: .completeAt)
        try values.encodeIfPresent(nextPollAt, forKey: .nextPollAt)
        try values.encodeIfPresent(intervalSeconds, forKey: .intervalSeconds)
        try values.encodeIfPresent(parkedUntil, forKey: .parkedUntil)
        try values.encodeIfPresent(objects, forKey: .objects)
        try values.encodeIfPresent(breaker, forKey: .breaker)
        try values.encodeIfPresent(httpStatus, forKey: .httpStatus)
        try values.encodeIfPresent(error, forKey: .error)
        try values.encode(consecutiveFailures, forKey: .consecutiveFailures)
        if heldDeletes > 0 {
            try values.encode(heldDeletes, forKey: .heldDeletes)
            try values.encodeIfPresent(guardName, forKey: .guardName)
        }
        try values.encodeIfPresent(runningPage, forKey: .runningPage)
        try values.encodeIfPresent(runningRecords, forKey: .runningRecords)
        try values.encodeIfPresent(lastReport, forKey: .lastReport)
    }
}

/// A server that failed run after run, and is left alone for that.
public struct BreakerStatus: Sendable, Hashable, Codable {
    /// Whether anybody asks it.
    public enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// Nobody does, until the time that is named.
        case open
        /// One resource does; the others wait for what it finds.
        case halfOpen = "half-open"
    }

    /// Whether anybody asks it.
    public let state: State
    /// Until when nobody does; nil unless it is open.
    public let until: Date?
    /// How often in a row it was left alone: each time twice as long.
    public let openings: Int

    /// One that has opened so often.
    public init(_ state: State, until: Date? = nil, openings: Int) {
        self.state = state
        self.until = until
        self.openings = openings
    }
}

/// How the whole pipeline stands.
public struct PipelineStatus: Sendable {
    /// Every resource of the configuration, those that are disabled included, by name.
    public let resources: [ResourceStatus]
    /// Changed objects that are not on disk yet.
    public let unsavedChanges: Int
    /// Seconds since the oldest of them was made.
    public let oldestUnsavedChange: TimeInterval?

    /// `oldestUnsavedChange` is nil if nothing is unsaved.
    public init(resources: [ResourceStatus], unsavedChanges: Int, oldestUnsavedChange: TimeInterval?) {
        self.resources = resources
        self.unsavedChanges = unsavedChanges
        self.oldestUnsavedChange = oldestUnsavedChange
    }
}

/// What a watchdog asks. Every value is taken without waiting for anybody.
public struct PipelineLiveness: Sendable, Hashable {
    /// How far the earliest due time lies in the past.
    public let schedulerOverdue: Duration
    /// A resource that is enabled and has neither a due time nor a run: a mistake of the pipeline's own.
    public let forgotten: ResourceScope?
    /// The longest that a run has gone on beyond its own `max_run_time`; negative while none has.
    public let longestOverrun: Duration?
    /// Moves whenever anything does.
    public let progress: Int
    /// Whether anything is under way that waits neither for a server's time nor for the disk.
    public let isBusy: Bool

    /// Without arguments: nothing is late, forgotten or busy, and no run is open.
    public init(
        schedulerOverdue: Duration = .zero, forgotten: ResourceScope? = nil, longestOverrun: Duration? = nil, progress: Int = 0, isBusy: Bool = false
    ) {
        self.schedulerOverdue = schedulerOverdue
        self.forgotten = forgotten
        self.longestOverrun = longestOverrun
        self.progress = progress
        self.isBusy = isBusy
    }
}
