import Foundation
import SyncConfiguration

/// The state of the pipeline: its resources, which of them are running, when each is due and who waits for what. A value without clock, socket or
/// thread.
///
///     new ── configured, with what is stored ──► due at a time ── due, asked ──► running ── ended ──► due at a time …
///                                                  ▲      ▲ └─ told: not before ┘   │ └─ past its deadline: cancelled
///                                 resumed, enabled │      └────────────────────────┘
///                                                  ▼
///                                                idle: paused, disabled, removed (its run is cancelled)
///     due, idle at a time ── replay asked ──► running; what is due waits until it has ended, and is due then as it was
///     all ── stopping ──► runs end after their page, are cancelled after the grace, and after a little more patience nobody waits for them
///
/// `SyncPipeline` says what happens and carries out the result. Nothing else knows when anything is due. Invariant: what is enabled and not paused
/// has a due time or a run.
struct PipelineState: Sendable {
    enum Phase: String, Sendable {
        case idle, running, stopping, stopped
    }

    /// How late a poll may begin so that several begin at once.
    static let leeway = Duration.milliseconds(250)
    /// How long a run may take to notice by itself that its time is over, before it is cancelled.
    static let overrun = Duration.seconds(30)
    /// How long a run takes until readers of the store see it.
    static let noticeable = Duration.seconds(2)
    /// How long cancelled runs may take to end before a stop goes on without them.
    static let patience = Duration.seconds(1)

    var phase = Phase.idle
    var resources = Resources()
    /// Which servers must not be polled, and until when.
    var pacing: [PacingPlace: SyncInstant] = [:]
    /// Which servers have failed, and what follows from it.
    var breakers: [PacingPlace: Breaker] = [:]
    var isArmed = false
    /// While stopping: whether a commit is under way, and whether there is anything it does not include.
    var isSaving = false
    var isUnsaved = false
    var stopTime: SyncInstant?
    var runCount = 0
    var wakeTime: SyncInstant?
    var announced: Timeline.Entry?
    /// What is stored, or about to be.
    var recorded: [ResourceScope: StoredSchedule] = [:]
    /// Resources whose runs were open when the previous process ended uncleanly, until they have had a run that ended.
    var suspects: [ResourceScope: Suspicion] = [:]
    /// Runs of which the previous process left no trace in the store: those that were open, and those that had only just ended.
    var leftBehind: [ResourceScope: Suspicion] = [:]
    /// What somebody had asked for without waiting for it, and a stop left undone.
    var unserved: [ResourceScope: UnservedPoll] = [:]
    /// By how much the wall clock was ahead of instants when due times were found; nil: nobody has looked.
    var clockDifference: TimeInterval?
    /// When the wall clock is looked at if nothing happens before.
    var look: SyncInstant?
    let chance: RandomSource
    /// The outputs of the current input.
    var outputs: [Output] = []

    /// - Parameter chance: where jitter comes from.
    init(chance: RandomSource) {
        self.chance = chance
    }

    /// Takes in what happened, and says what to do.
    mutating func handle(_ input: Input, at now: Moment) -> [Output] {
        noticeTime(now)
        switch input {
        case .leftOpen(let found):
            suspects = found.filter { $0.value.ends > 0 }
            leftBehind = found
        case .configured(let plans, let daemon, let stored, let schedules):
            recorded.merge(schedules) { mine, _ in mine }
            configure(plans, daemon, stored, now)
        case .started(let isArmed):
            guard phase == .idle else { break }
            phase = .running
            self.isArmed = isArmed
        case .due:
            // The timer has fired: it must be set again, even for the same time.
            wakeTime = nil
        case .asked(let scope, let cause, let waiter, let acceptsDeletes, let isFull):
            if acceptsDeletes { resources[scope]?.acceptsDeletes = true }
            if isFull, resources[scope]?.isPollable == true { resources[scope]?.isFull = true }
            ask(scope, cause, waiter: waiter, now)
        case .replayAsked(let scope, let waiter): askReplay(scope, waiter: waiter, now)
        case .asking(let scope):
            guard resources[scope]?.run != nil else { break }
            resources[scope]?.lastStarted = now.instant
            resources[scope]?.startedAt = now.wall
            resources[scope]?.run?.hasAsked = true
            // Nothing follows from it before the run ends, but from what the clock says.
            if outputs.isEmpty { return [] }
        case .answered(let scope):
            if !noteAnswer(scope, now), outputs.isEmpty { return [] }
        case .told(let scope, let until): tell(scope, until, now)
        case .ended(let scope, let run, let conclusion): end(scope, run, conclusion, now)
        case .paused(let scope): pause(scope, now)
        case .resumed(let scope): resume(scope, now)
        case .resetting(let scope, let reset): beginReset(reset, of: scope)
        case .wasReset(let scope, let reset):
            resources[scope]?.resets.remove(reset)
            beginReplay(scope, now)
        case .forgiven(let scope): forgive(scope, now)
        case .stopping(let grace): stop(grace, now)
        case .committed: isSaving = false
        }
        return conclude(now)
    }

