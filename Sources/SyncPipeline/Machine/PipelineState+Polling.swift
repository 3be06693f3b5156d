import Foundation
import SyncConfiguration

/// From a request or a due time to the end of a run.
extension PipelineState {
    mutating func ask(_ scope: ResourceScope, _ cause: RunCause, waiter: Int?, _ now: Moment) {
        guard phase == .running, var resource = resources[scope], resource.isPollable else {
            if let waiter { outputs.append(.answer(waiter: waiter, nil)) }
            return
        }
        if let waiter {
            if let until = parkedUntil(resource, now) {
                outputs.append(.answer(waiter: waiter, parkedReport(resource, until, now)))
                return
            }
            resource.waiters.append(waiter)
        }
        resource.asked = resource.asked ?? cause
        if let run = resource.run {
            // What it has read so far may be older than the request: another run follows it.
            if waiter != nil { outputs.append(.hurry(scope, run: run.id)) }
        } else {
            let soonest = max(resource.soonest(at: now), notBefore(resource, now))
            resource.due = min(resource.due ?? soonest, soonest)
        }
        resources[scope] = resource
    }

    /// Begins what is due, the longest overdue first; suspects come last, and alone.
    mutating func beginWhatIsDue(_ now: Moment) {
        guard phase == .running else { return }
        let due = counted(until: now.instant, at: now)
        for scope in due where suspects[scope] == nil && !waitsForProbe(scope) && !isQuiet(scope, now) {
            begin(chosen(for: scope, among: due, now), now)
        }
        guard let suspect = due.first(where: { suspects[$0] != nil && !waitsForProbe($0) }), givingWay(at: now) == .nobody, !isQuiet(suspect, now)
        else { return }
        begin(suspect, now)
    }

    /// Whether its due time counts now.
    func isAwake(_ resource: Resource) -> Bool {
        resource.due != nil && resource.run == nil && resource.resets.isEmpty && (isArmed || resource.asked != nil)
    }

    private mutating func begin(_ scope: ResourceScope, _ now: Moment) {
        guard var resource = resources[scope] else { return }
        runCount += 1
        let limit = resource.plan.limits.maxRunTime.duration + Self.overrun
        outputs.append(
            .start(
                RunOrder(
                    id: runCount, scope: scope, resource: resource.plan, cause: resource.asked ?? .schedule,
                    isWaitedFor: !resource.waiters.isEmpty, acceptsDeletes: resource.acceptsDeletes, isFull: resource.isFull)))
        resource.run = Run(
            id: runCount, started: now.instant, deadline: now.instant.advanced(by: limit), cause: resource.asked ?? .schedule,
            place: resource.place, isFull: resource.isFull, waiters: resource.waiters)
        resource.lastStarted = now.instant
        resource.startedAt = now.wall
        resource.serve(now)
        resource.due = nil
        resource.asked = nil
        resource.waiters = []
        resource.acceptsDeletes = false
        resource.isFull = false
        resources[scope] = resource
        breakers[resource.place]?.begin(scope)
    }

