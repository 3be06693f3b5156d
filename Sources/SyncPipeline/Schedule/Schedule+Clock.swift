import Foundation
import SyncConfiguration

/// A time of `cron`, and when the poll for it is due.
struct Appointment: Sendable, Hashable {
    let time: Date
    /// Not before it: later by its jitter, and after quiet hours.
    let due: Date
}

/// What depends on what clocks show: the times of `cron`, quiet hours, and what becomes of times that have passed.
extension Schedule {
    /// A poll that is later than that has missed its time: the machine slept, its clock was set, or no daemon ran.
    static let punctuality = Duration.seconds(60)
    /// How much sooner than its time a poll may begin, since clocks drift and instants are rounded.
    static let tolerance = Duration.seconds(1)

    /// Whether it has times of its own, and not an interval.
    var isOfTimes: Bool { configuration.cron != nil }

    /// Whether due times depend on what the wall clock shows.
    var isOfClock: Bool { isOfTimes || !configuration.quietHours.isEmpty }

    private var times: LocalTimes { LocalTimes(configuration.timeZone) }

    /// The first time of `cron` after another time; nil without `cron`.
    func nextTime(after time: Date) -> Date? { configuration.cron.flatMap { times.next(of: $0, after: time) } }

    // MARK: Quiet hours

    /// When the quiet hours end that a time lies in; nil: it lies in none.
    func quietEnd(at time: Date) -> Date? {
        configuration.quietHours.isEmpty ? nil : times.end(of: configuration.quietHours, at: time)
    }

    /// A due time, put off to the end of quiet hours if it lies in some, and from there by a share of the jitter, so that not everything begins at once.
    /// - Parameters:
    ///   - jitter: the longest delay.
    ///   - random: a number in `0 ..< 1`.
    func afterQuietHours(_ due: Date, jitter: Duration = .zero, random: Double = 0) -> Date {
        var result = due
        // The delay may lead into others.
        for _ in 0...configuration.quietHours.count {
            guard let end = quietEnd(at: result) else { return result }
            result = end.advanced(by: jitter.scaled(by: random))
        }
        return quietEnd(at: result) ?? result
    }

    /// The longest delay of a poll, where there is no `cron`.
    func jitter(adapted: Duration?) -> Duration { (adapted ?? configuration.every.duration).scaled(by: configuration.jitter.fraction) }

    /// The longest delay of the poll for a time of `cron`: a share of what it is apart from the next.
    func jitter(after time: Date) -> Duration {
        let share = configuration.jitter.fraction
        return share > 0 ? time.duration(to: nextTime(after: time) ?? time).scaled(by: share) : .zero
    }

    // MARK: Times of cron

    /// When the poll for a time of `cron` is due.
    ///
    /// - Parameter random: a number in `0 ..< 1`.
    func appointment(at time: Date, random: Double) -> Appointment {
        let jitter = jitter(after: time)
        return Appointment(time: time, due: afterQuietHours(time.advanced(by: jitter.scaled(by: random)), jitter: jitter, random: random))
    }

    /// The next time of `cron` that counts. After the clock was set back, times come again for which there was a poll already: they count if that was at
    /// least half as long ago as they are apart.
    ///
    /// - Parameters:
    ///   - served: the last time of `cron` for which there was a poll, and how long ago that was.
    ///   - random: a number in `0 ..< 1`.
    func nextAppointment(now: Date, served: (time: Date, ago: Duration)?, random: Double) -> Appointment? {
        var time = now
        while let next = nextTime(after: time) {
            let isAgain = served.map { served in
                guard next <= served.time, let following = nextTime(after: next) else { return false }
                return served.ago + now.duration(to: next) < next.duration(to: following).scaled(by: 0.5)
            }
            if isAgain != true { return appointment(at: next, random: random) }
            time = next
        }
        return nil
    }

    /// The first time of `cron` that counts after a start. What is stored says what was missed meanwhile; unless that is made up for, nothing is polled
    /// before a time of `cron`, whatever `start` says.
    func firstAppointment(now: Date, daemon: DaemonConfiguration, stored: Date?, random: Double) -> Appointment? {
        let next = nextAppointment(now: now, served: nil, random: random)
        guard let stored, !isPassed(stored, at: now) else { return next }
        if stored <= now {
            let due = afterStart(now: now, daemon: daemon, random: random)
            return Appointment(time: stored, due: afterQuietHours(due, jitter: jitter(after: stored), random: random))
        }
        // One that was only delayed.
        return next.map { stored < $0.due ? Appointment(time: stored, due: stored) : $0 } ?? Appointment(time: stored, due: stored)
    }

    // MARK: What was missed

    /// Whether a due time has passed for good: it was missed, and nothing makes up for it.
    func isPassed(_ due: Date, at now: Date) -> Bool { configuration.catchUp == .none && due.duration(to: now) > Self.punctuality }

    /// The first of the times after `now` that are a multiple of the interval after one that has passed.
    func regularTime(after now: Date, due: Date, interval: Duration) -> Date {
        let passed = due.duration(to: now).inSeconds, length = max(interval, floor).inSeconds
        return passed < 0 ? due : due.advanced(by: .bounded(seconds: ((passed / length).rounded(.down) + 1) * length))
    }
}
