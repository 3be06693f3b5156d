import Foundation
import SyncConfiguration

/// What hangs on the wall clock, which is set, and on a machine that sleeps: times of `cron`, quiet hours, and polls that were missed. Everything else is
/// decided by instants, which know of neither.
extension PipelineState {
    /// How far wall clock and instants may drift apart before due times are found anew.
    private static let noticeableDrift = 0.5
    /// How long nobody looks at the wall clock while due times depend on it.
    private static let longestTrust = Duration.seconds(60)

    /// The last time of `cron` for which a resource was polled.
    struct Served: Sendable {
        let time: Date
        let at: SyncInstant
    }

    // MARK: What is noticed

    /// Looks at both clocks, before anything else is done.
    mutating func noticeTime(_ now: Moment) {
        noticeSleep(now)
        let difference = now.wall.timeIntervalSinceReferenceDate - now.instant.sinceOrigin.inSeconds
        defer { clockDifference = clockDifference ?? difference }
        guard let before = clockDifference, abs(difference - before) > Self.noticeableDrift else { return }
        clockDifference = difference
        for scope in resources.ofClock.sorted() { findAnew(scope, now) }
    }

    /// A timer is late when the machine slept. What was due meanwhile is polled now, or left out.
    private mutating func noticeSleep(_ now: Moment) {
        guard phase == .running, let wake = wakeTime, wake.duration(to: now.instant) > Schedule.punctuality else { return }
        let woken = wake.advanced(by: .zero - Self.leeway)
        for scope in resources.due.until(now.instant).map(\.scope).sorted() {
            guard var resource = resources[scope], resource.asked == nil, let due = resource.due, due >= woken else { continue }
            guard resource.schedule.isPassed(now.wall(of: due), at: now.wall) else { continue }
            if resource.schedule.isOfTimes {
                appoint(&resource, now)
            } else {
                let regular = resource.schedule.regularTime(after: now.wall, due: now.wall(of: due), interval: resource.interval)
                resource.due = afterQuietHours(max(now.instant(of: regular), notBefore(resource, now)), &resource, now)
            }
            resources[scope] = resource
            record(scope, now)
        }
    }

    /// When the wall clock is looked at next, if due times depend on it.
    mutating func nextLook(at now: Moment) -> SyncInstant? {
        guard !resources.ofClock.isEmpty else { return nil }
        if let look, look > now.instant { return look }
        look = now.instant.advanced(by: Self.longestTrust)
        return look
    }

    /// The wall clock was set: when is it due?
    private mutating func findAnew(_ scope: ResourceScope, _ now: Moment) {
        guard var resource = resources[scope], resource.isPollable, resource.run == nil, resource.asked == nil, let due = resource.due else { return }
        if let appointment = resource.appointment {
            let isPassed = appointment.due <= now.wall
            if isPassed, due <= now.instant { return }
            if isPassed, !resource.schedule.isPassed(appointment.due, at: now.wall) {
                resource.due = limited(now.instant, resource, now)
            } else if !isPassed, appointment.time <= now.wall {
                resource.due = limited(now.instant(of: appointment.due), resource, now)
            } else {
                appoint(&resource, now)
            }
        } else if let regular = resource.regular, due > now.instant {
            resource.due = afterQuietHours(max(regular, notBefore(resource, now), resource.heldUntil ?? regular), &resource, now)
        } else {
            return
        }
        let isSame = resource.appointment == resources[scope]?.appointment
        resources[scope] = resource
        if !isSame { record(scope, now) }
    }

    // MARK: Due times

    /// Makes it due at the next time of `cron`.
    func appoint(_ resource: inout Resource, _ now: Moment) {
        let served = resource.served.map { (time: $0.time, ago: $0.at.duration(to: now.instant)) }
        resource.appointment = resource.schedule.nextAppointment(now: now.wall, served: served, random: chance.next())
        // The years of the calendar are over.
        let due = resource.appointment.map { now.instant(of: $0.due) } ?? now.instant.advanced(by: .seconds(366 * 86_400))
        resource.due = limited(due, resource, now)
    }

