public import Foundation
public import SyncConfiguration

/// When a resource is polled: pure arithmetic on times that are handed in.
///
/// Everything is wall time, because wall time is what is stored and shown; whoever waits converts to instants once. A server may
/// lengthen an interval, never shorten it, and nothing makes a poll earlier than `min_interval` after the last one or earlier than a
/// server allowed.
public struct Schedule: Sendable, Hashable {
    /// What the resource's `schedule` table says.
    public let configuration: ScheduleConfiguration

    /// The schedule that a table describes.
    public init(_ configuration: ScheduleConfiguration) {
        self.configuration = configuration
    }

    var floor: Duration { configuration.minInterval.duration }
    private var ceiling: Duration { max(configuration.maxInterval.duration, floor) }

    // MARK: Intervals

    /// The time from one poll to the next: `every`, or what `adaptive` has made of it, with jitter, within `min_interval` and `max_interval`, lengthened by
    /// what the server said. With `cron` only the latter: zero, if it said nothing.
    ///
    /// A cache lifetime lengthens up to `max_interval` only; a poll interval that the server demands is kept as it is.
    /// - Parameters:
    ///   - adapted: from `adapted(from:isChanged:)`.
    ///   - random: a number in `0 ..< 1`; 0.5 gives `every` itself.
    public func interval(pacing: ServerPacing? = nil, adapted: Duration? = nil, random: Double) -> Duration {
        let jitter = configuration.jitter.fraction * (2 * random - 1)
        var interval = isOfTimes ? .zero : bounded(every(adapted).scaled(by: 1 + jitter))
        guard configuration.respectCacheControl, let pacing else { return interval }
        if let lifetime = pacing.cacheLifetime { interval = max(interval, bounded(lifetime)) }
        if let demanded = pacing.pollInterval { interval = max(interval, demanded) }
        return interval
    }

    private func bounded(_ interval: Duration) -> Duration {
        min(max(interval, floor), ceiling)
    }

    private func every(_ adapted: Duration?) -> Duration { adapted ?? configuration.every.duration }

    /// With `adaptive`, the interval that follows from one: half of it when something had changed, half more when nothing had. It settles where
    /// three polls in eight find something. Within `min_interval` and `max_interval`.
    public func adapted(from interval: Duration?, isChanged: Bool? = nil) -> Duration {
        let factor =
            switch isChanged {
            case true?: 0.5;
            case false?: 1.5;
            case nil: 1.0
            }
        return bounded(every(interval).scaled(by: factor))
    }

    // MARK: Next poll

    /// When the poll after a finished run is due.
    ///
    /// Intervals count from when a run asked for its first page. A run that took longer than the interval does not lead to the next at once: at least
    /// `min_interval` passes after its end, or, with `overlap = "queue-one"`, after it began.
    /// - Parameters:
    ///   - started: when the run asked for its first page, the last time if it had to ask again.
    ///   - ended: when it ended.
    ///   - interval: from `interval(pacing:random:)`.
    ///   - notBefore: the server's `Retry-After`, if there was one.
    public func nextPoll(started: Date, ended: Date, interval: Duration, notBefore: Date? = nil) -> Date {
        // The wall clock may have been set back during the run; what lies in the future is not believed.
        var next = min(started, ended).advanced(by: interval)
        if next <= ended {
            let isQueued = configuration.overlap == .queueOne
            next = isQueued ? max(ended, min(started, ended).advanced(by: floor)) : ended.advanced(by: floor)
        }
        return max(next, notBefore ?? .distantPast)
    }

    /// When a resource is first polled after a start.
    /// - Parameters:
    ///   - now: the wall time.
    ///   - daemon: `start`, `stagger_window` and `restart_guard`.
    ///   - stored: the next poll that was stored before the restart, if any.
    ///   - lastSuccess: when the resource was last polled with success; `wait` counts from it.
    ///   - parkedUntil: the stored end of a `Retry-After`, which no setting overrides.
    ///   - adapted: the stored interval of `adaptive`.
    ///   - random: a number in `0 ..< 1`.
    public func firstPoll(
        now: Date, daemon: DaemonConfiguration, stored: Date?, lastSuccess: Date? = nil, parkedUntil: Date? = nil, adapted: Duration? = nil,
        random: Double
    ) -> Date {
        var due: Date
        if let stored, isPassed(stored, at: now) {
            due = regularTime(after: now, due: stored, interval: interval(adapted: adapted, random: 0.5))
        } else {
            switch daemon.start {
            case .wait:
                // Without a past there is no regular time yet; the first one lies an interval ahead.
                due = max((lastSuccess.map { min($0, now) } ?? now).advanced(by: interval(adapted: adapted, random: 0.5)), now)
            case .now, .stagger: due = afterStart(now: now, daemon: daemon, random: random)
            }
        }
        if daemon.restartGuard, let stored {
            // A stored time far ahead comes from a clock that was wrong, or from a longer interval in an older configuration.
            due = max(due, min(stored, now.advanced(by: ceiling)))
        }
        return max(due, parked(parkedUntil, now: now))
    }

