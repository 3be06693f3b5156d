public import SyncConfiguration

/// How long to wait before the next attempt: exponential, capped, with jitter. Pure; randomness is handed in.
public struct Backoff: Sendable, Hashable {
    /// The wait before the second attempt, before jitter.
    public let base: Duration
    /// What each further wait is multiplied with; below 1 counts as 1.
    public let factor: Double
    /// No wait is longer.
    public let maximum: Duration
    /// What chance may take away.
    public let jitter: RetryConfiguration.Jitter

    /// A policy from its four numbers.
    public init(base: Duration, factor: Double, maximum: Duration, jitter: RetryConfiguration.Jitter = .full) {
        self.base = max(base, .zero)
        self.factor = factor.isFinite ? max(factor, 1) : 1
        self.maximum = max(maximum, .zero)
        self.jitter = jitter
    }

    /// The policy a resource's `retry` table describes.
    public init(_ retry: RetryConfiguration) {
        self.init(base: retry.base.duration, factor: retry.factor, maximum: retry.maxDelay.duration, jitter: retry.jitter)
    }

    /// The wait after `attempt` failed (the first attempt is 1).
    /// - Parameter random: a number in `0 ..< 1`.
    public func delay(afterAttempt attempt: Int, random: Double) -> Duration {
        var seconds = base.inSeconds
        let limit = maximum.inSeconds
        // Multiplied step by step, because a power would overflow long before the cap is looked at.
        for _ in 1..<min(max(attempt, 1), 1000) where seconds < limit { seconds *= factor }
        seconds = min(seconds, limit)
        switch jitter {
        case .none: break
        case .equal: seconds = seconds / 2 + seconds / 2 * random
        case .full: seconds *= random
        }
        return .bounded(seconds: seconds)
    }
}
