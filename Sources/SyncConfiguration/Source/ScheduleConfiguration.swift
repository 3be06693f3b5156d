/// `schedule`: when a resource is polled.
public struct ScheduleConfiguration: Sendable, Hashable {
    public var every = TimeSpan.minutes(15)
    /// The share of the interval by which a poll may come earlier or later.
    public var jitter = Percentage(percent: 10)
    /// A hard floor, for signals and verbs as well.
    public var minInterval = TimeSpan.seconds(60)
    public var maxInterval = TimeSpan.hours(24)
    /// Whether the server's caching headers may lengthen the interval; they never shorten it.
    public var respectCacheControl = true
    /// Older data makes the resource degraded.
    public var maxAge = MaximumAge.intervals(3)

    /// The built-in values.
    public init() {}
}