    mutating func end(_ scope: ResourceScope, _ id: Int, _ conclusion: SyncRun.Conclusion, _ now: Moment) {
        guard let run = resources[scope]?.run, run.id == id else { return }
        if run.cause == .replay { return endReplay(scope, run, conclusion, now) }
        resources[scope]?.run = nil
        suspects[scope] = nil
        if let until = conclusion.parkedUntil, let resource = resources[scope] { park(run.place, until, resource.plan, now) }
        judge(conclusion, of: scope, at: run.place, now)
        guard var resource = resources[scope] else { return }
        let report = conclusion.report
        if phase == .stopping, report.outcome == .cancelled { leaveUnserved(scope, run) }
        resource.pacing = conclusion.pacing
        resource.adapt(to: conclusion, of: run)
        resource.interval = resource.schedule.interval(pacing: conclusion.pacing, adapted: resource.adapted, random: chance.next())
        resource.status.take(
            report, heldDeletes: conclusion.heldDeletes, guardName: conclusion.guardName, isCaughtUp: conclusion.isCaughtUp,
            parkedUntil: conclusion.parkedUntil)
        resource.lacksParents = conclusion.lacksParents
        if report.outcome == .succeeded {
            resource.freshSince = now.instant
            wakeChildren(of: scope, now)
        }
        resource.renewPatience(now)
        (resource.refusedUntil, resource.suspectUntil) = (nil, nil)
        var next = nextPoll(&resource, run, conclusion, now)
        if case .permanent(let status) = conclusion.evidence, report.outcome == .failed, !run.isOutdated {
            let end = now.instant.advanced(by: resource.plan.breaker.maxOpen.duration)
            resource.refusedUntil = end
            next = max(next, end)
            outputs.append(.announce(.breakerOpened(scope: scope, cause: .permanent(status: status), until: now.wall(of: next))))
        }
        resource.due = resource.isPollable ? next : nil
        resources[scope] = resource
        record(scope, next: resource.isRemoved ? next : nil, now)
        let reported = report.due(resource.due.map { now.wall(of: $0) })
        outputs.append(.announce(.runFinished(reported)))
        for waiter in run.waiters { outputs.append(.answer(waiter: waiter, reported)) }
        if resource.asked != nil {
            // Asked for while it ran.
            answerIfParked(scope, now)
            ask(scope, .control, waiter: nil, now)
        }
        allowResets(of: scope)
        beginReplay(scope, now)
    }

    private func nextPoll(_ resource: inout Resource, _ run: Run, _ conclusion: SyncRun.Conclusion, _ now: Moment) -> SyncInstant {
        let outcome = conclusion.report.outcome, hasWaited = conclusion.evidence == .waited
        let started = now.wall(of: resource.lastStarted ?? run.started)
        // What a stop cut off continues soon after the next start.
        if phase == .stopping, outcome == .cancelled {
            let next = resource.schedule.pollOnRequest(now: now.wall, lastStarted: started, parkedUntil: nil)
            return max(now.instant(of: next), notBefore(resource, now))
        }
        if resource.schedule.isOfTimes {
            // It has only waited.
            if resource.isPollable, !run.hasAsked, outcome == .parked || outcome == .cancelled || hasWaited, let appointed = run.appointed {
                resource.takeBack(appointed)
                let due = now.instant(of: appointed.appointment.due), limit = resource.plan.limits.maxRunTime.duration
                // What is too late for its run is not asked for again and again until then.
                return limited(hasWaited ? max(due, run.started.advanced(by: limit)) : due, resource, now)
            }
            appointAfterRun(&resource, now)
            if let due = resource.due { return due }
        }
        let next = resource.schedule.nextPoll(started: started, ended: now.wall, interval: resource.interval)
        return afterQuietHours(max(now.instant(of: next), notBefore(resource, now)), &resource, now)
    }
}

extension SyncInstant {
    /// Later than any possible time.
    static let never = SyncInstant(sinceOrigin: .seconds(Int64.max / 4))
}

/// After an unclean end, a resource whose run was open may be the cause. Such a resource is polled last and alone, and from the second time in a row
/// later and later, so that no server takes down the mirrors of others.
extension PipelineState {
    /// How long a due suspect gives way to others, and others to it: no resource is held back for longer.
    static let suspectPatience = Duration.seconds(300)
    private static let longestDelay = Duration.seconds(86_400)

    /// Whether it waits for others although it is due.
    enum GivingWay {
        case nobody, suspects, everybody
    }

    func givingWay(at now: Moment) -> GivingWay {
        guard !suspects.isEmpty, !resources.running.isEmpty else { return .nobody }
        let ends = suspects.keys.compactMap { scope in resources[scope].map { ($0.run != nil, patienceEnd(of: $0)) } }
        if ends.contains(where: { isOpen, end in isOpen && end > now.instant }) { return .everybody }
        return ends.contains { isOpen, end in !isOpen && end <= now.instant } ? .nobody : .suspects
    }

