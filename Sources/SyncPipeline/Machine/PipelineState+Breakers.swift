import Foundation
import SyncConfiguration
import SyncReports

/// What follows from servers that fail: nobody asks them for a while, then one resource does, and the others wait for what it finds.
extension PipelineState {
    /// Whether another resource of its place has been let through and has not been answered yet.
    func waitsForProbe(_ scope: ResourceScope) -> Bool {
        guard let place = resources[scope]?.place, let breaker = breakers[place], breaker.isTripped, let probe = breaker.probe else { return false }
        // It may have been configured to ask somebody else meanwhile.
        guard let run = resources[probe]?.run, run.cause != .replay else { return false }
        return resources[probe]?.place == place
    }

    /// Who begins in place of a resource that is due: of a place that lets one through the one whose last run is the longest ago, so that one that
    /// always fails does not keep the others from finding out that they would not.
    func chosen(for scope: ResourceScope, among due: [ResourceScope], _ now: Moment) -> ResourceScope {
        guard let place = resources[scope]?.place, breakers[place]?.isTripped == true else { return scope }
        let others = due.filter { other in
            guard suspects[other] == nil, let resource = resources[other], resource.place == place, resource.due != nil else { return false }
            return resource.asked != nil || resource.schedule.quietEnd(at: now.wall) == nil
        }
        func last(_ scope: ResourceScope) -> SyncInstant { resources[scope]?.lastStarted ?? SyncInstant(sinceOrigin: .zero - .seconds(1 << 40)) }
        return others.min { (last($0), $0) < (last($1), $1) } ?? scope
    }

    /// A run has ended: what it says of the server that it asked.
    mutating func judge(_ conclusion: SyncRun.Conclusion, of scope: ResourceScope, at place: PacingPlace, _ now: Moment) {
        guard let resource = resources[scope] else { return }
        switch conclusion.evidence {
        case .none, .waited: break
        case .works, .permanent:
            guard let breaker = breakers.removeValue(forKey: place), breaker.isTripped else { return }
            release(place, heldUntil: breaker.openUntil, now)
        case .unreachable, .fails:
            // What was removed is none of the place's any more; what asks another one from now on has nothing to find out there either.
            if !resource.isRemoved, resource.place == place { fail(resource, scope, isUnreachable: conclusion.evidence == .unreachable, now) }
        }
    }

    private mutating func fail(_ resource: Resource, _ scope: ResourceScope, isUnreachable: Bool, _ now: Moment) {
        let place = resource.place
        let isAlone = !resources.places[place, default: []].contains { $0 != scope && resources[$0]?.isPollable == true }
        var breaker = breakers[place] ?? Breaker()
        let opens = breaker.fail(scope, isUnreachable: isUnreachable, isAlone: isAlone, resource.plan.breaker, at: now.instant)
        breakers[place] = breaker
        guard opens, let end = breaker.openUntil else { return }
        hold(place, until: end, now)
        outputs.append(
            .announce(
                .breakerOpened(scope: scope, cause: .failures(count: breaker.failures, server: place.words), until: now.wall(of: end))))
    }

    /// The run of a resource has got a page.
    ///
    /// - Returns: whether anything follows from it.
    mutating func noteAnswer(_ scope: ResourceScope, _ now: Moment) -> Bool {
        guard let resource = resources[scope], breakers[resource.askedPlace]?.answer(scope, resource.plan.breaker) == true else { return false }
        recordAll(of: resource.askedPlace, now)
        return true
    }

    /// Somebody wants it asked now: one resource is let through.
    mutating func halfOpen(_ place: PacingPlace, _ now: Moment) {
        guard let end = breakers[place]?.openUntil else { return }
        breakers[place]?.halfOpen()
        release(place, heldUntil: end, now)
    }

    /// What its server failed before is forgotten.
    mutating func forgive(_ scope: ResourceScope, _ now: Moment) {
        guard let resource = resources[scope], !resource.isRemoved else { return }
        if let breaker = breakers.removeValue(forKey: resource.place) { release(resource.place, heldUntil: breaker.openUntil, now) }
        guard resource.isRefused, let due = resources[scope]?.pending else { return }
        resources[scope]?.refusedUntil = nil
        letGo(scope, from: due, now)
        record(scope, now)
    }

    /// What was due then only because nobody was to ask sooner may begin.
    private mutating func release(_ place: PacingPlace, heldUntil end: SyncInstant?, _ now: Moment) {
        for (scope, resource) in siblings(of: place) {
            if let end, resource.pending == end { letGo(scope, from: end, now) }
        }
        recordAll(of: place, now)
    }

    /// What is due at that time, since something held it until then, is due as soon as it may be: for a time of `cron` that is the time itself, unless
    /// somebody asks.
    mutating func letGo(_ scope: ResourceScope, from due: SyncInstant, _ now: Moment) {
        guard let resource = resources[scope] else { return }
        var soonest = resource.soonest(at: now)
        if resource.asked == nil {
            soonest = max(soonest, resource.appointment.map { now.instant(of: $0.due) } ?? soonest, resource.heldUntil ?? soonest)
        }
        let next = max(min(due, soonest), notBefore(resource, now))
        resources[scope]?.pending = next
    }

    /// The time until which a resource is held since its place is not to be asked; nil: it is due for another reason.
    func heldEnd(_ resource: Resource) -> SyncInstant? {
        [pacing[resource.place], breakers[resource.place]?.openUntil].compactMap(\.self).first { $0 == resource.pending }
    }

    /// As the process before left it; no longer than it could be now, whatever the clocks say.
    mutating func restoreBreaker(_ stored: StoredSchedule, _ plan: ResourceConfiguration, _ now: Moment) {
        guard stored.openings > 0 else { return }
        let place = PacingPlace(plan), known = breakers[place]
        let longest = now.instant.advanced(by: plan.breaker.maxOpen.duration)
        let end = stored.openUntil.map { min(now.instant(of: $0), longest) }.flatMap { $0 > now.instant ? $0 : nil }
        breakers[place] = Breaker(openings: max(stored.openings, known?.openings ?? 0), openUntil: [end, known?.openUntil].compactMap(\.self).max())
    }

    // MARK: In words

    func breakerStatus(_ breaker: Breaker, at now: Moment) -> BreakerStatus? {
        guard breaker.isTripped else { return nil }
        let end = breaker.openUntil.flatMap { $0 > now.instant ? now.wall(of: $0) : nil }
        return BreakerStatus(end == nil ? .halfOpen : .open, until: end, openings: breaker.openings)
    }

    /// Why a resource is not asked although its server has not asked for that.
    func breakerWords(_ resource: Resource, _ now: Moment) -> String? {
        guard let breaker = breakers[resource.place], let end = breaker.openUntil, end > now.instant, end >= pacing[resource.place] ?? end else {
            return nil
        }
        let last = resource.status.error.map { ", the last time with: \($0)" } ?? ""
        return "\(resource.place.words) failed run after run\(last); nobody asks it"
    }
}
