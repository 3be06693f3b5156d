public import Foundation
public import NIOHTTP1
public import SyncConfiguration

/// The `Retry-After` header (RFC 9110, 10.2.3): a number of seconds, or a date.
public enum RetryAfter {
    /// Longer waits count as this one: 366 days. No server means more, and no number may overflow later computations.
    public static let longest: Duration = .seconds(366 * 86_400)

    /// How long the server wants to be left alone, or nil if it did not say so in a readable form.
    ///
    /// Several values count as the longest of them: the server is never asked sooner than it allowed. A date in the past and the
    /// number 0 mean no wait. Negative numbers and anything else unreadable are treated as not sent.
    /// - Parameters:
    ///   - values: all values of the header.
    ///   - date: the response's `Date` header. A date is measured against it, so that a difference between the two clocks cancels out.
    ///   - now: stands in for `date` when that is absent or unreadable.
    public static func delay(values: [String], date: String?, now: Date) -> Duration? {
        let reference = date.flatMap { HTTPDate.parse($0, now: now) } ?? now
        return values.compactMap { delay(value: $0, reference: reference, now: now) }.max()
    }

    private static func delay(value: String, reference: Date, now: Date) -> Duration? {
        if let time = HTTPDate.parse(value, now: now) {
            return min(max(reference.duration(to: time), .zero), longest)
        }
        // Two header lines that a proxy joined arrive as one list.
        let delays = value.split(separator: ",", omittingEmptySubsequences: false).map { seconds(Substring($0)) }
        guard delays.allSatisfy({ $0 != nil }) else { return nil }
        return delays.compactMap { $0 }.max()
    }

    private static func seconds(_ text: Substring) -> Duration? {
        let trimmed = text.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed()
        let parts = trimmed.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, !whole.isEmpty, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0.isASCII && $0.isNumber } })
        else { return nil }
        // A fraction is not allowed, but servers send it; rounding it up keeps the promise.
        let extra: Int64 = parts.count == 2 ? 1 : 0
        guard let number = Int64(String(whole)), number < longest.components.seconds else { return longest }
        return .seconds(number + extra)
    }
}

/// How long to wait before the next attempt: exponential, capped, with jitter. Pure; randomness is handed in.
public struct Backoff: Sendable, Hashable {
    /// The wait before the second attempt, before jitter.
    public let base: Duration
    /// What each further wait is multiplied with; below 1 counts as 1.
    public let factor: Double
    /// No wait is longer.
    public let maximum: Duration
    /// What jitter may take away.
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

/// What a response says about how soon it is worth, or allowed, to ask again.
public struct ServerPacing: Sendable, Hashable {
    /// How long the response stays fresh, from `Cache-Control: max-age` or `Expires`, less its age. Zero if the server forbids caching.
    public let cacheLifetime: Duration?
    /// The time between polls that the server demands, from `X-Poll-Interval`.
    public let pollInterval: Duration?

    /// Pacing from its parts.
    public init(cacheLifetime: Duration?, pollInterval: Duration?) {
        self.cacheLifetime = cacheLifetime
        self.pollInterval = pollInterval
    }

    /// What two servers, or one server of two things, say together: the longer times.
    func slower(_ other: ServerPacing?) -> ServerPacing {
        func longer(_ mine: Duration?, _ theirs: Duration?) -> Duration? { [mine, theirs].compactMap(\.self).max() }
        return ServerPacing(
            cacheLifetime: longer(cacheLifetime, other?.cacheLifetime), pollInterval: longer(pollInterval, other?.pollInterval))
    }

    /// What the headers of a response say; what cannot be read counts as not said.
    /// - Parameter now: stands in for a missing `Date` header.
    public init(headers: HTTPHeaders, now: Date) {
        pollInterval = headers["X-Poll-Interval"].compactMap(Self.seconds).max()
        cacheLifetime = Self.lifetime(headers, now: now)
    }

    private static func lifetime(_ headers: HTTPHeaders, now: Date) -> Duration? {
        let directives = headers["Cache-Control"].flatMap { $0.split(separator: ",") }.map {
            $0.trimmingCharacters(in: .whitespaces).lowercased()
        }
        if directives.contains(where: { $0 == "no-store" || $0 == "no-cache" || $0.hasPrefix("no-cache=") }) { return .zero }
        let ages = directives.filter { $0.hasPrefix("max-age=") }.compactMap {
            seconds($0.dropFirst("max-age=".count).trimmingCharacters(in: CharacterSet(charactersIn: "\"")))
        }
        // Where directives disagree the most restrictive one holds (RFC 9111, 4.2.1).
        if let age = ages.min() {
            return max(age - (headers["Age"].compactMap(seconds).first ?? .zero), .zero)
        }
        guard let expires = headers.first(name: "Expires") else { return nil }
        let date = headers.first(name: "Date").flatMap { HTTPDate.parse($0, now: now) } ?? now
        // An unreadable date, above all "0", means already expired (RFC 9111, 5.3).
        guard let time = HTTPDate.parse(expires, now: now) else { return .zero }
        return min(max(date.duration(to: time), .zero), RetryAfter.longest)
    }

    private static func seconds(_ text: String) -> Duration? {
        let digits = text.trimmingCharacters(in: .whitespaces)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return min(.seconds(Int64(digits) ?? .max), RetryAfter.longest)
    }
}