    /// When others, or it itself, have waited long enough.
    private func patienceEnd(of resource: Resource) -> SyncInstant {
        guard let since = resource.run?.started ?? (isAwake(resource) ? resource.due : nil) else { return .never }
        return since.advanced(by: Self.suspectPatience)
    }

    /// When a resource that gives way no longer does, whichever run ends meanwhile.
    func nextPatienceEnd(after now: Moment) -> SyncInstant? {
        guard givingWay(at: now) != .nobody else { return nil }
        return suspects.keys.compactMap { resources[$0].map(patienceEnd) }.filter { $0 > now.instant && $0 < .never }.min()
    }

    /// Those whose time counts now, the longest overdue first, as far as they are due at `limit`.
    func counted(until limit: SyncInstant, at now: Moment) -> [ResourceScope] {
        let givingWay = givingWay(at: now)
        return resources.due.until(limit).map(\.scope).filter { counts($0, givingWay, now) }
    }

    /// When the first is due whose time counts now.
    func earliestDue(at now: Moment) -> SyncInstant? {
        let givingWay = givingWay(at: now)
        return resources.due.entries.first { counts($0.scope, givingWay, now) }?.time
    }

    /// When the last of those is due that are due at `limit`. Looked for from there: any number may be due before it.
    func latestDue(until limit: SyncInstant, at now: Moment) -> SyncInstant? {
        let givingWay = givingWay(at: now)
        return resources.due.until(limit).last { counts($0.scope, givingWay, now) }?.time
    }

    private func counts(_ scope: ResourceScope, _ givingWay: GivingWay, _ now: Moment) -> Bool {
        guard let resource = resources[scope], mayBegin(scope, givingWay), !waitsForProbe(scope) else { return false }
        return !waitsForParents(resource, givingWay, at: now)
    }

    private func mayBegin(_ scope: ResourceScope, _ givingWay: GivingWay) -> Bool {
        guard givingWay != .everybody, let resource = resources[scope], isAwake(resource) else { return false }
        return givingWay == .nobody || suspects[scope] == nil
    }

    /// How long after a start it is left alone.
    func suspicionDelay(_ scope: ResourceScope) -> Duration {
        guard let count = suspects[scope]?.ends, count > 1 else { return .zero }
        return min(.seconds(60 << min(count - 1, 20)), Self.longestDelay)
    }
}

/// A resource that has parts for what another one lists is polled after that one if both are due, so that it knows the newest.
extension PipelineState {
    /// How long a due resource waits for the run that lists its parents.
    static let parentPatience = Duration.seconds(300)

    private func waitsForParents(_ resource: Resource, _ givingWay: GivingWay, at now: Moment) -> Bool {
        guard let scope = resource.parents, let parents = resources[scope], let due = resource.due else { return false }
        if let run = parents.run { return run.started.advanced(by: Self.parentPatience) > now.instant }
        return mayBegin(scope, givingWay) && (parents.due ?? .never) <= max(now.instant, due)
    }

    /// When those that wait for a run have waited long enough, whatever becomes of it.
    func nextParentPatienceEnd(at now: Moment) -> SyncInstant? {
        guard phase == .running else { return nil }
        return resources.runningParents.entries.lazy.map { $0.time.advanced(by: Self.parentPatience) }.first { $0 > now.instant }
    }

    /// How many resources list what a resource has parts for, and what these have parts for.
    func ancestors(of scope: ResourceScope) -> Int {
        var count = 0, next = resources[scope]?.parents
        // A configuration has no circles.
        while let parents = next, count < resources.keys.count {
            count += 1
            next = resources[parents]?.parents
        }
        return count
    }

    /// What could not be polled for want of parents has them now.
    private mutating func wakeChildren(of scope: ResourceScope, _ now: Moment) {
        for child in resources.children[scope, default: []].sorted() {
            guard var resource = resources[child], resource.lacksParents, suspects[child] == nil, let due = resource.due else { continue }
            resource.due = max(min(due, resource.soonest(at: now)), notBefore(resource, now))
            resources[child] = resource
        }
    }
}
