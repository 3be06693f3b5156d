public import Foundation
public import NIOHTTP1

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