    /// When it is polled what a start does not leave to its regular time.
    func afterStart(now: Date, daemon: DaemonConfiguration, random: Double) -> Date {
        daemon.start == .stagger ? now.advanced(by: daemon.staggerWindow.duration.scaled(by: random)) : now
    }

    /// When a resource is polled after somebody asked for it: as soon as the limits allow.
    /// - Parameters:
    ///   - now: the wall time.
    ///   - lastStarted: when the last run asked for its first page, if there was one.
    ///   - parkedUntil: the end of a `Retry-After`, if there is one.
    public func pollOnRequest(now: Date, lastStarted: Date?, parkedUntil: Date?) -> Date {
        var due = now
        // A last run in the future means that the clock was set back since: wait for at most `min_interval`.
        if let lastStarted { due = max(due, min(lastStarted, now).advanced(by: floor)) }
        return max(due, parked(parkedUntil, now: now))
    }

    private func parked(_ until: Date?, now: Date) -> Date {
        min(until ?? .distantPast, now.advanced(by: RetryAfter.longest))
    }

    // MARK: Freshness

    /// When data stops counting as current: with `max_age` in intervals, when so many polls were due since.
    /// - Parameters:
    ///   - lastSuccess: when the last complete poll succeeded; for a resource that never succeeded, when waiting for it began.
    ///   - interval: the interval in force, which the server may have lengthened; `every` if it is not known.
    ///   - adapted: what `adaptive` has made of `every`.
    public func staleTime(lastSuccess: Date, interval: Duration? = nil, adapted: Duration? = nil) -> Date {
        switch configuration.maxAge {
        case .span(let span): return lastSuccess.advanced(by: span.duration)
        case .intervals(let count):
            let inForce = isOfTimes ? interval ?? .zero : max(interval ?? .zero, every(adapted)),
                plain = lastSuccess.advanced(by: inForce.scaled(by: Double(count)))
            guard isOfClock else { return plain }
            // So many say what the others are like.
            let counted = min(count, 10)
            let last = (0..<counted).reduce(lastSuccess) { time, _ in
                afterQuietHours(nextTime(after: time) ?? time.advanced(by: inForce))
            }
            return max(plain, last.advanced(by: lastSuccess.duration(to: last).scaled(by: Double(count - counted) / Double(counted))))
        }
    }

    /// Whether data of that age still counts as current at `now`.
    public func isCurrent(lastSuccess: Date, interval: Duration? = nil, now: Date) -> Bool {
        now < staleTime(lastSuccess: lastSuccess, interval: interval)
    }
}

extension Duration {
    /// The duration in seconds, as a floating-point number.
    public var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }

    /// A duration of `seconds`, kept within ± `limit` (a hundred years), so that no server's number can overflow later arithmetic.
    /// Not a number gives zero.
    public static func bounded(seconds: Double) -> Duration {
        guard !seconds.isNaN else { return .zero }
        let limit = 100 * 366 * 86_400.0
        return .seconds(min(max(seconds, -limit), limit))
    }

    /// This duration times `factor`, bounded in the same way.
    func scaled(by factor: Double) -> Duration {
        .bounded(seconds: inSeconds * factor)
    }
}

extension Date {
    /// This time plus `duration`.
    public func advanced(by duration: Duration) -> Date {
        addingTimeInterval(duration.inSeconds)
    }

    /// How far `other` lies after this time; negative if it lies before.
    public func duration(to other: Date) -> Duration {
        .bounded(seconds: other.timeIntervalSince(self))
    }
}

/// Where jitter comes from: a function that returns a number in `0 ..< 1`. Tests hand in a constant or a seeded sequence.
public struct RandomSource: Sendable {
    private let draw: @Sendable () -> Double

    /// A source that calls `draw` for each number. Values outside `0 ..< 1` are clamped.
    public init(_ draw: @escaping @Sendable () -> Double) {
        self.draw = draw
    }

    /// The system's generator.
    public static let system = RandomSource { Double.random(in: 0..<1) }

    /// The next number, in `0 ..< 1`.
    public func next() -> Double {
        let value = draw()
        return value.isNaN ? 0 : min(max(value, 0), 1.0.nextDown)
    }
}