    // MARK: Configuration

    private mutating func configure(
        _ plans: [ResourceConfiguration], _ daemon: DaemonConfiguration, _ stored: [ResourceScope: ResourceStatus], _ now: Moment
    ) {
        pacing = pacing.filter { $0.value > now.instant }
        var known: Set<ResourceScope> = []
        for plan in plans {
            let scope = ResourceScope(source: plan.source, resource: plan.name)
            known.insert(scope)
            // What is known here is newer than what was loaded: runs may have ended since.
            guard resources[scope] == nil else { continue }
            if let until = stored[scope]?.parkedUntil { park(PacingPlace(plan), until, plan, now) }
            if let known = recorded[scope] { restoreBreaker(known, plan, now) }
        }
        for (scope, resource) in resources.sorted(by: { $0.key < $1.key }) where !known.contains(scope) && !resource.isRemoved {
            remove(scope, resource)
        }
        for plan in plans {
            let scope = ResourceScope(source: plan.source, resource: plan.name)
            if resources[scope] == nil {
                var status = stored[scope] ?? ResourceStatus(scope)
                let left = leftBehind[scope]
                if let next = left?.nextPoll {
                    status.nextPollAt = [status.nextPollAt, next].compactMap { $0 }.max()
                    status.lastSuccess = [status.lastSuccess, left?.began].compactMap { $0 }.max()
                }
                var resource = Resource(plan, status, at: now)
                // A run that was cut off has made requests, too.
                resource.startedAt = [left?.began, recorded[scope]?.startedAt].compactMap { $0 }.max()
                resource.lastStarted = resource.startedAt.map { min(now.instant(of: $0), now.instant) }
                if plan.schedule.adaptive, let interval = recorded[scope]?.interval {
                    resource.adapted = resource.schedule.adapted(from: interval)
                    resource.renewPatience(now)
                }
                resources[scope] = resource
                schedule(scope, daemon: daemon, stored: status.nextPollAt, now)
            } else {
                reconfigure(scope, plan, daemon, now)
            }
        }
        let places = Set(resources.values.lazy.filter { !$0.isRemoved }.map(\.place))
        breakers = breakers.filter { places.contains($0.key) }
        for scope in known.sorted() { record(scope, now) }
        for scope in recorded.keys.sorted() where resources[scope] == nil { retire(scope) }
    }

    /// The first poll of what has no due time yet.
    private mutating func schedule(_ scope: ResourceScope, daemon: DaemonConfiguration, stored: Date?, _ now: Moment) {
        guard var resource = resources[scope], resource.isPollable, resource.run == nil else { return }
        let schedule = resource.schedule
        if schedule.isOfTimes {
            resource.appointment = schedule.firstAppointment(now: now.wall, daemon: daemon, stored: stored, random: chance.next())
        }
        let date =
            resource.appointment?.due
            ?? schedule.firstPoll(
                now: now.wall, daemon: daemon, stored: stored, lastSuccess: resource.status.lastSuccess, adapted: resource.adapted,
                random: chance.next())
        let first = date <= now.wall ? now.instant : now.instant(of: date)
        let delay = suspicionDelay(scope)
        if delay > .zero { resource.suspectUntil = now.instant.advanced(by: delay) }
        let due = max(
            first, resource.lastStarted == nil ? first : resource.soonest(at: now), notBefore(resource, now), resource.heldUntil ?? first)
        resource.due = afterQuietHours(due, &resource, now)
        resources[scope] = resource
    }

