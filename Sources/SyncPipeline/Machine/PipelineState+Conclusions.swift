import Foundation
import SyncConfiguration

/// What follows from every input: what is due begins, what is too old is reported, and the timer is set to fit.
extension PipelineState {
    mutating func conclude(_ now: Moment) -> [Output] {
        beginWhatIsDue(now)
        noticeLongRuns(now)
        saveWhileStopping()
        endWhatIsLate(now)
        judgeFreshness(now)
        announceNext(now)
        arrangeWake(now)
        defer { outputs = [] }
        return outputs
    }

    // MARK: Time limits

    private mutating func noticeLongRuns(_ now: Moment) {
        guard phase == .running else { return }
        for scope in resources.notices.until(now.instant).map(\.scope).sorted() {
            resources[scope]?.run?.isNoticed = true
            record(scope, now)
        }
    }

    /// What runs, in order.
    private var runs: [(scope: ResourceScope, run: Run)] {
        resources.running.sorted().compactMap { scope in resources[scope]?.run.map { (scope, $0) } }
    }

    /// Runs may wait for a commit, and what they leave behind when they end must be committed before the stop has ended.
    private mutating func saveWhileStopping() {
        guard phase == .stopping, isUnsaved, !isSaving else { return }
        isSaving = true
        isUnsaved = false
        outputs.append(.save)
    }

    private mutating func endWhatIsLate(_ now: Moment) {
        let isOver = (stopTime ?? .never) <= now.instant
        for scope in resources.deadlines.until(isOver ? .never : now.instant).map(\.scope).sorted() { cancel(scope) }
        guard phase == .stopping, let stopTime else { return }
        let isIdle = !isSaving && !isUnsaved && resources.running.isEmpty
        guard isIdle || stopTime.advanced(by: Self.patience) <= now.instant else { return }
        phase = .stopped
        for (scope, run) in runs {
            leaveUnserved(scope, run)
            // Whatever keeps it, nobody waits for it any longer.
            for waiter in run.waiters { outputs.append(.answer(waiter: waiter, nil)) }
            resources[scope]?.run?.waiters = []
        }
        outputs.append(.stopped)
    }

    // MARK: Freshness

    private mutating func judgeFreshness(_ now: Moment) {
        for scope in resources.changes(at: now.instant) {
            guard let resource = resources[scope], resource.isPollable else { continue }
            let isStale = resource.staleTime <= now.instant
            let isDegraded = isStale || resource.status.heldDeletes > 0
            if isStale != resource.isStale { resources[scope]?.isStale = isStale }
            guard isDegraded != resource.status.isDegraded else { continue }
            resources[scope]?.status.isDegraded = isDegraded
            outputs.append(
                .announce(
                    .freshnessChanged(
                        scope: scope, isDegraded: isDegraded, since: resource.status.lastSuccess, heldDeletes: resource.status.heldDeletes)))
        }
    }

    // MARK: Next

    private mutating func announceNext(_ now: Moment) {
        let next = resources.due.entries.first
        guard next != announced else { return }
        announced = next
        outputs.append(.announce(.scheduled(next: next?.scope, at: next.map { now.wall(of: $0.time) })))
    }

    private mutating func arrangeWake(_ now: Moment) {
        let wake = nextWake(now)
        guard wake != wakeTime else { return }
        wakeTime = wake
        outputs.append(.wake(wake))
    }

    private mutating func nextWake(_ now: Moment) -> SyncInstant? {
        guard phase == .running || phase == .stopping else { return nil }
        var times: [SyncInstant] = []
        if let end = resources.deadlines.entries.first { times.append(end.time) }
        if phase == .running, let notice = resources.notices.entries.first { times.append(notice.time) }
        if phase == .running, let end = resources.current.entries.first { times.append(end.time) }
        if phase == .stopping, let stopTime {
            times.append(resources.deadlines.entries.isEmpty ? stopTime.advanced(by: Self.patience) : stopTime)
        } else {
            nextPatienceEnd(after: now).map { times.append($0) }
            nextParentPatienceEnd(at: now).map { times.append($0) }
            nextLook(at: now).map { times.append($0) }
            if let earliest = earliestDue(at: now) {
                // The latest that may still be met together with the earliest.
                times.append(latestDue(until: earliest.advanced(by: Self.leeway), at: now) ?? earliest)
            }
        }
        return times.min()
    }

    // MARK: Watched from outside

    /// What must never be, in words; nil if all is well.
    func violation(at now: Moment) -> String? {
        if let forgotten { return "\(forgotten) has neither a due time nor a run" }
        for (scope, resource) in resources {
            if resource.due != nil, resource.run != nil { return "\(scope) is running and due" }
            if resource.due != nil, !resource.isPollable { return "\(scope) is due but must not be polled" }
            if !resource.replayWaiters.isEmpty, !resource.isReplayAsked { return "\(scope) keeps somebody waiting for no replay" }
            if !resource.waiters.isEmpty, resource.asked == nil || !resource.isPollable { return "\(scope) keeps somebody waiting for nothing" }
            if let due = resource.due, let end = pacing[resource.place], due < end { return "\(scope) is due before its server allows it" }
            if let due = resource.due, let end = breakers[resource.place]?.openUntil, due < end {
                return "\(scope) is due before its breaker allows it"
            }
        }
        for (scope, resource) in resources where resource.isReplayAsked {
            let waitsForEnd = resource.run != nil || !resource.resets.isEmpty
            if !waitsForEnd || !resource.isPollable { return "\(scope) waits for nothing with its replay" }
        }
        if let violation = resources.violation { return violation }
        if phase == .running, wakeTime == nil, earliestDue(at: now) != nil { return "nothing wakes what is due" }
        if phase == .stopping, wakeTime == nil { return "nothing ends the stop" }
        return nil
    }

    /// A resource that will never be polled again, although nobody asked for that. There must be none.
    var forgotten: ResourceScope? {
        guard phase == .running else { return nil }
        return resources.first { $0.value.isPollable && $0.value.due == nil && $0.value.run == nil }?.key
    }

    /// How far the earliest due time lies in the past.
    func overdue(at now: Moment) -> Duration {
        guard phase == .running, let due = earliestDue(at: now) else { return .zero }
        return max(due.duration(to: now.instant), .zero)
    }

    /// How every resource stands.
    func statuses(at now: Moment) -> [ResourceStatus] {
        resources.filter { !$0.value.isRemoved }.sorted { $0.key < $1.key }.map { _, resource in
            var status = resource.status
            status.nextPollAt = resource.due.map { now.wall(of: $0) }
            status.intervalSeconds = resource.adapted?.inSeconds
            status.parkedUntil = pacing[resource.place].flatMap { $0 > now.instant ? now.wall(of: $0) : nil }
            status.breaker = breakers[resource.place].flatMap { breakerStatus($0, at: now) }
            status.judge(at: now.wall)
            return status
        }
    }
}
