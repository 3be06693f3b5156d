/// `schedule`: when a resource is polled.
public struct ScheduleConfiguration: Sendable, Hashable {
    /// `schedule.overlap`: what becomes of a poll that falls due while the resource is being polled.
    public enum Overlap: String, Sendable, CaseIterable {
        /// It is left out.
        case skip
        /// One follows directly, as far as ``ScheduleConfiguration/minInterval`` allows.
        case queueOne = "queue-one"
    }

    /// `schedule.catch_up`: what becomes of polls whose time passed while nobody could make them.
    public enum CatchUp: String, Sendable, CaseIterable {
        /// One makes up for all of them.
        case one
        /// They are left out.
        case none
    }

    /// `schedule.every`: time from one poll to the next, before jitter; 1 s to 366 d. Default 15 min. It means nothing where there is a ``cron``.
    public var every = TimeSpan.minutes(15)
    /// `schedule.cron`: the times of polls, in ``timeZone``; `nil`: they are ``every`` apart.
    public var cron: CronExpression?
    /// `schedule.timezone`, the zone of ``cron`` and ``quietHours``: a name of the IANA's database. Default UTC.
    public var timeZone = "UTC"
    /// The share of the interval by which a poll may come earlier or later; with ``cron``, later only, and none unless it is said.
    public var jitter = Percentage(percent: 10)
    /// A hard floor, for signals and verbs as well.
    public var minInterval = TimeSpan.seconds(60)
    /// `schedule.max_interval`, default 24 h: neither `every` nor a cache lifetime goes beyond it; an interval the server demands may.
    public var maxInterval = TimeSpan.hours(24)
    /// `schedule.adaptive`, default false: whether the interval follows how often polls find something changed, from ``minInterval`` to ``maxInterval``. It
    /// begins with ``every``.
    public var adaptive = false
    /// Whether the server's caching headers may lengthen the interval; they never shorten it.
    public var respectCacheControl = true
    /// `schedule.quiet_hours`, default none: when the schedule polls nothing. What somebody asks for is polled all the same.
    public var quietHours: [QuietHours] = []
    /// Older data makes the resource degraded.
    public var maxAge = MaximumAge.intervals(3)
    /// `schedule.overlap`, default `skip`.
    public var overlap = Overlap.skip
    /// `schedule.catch_up`, default `one`.
    public var catchUp = CatchUp.one

    /// The built-in values.
    public init() {}
}