    private mutating func reconfigure(_ scope: ResourceScope, _ plan: ResourceConfiguration, _ daemon: DaemonConfiguration, _ now: Moment) {
        guard var resource = resources[scope] else { return }
        let old = resource.plan, wasRefused = resource.isRefused, held = heldEnd(resource)
        // It may have been mended by it.
        if old != plan {
            resource.refusedUntil = nil
            resource.run?.isOutdated = true
        }
        resource.plan = plan
        resource.place = PacingPlace(plan)
        resource.isRemoved = false
        resource.status.isEnabled = plan.isEnabled
        let isTimed = old.schedule.cron != nil || plan.schedule.cron != nil
        if old.schedule != plan.schedule {
            resource.adapted = plan.schedule.adaptive ? resource.schedule.adapted(from: resource.adapted) : nil
            resource.interval = resource.schedule.interval(pacing: resource.pacing, adapted: resource.adapted, random: chance.next())
            resource.appointment = nil
            resource.run?.appointed = nil
            resource.regular = nil
            resource.renewPatience(now)
        }
        if !resource.isPollable {
            resource.due = nil
            resource.appointment = nil
            release(&resource.waiters)
            resource.asked = nil
            forgetReplay(&resource)
        } else if old.schedule != plan.schedule, isTimed, resource.asked == nil, resource.due != nil {
            // Another way to say when: what was due does not count.
            if plan.schedule.cron != nil {
                appoint(&resource, now)
            } else {
                let regular = max((resource.lastStarted ?? now.instant).advanced(by: resource.interval), resource.soonest(at: now))
                resource.due = afterQuietHours(max(regular, notBefore(resource, now)), &resource, now)
            }
        } else if let due = resource.due ?? resource.run?.heldDue {
            // A shorter interval counts at once, a longer one from the next run on.
            let regular = max((resource.lastStarted ?? now.instant).advanced(by: resource.interval), resource.soonest(at: now))
            if resource.run != nil {
                // What a replay holds back.
                resource.run?.heldDue = old.schedule == plan.schedule ? due : isTimed ? regular : min(due, regular)
            } else {
                var next = old.schedule == plan.schedule ? due : min(due, regular)
                if wasRefused, old != plan { next = min(next, resource.soonest(at: now)) }
                resource.due = max(next, notBefore(resource, now))
                if old.schedule != plan.schedule, resource.asked == nil {
                    resource.due = afterQuietHours(max(next, notBefore(resource, now)), &resource, now)
                }
            }
        }
        resources[scope] = resource
        if resource.due == nil { schedule(scope, daemon: daemon, stored: nil, now) }
        // What another server asked for does not hold for the one that is asked from now on.
        if let held, resource.place != PacingPlace(old), resource.pending == held { letGo(scope, from: held, now) }
    }

    private mutating func remove(_ scope: ResourceScope, _ resource: Resource) {
        var resource = resource
        release(&resource.waiters)
        resource.asked = nil
        resource.due = nil
        forgetReplay(&resource)
        resource.appointment = nil
        resource.refusedUntil = nil
        resource.isRemoved = true
        resources[scope] = resource
        retire(scope)
        cancel(scope)
    }

    // MARK: Pause, resume, stop

    private mutating func pause(_ scope: ResourceScope, _ now: Moment) {
        guard var resource = resources[scope], !resource.isRemoved else { return }
        resource.status.isPaused = true
        resource.due = nil
        resource.appointment = nil
        resource.asked = nil
        release(&resource.waiters)
        forgetReplay(&resource)
        resources[scope] = resource
        record(scope, now)
    }

