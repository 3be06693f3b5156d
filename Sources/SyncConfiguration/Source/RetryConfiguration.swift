/// `retry`: when a request is made again within a run.
public struct RetryConfiguration: Sendable, Hashable {
    /// Failures below HTTP.
    public enum Failure: String, Sendable, Hashable, CaseIterable {
        case connect
        case timeout
        case reset
        case shortBody = "short-body"
        case dnsTemporary = "dns-temporary"
    }

    /// How much of a delay is left to chance.
    public enum Jitter: String, Sendable, Hashable, CaseIterable {
        /// Anything from nothing to the whole delay.
        case full
        /// Half of it fixed, the other half by chance.
        case equal
        case none
    }

    public enum Method: String, Sendable, Hashable, CaseIterable {
        case get = "GET"
        case head = "HEAD"
    }

    /// Requests for one page in all; 1 means none is repeated.
    public var attempts = 4
    public var statuses = [408, 425, 429, 500, 502, 503, 504]
    public var errors: [Failure] = [.connect, .timeout, .reset, .shortBody, .dnsTemporary]
    public var methods: [Method] = [.get, .head]
    /// The delay before the second attempt.
    public var base = TimeSpan.seconds(1)
    /// What each further delay is multiplied by.
    public var factor = 2.0
    public var maxDelay = TimeSpan.seconds(60)
    public var jitter = Jitter.full
    /// When the server asks for more patience than this, the run ends and the resource rests until then.
    public var retryAfterPark = TimeSpan.minutes(5)
    /// No server is left alone for longer than this, whatever it asks for.
    public var maxPark = TimeSpan.hours(24)

    /// The built-in values.
    public init() {}
}
