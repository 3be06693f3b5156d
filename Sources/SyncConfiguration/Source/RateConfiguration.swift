/// `rate`: how often, and how many at a time, the server of a resource is asked.
public struct RateConfiguration: Sendable, Hashable {
    /// Whose requests count together.
    public enum Scope: String, Sendable, Hashable, CaseIterable {
        /// Those to one origin with one credential; the default.
        case originAndCredential = "origin+credential"
        /// Those to one origin, whatever they identify themselves with.
        case origin
        /// Those of one source.
        case source
    }

    /// Which headers of answers say how much of the server's own limit is left.
    public enum Headers: Sendable, Hashable {
        /// Those that are known: of the IETF draft, and the usual ones before it.
        case automatic
        /// None: what answers say is not looked at.
        case off
        /// These. Without a name for the limit, `early_limit` has nothing to be a share of.
        case named(limit: String?, remaining: String, reset: String)
    }

    /// How an answer says when more is left again.
    public enum ResetFormat: String, Sendable, Hashable, CaseIterable {
        /// By the look of it.
        case automatic = "auto"
        /// In so many seconds.
        case deltaSeconds = "delta-seconds"
        /// Seconds since 1970.
        case epochSeconds = "epoch-seconds"
        /// Milliseconds since 1970.
        case epochMilliseconds = "epoch-ms"
        /// As in the header Date.
        case httpDate = "http-date"
    }

    /// `rate.requests`: in any span of ``per`` no more requests go out, every attempt and redirect counted. 0 (the default): they are not counted.
    public var requests = 0
    /// `rate.per`, default 1 min.
    public var per = TimeSpan.minutes(1)
    /// `rate.burst`: how many may go out at once after a rest; the others follow at even distances. Never more than ``requests``. Default 10.
    public var burst = 10
    /// `rate.concurrency`: how many are under way at a time. 0 (the default): as many as `daemon.max_parallel_requests` allows.
    public var concurrency = 0
    /// `rate.scope`: what shares the budget, and what a server means when it asks to be left alone.
    public var scope = Scope.originAndCredential
    /// `rate.headers`, default `auto`.
    public var headers = Headers.automatic
    /// `rate.reset_format`, default `auto`.
    public var resetFormat = ResetFormat.automatic
    /// `rate.early_limit`: the share of the server's limit, from 0 to 1, at which it is left alone until there is more. Default 0: when nothing is left.
    public var earlyLimit = 0.0

    /// The built-in values.
    public init() {}
}

/// `breaker`: when a server that fails is no longer asked for a while.
public struct BreakerConfiguration: Sendable, Hashable {
    /// `breaker.failures`: runs in a row for which the server could not be reached, or failed. Default 5.
    public var failures = 5
    /// `breaker.open_for`: how long nobody asks then. It doubles each time that the run after it fails as well. Default 1 min.
    public var openFor = TimeSpan.minutes(1)
    /// `breaker.max_open`: no such wait is longer. Default 1 h.
    public var maxOpen = TimeSpan.hours(1)
    /// `breaker.permanent_statuses`: answers that do not change by asking again. The schedule asks the resource again after ``maxOpen`` at the soonest.
    public var permanentStatuses = [401, 403, 404, 410]

    /// The built-in values.
    public init() {}
}
