import Foundation
import SyncConfiguration

/// What servers ask for: to be left alone for a while, by every request with the same credential.
extension PipelineState {
    /// A server asked for a wait. It is stored before anybody waits.
    mutating func tell(_ scope: ResourceScope, _ until: Date, _ now: Moment) {
        guard let resource = resources[scope] else { return }
        park(resource.askedPlace, until, resource.plan, now)
        record(scope, now)
    }

    /// Never shortens an earlier wait; no wait is longer than `max_park`.
    mutating func park(_ place: PacingPlace, _ until: Date, _ plan: ResourceConfiguration, _ now: Moment) {
        let end = min(now.instant(of: until), now.instant.advanced(by: plan.retry.maxPark.duration))
        guard end > now.instant, end > pacing[place] ?? now.instant else { return }
        pacing[place] = end
        hold(place, until: end, now)
    }

    /// Nothing of the place is due before that.
    mutating func hold(_ place: PacingPlace, until end: SyncInstant, _ now: Moment) {
        for (scope, resource) in siblings(of: place) {
            guard let due = resource.due else { continue }
            resources[scope]?.due = max(due, end)
            answerIfParked(scope, now)
        }
        recordAll(of: place, now)
    }

    func siblings(of place: PacingPlace) -> [(ResourceScope, Resource)] {
        resources.places[place, default: []].sorted().compactMap { scope in
            resources[scope].flatMap { $0.isRemoved ? nil : (scope, $0) }
        }
    }

    /// The earliest time at which its server, or its breaker, allows a poll.
    func notBefore(_ resource: Resource, _ now: Moment) -> SyncInstant {
        max(pacing[resource.place] ?? now.instant, breakers[resource.place]?.openUntil ?? now.instant, now.instant)
    }

    /// Until when the server of a resource wants to be left alone; nil if it may be asked.
    func pacingEnd(of scope: ResourceScope, at now: Moment) -> Date? {
        guard let place = resources[scope]?.askedPlace, let end = pacing[place], end > now.instant else { return nil }
        return now.wall(of: end)
    }

    /// When a wait ends that is too long for a caller to wait for, or that the server has not asked for; nil if there is none.
    func parkedUntil(_ resource: Resource, _ now: Moment) -> Date? {
        let end = notBefore(resource, now)
        if let open = breakers[resource.place]?.openUntil, open > now.instant { return now.wall(of: end) }
        return now.instant.duration(to: end) > resource.plan.retry.retryAfterPark.duration ? now.wall(of: end) : nil
    }

    mutating func answerIfParked(_ scope: ResourceScope, _ now: Moment) {
        guard let resource = resources[scope], let until = parkedUntil(resource, now), !resource.waiters.isEmpty else { return }
        for waiter in resource.waiters { outputs.append(.answer(waiter: waiter, parkedReport(resource, until, now))) }
        resources[scope]?.waiters = []
    }

    private static let noRun = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// The answer to somebody who would wait for a parked resource: no run took place.
    func parkedReport(_ resource: Resource, _ until: Date, _ now: Moment) -> RunReport {
        let scope = resource.status.scope, reason = breakerWords(resource, now) ?? "the server asked to be left alone"
        return RunReport(
            run: Self.noRun, scope: scope, cause: .control, startedAt: now.wall, endedAt: now.wall, outcome: .parked, isComplete: false,
            pages: 0, notModifiedPages: 0, bytes: 0, counts: RecordCounts(), httpStatus: resource.status.httpStatus,
            error: "\(reason) until \(HTTPDate.format(until)); `cisternctl resume \(scope)` asks it sooner", nextPollAt: until
        )
    }

    /// Stores it with each of its resources, so that whichever of them are in the next configuration know of it.
    mutating func recordAll(of place: PacingPlace, _ now: Moment) {
        for (scope, _) in siblings(of: place) { record(scope, now) }
    }

    /// Has the schedule of a resource stored.
    mutating func record(_ scope: ResourceScope, next known: SyncInstant? = nil, _ now: Moment) {
        guard let resource = resources[scope] else { return }
        let end = pacing[resource.place].flatMap { $0 > now.instant ? $0 : nil }
        // A run that a kill cut off begins again as soon as the limits allow.
        let next =
            known ?? resource.due ?? resource.run?.heldDue ?? (resource.run == nil ? nil : max(resource.soonest(at: now), notBefore(resource, now)))
        let breaker = breakers[resource.place].flatMap { $0.isTripped ? $0 : nil }
        let runsUntil = resource.run.flatMap { $0.isNoticed ? $0.deadline : nil }
        store(
            StoredSchedule(
                scope: scope, startedAt: resource.startedAt, nextPollAt: next.map { now.wall(of: $0) }, parkedUntil: end.map { now.wall(of: $0) },
                isPaused: resource.status.isPaused, isEnabled: resource.status.isEnabled, isRemoved: resource.isRemoved,
                lastSuccess: resource.status.lastSuccess, staleAt: now.wall(of: resource.staleTime), runsUntil: runsUntil.map { now.wall(of: $0) },
                interval: resource.adapted, openUntil: breaker?.openUntil.map { now.wall(of: $0) }, openings: breaker?.openings ?? 0))
    }

    /// What is stored already is not stored again.
    private mutating func store(_ schedule: StoredSchedule) {
        guard recorded.updateValue(schedule, forKey: schedule.scope) != schedule else { return }
        outputs.append(.store(schedule))
        isUnsaved = true
    }

    /// Stores that a resource is no longer in the configuration.
    mutating func retire(_ scope: ResourceScope) {
        guard var schedule = recorded[scope] else { return }
        schedule.isRemoved = true
        schedule.runsUntil = nil
        // Others of its place say how that stands.
        (schedule.openUntil, schedule.openings) = (nil, 0)
        store(schedule)
    }
}

/// Which requests a server means when it asks to be left alone, and which count together: those to an origin with one credential, or what `rate.scope`
/// says instead. All resources of one place wait together.
struct PacingPlace: Sendable, Hashable {
    private let scope: RateConfiguration.Scope
    /// Empty, unless it is the source that counts.
    private let source: String
    /// Nil for an address that cannot be requested: such a resource waits only with those that have the same text.
    let origin: Origin?
    let address: String
    let authentication: AuthenticationConfiguration
    let secrets: [SecretField]
    /// What the client shows to the server itself: accounts may differ in nothing else.
    let identity: [SecretReference]

    init(_ resource: ResourceConfiguration) {
        scope = resource.rate.scope
        let isSource = scope == .source, hasCredential = scope == .originAndCredential
        source = isSource ? resource.source : ""
        let found = isSource ? nil : (try? HTTPAddress(resource.url))?.origin
        origin = found
        address = isSource || found != nil ? "" : resource.url
        authentication = hasCredential ? resource.authentication : .none
        secrets = hasCredential ? resource.secretHeaders + resource.secretParameters + resource.secretFields : []
        identity = hasCredential ? resource.tls.identity : []
    }

    /// What people call it.
    var words: String { isSource ? "the source \(source)" : origin.map { "\($0)" } ?? "the server" }

    private var isSource: Bool { scope == .source }
}