    /// A time of `cron` that has passed during a run is another poll directly after it, or none.
    func appointAfterRun(_ resource: inout Resource, _ now: Moment) {
        let schedule = resource.schedule
        guard schedule.configuration.overlap == .queueOne, let time = resource.countedFrom.flatMap(schedule.nextTime), time <= now.wall else {
            return appoint(&resource, now)
        }
        resource.appointment = Appointment(time: time, due: now.wall)
        resource.due = limited(now.instant, resource, now)
    }

    /// No sooner than the limits between polls and the server allow, and no sooner than it makes sense.
    func limited(_ due: SyncInstant, _ resource: Resource, _ now: Moment) -> SyncInstant {
        let asked = resource.lastStarted?.advanced(by: resource.interval) ?? due
        return max(due, asked, resource.lastStarted == nil ? due : resource.soonest(at: now), notBefore(resource, now), resource.heldUntil ?? due)
    }

    /// Puts the due time of a poll that nobody asked for off to the end of quiet hours.
    func afterQuietHours(_ due: SyncInstant, _ resource: inout Resource, _ now: Moment) -> SyncInstant {
        resource.regular = nil
        let schedule = resource.schedule, wall = now.wall(of: due)
        guard schedule.quietEnd(at: wall) != nil else { return due }
        resource.regular = due
        let jitter = resource.appointment.map { schedule.jitter(after: $0.time) } ?? schedule.jitter(adapted: resource.adapted)
        return now.instant(of: schedule.afterQuietHours(wall, jitter: jitter, random: chance.next()))
    }

    /// Whether quiet hours keep it from beginning: whatever made it due, the clock shows that it is not the time.
    mutating func isQuiet(_ scope: ResourceScope, _ now: Moment) -> Bool {
        guard var resource = resources[scope], resource.asked == nil, let end = resource.schedule.quietEnd(at: now.wall),
            now.wall.duration(to: end) > Schedule.tolerance
        else { return false }
        resource.due = afterQuietHours(now.instant, &resource, now)
        resources[scope] = resource
        record(scope, now)
        return true
    }
}

extension PipelineState.Resource {
    /// Its time of `cron` is served by the run that begins.
    mutating func serve(_ now: Moment) {
        let before = (served, countedFrom)
        countedFrom = now.wall
        regular = nil
        guard let appointment, appointment.time <= now.wall.advanced(by: Schedule.tolerance) else { return }
        run?.appointed = PipelineState.Appointed(appointment: appointment, served: before.0, countedFrom: before.1)
        served = PipelineState.Served(time: appointment.time, at: now.instant)
        countedFrom = max(now.wall, appointment.time)
        self.appointment = nil
    }

    /// The time that a run was to serve is still to be served: it has asked nobody for anything.
    mutating func takeBack(_ appointed: PipelineState.Appointed) {
        (appointment, served, countedFrom) = (appointed.appointment, appointed.served, appointed.countedFrom)
    }

    /// What a run says of how often things change: only one at its time, of everything or of all that had changed, and none that fills an empty mirror.
    mutating func adapt(to conclusion: SyncRun.Conclusion, of run: PipelineState.Run) {
        guard plan.schedule.adaptive else { return adapted = nil }
        let counts = conclusion.report.counts
        let isTelling = conclusion.report.outcome == .succeeded && conclusion.isCaughtUp && run.cause == .schedule && status.lastSuccess != nil
        adapted = schedule.adapted(from: adapted, isChanged: isTelling ? counts.inserted + counts.updated + counts.deleted > 0 : nil)
    }

    /// Finds out how long what was seen counts as current.
    mutating func renewPatience(_ now: Moment) {
        let since = now.wall(of: freshSince)
        patience = since.duration(to: schedule.staleTime(lastSuccess: since, interval: interval, adapted: adapted))
    }
}