    private mutating func resume(_ scope: ResourceScope, _ now: Moment) {
        guard let resource = resources[scope], !resource.isRemoved else { return }
        resources[scope]?.status.isPaused = false
        halfOpen(resource.place, now)
        if pacing.removeValue(forKey: resource.place) != nil {
            // The same server told the others to wait: they continue as well.
            for (other, sibling) in siblings(of: resource.place) where other != scope {
                if let due = sibling.pending { letGo(other, from: due, now) }
            }
            recordAll(of: resource.place, now)
        }
        if phase != .running, resources[scope]?.isPollable == true, resource.run == nil { resources[scope]?.due = resource.soonest(at: now) }
        ask(scope, .control, waiter: nil, now)
        record(scope, now)
    }

    private mutating func stop(_ grace: Duration, _ now: Moment) {
        guard phase != .stopped else { return outputs.append(.stopped) }
        if phase != .stopping {
            phase = .stopping
            for (scope, resource) in resources.sorted(by: { $0.key < $1.key }) {
                if let run = resource.run { outputs.append(.endAfterPage(scope, run: run.id)) }
                if let cause = resource.asked, resource.waiters.isEmpty || resource.isFull {
                    unserved[scope] = UnservedPoll(scope: scope, cause: cause, isFull: resource.isFull)
                }
                var idle = resource
                release(&idle.waiters)
                forgetReplay(&idle)
                idle.asked = nil
                resources[scope] = idle
                // Who has been told that nothing runs is not in its way.
                if resource.run != nil { refuseResets(of: scope) }
            }
            isUnsaved = true
        }
        let end = now.instant.advanced(by: max(grace, .zero))
        stopTime = min(stopTime ?? end, end)
    }

    // MARK: Reset

    /// What a run has begun to say would be written over what is forgotten: it ends first. What was asked for comes afterwards.
    private mutating func beginReset(_ reset: Int, of scope: ResourceScope) {
        guard phase != .stopping, phase != .stopped, var resource = resources[scope] else {
            return outputs.append(.mayReset(reset: reset, false))
        }
        resource.resets.insert(reset)
        if let run = resource.run, resource.isPollable, run.cause == .replay {
            resource.isReplayAsked = true
            resource.replayWaiters = run.waiters + resource.replayWaiters
            resource.run?.waiters = []
        } else if let run = resource.run, resource.isPollable {
            resource.asked = resource.asked ?? run.cause
            resource.isFull = resource.isFull || run.isFull
            resource.waiters = run.waiters + resource.waiters
            resource.run?.waiters = []
        }
        resources[scope] = resource
        if resource.run == nil { outputs.append(.mayReset(reset: reset, true)) } else { cancel(scope) }
    }

    /// Nothing of the resource runs: whoever wants something of it forgotten may have that now.
    mutating func allowResets(of scope: ResourceScope) {
        for reset in resources[scope]?.resets.sorted() ?? [] { outputs.append(.mayReset(reset: reset, true)) }
    }

    private mutating func refuseResets(of scope: ResourceScope) {
        for reset in resources[scope]?.resets.sorted() ?? [] { outputs.append(.mayReset(reset: reset, false)) }
        resources[scope]?.resets = []
    }

    // MARK: What others need

    /// A stop cut off what somebody had asked for. Who waits for it is told, and may have joined somebody who wanted more.
    mutating func leaveUnserved(_ scope: ResourceScope, _ run: Run) {
        guard run.cause != .replay, run.waiters.isEmpty || run.isFull, run.cause != .schedule || run.isFull else { return }
        unserved[scope] = UnservedPoll(scope: scope, cause: run.cause, isFull: run.isFull || unserved[scope]?.isFull == true)
    }

    /// Ends a run at once; its end is still awaited.
    mutating func cancel(_ scope: ResourceScope) {
        guard let run = resources[scope]?.run, !run.isCancelled else { return }
        resources[scope]?.run?.isCancelled = true
        outputs.append(.cancel(scope, run: run.id))
    }

    /// Tells those who wait that nothing will come.
    mutating func release(_ waiters: inout [Int]) {
        for waiter in waiters { outputs.append(.answer(waiter: waiter, nil)) }
        waiters = []
    }
}
