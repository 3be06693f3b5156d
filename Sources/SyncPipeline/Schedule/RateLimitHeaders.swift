import Foundation
import NIOHTTP1
import SyncConfiguration

/// What an answer says of how many requests the server will still take: the headers of the IETF draft (draft-ietf-httpapi-ratelimit-headers) in
/// its older and its newer form, and those that were usual before it. What cannot be read counts as not said.
enum RateLimitHeaders {
    /// Until when nothing is left, or no more than `early_limit` leaves to others; nil: there is more, or nobody says.
    ///
    /// - Parameter now: the wall time. A date is measured against the answer's own `Date`, so that a difference between the two clocks cancels out.
    static func exhaustion(_ headers: HTTPHeaders, _ rate: RateConfiguration, now: Date) -> Date? {
        let reading = Reading(headers: headers, rate: rate, now: now)
        switch rate.headers {
        case .off: return nil
        case .named(let limit, let remaining, let reset):
            return reading.end(limit: limit.flatMap { reading.first($0) }, remaining: reading.first(remaining), reset: reading.time(reset))
        case .automatic: return (usual.map { reading.end(of: $0) } + reading.combined).compactMap(\.self).max()
        }
    }

    /// What stands before `-Limit`, `-Remaining` and `-Reset`.
    private static let usual = ["RateLimit", "X-RateLimit", "X-Rate-Limit"]

    private struct Reading {
        let headers: HTTPHeaders
        let rate: RateConfiguration
        let now: Date

        func end(of prefix: String) -> Date? {
            let after = first("\(prefix)-Reset-After").flatMap { later($0) }
            return end(limit: first("\(prefix)-Limit"), remaining: first("\(prefix)-Remaining"), reset: after ?? time("\(prefix)-Reset"))
        }

        func end(limit: Double?, remaining: Double?, reset: Date?) -> Date? {
            guard let remaining, let reset, reset > now else { return nil }
            // Some say so of what they do not limit.
            if let limit, limit <= 0 { return nil }
            // Others say -1 of it; of a limit it is what was asked for too often.
            if limit == nil, remaining < 0 { return nil }
            return remaining <= max((limit ?? 0) * rate.earlyLimit, 0) ? reset : nil
        }

        /// The number that a header begins with: some say more behind it, such as `100, 100;w=60`.
        func first(_ name: String) -> Double? {
            headers.first(name: name).flatMap { text in
                text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "," || $0 == ";" }).first.flatMap { Self.number($0) }
            }
        }

        func time(_ name: String) -> Date? {
            guard let text = headers.first(name: name)?.trimmingCharacters(in: .whitespaces) else { return nil }
            let number = first(name)
            switch rate.resetFormat {
            case .deltaSeconds: return number.flatMap { later($0) }
            case .epochSeconds: return number.flatMap { moment($0) }
            case .epochMilliseconds: return number.flatMap { moment($0 / 1000) }
            case .httpDate: return date(text)
            case .automatic:
                guard let number else { return date(text) }
                // No wait is as long as the seconds that have passed by 1973, and no time is in its milliseconds any more.
                return number < 1e8 ? later(number) : moment(number < 1e11 ? number : number / 1000)
            }
        }

        /// `RateLimit: limit=100, remaining=0, reset=30`, or `"day";r=0;t=30` with `RateLimit-Policy: "day";q=100;w=86400`: of each policy.
        var combined: [Date?] {
            let items = Self.items(headers["RateLimit"])
            let flat = items.reduce(into: [String: Double]()) { $0.merge($1.values) { first, _ in first } }
            if let remaining = flat["remaining"] {
                return [end(limit: flat["limit"], remaining: remaining, reset: flat["reset"].flatMap { later($0) })]
            }
            let policies = Dictionary(Self.items(headers["RateLimit-Policy"]).map { ($0.name, $0.values) }) { first, _ in first }
            return items.map { item in
                let policy = policies[item.name] ?? [:]
                return end(limit: policy["q"], remaining: item.values["r"], reset: (item.values["t"] ?? policy["w"]).flatMap { later($0) })
            }
        }

        private static func items(_ values: [String]) -> [(name: String, values: [String: Double])] {
            values.flatMap { $0.split(separator: ",") }.map { item in
                var name = "", values: [String: Double] = [:]
                for part in item.split(separator: ";") {
                    let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
                    if pair.count == 2 { values[pair[0].lowercased()] = number(Substring(pair[1])) } else { name = pair.first ?? name }
                }
                return (name, values)
            }
        }

        private static func number(_ text: Substring) -> Double? {
            Double(text.trimmingCharacters(in: .whitespaces)).flatMap { $0.isFinite ? $0 : nil }
        }

        private func later(_ seconds: Double) -> Date? {
            guard seconds > 0 else { return nil }
            let wait: Duration = min(.bounded(seconds: seconds), RetryAfter.longest)
            return now.advanced(by: wait)
        }

        private func moment(_ seconds: Double) -> Date? { later(Date(timeIntervalSince1970: seconds)) }

        private func date(_ text: String) -> Date? {
            (HTTPDate.parse(text, now: now) ?? (try? Date(text, strategy: .iso8601))).flatMap { later($0) }
        }

        private func later(_ time: Date) -> Date? {
            let reference = headers.first(name: "Date").flatMap { HTTPDate.parse($0, now: now) } ?? now
            return later(time.timeIntervalSince(reference))
        }
    }
}
